"""What parties see of searches, Newton's steps, selections and plots: uniform words, and no more.

Every program is run against the same in the clear: what it opens must be what its reason says, to
the last number. Broken forms, with the same reasons, must be caught.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.distinguisher import SUSPICIOUS
from support.masks import against_uniform, break_masks
from support.plain_powell import orthogonal, scaled, searched
from support.regression_data import by_rows, made
from support.regression_runs import (
    ONE,
    crossing_run,
    groups_run,
    lengths_of,
    logistic_columns_run,
    logistic_run,
    opened_for,
    parts_of,
    selecting_run,
    turned,
)
from support.watching import frames_to
from unspoken.joint import narrow, reveal
from unspoken.joint.museum import line_search as searching
from unspoken.joint.museum.powell import PowellRegression
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.residuals.program_rows import ResidualsOverRows

pytestmark = pytest.mark.slow

THREE = OwnedColumns({"p0": ("x0",), "p1": ("x1",), "p2": ("x2",)}, "y", "p2")
SMALL = RegressionParams(condition=16.0, inference=False)


def powell_run(data=None):
    data = made(100, 3, 1) if data is None else data
    return PowellRegression(THREE, SMALL), parts_of(THREE, data)


def synthetic_run(data=None):
    data = made(120, 1, 1) if data is None else data
    return ResidualsOverRows(ONE, pooled(ONE, data), 20, 10), [
        ONE.table(part) for part in by_rows(data, np.arange(120) % 3)]


RUNS = [powell_run, logistic_run, logistic_columns_run, crossing_run, selecting_run, synthetic_run,
        groups_run]


def views(run):
    """Return the 64-bit words that holders got of a run, by sender, receiver and label."""
    got, _ = frames_to(*run(), {"p0", "p1"}, "dealer")
    found = {key: np.concatenate(frames) for key, frames in got.items()
             if frames[0].dtype == np.uint64 and key[2] != "reveal"}
    return {key: words[None, None] for key, words in found.items() if words.size >= 20}


@pytest.mark.parametrize("run", RUNS)
def test_holders_see_uniform_words(run):
    seen = views(run)
    assert {key[1] for key in seen} == {"p0", "p1"}
    assert len(seen) >= 4
    for view in seen.values():
        assert against_uniform(view) > SUSPICIOUS


@pytest.mark.parametrize("run", [powell_run, logistic_columns_run, groups_run])
def test_broken_masks_are_caught(monkeypatch, run):
    break_masks(monkeypatch, "32 bits")
    assert min(map(against_uniform, views(run).values())) < SUSPICIOUS


def plain_steps(data):
    """Return every step of Powell's search in the clear, from unit vectors as directions."""
    x = np.column_stack([orthogonal(data[name][:, None]) for name in ("x0", "x1", "x2")])
    return searched(x, scaled(data["y"]), np.eye(3))[0]


def powell_is_told(monkeypatch):
    """Say whether a search opens the steps of the plain one, and nothing else for that reason."""
    monkeypatch.setattr(searching, "_rotation", np.eye)
    seen = opened_for(powell_run, searching.STEP)
    wanted = plain_steps(made(100, 3, 1))
    # Steps below what counts as small are rounding.
    return len(seen) == len(wanted) and all(
        step.size == 1 and abs(step[0] - plain) <= 1e-9 for step, plain in zip(seen, wanted,
                                                                              strict=True))


def test_only_step_lengths_are_opened_of_a_search(monkeypatch):
    assert powell_is_told(monkeypatch)


def test_a_search_that_opens_a_product_is_caught(monkeypatch):
    real = searching.reciprocals

    async def leaking(party, values):
        await reveal(party, await narrow(party, values, 40, 2), because=searching.STEP)
        return await real(party, values)

    monkeypatch.setattr(searching, "reciprocals", leaking)
    assert not powell_is_told(monkeypatch)


def test_a_residual_that_is_opened_is_caught(monkeypatch):
    """The literal form under the name of the other one."""
    real = searching.Search.__init__

    def literal(self, *given, **how):
        real(self, *given, **{**how, "literal": True})

    monkeypatch.setattr(searching.Search, "__init__", literal)
    monkeypatch.setattr(searching, "WEAK", searching.STEP)
    assert not powell_is_told(monkeypatch)


def powell_lengths_differ(monkeypatch):
    monkeypatch.setattr(searching, "_rotation", np.eye)
    data = made(100, 3, 1)
    return lengths_of(powell_run, data) != lengths_of(powell_run, turned(data, data))


def test_what_a_search_sends_does_not_depend_on_records(monkeypatch):
    assert not powell_lengths_differ(monkeypatch)


def test_a_search_that_spares_itself_messages_is_caught(monkeypatch):
    real = searching.Search.vectors

    async def sparing(self, direction):
        # Whether the first record of the first owner is above its mean is nobody's business.
        if self.party.name == "p0" and self.walker.x[0, 0] > 0:
            self.party.begin("spared")
        return await real(self, direction)

    monkeypatch.setattr(searching.Search, "vectors", sparing)
    data = made(100, 3, 1)
    first = np.sign(data["x0"][0] - data["x0"].mean())
    other = turned(data, data)
    assert np.sign(other["x0"][0] - data["x0"].mean()) != first
    with pytest.raises(AssertionError):
        assert not powell_lengths_differ(monkeypatch)
