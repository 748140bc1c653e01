"""Two releases of one table attacked together."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from support.people import people, release_of
from unspoken.attack import RankSorting, View, finer, overlaps, ranges
from unspoken.disclosure.ground_truth import truths_of
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError

COLUMNS = {"age": "age", "salary": "salary", "weight": "weight"}


def with_other_class(table):
    rows = table.arrow().drop_columns(["group"])
    weight = rows["weight"].to_numpy()
    return unspoken.read(rows.append_column("group", [np.where(weight > 80, "heavy", "light")]),
                      target="group", show=False)


def both(first, second):
    return View.of(first, rows=True), View.of(second, rows=True)


def exact(view, name):
    return ranges(view[name]).exact(view[name])


def test_two_strict_releases_add_nothing():
    table = people()
    one, two = both(release_of(table)[0], release_of(table, random_state=2)[0])
    merged, found = finer(one, two, COLUMNS), overlaps(one, two, COLUMNS)
    for name in COLUMNS:
        assert exact(one, name) == found[name].exact(one[name]) == 1.0
        assert np.array_equal(one[name].rank, merged[name].rank)


def test_a_strict_release_gives_the_order_that_max_mono_hid():
    table = people()
    hidden, shown = both(release_of(table, mode="max-mono")[0], release_of(table)[0])
    assert exact(hidden, "age") < 0.8
    found = overlaps(hidden, shown, COLUMNS)
    for name in COLUMNS:
        assert found[name].exact(hidden[name]) > 0.95


def test_other_classes_cut_permuted_runs_to_pieces():
    table = people()
    one, two = both(release_of(table, mode="max-mono")[0],
                    release_of(with_other_class(table), mode="max-mono", random_state=5)[0])
    found = overlaps(one, two, COLUMNS)
    gained = [found[n].exact(one[n]) - exact(one, n) for n in COLUMNS]
    assert min(gained) >= 0.0
    assert max(gained) > 0.1


@pytest.mark.parametrize("monochromatic", ["permutation", "record"])
def test_the_finer_ranges_are_true(monochromatic):
    table = people()
    release, key = release_of(table, mode="max-mono", monochromatic=monochromatic)
    other, _ = release_of(with_other_class(table), mode="max-mono", random_state=5)
    one, two = both(release, other)
    truths = truths_of(table, release, one, key).columns
    for name, found in overlaps(one, two, COLUMNS).items():
        truth = truths[name]
        ends = np.cumsum(truth.by_value)
        starts = ends - truth.by_value
        low, high = found.low[truth.where], found.high[truth.where]
        assert np.all((low <= starts[truth.owner]) & (ends[truth.owner] <= high))


def test_a_finer_order_helps_the_rank_attack():
    table = people()
    release, key = release_of(table, mode="max-mono")
    one, two = both(release, release_of(table)[0])
    truth = truths_of(table, release, one, key).columns["age"]
    told = Knowledge("bounds", 1.0, (0.0, 1.0), bounds=(truth.values[0], truth.values[-1]))
    alone, merged = (
        (np.abs(RankSorting().guess(view, "age", told, np.random.default_rng())[0, truth.where]
                - truth.truth) <= 1.5).mean()
        for view in (one, finer(one, two, COLUMNS)))
    assert alone < 0.8
    assert merged > 0.95


def test_rows_are_needed():
    release, _ = release_of(people())
    with pytest.raises(InputError, match="rows"):
        finer(View.of(release), View.of(release), {"age": "age"})


def test_missing_values_are_no_code():
    table = people(missing=True)
    one, two = both(release_of(table)[0], release_of(table, random_state=2)[0])
    assert overlaps(one, two, COLUMNS)["age"].exact(one["age"]) == 1.0
