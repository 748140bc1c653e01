"""What parties see while neighbours are sought follows from what was declared; mutants of it."""

from __future__ import annotations

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks
from support.mining_views import masked_words, watched
from unspoken.joint import reveal
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.tasks.common import nearest_rows as nearest
from unspoken.joint.tasks.neighbours import program_rows as horizontal
from unspoken.joint.tasks.neighbours.params import NeighbourParams
from unspoken.joint.tasks.neighbours.pooled import pooled
from unspoken.joint.tasks.neighbours.program_rows import NEAREST, Labelled, NeighboursOverRows

pytestmark = pytest.mark.slow

RULES, CLASSES = NeighbourParams(3, scale=4), ("no", "yes")


def parts(turn):
    """Return records and rows of two owners: the same classes from other rows and distances."""
    rng = np.random.default_rng(turn)
    asked = np.array([[-6.0, 0.0], [6.0, 0.0], [-5.0, 1.0]])
    labels = np.array(["no", "yes"] * 10, object)
    if turn:
        labels = labels[::-1]
    rows = np.rint((np.where(labels == "no", -6.0, 6.0)[:, None]
                    + rng.uniform(-1 - turn, 1 + turn, (20, 2)) * [1.0, 2.0]) * 16 / 2) / 16
    return asked, rows, labels


def run(turn):
    asked, rows, labels = parts(turn)
    return (NeighboursOverRows(RULES, 2, CLASSES, "p0", ["p0", "p1", "p2"]),
            [Labelled(asked), Labelled(rows[:8], labels[:8]), Labelled(rows[8:], labels[8:])])


def told_apart():
    return watched(*run(0)) != watched(*run(1))


def test_the_two_tables_give_the_same_classes():
    first, second = (pooled(*parts(turn), CLASSES, RULES).tolist() for turn in (0, 1))
    assert first == second == ["no", "yes", "no"]


def test_all_that_shows_follows_from_the_classes():
    assert not told_apart()


def test_a_distance_opened_under_a_declared_name_is_caught(monkeypatch):
    async def leaking(party, distances):
        await reveal(party, distances[0, :1], because=NEAREST, to=["p0"])
        return await argmin(party, distances)

    monkeypatch.setattr(nearest, "argmin", leaking)
    assert told_apart()


def test_the_nearest_row_opened_is_caught(monkeypatch):
    async def leaking(party, distances):
        place, least = await argmin(party, distances)
        await reveal(party, place, because=NEAREST, to=["p0"])
        return place, least

    monkeypatch.setattr(nearest, "argmin", leaking)
    assert told_apart()


def test_votes_opened_are_caught(monkeypatch):
    """Three to nothing or two to one: the class alone does not say."""
    real = horizontal.argmax

    async def leaking(party, votes):
        await reveal(party, votes[0] * 1000 + votes[2], because=NEAREST, to=["p0"])
        return await real(party, votes)

    monkeypatch.setattr(horizontal, "argmax", leaking)
    asked, rows, labels = parts(0)
    mixed = labels.copy()
    near = np.argsort(((rows - asked[2]) ** 2).sum(axis=1), kind="stable")[:3]
    mixed[near[2]] = "yes"
    assert pooled(asked, rows, mixed, CLASSES, RULES).tolist() == ["no", "yes", "no"]
    program, inputs = run(0)
    other = [inputs[0], Labelled(rows[:8], mixed[:8]), Labelled(rows[8:], mixed[8:])]
    assert watched(program, inputs) != watched(program, other)


def test_masked_words_look_uniform():
    assert against_uniform(masked_words(*run(0), 40, 8, runs=8)) > SUSPICIOUS


def test_broken_masks_are_caught(monkeypatch):
    break_masks(monkeypatch, "32 bits")
    assert against_uniform(masked_words(*run(0), 40, 8, runs=8)) < SUSPICIOUS
