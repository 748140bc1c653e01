"""Rounded, noisy and merged tables of counts: additive where promised, and attacked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unspoken.errors import DataError, InputError
from unspoken.methods.anonymity.measures.perturbed_counts import reach_of
from unspoken.risk import anonymity


def counts(seed, shape=(4, 5)):
    return np.random.default_rng(seed).poisson(6, shape)


@pytest.mark.parametrize("seed", range(6))
def test_controlled_rounding_adds_up_and_stays_beside(seed):
    table = counts(seed)
    shown = anonymity.perturb_counts(table, "controlled", 5, random_state=seed)
    assert shown.counts.sum() == shown.tables[()]
    assert np.array_equal(shown.counts.sum(axis=1), shown.tables[(0,)])
    assert np.array_equal(shown.counts.sum(axis=0), shown.tables[(1,)])
    for axes, part in shown.tables.items():
        true = table.sum(axis=tuple(a for a in (0, 1) if a not in axes))
        assert (np.abs(part - true) < 5).all()
        assert (part % 5 == 0).all()
        assert (part == true)[np.asarray(true % 5 == 0)].all()


@pytest.mark.slow
def test_random_rounding_keeps_expectations():
    table = np.array([[1, 7], [12, 24]])
    draws = [anonymity.perturb_counts(table, "random", 5, totals=[], random_state=i).counts
             for i in range(1500)]
    assert np.mean(draws, axis=0) == pytest.approx(table, abs=0.35)


def test_noise_stays_within_its_width():
    table = counts(3)
    shown = anonymity.perturb_counts(table, "noise", 3)
    assert np.abs(shown.counts - table).max() <= 3
    assert shown.counts.min() >= 0
    assert "no count is small" in shown.summary()
    table[0, 0] = 1
    assert "remains open" in anonymity.perturb_counts(table, "noise", 3).summary()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["random", "controlled", "noise"])
def test_the_reach_holds_every_table_that_gives_the_same(how):
    """All small tables are tried one by one: the true count is never ruled out."""
    table = np.array([[1, 3], [2, 4]])
    shown = anonymity.perturb_counts(table, how, 3, random_state=1)
    room = 3 if how == "noise" else 2
    small = (table > 0) & (table < 3)
    fit = []
    for cells in itertools.product(range(9), repeat=4):
        other = np.array(cells).reshape(2, 2)
        if all(np.abs(other.sum(axis=tuple(a for a in (0, 1) if a not in axes)) - part).max()
               <= room for axes, part in shown.tables.items()):
            fit.append(other)
    low, high = np.min(fit, axis=0), np.max(fit, axis=0)
    assert (shown.reach.low[small] <= low[small]).all()
    assert (shown.reach.high[small] >= high[small]).all()
    assert (shown.reach.low[small] < shown.reach.high[small]).all()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["random", "controlled", "noise"])
def test_the_reach_is_what_the_mechanism_leaves_open_and_no_wider(how):
    """Every table of the reach can be published as the same: both ends are attained."""
    table = np.array([[1, 3], [2, 4]])
    room = 3 if how == "noise" else 2
    shown = anonymity.perturb_counts(table, how, 3, random_state=1)
    fit = [np.array(cells).reshape(2, 2) for cells in itertools.product(range(9), repeat=4)]
    fit = [one for one in fit if all(
        np.abs(one.sum(axis=tuple(a for a in (0, 1) if a not in axes)) - part).max() <= room
        for axes, part in shown.tables.items())]
    small = (table > 0) & (table < 3)
    assert np.array_equal(shown.reach.low[small], np.min(fit, axis=0)[small])
    assert np.array_equal(shown.reach.high[small], np.max(fit, axis=0)[small])


@pytest.mark.slow
def test_every_rounding_that_adds_up_can_come_out():
    """Were only the nearest one published, tables nearer to another would be ruled out."""
    table = np.array([[1, 4], [2, 3]])
    possible = set()
    for ups in itertools.product((0, 1), repeat=4):
        cells = (table // 3 + np.array(ups).reshape(2, 2) * (table % 3 > 0)) * 3
        parts = [(cells.sum(axis=a), table.sum(axis=a)) for a in (0, 1, None)]
        if all((np.abs(one - true) < 3).all() for one, true in parts):
            possible.add(tuple(cells.reshape(-1).tolist()))
    drawn = {tuple(map(int, anonymity.perturb_counts(table, "controlled", 3, random_state=i)
                       .counts.reshape(-1))) for i in range(300)}
    assert drawn == possible
    assert len(possible) > 2


def test_what_can_be_computed_is_not_published(monkeypatch):
    """Totals exactly as they are, beside counts within a range, give a single one away."""
    from unspoken.methods.anonymity.measures import perturbed_counts as module

    monkeypatch.setattr(module, "reach_of", lambda shape, ranges, cells: reach_of(
        shape, {axes: (np.asarray(low) + 1, np.asarray(low) + 1) for axes, (low, _) in
                ranges.items() if axes == (0, 1)}, cells))
    with pytest.raises(DataError, match="could be computed"):
        anonymity.perturb_counts(np.array([[1, 7], [12, 24]]), "random", 5, random_state=0)


@pytest.mark.parametrize("seed", range(4))
def test_merged_categories_leave_no_small_count(seed):
    table = np.random.default_rng(seed).poisson(2.5, (8, 3))
    try:
        merged, groups = anonymity.merge_categories(table, 3)
    except DataError:
        assert ((table.sum(axis=0) > 0) & (table.sum(axis=0) < 3)).any()
        return
    assert not ((merged > 0) & (merged < 3)).any()
    assert sorted(i for group in groups for i in group) == list(range(8))
    assert all(group == list(range(group[0], group[-1] + 1)) for group in groups)
    assert np.array_equal(merged, [table[group].sum(axis=0) for group in groups])


def test_what_changes_nothing_or_is_no_table_is_refused():
    with pytest.raises(DataError, match="Nothing would change"):
        anonymity.perturb_counts(np.full((2, 2), 10), "controlled", 5)
    with pytest.raises(DataError, match="Nothing would change"):
        anonymity.merge_categories(np.full((2, 2), 10))
    with pytest.raises(InputError, match="at least 2"):
        anonymity.perturb_counts([[1, 2]], "random", 1)
    with pytest.raises(InputError, match="way to perturb"):
        anonymity.perturb_counts([[1, 2]], "guess")
    with pytest.raises(DataError, match="whole numbers"):
        anonymity.perturb_counts([[1.5, 2]], "random")


@pytest.mark.parametrize("way", [anonymity.perturb_counts, anonymity.suppress])
@pytest.mark.parametrize("counts", [np.zeros((0, 2)), [[1, 2], [3, np.inf]]])
def test_tables_without_cells_or_with_infinite_ones_are_refused_in_words(way, counts):
    with pytest.raises(DataError, match=r"must be a table of .* without missing, infinite"):
        way(counts)


@pytest.mark.parametrize("axes", [(2,), (-1,), (0, 0)])
def test_totals_over_what_is_no_axis_are_refused(axes):
    table = np.array([[1, 5], [9, 2]])
    with pytest.raises(InputError, match="axes of a total"):
        anonymity.perturb_counts(table, totals=[axes])
    with pytest.raises(InputError, match="axes of a total"):
        anonymity.suppress(table, totals=[axes])
    with pytest.raises(InputError, match="axes of a total"):
        anonymity.bounds((2, 2), [(axes, [10, 7])])
