"""Microaggregation, PRAM and Anatomy: against their definitions, and refusing to change nothing."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.perturbing.condensation import condensed
from unspoken.methods.anonymity.perturbing.mdav import mdav, optimal_runs
from unspoken.methods.anonymity.perturbing.post_randomization import exchanged, invariant
from unspoken.protect import (
    Anatomizer,
    Condenser,
    IsolationGuard,
    Microaggregator,
    PostRandomizer,
)
from unspoken.risk import audit
from unspoken.table.engines.local import MemoryFrame


def people(seed=0, rows=200, gaps=0.05):
    rng = np.random.default_rng(seed)
    age = [None if rng.random() < gaps else int(v) for v in rng.integers(18, 80, rows)]
    return unspoken.read(pa.table({
        "age": pa.array(age), "pay": rng.normal(3000, 500, rows).round(),
        "city": rng.choice(["A", "B", "C"], rows, p=[0.6, 0.3, 0.1]),
        "ill": rng.choice(["flu", "cold", "none", "HIV"], rows), "y": rng.integers(0, 2, rows)}),
        target="y", quasi=["age", "pay", "city"], sensitive="ill", show=False)


def naive_mdav(data, k):
    """Group as Domingo-Ferrer and Torra (2005) write it down, one distance at a time."""
    rest, groups = list(range(len(data))), []

    def far(point):
        return max(rest, key=lambda i: ((data[i] - point) ** 2).sum())

    def take(centre):
        near = sorted(rest, key=lambda i: ((data[i] - data[centre]) ** 2).sum())[:k]
        groups.append(near)
        rest[:] = [i for i in rest if i not in near]

    while len(rest) >= 3 * k:
        one = far(data[rest].mean(axis=0))
        two_from = data[one].copy()
        take(one)
        take(far(two_from))
    if len(rest) >= 2 * k:
        take(far(data[rest].mean(axis=0)))
    groups.append(rest)
    return groups


def within(data, groups):
    return sum(((data[g] - data[g].mean(axis=0)) ** 2).sum() for g in groups)


@pytest.mark.parametrize("seed", range(4))
def test_mdav_is_that_of_its_authors(seed):
    data = np.random.default_rng(seed).normal(size=(211 + seed, 3))
    owner = mdav(data, 4)
    mine = [np.flatnonzero(owner == g).tolist() for g in range(int(owner.max()) + 1)]
    assert {tuple(sorted(g)) for g in mine} == {tuple(sorted(g)) for g in naive_mdav(data, 4)}


@pytest.mark.slow
def test_many_records_are_grouped_by_blocks_of_distances():
    data = np.random.default_rng(9).normal(size=(900, 2))
    owner = mdav(data, 3)
    assert np.bincount(owner).min() >= 3
    assert within(data, [np.flatnonzero(owner == g) for g in range(int(owner.max()) + 1)]) == \
        pytest.approx(within(data, naive_mdav(data, 3)), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_runs_of_one_column_are_optimal(seed):
    values = np.random.default_rng(seed).normal(size=9).round(1)
    owner = optimal_runs(values, 2)
    assert np.bincount(owner).min() >= 2
    ranked, best = np.sort(values), np.inf
    for cuts in itertools.chain.from_iterable(itertools.combinations(range(1, 9), r)
                                              for r in range(5)):
        parts = np.split(ranked, cuts)
        if min(len(p) for p in parts) >= 2:
            best = min(best, sum(((p - p.mean()) ** 2).sum() for p in parts))
    mine = within(values[:, None], [np.flatnonzero(owner == g) for g in np.unique(owner)])
    assert mine == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_look_at_a_target_are_optimal(seed):
    """All cuts of nine values into runs are tried: none loses less of both together."""
    rng = np.random.default_rng(seed)
    values, beside = rng.normal(size=9).round(1), np.eye(2)[rng.integers(0, 2, 9)] * 0.7
    owner = optimal_runs(values, 2, beside)
    data = np.column_stack([values, beside])
    ranked, best = data[np.argsort(values, kind="stable")], np.inf
    for cuts in itertools.chain.from_iterable(itertools.combinations(range(1, 9), r)
                                              for r in range(5)):
        parts = np.split(ranked, cuts)
        if min(len(p) for p in parts) >= 2:
            best = min(best, sum(((p - p.mean(axis=0)) ** 2).sum() for p in parts))
    mine = within(data, [np.flatnonzero(owner == g) for g in np.unique(owner)])
    assert mine == pytest.approx(best)


def test_groups_that_look_at_the_target_tell_more_about_it():
    rng = np.random.default_rng(3)
    values = np.sort(rng.normal(size=300))
    sick = rng.permutation(np.arange(300) // 7 % 2)
    table = unspoken.read(pa.table({"v": values, "y": sick}), target="y", quasi=["v"], show=False)

    def mixed(weight):
        method = Microaggregator(4, form="univariate", target_weight=weight)
        rows = method.protect(table)[0].table.arrow().to_pylist()
        held = defaultdict(list)
        for row in rows:
            held[row["v"]].append(row["y"])
        assert min(map(len, held.values())) >= 4
        return sum(len(one) * np.var(one) for one in held.values()), method.information_loss_

    (plain, lost), (weighed, more) = mixed(0.0), mixed(0.9)
    assert weighed < plain
    assert more > lost
    with pytest.raises(SchemaError, match="target_weight"):
        Microaggregator(4, target_weight=0.5).protect(table)


@pytest.mark.parametrize("column", [
    pa.array([None] * 39 + [123456.78]), pa.array([None] * 39 + ["Atlantis"])])
def test_a_group_publishes_nothing_that_fewer_than_k_of_it_have(column):
    age = np.random.default_rng(0).integers(20, 80, 40)
    table = unspoken.read(pa.table({"age": age, "own": column}), quasi=["age", "own"], show=False)
    release, key = Microaggregator(5).protect(table)
    assert release.table.arrow()["own"].null_count == 40
    from unspoken.methods.anonymity.table_promise import broken_table
    from unspoken.release.record_key import original_rows

    rows = original_rows(key, 40)
    assert not [*broken_table(table, release, key, rows)]
    named = release.table.arrow().set_column(1, "own", column.take(pa.array(rows)))
    forged = replace(release, table=release.table.with_frame(MemoryFrame(named)))
    assert [*broken_table(table, forged, key, rows)]


def test_missing_values_of_a_column_on_its_own_stay_missing():
    values = [float(v) for v in range(20)] + [None] * 30
    few = [7.0, 8.0] + [None] * 48
    table = unspoken.read(pa.table({"v": values, "few": few}), quasi=["v", "few"], show=False)
    release, key = Microaggregator(4, form="univariate").protect(table)
    shown = release.table.arrow().to_pydict()
    counts = Counter(shown["v"])
    assert counts.pop(None) == 30
    assert min(counts.values()) >= 4
    assert set(shown["few"]) == {None}
    assert audit(table, release, key, trials=1, random_state=0).faults == ()


@pytest.mark.slow
def test_means_of_dates_are_dates():
    days = [datetime.date(1950, 1, 1) + datetime.timedelta(17 * i) for i in range(60)]
    table = unspoken.read(pa.table({"born": pa.array(days), "n": list(range(60))}),
                          quasi=["born", "n"], show=False)
    release, key = Microaggregator(5).protect(table)
    shown = release.table.arrow()["born"].to_pylist()
    assert all(isinstance(day, datetime.date) and days[0] <= day <= days[-1] for day in shown)
    assert audit(table, release, key, trials=1, random_state=0).faults == ()
    drawn, key = Condenser(6).protect(table)
    assert isinstance(drawn.table.arrow()["born"][0].as_py(), datetime.date)
    assert audit(table, drawn, key, trials=1, random_state=0).faults == ()


@pytest.mark.parametrize("seed", range(3))
def test_microaggregation_keeps_k_and_means(seed):
    table = people(seed)
    release, _ = Microaggregator(5).protect(table)
    assert measure(release).k >= 5
    assert release.guarantee.verify(release.table)
    mean = np.mean(release.table.arrow()["pay"].to_numpy())
    assert mean == pytest.approx(np.mean(table.arrow()["pay"].to_numpy()))
    rows = [tuple(row[n] for n in ("age", "pay", "city"))
            for row in release.table.arrow().to_pylist()]
    assert min(Counter(rows).values()) >= 5


def test_columns_grouped_on_their_own_lose_less_and_promise_no_class():
    table = people(1, gaps=0.0)
    both, apart = Microaggregator(5, columns=["age", "pay"], others="drop"), Microaggregator(
        5, form="univariate", columns=["age", "pay"], others="drop")
    both.protect(table)
    release, _ = apart.protect(table)
    assert apart.information_loss_ < both.information_loss_
    assert release.guarantee.name == "masked"
    assert min(Counter(release.table.arrow()["pay"].to_pylist()).values()) >= 5
    with pytest.raises(DataError, match="must be a number"):
        Microaggregator(form="univariate").protect(table)


@pytest.mark.parametrize("stay", [0.2, 0.5, 0.9])
def test_the_matrix_is_invariant(stay):
    shares = np.array([0.55, 0.3, 0.1, 0.05])
    matrix = invariant(shares, stay)
    assert matrix.min() >= 0
    assert np.allclose(matrix.sum(axis=1), 1)
    assert np.allclose(shares @ matrix, shares)


def test_values_are_exchanged_as_often_as_the_matrix_says():
    shares = np.array([0.6, 0.4])
    matrix, rng = invariant(shares, 0.7), np.random.default_rng(1)
    codes = np.repeat([0, 1], [60_000, 40_000])
    moved = exchanged(codes, matrix, rng)
    for code in (0, 1):
        assert np.bincount(moved[codes == code], minlength=2) / (codes == code).sum() == \
            pytest.approx(matrix[code], abs=0.01)


def test_post_randomization_states_how_certain_a_value_can_be():
    table = people(2, rows=600)
    release, _ = PostRandomizer(0.6, columns=["city"], others="keep").protect(table)
    sure = release.guarantee.facts["most_certain"]["city"]
    assert 1 / 3 < sure < 1
    about = release.mechanism["columns"]["city"]
    assert np.allclose(np.sum(about["matrix"], axis=1), 1)
    before, after = (Counter(t.arrow()["city"].to_pylist()) for t in (table, release.table))
    assert all(abs(before[c] - after[c]) < 60 for c in "ABC")


@pytest.mark.slow
def test_condensed_groups_keep_means_and_on_average_covariances():
    rng = np.random.default_rng(4)
    group = rng.normal(size=(8, 3)) @ np.array([[2.0, 1, 0], [0, 1, 0.5], [0, 0, 0.2]])
    draws = [condensed(group, rng) for _ in range(3000)]
    assert all(np.allclose(one.mean(axis=0), group.mean(axis=0)) for one in draws[:20])
    # Centring takes one degree of freedom, as in any sample.
    covariance = np.mean([np.cov(one, rowvar=False, bias=True) for one in draws], axis=0) * 8 / 7
    assert np.allclose(covariance, np.cov(group, rowvar=False, bias=True), atol=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_condensation_keeps_means_missing_values_and_nobody(seed):
    table = people(seed)
    method = Condenser(6)
    release, _ = method.protect(table)
    before, after = table.arrow(), release.table.arrow()
    assert np.bincount(method.owner_).min() >= 6
    for name in ("age", "pay"):
        values, owner = before[name].to_pylist(), method.owner_.tolist()
        known = Counter(group for group, v in zip(owner, values, strict=True) if v is not None)
        true = [v for group, v in zip(owner, values, strict=True)
                if v is not None and known[group] >= 6]
        shown = [v for v in after[name].to_pylist() if v is not None]
        assert len(true) == len(shown)
        assert np.mean(shown) == pytest.approx(np.mean(true))
        assert len(set(true) & set(shown)) <= 2
    assert Counter(before["city"].to_pylist()) == Counter(after["city"].to_pylist())
    assert release.guarantee.name == "masked"


def test_condensation_releases_no_value_that_few_of_a_group_have():
    rng = np.random.default_rng(1)
    bonus, word = [None] * 60, [None] * 60
    bonus[7], bonus[9], word[3] = 1234567.0, 31337.0, "only one"
    table = unspoken.read(pa.table({"age": rng.integers(20, 80, 60).astype(float), "bonus": bonus,
                                    "word": pa.array(word, pa.string())}),
                          quasi=["age", "bonus", "word"], show=False)
    release, _ = Condenser(k=10).protect(table)
    after = release.table.arrow()
    assert set(after["bonus"].to_pylist()) == {None}
    assert set(after["word"].to_pylist()) == {None}
    assert None not in after["age"].to_pylist()
    assert "known values" in release.guarantee.statement


@pytest.mark.parametrize("ell", [2, 3])
def test_anatomy_gives_every_group_enough_values(ell):
    table = people(3, gaps=0.0)
    release, _ = Anatomizer(ell).protect(table)
    groups = defaultdict(list)
    for row in release.table.arrow().to_pylist():
        groups[row["anatomy_group"]].append(row["ill"])
    for values in groups.values():
        assert len(set(values)) >= ell
        assert max(Counter(values).values()) * ell <= len(values)
    quasi = [sorted(map(repr, t.arrow(["age", "pay", "city"]).to_pylist()))
             for t in (table, release.table)]
    assert quasi[0] == quasi[1]
    assert Counter(table.arrow()["ill"].to_pylist()) == Counter(
        release.table.arrow()["ill"].to_pylist())


@pytest.mark.parametrize("method", [Microaggregator(2), PostRandomizer(0.5, others="keep"),
                                    Anatomizer(2), Condenser(5)])
def test_rows_do_not_keep_their_places(method):
    table = people(5, gaps=0.0)
    mine = method.protect(table)[0].table.arrow()["y"].to_pylist()
    assert mine != table.arrow()["y"].to_pylist()


def same(value="a"):
    return unspoken.read(pa.table({"q": [value] * 20, "s": ["u", "v"] * 10}), quasi=["q"],
                         sensitive="s", show=False)


def test_what_would_change_nothing_is_refused():
    with pytest.raises(DataError, match="nothing would change"):
        Microaggregator(2).protect(same())
    with pytest.raises(DataError, match="nothing would change"):
        Condenser(2).protect(same())
    with pytest.raises(DataError, match="nothing would change"):
        PostRandomizer(0.5, columns=["q"], others="keep").protect(same())


@pytest.mark.parametrize("method", [Microaggregator(3), Condenser(3), IsolationGuard(4, 3)])
def test_infinite_values_are_refused(method):
    table = unspoken.read(pa.table({"v": [float("inf"), *map(float, range(19))],
                                    "w": list(range(20))}), quasi=["v", "w"], show=False)
    with pytest.raises(DataError, match="must be finite"):
        method.protect(table)


def test_what_anatomy_cannot_hide_is_refused():
    with pytest.raises(DataError, match="commonest"):
        Anatomizer(3).protect(same())
    gaps = unspoken.read(pa.table({"q": [1, 2] * 10, "s": ["u", None] * 10}), quasi=["q"],
                         sensitive="s", show=False)
    with pytest.raises(DataError, match="protects nobody"):
        Anatomizer(2).protect(gaps)
    bare = unspoken.read(pa.table({"q": [1, 2] * 10}), quasi=["q"], show=False)
    with pytest.raises(SchemaError, match="one sensitive column"):
        Anatomizer(2).protect(bare)
    with pytest.raises(DataError, match="at least k"):
        Microaggregator(50).protect(same())


def test_anatomy_releases_whatever_order_it_drew():
    """In small tables the drawn order is often the original one; refusing it would tell."""
    table = unspoken.read(pa.table({"q": [*range(4)], "s": ["u", "v"] * 2}), quasi=["q"],
                          sensitive="s", show=False)
    own = 0
    for seed in range(40):
        release, _ = Anatomizer(2, shuffle_rows=False, random_state=seed).protect(table)
        own += release.table.arrow(["s"])["s"].to_pylist() == ["u", "v"] * 2
    assert 1 <= own <= 25


def test_post_randomization_names_the_columns_that_stay_certain():
    table = unspoken.read(pa.table({"a": [*"uvw"] * 20, "b": ["x"] * 60}), quasi=["a", "b"],
                          show=False)
    promise = PostRandomizer(0.5).protect(table)[0].guarantee
    assert promise.statement.endswith("columns of one value, which are certain: 'b'.")
    assert promise.facts["most_certain"]["b"] == 1.0
    alone = PostRandomizer(0.5, columns=["a"], others="keep").protect(table)[0].guarantee
    assert "certain" not in alone.statement


@pytest.mark.parametrize("stay", [1e-6, 0.01, 0.49])
def test_post_randomization_refuses_a_first_step_that_the_second_undoes(stay):
    rng = np.random.default_rng(0)
    table = unspoken.read(pa.table({"sex": rng.choice(["M", "F"], 300),
                                    "region": rng.choice([*"abc"], 300)}), show=False)
    with pytest.raises(InputError, match="1/2 for 'sex'"):
        PostRandomizer(stay).protect(table)
    promise = PostRandomizer(0.5).protect(table)[0].guarantee
    assert promise.facts["expected_moved"]["sex"] == pytest.approx(0.5, abs=0.01)
    assert "of 'sex'" in promise.statement


@pytest.mark.parametrize("size", [2, 3, 7])
def test_at_the_least_stay_a_released_value_says_nothing(size):
    shares = np.random.default_rng(size).dirichlet(np.ones(size))
    assert invariant(shares, 1 / size) == pytest.approx(np.tile(shares, (size, 1)))
