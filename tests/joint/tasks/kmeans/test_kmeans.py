"""k-means over columns and rows of several owners equals k-means on pooled data."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from support.computing import run
from unspoken.errors import DataError, InputError
from unspoken.joint import reveal, share
from unspoken.joint.joint_errors import PartyError, RefusedError, RingError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.tasks.common.public_sizes import SIZES
from unspoken.joint.tasks.kmeans.all_on_shares import SMALL
from unspoken.joint.tasks.kmeans.first_centres import plain_spread, spread
from unspoken.joint.tasks.kmeans.nearest_centre import closest, fresh_orders
from unspoken.joint.tasks.kmeans.params import KMeansParams, as_floats, rounded
from unspoken.joint.tasks.kmeans.pooled import pooled
from unspoken.joint.tasks.kmeans.program_columns import (
    KMeansOverColumns,
    KMeansSite,
    kmeans_columns,
)
from unspoken.joint.tasks.kmeans.program_rows import KMeansOverRows, kmeans_rows

pytestmark = pytest.mark.slow

# A centre on shares: a unit of 2^-14 for the division and one for what it is rounded to.
CENTRE_ERROR = 2 * 2.0**-14


def blobs(records, columns, k, seed, spread=0.4):
    rng = np.random.default_rng(seed)
    middle = rng.uniform(-5, 5, (k, columns))
    return np.clip(middle[np.arange(records) % k] + rng.normal(0, spread, (records, columns)),
                   -7.9, 7.9)


def cut_columns(data, widths):
    return np.split(data, np.cumsum(widths)[:-1], axis=1)


def joined(found):
    return np.concatenate([part.centres for part in found], axis=1)


def margins(data, rules, start):
    """Return how clear the nearest centre of any record is, over all rounds."""
    least = np.inf
    for rounds in range(1, rules.iterations + 1):
        one = KMeansParams(rules.k, rounds, rules.most, rules.scale)
        centres, _ = pooled([data], one, start)
        gaps = np.sort(((data[:, None] - centres) ** 2).sum(axis=2), axis=1)
        least = min(least, (gaps[:, 1] - gaps[:, 0]).min())
    gaps = np.sort(((data[:, None] - start) ** 2).sum(axis=2), axis=1)
    return min(least, (gaps[:, 1] - gaps[:, 0]).min())


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 3), min_size=2, max_size=4),
       st.integers(1, 5), st.integers(6, 90), st.sampled_from([None, 0.0, 0.05]))
def test_columns_give_the_central_result_to_the_last_bit(seed, widths, k, records, tolerance):
    data = np.random.default_rng(seed).uniform(-8, 8, (records, sum(widths)))
    rules, parts = KMeansParams(k, 4, tolerance=tolerance, seed=seed), cut_columns(data, widths)
    centres, assigned = pooled(parts, rules)
    found, _ = kmeans_columns(parts, rules, way="assignments")
    assert np.array_equal(joined(found), centres)
    for part in found:
        assert np.array_equal(part.assigned, assigned)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 30), min_size=3, max_size=5),
       st.integers(1, 4), st.sampled_from([None, 0.01]))
def test_rows_with_known_totals_give_the_central_result(seed, sizes, k, tolerance):
    data = np.random.default_rng(seed).uniform(-8, 8, (sum(sizes), 3))
    assume(k <= len(data))
    parts, rules = np.split(data, np.cumsum(sizes)[:-1]), KMeansParams(k, 4, tolerance=tolerance)
    centres, assigned = pooled([data], rules, data[:k])
    found, _ = kmeans_rows(parts, rules, "sums", way="revealed", start=data[:k])
    assert np.array_equal(np.concatenate([part.assigned for part in found]), assigned)
    assert all(np.array_equal(part.centres, centres) for part in found)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([(1, 2), (2, 1, 1), (3,)]), st.integers(2, 5),
       st.booleans())
def test_hidden_gives_the_central_result_near_ties_apart(seed, widths, k, rows):
    data = blobs(70, sum(widths), k, seed)
    rules, start = KMeansParams(k, 3), data[:k]
    assume(margins(data, rules, start) > 0.02)
    centres, assigned = pooled([data], rules, start)
    if rows:
        found, _ = kmeans_rows([data[:20], data[20:21], data[21:]], rules, start=start)
        got = np.concatenate([part.assigned for part in found]), found[0].centres
    else:
        found, _ = kmeans_columns(cut_columns(data, widths), rules, start=start)
        got = found[0].assigned, joined(found)
    assert np.array_equal(got[0], assigned)
    assert np.abs(got[1] - centres).max() <= CENTRE_ERROR


@pytest.mark.parametrize("way", ["assignments", "hidden"])
def test_the_same_as_scikit_learn_from_the_same_start(way):
    data = blobs(400, 5, 6, 3, 1.0)
    start = data[:6]
    known = KMeans(6, init=start, n_init=1, max_iter=20, tol=0, algorithm="lloyd").fit(data)
    found, _ = kmeans_columns(
        cut_columns(data, [2, 2, 1]), KMeansParams(6, 20), way=way, start=start
    )
    assert np.array_equal(found[0].assigned, known.labels_)
    # Data are rounded to 2^-12 before anything is computed.
    assert np.abs(joined(found) - known.cluster_centers_).max() < 2.0**-12


@pytest.mark.parametrize("mode", ["three-party", "two-party", "authenticated"])
@pytest.mark.parametrize("way", ["assignments", "hidden"])
def test_other_modes(mode, way):
    data = blobs(30, 3, 2, 5)
    rules = KMeansParams(2, 2)
    centres, assigned = pooled(cut_columns(data, [1, 1, 1]), rules)
    found, _ = kmeans_columns(cut_columns(data, [1, 1, 1]), rules, mode, way=way)
    assert np.array_equal(found[2].assigned, assigned)
    assert np.abs(joined(found) - centres).max() <= (CENTRE_ERROR if way == "hidden" else 0)


def test_permuted_comparisons_give_the_central_result():
    data = np.random.default_rng(4).uniform(-8, 8, (90, 4))
    parts, rules = cut_columns(data, [1, 2, 1]), KMeansParams(5, 4)
    found, _ = kmeans_columns(parts, rules, way="assignments", closest="permuted")
    centres, assigned = pooled(parts, rules)
    assert np.array_equal(found[1].assigned, assigned)
    assert np.array_equal(joined(found), centres)


def test_orders_are_permutations_of_their_own_for_every_record():
    orders = fresh_orders(6000, 4)
    assert np.array_equal(np.sort(orders, axis=0), np.tile(np.arange(4)[:, None], 6000))
    _, times = np.unique(orders, axis=1, return_counts=True)
    # 24 orders of 250 expected each: chi square with 23 degrees of freedom, far beyond 1e-9.
    assert times.size == 24
    assert ((times - 250) ** 2 / 250).sum() < 100


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_the_first_of_equal_centres_is_taken(k):
    values = np.random.default_rng(k).integers(0, 3, (k, 128))

    @declares("bits")
    async def program(party, _):
        x = await share(party, values if party.index == 1 else None, "p1", (k, 128), 0, 3)
        return await reveal(party, await closest(party, x), because="bits")

    hot = run(program, [None] * 3)[2]
    assert np.array_equal(hot.sum(axis=0), np.ones(128))
    assert np.array_equal(hot.argmax(axis=0), values.argmin(axis=0))


def test_an_empty_cluster_keeps_its_centre():
    data = blobs(40, 2, 2, 1)
    start = np.array([data[0], data[1], [7.5, -7.5]])
    assume_far = ((data - start[2]) ** 2).sum(axis=1).min()
    assert assume_far > ((data - data[0]) ** 2).sum(axis=1).min()
    for way in ("assignments", "hidden"):
        found, _ = kmeans_columns(
            cut_columns(data, [1, 1]), KMeansParams(3, 3), way=way, start=start
        )
        assert np.allclose(joined(found)[2], [7.5, -7.5], atol=0)
        assert not np.any(found[0].assigned == 2)


def test_starts_far_apart_are_drawn_on_shares_as_in_the_clear():
    data = blobs(60, 3, 4, 8)
    rules = KMeansParams(4, start="spread", seed=5)
    units = rounded(data, rules)

    @declares("centres")
    async def program(party, _):
        x = await share(party, units if party.index == 0 else None, "p0", units.shape,
                        -rules.units, rules.units)
        return await reveal(party, await spread(party, x, rules), because="centres")

    places = plain_spread(units, rules)
    assert np.array_equal(run(program, [None] * 2)[0], units[places])
    found, _ = kmeans_rows([data[:30], data[30:]], rules)
    first = as_floats(units[places], rules)
    assert np.abs(found[0].centres - pooled([data], rules, first)[0]).max() <= CENTRE_ERROR


def test_a_record_at_distance_zero_is_never_drawn_while_others_are_left():
    units = np.zeros((40, 2), np.int64)
    units[17], units[31] = 900, -300
    for seed in range(30):
        drawn = plain_spread(units, KMeansParams(3, start="spread", seed=seed)).tolist()
        assert {17, 31} <= set(drawn)


def test_all_records_the_same_still_give_records_as_start():
    rules = KMeansParams(3, start="spread")
    units = np.full((10, 2), 700)

    @declares("centres")
    async def program(party, _):
        x = await share(party, units if party.index == 0 else None, "p0", units.shape,
                        -rules.units, rules.units)
        return await reveal(party, await spread(party, x, rules), because="centres")

    assert np.array_equal(run(program, [None] * 2)[0], units[:3])


def test_only_receivers_learn_assignments_and_nobody_another_part():
    data = blobs(50, 4, 3, 2)
    found, ledgers = kmeans_columns(
        cut_columns(data, [2, 1, 1]), KMeansParams(3, 2), receivers=["p2"]
    )
    assert [part.assigned is None for part in found] == [True, True, False]
    assert [part.centres.shape for part in found] == [(3, 2), (3, 1), (3, 1)]
    for ledger in ledgers:
        told = {entry.because: tuple(entry.to) for entry in ledger.openings}
        assert told["the cluster of every record"] == ("p2",)
        assert told["the centres in the columns of p1"] == ("p1",)


def everybody_fails(program, inputs, error, match):
    """The owner whose input is bad says why; all others end with an error that names it."""
    outcomes = run_outcomes(program, inputs)
    failed = [outcome.error for outcome in outcomes]
    assert all(one is not None for one in failed)
    own = [one for one in failed if isinstance(one, error)]
    assert own
    assert match in str(own[0])
    for outcome in outcomes:
        labels = {row.label for row in outcome.ledger.rows if row.direction == "sent"}
        assert labels <= {"agree", "deal.seed", "ready", "abort"}
    assert all(isinstance(one, error | PartyError) for one in failed)


GOOD = blobs(20, 2, 2, 0)


@pytest.mark.parametrize(("bad", "error", "match"), [
    (np.zeros((0, 2)), RefusedError, "must have records"),
    (np.full((20, 2), 9.0), DataError, "'most'"),
    (np.full((20, 2), np.nan), DataError, "finite"),
    (np.zeros((20, 3)), InputError, "as agreed"),
    (np.zeros(20), DataError, "rows and at least one column")])
def test_bad_columns_end_the_run_before_anything_is_sent(bad, error, match):
    program = KMeansOverColumns(KMeansParams(2), {"p0": 2, "p1": 2, "p2": 2})
    everybody_fails(program, [KMeansSite(GOOD), KMeansSite(bad), KMeansSite(GOOD)], error, match)


@pytest.mark.parametrize("way", ["hidden", "revealed"])
@pytest.mark.parametrize(("bad", "error", "match"), [
    (np.zeros((0, 2)), RefusedError, "must have records"),
    (np.full((20, 2), -9.0), DataError, "'most'"),
    (np.zeros((20, 3)), InputError, "as agreed")])
def test_bad_rows_end_the_run_before_anything_is_sent(bad, error, match, way):
    program = KMeansOverRows(KMeansParams(2), ("a", "b"), ("p0", "p1", "p2"), way)
    everybody_fails(program, [GOOD, bad, GOOD], error, match)


def test_more_clusters_than_records_are_refused():
    program = KMeansOverColumns(KMeansParams(21), {"p0": 2, "p1": 2})
    everybody_fails(
        program, [KMeansSite(GOOD), KMeansSite(GOOD)], RefusedError, "as many records as clusters"
    )
    with pytest.raises(RefusedError, match="as many records as clusters"):
        kmeans_rows([GOOD[:3], GOOD[:3]], KMeansParams(7))


def test_owners_of_columns_must_have_the_same_number_of_records():
    with pytest.raises(RefusedError, match="different numbers"):
        kmeans_columns([GOOD, GOOD[:-1]], KMeansParams(2))


def test_a_distance_that_does_not_fit_is_refused_when_it_is_planned():
    with pytest.raises(RingError, match="2\\^62"):
        KMeansOverColumns(KMeansParams(2, most=2.0**22, scale=16), {"p0": 3, "p1": 3})
    with pytest.raises(RingError, match="2\\^62"):
        KMeansOverRows(KMeansParams(2, most=2.0**22, scale=16), ("a",), ("p0", "p1"))


def test_what_would_tell_too_much_is_refused():
    with pytest.raises(RefusedError, match="three owners"):
        kmeans_rows([GOOD, GOOD], KMeansParams(2), way="revealed")
    with pytest.raises(RefusedError, match="are records"):
        kmeans_rows([GOOD] * 3, KMeansParams(2, start="spread"), way="revealed")
    with pytest.raises(RefusedError, match="would show which"):
        kmeans_columns([GOOD] * 3, KMeansParams(2, start="spread"), way="assignments")
    with pytest.raises(RefusedError, match="holds no share"):
        kmeans_columns([GOOD] * 2, KMeansParams(2), way="assignments", closest="permuted")
    with pytest.raises(RefusedError, match="tells none"):
        kmeans_columns([GOOD] * 3, KMeansParams(2), closest="permuted")


@pytest.mark.parametrize("change", [{"k": 0}, {"k": 2.5}, {"iterations": 0}, {"scale": 25},
                                    {"most": -1.0}, {"most": float("nan")}, {"tolerance": -1.0},
                                    {"start": "far"}, {"seed": -1}])
def test_rules_that_make_no_clustering_are_refused(change):
    with pytest.raises(InputError):
        KMeansParams(**{"k": 3, **change})


def test_centres_of_small_clusters_are_not_opened():
    """One record far off is a cluster of its own; that there is one is all that is opened."""
    rng = np.random.default_rng(4)
    parts = [rng.normal(size=(12, 2)) / 4, np.vstack([rng.normal(size=(9, 2)) / 4, [[6.0, 6.0]]])]
    rules = KMeansParams(k=2, iterations=6, smallest_group=3, start="spread", seed=1)
    open_rules = dataclasses.replace(rules, smallest_group=0)
    found, _ = kmeans_rows(parts, open_rules)
    assert np.abs(found[0].centres - 6.0).max(axis=1).min() < 0.01
    outcomes = run_outcomes(KMeansOverRows(rules, ("x", "y"), ("p0", "p1")), parts)
    for outcome in outcomes[:2]:
        assert "Every cluster must have at least 3 records" in str(outcome.error)
        assert {o.because for o in outcome.ledger.openings} == {SIZES, SMALL}
    found, _ = kmeans_rows([parts[0], parts[1][:-1]], dataclasses.replace(rules, k=1))
    assert found[0].centres.shape == (1, 2)
