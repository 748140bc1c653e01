"""Classes, K, L and t against counting by hand and against pycanon."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.methods.anonymity.measures import equivalence_classes as an

CODES = st.integers(0, 4)
TABLES = st.lists(st.tuples(CODES, CODES, st.integers(0, 6)), min_size=1, max_size=60)


def groups_of(rows):
    found = defaultdict(list)
    for *quasi, value in rows:
        found[tuple(quasi)].append(value)
    return [found[key] for key in sorted(found)]


def measured(rows):
    table = np.array(rows)
    owner = an.classes([table[:, i] for i in range(table.shape[1] - 1)])
    return owner, an.spread(owner, table[:, -1])


@pytest.mark.slow
@given(TABLES)
def test_classes_are_numbered_in_order_without_gaps(rows):
    owner, found = measured(rows)
    keys = sorted({tuple(row[:-1]) for row in rows})
    assert owner.tolist() == [keys.index(tuple(row[:-1])) for row in rows]
    assert an.sizes(owner).tolist() == found.sizes.tolist() == [len(g) for g in groups_of(rows)]
    assert an.k_of(owner) == min(len(group) for group in groups_of(rows))


def test_classes_of_columns_too_wide_to_address():
    rng = np.random.default_rng(0)
    columns = [rng.choice([0, 3, 1 << 40, (1 << 45) + 1], 200) for _ in range(4)]
    keys = sorted(set(zip(*columns, strict=True)))
    expected = [keys.index(key) for key in zip(*columns, strict=True)]
    assert an.classes(columns).tolist() == expected


@pytest.mark.slow
@given(TABLES)
def test_the_forms_of_l_are_what_counting_gives(rows):
    _, found = measured(rows)
    for place, group in enumerate(groups_of(rows)):
        counts = sorted(Counter(group).values(), reverse=True)
        shares = [c / len(group) for c in counts]
        assert an.distinct(found)[place] == len(counts)
        expected = math.exp(-sum(s * math.log(s) for s in shares))
        assert an.entropy(found)[place] == pytest.approx(expected)
        assert an.strong(found)[place] == len(group) / counts[0]
        for ell in (1, 2, 3):
            tail = sum(counts[ell - 1:])
            ratio = counts[0] / tail if tail else math.inf
            assert an.recursive(found, ell)[place] == pytest.approx(ratio)


def moved(first, second, ordered):
    """The cheapest way to move one distribution onto the other, by linear programming."""
    from scipy.optimize import linprog

    m = len(first)
    cost = [abs(i - j) / (m - 1) if ordered else float(i != j) for i in range(m) for j in range(m)]
    rows = [[float(i == k) for i in range(m) for j in range(m)] for k in range(m)]
    rows += [[float(j == k) for i in range(m) for j in range(m)] for k in range(m)]
    return linprog(cost, A_eq=rows, b_eq=[*first, *second]).fun


@pytest.mark.parametrize("ordered", [True, False])
def test_closeness_is_the_cheapest_transport(ordered):
    rng = np.random.default_rng(5)
    table = np.column_stack([rng.integers(0, 5, 90), rng.permutation(np.r_[np.arange(7),
                             rng.choice(7, 83, p=[.3, .2, .1, .1, .1, .1, .1])])])
    owner = an.classes([table[:, 0]])
    found = an.spread(owner, table[:, 1])
    whole = np.bincount(table[:, 1], minlength=7) / 90
    for place in range(5):
        own = np.bincount(table[table[:, 0] == place, 1], minlength=7)
        expected = moved(own / own.sum(), whole, ordered)
        assert an.closeness(found, ordered)[place] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("ordered", [True, False])
def test_closeness_of_a_part_is_measured_against_the_whole(ordered):
    rng = np.random.default_rng(2)
    owner, values = rng.integers(0, 4, 200), rng.permutation(np.arange(200) % 9)
    every = an.closeness(an.spread(owner, values), ordered)
    some = (owner == 1) & (values < 99)
    part = an.spread(np.zeros(int(some.sum()), int), values[some])
    whole = np.bincount(values) / 200
    assert an.closeness(part, ordered, whole)[0] == pytest.approx(every[1])


def test_closeness_of_li_and_others_2007():
    """Li et al. 2007, section 4: salaries 3..11 thousand; two classes of three."""
    owner = np.r_[np.zeros(3), np.ones(3), np.full(3, 2)].astype(int)
    assert an.closeness(an.spread(owner, np.array([0, 1, 2, 3, 5, 8, 4, 6, 7])), ordered=True)[
        :2] == pytest.approx([0.375, 0.16667], abs=1e-4)


def test_one_value_is_close_and_empty_is_allowed():
    found = an.spread(np.array([0, 0, 1]), np.zeros(3, int))
    assert an.closeness(found, ordered=True).tolist() == [0, 0]
    empty = an.spread(np.zeros(0, int), np.zeros(0, int))
    for measure in (an.distinct, an.entropy, an.strong, an.closeness):
        assert measure(empty).size == 0
    assert an.k_of(np.zeros(0, int)) == 0


def test_costs_of_classes():
    assert an.discernibility(np.array([3, 2])) == 13
    assert an.discernibility(np.array([3, 2]), suppressed=2) == 13 + 2 * 7
    assert an.discernibility(np.array([1 << 40])) == 1 << 80
    assert an.average_class_size(np.array([3, 5]), 2) == 2.0


@pytest.mark.slow
def test_adult_agrees_with_pycanon(shared):
    pycanon = pytest.importorskip("pycanon.anonymity")
    import pandas as pd

    data = pd.read_parquet(shared("adult_data.parquet")).head(1000)
    quasi = ["sex", "race"]
    columns = [pd.factorize(data[name], sort=True)[0] for name in quasi]
    owner = an.classes(columns)
    job = an.spread(owner, pd.factorize(data["occupation"], sort=True)[0])
    hours = an.spread(owner, pd.factorize(data["hours-per-week"], sort=True)[0])
    assert an.k_of(owner) == pycanon.k_anonymity(data, quasi)
    assert an.distinct(job).min() == pycanon.l_diversity(data, quasi, ["occupation"])
    # pycanon cuts the entropy form down to a whole number, and 2 becomes 1 by rounding.
    theirs = pycanon.entropy_l_diversity(data, quasi, ["occupation"])
    assert theirs <= an.entropy(job).min() <= theirs + 1 + 1e-9
    # strong L is 1 / alpha of (alpha, k)-anonymity.
    assert 1 / an.strong(job).min() == pytest.approx(
        pycanon.alpha_k_anonymity(data, quasi, ["occupation"])[0])
    for found, name, ordered in ((job, "occupation", False), (hours, "hours-per-week", True)):
        assert an.closeness(found, ordered).max() == pytest.approx(
            pycanon.t_closeness(data, quasi, [name]))
