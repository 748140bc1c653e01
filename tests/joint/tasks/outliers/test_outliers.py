"""Outliers over columns and rows of several owners equal those on pooled data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from unspoken.errors import DataError, InputError, ModelError
from unspoken.joint.joint_errors import PartyError, RefusedError, RingError
from unspoken.joint.museum.outliers_third_party import (
    ACCEPT,
    ThirdPartyOutliers,
    outliers_third_party,
)
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.tasks.outliers.count_near import pairs_of
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.pooled import pooled
from unspoken.joint.tasks.outliers.program_columns import OutliersOverColumns, outliers_columns
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows, outliers_rows
from unspoken.models.outliers import Outliers

pytestmark = pytest.mark.slow

EDGES = [("at least", "others"), ("at least", "all"), ("more than", "others"),
         ("more than", "all")]


def brute(data, rules):
    """The definition word by word, on values that are exact in floats."""
    if rules.order <= 2:
        gaps = cdist(data, data, {1: "cityblock", 2: "euclidean"}[rules.order])
        far = (gaps > rules.distance).sum(axis=1)
    else:
        gaps = (np.abs(data[:, None] - data[None]) ** rules.order).sum(axis=2)
        far = (gaps > rules.distance**rules.order).sum(axis=1)
    share = Fraction(str(rules.p)) * (len(data) - (rules.among == "others"))
    return far >= share if rules.enough == "at least" else far > share


def whole(seed, objects, columns, spread=4):
    return np.random.default_rng(seed).integers(-spread, spread + 1, (objects, columns)) * 1.0


def joined(found):
    return np.concatenate([part.flags for part in found if part is not None])


CASES = st.tuples(st.integers(0, 10**6), st.integers(2, 30), st.sampled_from(EDGES),
                  st.sampled_from([0.1, 0.25, 0.5, 0.9, 0.99]), st.sampled_from([1.0, 3.0, 5.0]))


@settings(max_examples=20)
@given(CASES, st.lists(st.integers(1, 2), min_size=2, max_size=4), st.sampled_from([1, 2, 3]))
def test_columns_give_the_definition(case, widths, order):
    seed, objects, (enough, among), p, distance = case
    rules = OutlierParams(p, distance, order=order, scale=2, enough=enough, among=among)
    data = whole(seed, objects, sum(widths))
    sites = np.split(data, np.cumsum(widths)[:-1], axis=1)
    found, _ = outliers_columns(sites, rules, block=1 + seed % 97)
    assert pooled(data, rules).flags.tolist() == brute(data, rules).tolist()
    for part in found:
        assert part.same_as(pooled(data, rules)).identical


@settings(max_examples=20)
@given(CASES, st.lists(st.integers(1, 9), min_size=2, max_size=4), st.sampled_from([1, 2, 4]))
def test_rows_give_the_definition(case, sizes, order):
    seed, _, (enough, among), p, distance = case
    rules = OutlierParams(p, distance, order=order, scale=1, enough=enough, among=among)
    data = whole(seed, sum(sizes), 3)
    parts = np.split(data, np.cumsum(sizes)[:-1])
    found, _ = outliers_rows(parts, rules, block=1 + seed % 13)
    assert pooled(data, rules).flags.tolist() == brute(data, rules).tolist()
    assert joined(found).tolist() == brute(data, rules).tolist()


@pytest.mark.parametrize(("enough", "among", "expected"), [
    # One object at 5 and ten others at 0 to 4: 2 of the 10 others are further away than 3.
    ("at least", "others", [0.2, True]), ("more than", "others", [0.2, False]),
    ("at least", "others", [0.21, False]), ("more than", "others", [0.19, True]),
    ("at least", "all", [0.18, True]), ("at least", "all", [0.19, False])])
def test_the_edge_of_p(enough, among, expected):
    p, outlier = expected
    data = np.array([5.0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4])[:, None]
    rules = OutlierParams(p, 3.0, enough=enough, among=among)
    assert bool(pooled(data, rules).flags[0]) is outlier
    found, _ = outliers_columns([data, np.zeros_like(data)], rules)
    assert bool(found[0].flags[0]) is outlier


def test_a_distance_that_is_just_reached_is_not_far():
    data = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    for distance, outlier in ((5.0, False), (4.99, True)):
        rules = OutlierParams(0.9, distance)
        for found in (outliers_columns([data[:, :1], data[:, 1:]], rules)[0][0].flags,
                      joined(outliers_rows([data[:1], data[1:]], rules)[0])):
            assert bool(found[0]) is outlier


def test_a_tenth_of_ten_is_one():
    assert OutlierParams(0.1, 1.0).needed(11) == 1
    assert OutlierParams(0.1, 1.0, enough="more than").needed(11) == 2
    assert OutlierParams(0.7, 1.0, among="all").needed(10) == 7
    assert OutlierParams(0.3, 1.0, among="all").needed(10) == 3


@pytest.mark.parametrize("mode", ["three-party", "two-party"])
def test_other_modes(mode):
    data = whole(3, 14, 3)
    rules = OutlierParams(0.6, 4.0, scale=2)
    found, _ = outliers_columns([data[:, :1], data[:, 1:2], data[:, 2:]], rules, mode)
    assert found[2].same_as(pooled(data, rules)).identical
    found, _ = outliers_rows([data[:4], data[4:9], data[9:]], rules, mode)
    assert joined(found).tolist() == pooled(data, rules).flags.tolist()


def test_only_the_authorised_learn_anything():
    data = whole(1, 20, 2)
    rules = OutlierParams(0.8, 3.0)
    columns, first = outliers_columns([data[:, :1], data[:, 1:]], rules, receivers=["p1"])
    rows, second = outliers_rows([data[:9], data[9:]], rules, receivers=["p1"])
    for found, ledgers in ((columns, first), (rows, second)):
        assert found[0] is None
        assert found[1].same_as(pooled(data, rules)).identical
        for ledger in ledgers:
            told = {entry.because: tuple(entry.to) for entry in ledger.openings}
            assert set(told) == {"how many records each owner has", "which objects are outliers"}
            assert told["which objects are outliers"] == ("p1",)


def test_every_pair_comes_once_and_blocks_are_bounded():
    for objects, block in ((2, 10), (23, 1), (23, 40), (23, 10**6)):
        seen = []
        for pairs in pairs_of(objects, block):
            assert pairs.size <= max(block, objects - 1)
            numbers = np.arange(objects)
            found = list(zip(pairs.firsts(numbers).tolist(), pairs.seconds(numbers).tolist(),
                             strict=True))
            assert len(found) == pairs.size
            seen += found
        assert seen == [(i, j) for i in range(objects) for j in range(i + 1, objects)]


def test_the_third_party_gives_the_same_outliers():
    data = whole(8, 26, 3)
    rules = OutlierParams(0.7, 4.0)
    found, ledgers = outliers_third_party([data[:8], data[8:15], data[15:]], rules, accept=ACCEPT)
    assert joined(found).tolist() == pooled(data, rules).flags.tolist()
    assert any("every distance" in entry.because for entry in ledgers[0].openings)
    # Nothing is compared on shares but the counts in the end.
    compared = [row for row in ledgers[0].rows if row.label == "compare.open"
                and row.direction == "sent"]
    assert len(compared) == 1


def everybody_fails(program, inputs, error, match):
    """The owner whose input is bad says why; all others end too, and nothing was sent."""
    outcomes = run_outcomes(program, inputs)
    failed = [outcome.error for outcome in outcomes]
    own = [one for one in failed if isinstance(one, error)]
    assert own
    assert match in str(own[0])
    assert all(isinstance(one, error | PartyError) for one in failed)
    for outcome in outcomes:
        sent = {row.label for row in outcome.ledger.rows if row.direction == "sent"}
        assert sent <= {"agree", "deal.seed", "ready", "abort"}


GOOD = whole(0, 6, 2)


@pytest.mark.parametrize(("bad", "error", "match"), [
    (np.zeros((0, 2)), RefusedError, "must have objects"),
    (np.full((6, 2), 9.0), DataError, "'most'"), (np.full((6, 2), np.inf), DataError, "finite"),
    (np.zeros((6, 1)), InputError, "as agreed"), (np.zeros(6), DataError, "at least one column")])
def test_bad_input_ends_the_run_before_anything_is_sent(bad, error, match):
    rules = OutlierParams(0.5, 1.0)
    everybody_fails(OutliersOverColumns(rules, {"p0": 2, "p1": 2}), [GOOD, bad], error, match)
    everybody_fails(OutliersOverRows(rules, 2, ["p0", "p1"]), [bad, GOOD], error, match)


@pytest.mark.parametrize("change", [
    {"p": 0.0}, {"p": 1.0}, {"p": -0.1}, {"p": 1.5}, {"p": float("nan")}, {"distance": 0.0},
    {"distance": float("inf")}, {"order": 0}, {"order": 9}, {"order": 1.5}, {"scale": 25},
    {"enough": "about"}, {"among": "some"}, {"most": 0.0}])
def test_rules_that_make_no_outliers_are_refused(change):
    with pytest.raises(InputError):
        OutlierParams(**{"p": 0.9, "distance": 1.0, **change})


def test_a_distance_that_does_not_fit_is_refused_when_it_is_planned():
    rules = OutlierParams(0.9, 1.0, most=2.0**20, scale=8, order=3)
    with pytest.raises(RingError, match="2\\^62"):
        OutliersOverColumns(rules, {"p0": 1, "p1": 1})
    with pytest.raises(RefusedError, match="even"):
        OutliersOverRows(OutlierParams(0.9, 1.0, order=3), 2, ["p0", "p1"])


def test_one_object_is_too_few():
    with pytest.raises(RefusedError, match="two objects"):
        outliers_columns([np.zeros((1, 1)), np.zeros((1, 1))], OutlierParams(0.5, 1.0))


def test_the_third_party_must_be_asked_for_in_words():
    rules = OutlierParams(0.5, 1.0)
    with pytest.raises(RefusedError, match="accept"):
        outliers_third_party([GOOD, GOOD], rules)
    with pytest.raises(RefusedError, match="must not own data"):
        ThirdPartyOutliers(rules, 2, ["p0", "p1"], "p1", accept=ACCEPT)
    program = ThirdPartyOutliers(rules, 2, ["p0", "p1"], "p2", accept=ACCEPT)
    outcomes = run_outcomes(program, [GOOD, GOOD, None], holders=["p0", "p2"])
    assert all(isinstance(outcome.error, RefusedError | PartyError) for outcome in outcomes)


def test_outliers_as_files(tmp_path):
    found = pooled(GOOD, OutlierParams(0.5, 3.0))
    found.save(tmp_path / "outliers.json")
    assert Outliers.load(tmp_path / "outliers.json").same_as(found).identical
    assert "at least 0.5 of the other objects" in found.summary()
    for change in ({"outliers": [7]}, {"outliers": [2, 1]}, {"objects": -1}, {"rule": 3},
                   {"objects": 10**12}):
        with pytest.raises(ModelError):
            Outliers.from_json({**found.to_json(), **change})
    assert not found.same_as(Outliers(~found.flags, found.rule))
    assert not found.same_as(Outliers(found.flags, "another"))


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 6), st.lists(st.integers(1, 8), min_size=2,
                                                          max_size=3), st.sampled_from([1, 2]),
       st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_the_distance_to_a_neighbour_decides(seed, k, sizes, order, distance):
    """By scikit-learn's distances: the first neighbour of an object that it finds is itself."""
    data = whole(seed, sum(sizes), 2, 3)
    k = min(k, len(data) - 1)
    if not k:
        return
    rules = OutlierParams(neighbours=k, distance=distance, order=order, scale=1)
    model = NearestNeighbors(n_neighbors=k + 1, p=order, algorithm="brute").fit(data)
    wanted = (model.kneighbors(data)[0][:, k] > distance + 1e-9).tolist()
    assert pooled(data, rules).flags.tolist() == wanted
    found, _ = outliers_rows(np.split(data, np.cumsum(sizes)[:-1]), rules)
    assert joined(found).tolist() == wanted
    found, _ = outliers_columns([data[:, :1], data[:, 1:]], rules)
    assert found[0].flags.tolist() == wanted


def test_a_neighbour_in_the_same_place_counts():
    data = np.array([[0.0], [0.0], [4.0], [8.0]])
    for k, wanted in ((1, [False, False, True, True]), (2, [True, True, True, True])):
        rules = OutlierParams(neighbours=k, distance=3.0)
        assert pooled(data, rules).flags.tolist() == wanted
    rules = OutlierParams(neighbours=2, distance=5.0)
    assert pooled(data, rules).flags.tolist() == [False, False, False, True]
    assert "number 2 by distance" in pooled(data, rules).summary()


def test_neighbours_and_a_part_are_two_ways_to_say_it():
    for change in ({}, {"p": 0.5, "neighbours": 3}, {"neighbours": 0},
                   {"neighbours": 3, "enough": "more than"}, {"neighbours": 3, "among": "all"}):
        with pytest.raises(InputError):
            OutlierParams(**{"distance": 1.0, **change})
    with pytest.raises(RefusedError, match="Every object needs 2 neighbours"):
        outliers_columns([GOOD[:2, :1], GOOD[:2, 1:]], OutlierParams(neighbours=2, distance=1.0))


@settings(max_examples=6)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3),
       st.lists(st.integers(2, 5), min_size=2, max_size=3), st.sampled_from([1, 2]),
       st.sampled_from([30, 2**20]))
def test_the_farthest_objects_are_those_of_scikit_learn(seed, k, top, sizes, order, block):
    """Distances to the k-th neighbour, the greatest first, of equal ones the earlier."""
    data = whole(seed, sum(sizes), 2, 3)
    if len(data) <= max(k, top):
        return
    rules = OutlierParams(neighbours=k, top=top, order=order, scale=1)
    model = NearestNeighbors(n_neighbors=k + 1, p=order, algorithm="brute").fit(data)
    far = np.round(model.kneighbors(data)[0][:, k], 9)
    wanted = np.isin(np.arange(len(data)), np.argsort(-far, kind="stable")[:top]).tolist()
    assert pooled(data, rules).flags.tolist() == wanted
    found, _ = outliers_rows(np.split(data, np.cumsum(sizes)[:-1]), rules, block=block)
    assert joined(found).tolist() == wanted
    found, _ = outliers_columns([data[:, :1], data[:, 1:]], rules, block=block)
    assert found[0].flags.tolist() == wanted


def test_the_farthest_objects_are_said_by_neighbours_alone():
    for change in ({"neighbours": 2}, {"neighbours": 2, "top": 3, "distance": 1.0},
                   {"p": 0.5, "top": 3}, {"neighbours": 2, "top": 0}):
        with pytest.raises(InputError):
            OutlierParams(**change)
    with pytest.raises(RefusedError, match="more than 6 objects"):
        outliers_columns([GOOD[:, :1], GOOD[:, 1:]], OutlierParams(neighbours=2, top=6))
    with pytest.raises(RingError, match="2\\^62"):
        OutliersOverColumns(OutlierParams(neighbours=1, top=1, most=2.0**21), {"p0": 1, "p1": 1})
