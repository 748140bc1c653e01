"""What parties see during k-means follows from what was declared: simulation, and mutants."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from scipy import stats

from support.distinguisher import SUSPICIOUS
from support.everywhere import replace_everywhere
from support.masks import against_uniform, break_masks, broken_masks
from support.mining_views import masked_words, watched
from unspoken.joint import less_than, multiply, reveal, secure_sum, share
from unspoken.joint.joint_errors import JointError
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.mpc.ops.fixed_operand_matmul import FixedRight
from unspoken.joint.museum.message_leaks import Totals, moved_points
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.kmeans import all_on_shares as hidden_module
from unspoken.joint.tasks.kmeans import nearest_centre as closest_module
from unspoken.joint.tasks.kmeans import program_columns as columns_module
from unspoken.joint.tasks.kmeans.all_on_shares import Hidden
from unspoken.joint.tasks.kmeans.nearest_centre import COMPARED
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.pooled import nearest, pooled
from unspoken.joint.tasks.kmeans.program_columns import ASSIGNED, KMeansOverColumns, KMeansSite
from unspoken.joint.tasks.kmeans.program_rows import TOTALS, KMeansOverRows
from unspoken.joint.wire.frames import HEADER_BYTES, parse

pytestmark = pytest.mark.slow

RULES = KMeansParams(3, 3)
WIDTHS = {"p0": 1, "p1": 2, "p2": 1}
MIDDLE = np.array([[-4, -4, 0, 0], [4, 0, 4, 0], [0, 4, -4, 4]], float)


def cloud(turned):
    """The same clusters and centres from different records: each is turned about its centre."""
    half = np.random.default_rng(1).integers(-400, 400, (3, 16, 4)) / 256.0
    both = np.concatenate([half, -half], axis=1) * (-0.5 if turned else 1)
    return (MIDDLE[:, None] + both).transpose(1, 0, 2).reshape(-1, 4)


def sites(data, start=MIDDLE):
    return [KMeansSite(part, start=first) for part, first in zip(
        np.split(data, [1, 3], axis=1), np.split(start, [1, 3], axis=1), strict=True)]


def program(way="hidden", nearest="shares", rules=RULES):
    return KMeansOverColumns(rules, WIDTHS, ("p0", "p1"), way, nearest, has_start=True)


def told_apart(way="hidden"):
    """Say whether two tables with one result look different to somebody."""
    first, second = (watched(program(way), sites(cloud(turned)), blur=["centres"])
                     for turned in (False, True))
    return first != second


@pytest.mark.parametrize("way", ["hidden", "assignments"])
def test_all_that_shows_follows_from_the_result(way):
    assert not told_apart(way)


def test_a_count_that_nobody_declared_cannot_be_opened(monkeypatch):
    real = Hidden._totals

    async def leaking(self, bits):
        sums, counts = await real(self, bits)
        await reveal(self.party, counts, because="counts")
        return sums, counts

    monkeypatch.setattr(Hidden, "_totals", leaking)
    with pytest.raises(JointError, match=r"counts|program failed"):
        told_apart()


def test_a_distance_opened_under_a_declared_name_is_caught(monkeypatch):
    real = Hidden._scores

    async def leaking(self, block, lengths):
        found = await real(self, block, lengths)
        await reveal(self.party, found[0, :1], because=ASSIGNED)
        return found

    monkeypatch.setattr(Hidden, "_scores", leaking)
    assert told_apart()


def test_a_distance_of_the_books_way_opened_is_caught(monkeypatch):
    real = closest_module.closest

    async def leaking(party, value):
        await reveal(party, value[0, :1], because=columns_module.EVERY)
        return await real(party, value)

    monkeypatch.setattr(columns_module, "closest", leaking)
    assert told_apart("assignments")


def another_way(data):
    """Return a start with the same result whose first assignments differ."""
    rng, rules = np.random.default_rng(5), KMeansParams(3, 3)
    result = pooled([data], rules, MIDDLE)[1]
    for _ in range(2000):
        start = np.rint(rng.uniform(-7, 7, (3, 4)) * 16) / 16
        first = nearest([data], [start], rules)
        assigned = pooled([data], KMeansParams(3, 2), start)[1]
        if np.array_equal(assigned, result) and not np.array_equal(first, result):
            return start
    raise AssertionError("no such start")


def ways_differ():
    data = cloud(False)
    first, second = (watched(program(), sites(data, start), blur=["centres"])
                     for start in (MIDDLE, another_way(data)))
    return first != second


def test_the_way_to_the_result_does_not_show():
    assert not ways_differ()


def test_intermediate_assignments_are_caught(monkeypatch):
    real = Hidden.nearest

    async def leaking(self):
        bits = await real(self)
        await reveal(self.party, bits[0], because=ASSIGNED)
        return bits

    monkeypatch.setattr(Hidden, "nearest", leaking)
    assert ways_differ()


def test_stopping_when_nothing_moves_is_caught_without_a_tolerance(monkeypatch):
    async def eager(self):
        for _ in range(self.rules.iterations):
            before, self.centres = self.centres, await self._means(await self.nearest())
            gap = self.centres - before
            small = await less_than(self.party, (await multiply(self.party, gap, gap)).sum()
                                    .reshape(1), 1 << 18)
            if (await reveal(self.party, small, because=ASSIGNED))[0]:
                return

    monkeypatch.setattr(Hidden, "run", eager)
    assert ways_differ()


def test_a_length_that_depends_on_a_cluster_is_caught(monkeypatch):
    real = hidden_module.one_hot

    async def shorter(party, bits):
        found = await real(party, bits)
        size = SIZE[0]
        await multiply(party, found[:, :size], found[:, :size])
        return found

    monkeypatch.setattr(hidden_module, "one_hot", shorter)
    seen = []
    for SIZE[0], turned in ((8, False), (9, True)):
        seen.append(watched(program(), sites(cloud(turned)), blur=["centres"]))
    assert seen[0] != seen[1]


SIZE = [0]


@pytest.mark.parametrize("way", ["hidden", "assignments"])
def test_masked_words_look_uniform(way):
    assert against_uniform(masked_words(program(way), sites(cloud(False)), 96, 20)) > SUSPICIOUS


@broken_masks
@pytest.mark.parametrize("way", ["hidden", "assignments"])
def test_broken_masks_are_caught(monkeypatch, name, way):
    break_masks(monkeypatch, name)
    assert against_uniform(masked_words(program(way), sites(cloud(False)), 96, 20)) < SUSPICIOUS


def permuted_places():
    """Return which place of its order the nearest centre had, as the holders see it."""
    seen, real = [], sharing.reveal

    async def reveal(party, value, **options):
        found = await real(party, value, **options)
        if party.name == "p0" and options["because"] == COMPARED:
            seen.append(np.asarray(found))
        return found

    # 9 of 10 records lie in one cluster.
    data = np.repeat(MIDDLE, [540, 30, 30], axis=0)
    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, real, reveal)
        watched(program("assignments", "permuted", KMeansParams(3, 1)), sites(data))
    first, second = seen[:2]
    return np.where(second, 2, np.where(first, 1, 0))


def test_permuted_comparisons_do_not_show_the_sizes_of_clusters():
    times = np.bincount(permuted_places(), minlength=3)
    assert stats.chisquare(times).pvalue > SUSPICIOUS


def test_one_order_for_all_records_is_caught(monkeypatch):
    real = closest_module.fresh_orders
    monkeypatch.setattr(closest_module, "fresh_orders",
                        lambda n, k: np.repeat(real(1, k), n, axis=1))
    times = np.bincount(permuted_places(), minlength=3)
    assert stats.chisquare(times).pvalue < SUSPICIOUS


def test_revealed_totals_expose_the_record_that_moved():
    """What the way 'revealed' discloses is enough for the attack of museum.message_leaks."""
    rng = np.random.default_rng(3)
    lone = np.array([[0.5, 0.5]])
    data = np.concatenate([rng.normal(-3, 0.3, (20, 2)), rng.normal(3, 0.3, (20, 2)), lone])
    # Nearer to the right start; nearer to the left mean once the right one has moved away.
    start = np.array([[-3.0, -3.0], [2.0, 2.0]])
    seen, real = [], secure_sum

    async def summed(party, values, **options):
        found = await real(party, values, **options)
        if party.name == "p0" and options["because"] == TOTALS:
            seen.append(np.asarray(found, np.float64))
        return found

    # A heavy cloud far right draws the right mean away from the lone record.
    parts = [data[:15], data[15:30], np.concatenate([data[30:], np.full((60, 2), 7.0)])]
    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, real, summed)
        watched(KMeansOverRows(KMeansParams(2, 4), ("a", "b"), ("p0", "p1", "p2"), "revealed",
                                 start=start), parts, "sums")
    first, second = (Totals(t[0, 2], t[0, :2] / 4096) for t in seen[:2])
    assert abs(first.count - second.count) == 1
    assert np.allclose(moved_points(first, second), lone)


def fixed_views(runs=4):
    """Return what a holder sees opened in products of one left operand with one right one."""
    left, right = np.arange(32).reshape(2, 16), np.arange(48).reshape(16, 3)

    async def several(party, _):
        x = await share(party, right if party.index == 0 else None, "p0", (16, 3), 0, 99)
        y = await share(party, left if party.index == 1 else None, "p1", (2, 16), 0, 99)
        fixed = FixedRight(party, x, 2, 6)
        return [await fixed.product(y, (0, 10**6)) for _ in range(6)]

    views = [opened_frames(several) for _ in range(runs)]
    return np.array(views)


def opened_frames(body):
    """Run a program; return the openings of left operands that p0 got, one row a product."""
    seen = []

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if target == "p0" and header.label == "matmul.open":
            seen.append(np.frombuffer(frame[HEADER_BYTES:], np.uint64))
        return frame

    outcomes = asyncio.run(in_memory(body, [None] * 2, roles_for(["p0", "p1"], "dealer"),
                                     tap=tap))
    assert [outcome.error for outcome in outcomes] == [None] * 3
    return [part for part in seen if part.size == 32]


def test_products_with_a_fixed_operand_look_uniform():
    view = fixed_views()
    assert view.shape == (4, 6, 32)
    assert against_uniform(view) > SUSPICIOUS


def test_a_mask_used_for_two_left_operands_is_caught(monkeypatch):
    real = FixedRight._share

    async def again(self, left):
        first = self.masks[0]
        found = await real(self, left)
        self.masks.insert(0, first)
        self.masks = [first] * max(1, len(self.masks))
        return found

    monkeypatch.setattr(FixedRight, "_share", again)
    view = fixed_views()
    assert against_uniform(view) < SUSPICIOUS
