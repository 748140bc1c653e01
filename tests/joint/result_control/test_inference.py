"""Linear algebra, number theory and rank, each beside a search through all possibilities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unspoken.joint.result_control.coded_inference import MOST_CODED, pairs_follow
from unspoken.joint.result_control.linear_inference import fixed_by
from unspoken.joint.result_control.moment_inference import (
    MOST_TERMS,
    ModelNumbers,
    over_columns,
    over_rows,
)
from unspoken.joint.result_control.shared_denominators import (
    Group,
    around,
    fitting,
    greatest_fixed,
    share_bits,
)


@pytest.mark.parametrize(("known", "wanted", "fixed"), [
    ([[1, 1]], [0, 1], False), ([[1, 1], [1, 0]], [0, 1], True),
    ([[1, 1, 1], [1, 0, 0]], [0, 1, 0], False), ([[1, 1, 1], [1, 0, 0]], [0, 1, 1], True),
    ([[2, 4], [1, 2]], [0, 1], False), ([[2, 4], [1, 3]], [0, 1], True), ([], [0, 0], True),
    ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 0, 0], True)])
def test_sums_fix_what_is_a_combination_of_them(known, wanted, fixed):
    assert fixed_by(known, wanted) is fixed


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "alpha"), [(2, 0.0), (3, 1.0), (5, 1.0), (9, 0.5)])
def test_denominators_and_counts_that_fit_are_those_of_all_tables(bits, alpha):
    """Every table of up to 12 records in three categories is tried."""
    tables = [t for t in product(range(13), repeat=3) if 1 <= sum(t) <= 12]

    def steps(table):
        return np.floor((np.array(table) + alpha) / (sum(table) + 3 * alpha) * 2.0**bits)

    rng = np.random.default_rng(bits)
    for at in rng.choice(len(tables), 40, replace=False):
        seen = steps(tables[at])
        same = [t for t in tables if (steps(t) == seen).all()]
        low, high = around((seen + 0.5) * 2.0**-bits, bits)
        group = Group(low, high - 1e-7, alpha)
        totals = fitting([group], 12)
        assert set(totals.tolist()) == {sum(t) for t in same}
        least, most = group.spans(totals)
        assert least.tolist() == np.min(same, axis=0).tolist()
        assert most.tolist() == np.max(same, axis=0).tolist()


def test_fine_quotients_fix_denominators_up_to_their_reach():
    """The chance that only the true one fits turns over at about the reach that is stated."""
    rng, bits = np.random.default_rng(1), 12
    reach = greatest_fixed(bits, 3)
    alone = {}
    for count in (reach // 8, reach * 4):
        hits = 0
        for _ in range(20):
            table = rng.multinomial(count, [0.1, 0.2, 0.3, 0.4])
            seen = np.floor((table + 1) / (count + 4) * 2.0**bits)
            low, high = around((seen + 0.5) * 2.0**-bits, bits)
            hits += fitting([Group(low, high, 1.0)], 2 * count).size == 1
        alone[count] = hits
    assert alone[reach // 8] >= 15
    assert alone[reach * 4] <= 1


@pytest.mark.parametrize("count", [8, 20, 100, 1000])
def test_the_chosen_precision_fixes_neither_counts_nor_denominators(count):
    rng = np.random.default_rng(count)
    bits = share_bits(int(np.log2(count)))
    for _ in range(20):
        tables = [rng.multinomial(count, rng.dirichlet(np.ones(size))) for size in (2, 3, 5)]
        groups = []
        for table in tables:
            seen = np.floor((table + 1) / (count + table.size) * 2.0**bits)
            groups.append(Group(*around((seen + 0.5) * 2.0**-bits, bits), 1.0))
        totals = fitting(groups, 4 * count)
        assert totals.size > 1
        for group in groups:
            least, most = group.spans(totals)
            assert (least < most).all()


def test_one_feature_and_two_owners_of_one_column_are_solved_for():
    assert all(over_rows(ModelNumbers(1)).values())
    two = over_rows(ModelNumbers(2))
    assert [name for name, sure in two.items() if sure] == ["number of records"]
    assert all(over_columns(ModelNumbers(2), [0, 2]).values())
    assert not any(over_columns(ModelNumbers(6), [0, 1, 2, 6]).values())


def test_more_follows_of_columns_of_0_and_1():
    """A sum of squares is then the sum: up to three terms are solved for in place of one."""
    assert [all(over_rows(ModelNumbers(terms, zero_one=True)).values())
            for terms in (1, 2, 3, 4)] == [True, True, True, False]
    beside = [0, 3]
    assert all(over_columns(ModelNumbers(4, zero_one=True), [0, 1, 4]).values())
    assert not over_columns(ModelNumbers(4), [0, 4])["column deviations"]
    assert over_columns(ModelNumbers(3, zero_one=True), beside)["correlations among columns"]


def test_what_follows_of_the_response_alone_is_told_apart():
    """Its total sum of squares is opened, whatever the columns of the others are."""
    found = over_columns(ModelNumbers(5), [0])
    assert [name for name, sure in found.items() if sure] == ["deviation of the response"]
    assert not any(over_columns(ModelNumbers(5, errors=False, sums=False), [0]).values())


def test_correlations_of_the_others_among_themselves_are_told():
    found = over_columns(ModelNumbers(2), [])
    assert found["correlations among columns"]
    assert found["correlations with the response"]
    assert not found["column means"]


def test_models_inside_a_model_count():
    """Every smaller model is one equation more, until all moments of three terms follow."""
    inside = ((0,), (1,), (2,), (0, 1), (0, 2))
    assert not over_columns(ModelNumbers(3), [3])["column correlations"]
    assert over_columns(ModelNumbers(3, smaller=inside), [3])["column correlations"]


@pytest.mark.parametrize("errors", [True, False])
def test_a_logistic_model_of_columns_of_0_and_1_gives_counts(errors):
    """Newton's steps from a made-up table: another table with the same pairs cannot be had."""
    assert all(pairs_follow(terms, errors) for terms in (1, 2, 3))
    assert pairs_follow(2, errors, (0, 2))
    assert not pairs_follow(MOST_CODED + 1, errors)


@pytest.mark.slow
@pytest.mark.parametrize("errors", [True, False])
def test_more_terms_change_nothing(errors):
    """The smaller model that stands for greater ones gives the same."""
    assert over_rows(ModelNumbers(MOST_TERMS, errors, errors)) == over_rows(
        ModelNumbers(MOST_TERMS + 2, errors, errors))
    for theirs in (1, 2, 3):
        few, many = MOST_TERMS + theirs, MOST_TERMS + 2 + theirs
        assert over_columns(ModelNumbers(few, errors, errors), [*range(MOST_TERMS), few]) == \
            over_columns(ModelNumbers(many, errors, errors), [*range(MOST_TERMS + 2), many])
