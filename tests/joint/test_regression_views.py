"""What parties see of searches, Newton's steps, selections and plots: uniform words, and no more.

Every program is run against the same in the clear: what it opens must be what its reason says, to
the last number. Broken forms, with the same reasons, must be caught.
"""

from __future__ import annotations

import numpy as np
import pytest
from distinguisher import SUSPICIOUS
from masks import against_uniform, break_masks
from regression_data import by_rows, made, picked
from test_simulation import frames_to
from watching import opened_and_lengths

from tacit.joint.protocols.regression import (
    searching,
)
from tacit.joint.protocols.regression.central import central
from tacit.joint.protocols.regression.columns import Columns, Given
from tacit.joint.protocols.regression.diagnostics import HorizontalResiduals, VerticalResiduals
from tacit.joint.protocols.regression.horizontal import HorizontalRegression
from tacit.joint.protocols.regression.logistic import HorizontalLogistic
from tacit.joint.protocols.regression.logistic_columns import VerticalLogistic
from tacit.joint.protocols.regression.powell import PowellRegression
from tacit.joint.protocols.regression.selecting import Selection
from tacit.joint.protocols.regression.terms import Rules, Terms
from tacit.stats.logistic import probabilities

THREE = Columns({"p0": ("x0",), "p1": ("x1",), "p2": ("x2",)}, "y", "p2")
PAIR = Columns({"p0": ("x0",), "p1": ("x1",), "p2": ()}, "y", "p2")
ONE, BOTH = Terms("y", ("x0",)), Terms("y", ("x0", "x1"))
SMALL = Rules(condition=16.0, inference=False)


def parts_of(columns, data):
    return [Given(picked(data, columns.needed(owner))) for owner in columns.owners]


def yes_and_no(rows, terms):
    """Return columns, and a response that they make likelier but not certain."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, terms))
    likely = probabilities(x @ np.arange(1, terms + 1) / 2 - 0.3)
    return {**{f"x{i}": x[:, i] for i in range(terms)},
            "y": (rng.uniform(size=rows) < likely).astype(float)}


def powell_run(data=None):
    data = made(100, 3, 1) if data is None else data
    return PowellRegression(THREE, SMALL), parts_of(THREE, data)


def logistic_run(data=None):
    data = yes_and_no(130, 1) if data is None else data
    return HorizontalLogistic(ONE, Rules(condition=4.0)), [
        ONE.table(part) for part in by_rows(data, np.arange(130) % 3)]


def logistic_columns_run(data=None):
    data = yes_and_no(130, 2) if data is None else data
    return VerticalLogistic(PAIR, Rules(condition=64.0)), parts_of(PAIR, data)


def crossing_run(data=None):
    data = yes_and_no(160, 2) if data is None else data
    columns = Columns(PAIR.owners, "y", "p2", (("x0", "x1"),))
    return VerticalLogistic(columns, Rules(condition=64.0)), parts_of(columns, data)


def selecting_run(data=None):
    data = made(90, 2, 1) if data is None else data
    return HorizontalRegression(BOTH, Rules(condition=16.0), Selection("forward", "bic")), [
        BOTH.table(part) for part in by_rows(data, np.arange(90) % 3)]


def synthetic_run(data=None):
    data = made(120, 1, 1) if data is None else data
    return HorizontalResiduals(ONE, central(ONE, data), 20, 10), [
        ONE.table(part) for part in by_rows(data, np.arange(120) % 3)]


def groups_run(data=None):
    data = made(120, 2, 1) if data is None else data
    program = VerticalResiduals(PAIR, central(PAIR.terms, data), 3, 10)
    return program, [picked(data, PAIR.needed(owner)) for owner in PAIR.owners]


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


def opened_for(run, because, me="p0"):
    """Return what a party saw opened for one reason, one list a step."""
    opened, _ = opened_and_lengths(*run())
    return [np.ravel(value) for name, _, reason, value in opened
            if name == me and reason == because]


def plain_steps(data):
    """Return every step of Powell's search in the clear, from unit vectors as directions."""
    table = np.column_stack([data[name] for name in ("x0", "x1", "x2", "y")])
    table = table - table.mean(axis=0)
    table = table / 2.0 ** np.frexp(table.std(axis=0))[1]
    x, y, p = table[:, :-1], table[:, -1], 3
    beta, directions, found = np.zeros(p), np.eye(p), []

    def along(d, beta):
        w = x @ d
        found.append(float((y - x @ beta) @ w / (w @ w)))
        return beta + found[-1] * d

    while True:
        before = beta
        for d in directions:
            beta = along(d, beta)
        steps = np.array(found[-p:])
        if np.abs(steps).max() < 1e-9:
            return found
        if abs(steps[0]) < 1e-3 * np.abs(steps).max():
            continue
        last = (beta - before) / np.sqrt((steps**2).sum())
        directions = np.vstack([directions[1:], last])
        beta = along(last, beta)


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
        await party.reveal(await party.narrow(values, 40, 2), because=searching.STEP)
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


def turned(data, columns):
    """Return records in another order: the same sums, other vectors."""
    order = np.random.default_rng(5).permutation(len(data["y"]))
    return {name: data[name][order] for name in columns}


def lengths_of(run, data):
    return opened_and_lengths(*run(data))[1]


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
