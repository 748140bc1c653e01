"""What parties see while outliers are sought follows from what was declared; mutants of it."""

from __future__ import annotations

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks, broken_masks
from support.mining_views import masked_words, watched
from unspoken.joint import reveal
from unspoken.joint.joint_errors import JointError
from unspoken.joint.tasks.outliers import (
    count_near as counting,
)
from unspoken.joint.tasks.outliers import (
    farthest_objects,
)
from unspoken.joint.tasks.outliers import (
    program_columns as vertical,
)
from unspoken.joint.tasks.outliers import (
    program_rows as horizontal,
)
from unspoken.joint.tasks.outliers.count_near import OUTLIERS
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.pooled import pooled
from unspoken.joint.tasks.outliers.program_columns import OutliersOverColumns
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows

pytestmark = pytest.mark.slow

RULES = OutlierParams(0.8, 4.0, scale=4)
FARTHEST = OutlierParams(neighbours=1, top=4, scale=4)


def table(spread):
    """The same outliers (4 of 24 objects) at other distances and with other counts."""
    rng = np.random.default_rng(2)
    data = np.rint(rng.uniform(-spread, spread, (24, 3)) * 16) / 16
    data[[3, 9, 15, 20]] = [[7, 7, 7], [-7, 7, 0], [7, -7, spread], [-7, -7, -7]]
    return data


TABLES = [table(0.5), table(2.0)]


def programs(data):
    return [(OutliersOverColumns(RULES, {"p0": 1, "p1": 1, "p2": 1}, ["p2"]),
             [data[:, :1], data[:, 1:2], data[:, 2:]]),
            (OutliersOverRows(RULES, 3, ["p0", "p1", "p2"], ["p2"]),
             [data[:7], data[7:16], data[16:]]),
            (OutliersOverRows(RULES, 3, ["p0", "p1", "p2"]),
             [data[:7], data[7:16], data[16:]]),
            (OutliersOverColumns(FARTHEST, {"p0": 1, "p1": 1, "p2": 1}, ["p2"]),
             [data[:, :1], data[:, 1:2], data[:, 2:]]),
            (OutliersOverRows(FARTHEST, 3, ["p0", "p1", "p2"], ["p2"]),
             [data[:7], data[7:16], data[16:]])]


def told_apart(kind):
    """Say whether two tables with the same outliers look different to somebody."""
    first, second = (watched(*programs(data)[kind]) for data in TABLES)
    return first != second


def test_the_two_tables_have_the_same_outliers_and_other_counts():
    first, second = (pooled(data, RULES) for data in TABLES)
    assert first.same_as(second).identical
    assert 0 < first.places.size < 24
    assert all(pooled(data, FARTHEST).places.tolist() == [3, 9, 15, 20] for data in TABLES)


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4])
def test_all_that_shows_follows_from_the_outliers(kind):
    assert not told_apart(kind)


@pytest.mark.parametrize("kind", [0, 1])
def test_a_count_opened_instead_of_compared_is_caught(monkeypatch, kind):
    async def leaking(party, counts, rules, receivers):
        await reveal(party, counts, because=OUTLIERS, to=receivers)
        return await counting.tell(party, counts, rules, receivers)

    monkeypatch.setattr((vertical, horizontal)[kind], "tell", leaking)
    assert told_apart(kind)


@pytest.mark.parametrize("kind", [0, 1])
def test_a_distance_opened_under_a_declared_name_is_caught(monkeypatch, kind):
    async def leaking(party, powers, limit):
        await reveal(party, powers.reshape(-1)[:1], because=OUTLIERS, to=["p2"])
        return await counting.far_bits(party, powers, limit)

    monkeypatch.setattr((vertical, horizontal)[kind], "far_bits", leaking)
    assert told_apart(kind)


@pytest.mark.parametrize("kind", [3, 4])
def test_the_distance_to_a_neighbour_opened_is_caught(monkeypatch, kind):
    async def leaking(party, distances, rules):
        kth = await farthest_objects.kth_distances(party, distances, rules)
        await reveal(party, kth[:1], because=OUTLIERS, to=["p2"])
        return kth

    monkeypatch.setattr((vertical, horizontal)[kind - 3], "kth_distances", leaking)
    assert told_apart(kind)


def test_outliers_told_to_somebody_else_are_refused(monkeypatch):
    real = counting.tell

    async def everybody(party, counts, rules, receivers):
        return await real(party, counts, rules, ())

    monkeypatch.setattr(vertical, "tell", everybody)
    with pytest.raises(JointError, match=r"must be declared|program failed"):
        told_apart(0)


def test_a_number_of_messages_that_depends_on_the_data_is_caught(monkeypatch):
    """As a variant would that stops comparing an object once enough others are far."""
    real, seen = vertical.pairs_of, []
    for data in TABLES:
        near = int((np.abs(data).max(axis=1) < 1).sum())
        monkeypatch.setattr(vertical, "pairs_of", lambda objects, _, n=near: real(objects, 30 + n))
        seen.append(watched(*programs(data)[0]))
    assert seen[0] != seen[1]


@pytest.mark.parametrize("kind", [0, 1])
def test_masked_words_look_uniform(kind):
    assert against_uniform(masked_words(*programs(TABLES[0])[kind], 40, 8, runs=8)) > SUSPICIOUS


@broken_masks
@pytest.mark.parametrize("kind", [0, 1])
def test_broken_masks_are_caught(monkeypatch, name, kind):
    break_masks(monkeypatch, name)
    assert against_uniform(masked_words(*programs(TABLES[0])[kind], 40, 8, runs=8)) < SUSPICIOUS
