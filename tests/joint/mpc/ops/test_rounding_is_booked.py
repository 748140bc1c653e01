"""A number that is opened after `truncate` tells more than the number: the record says so."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.study_cases import CASES, modes_of, study_case
from unspoken.joint import (
    declares,
    floor,
    less_than,
    lift,
    matmul,
    multiply,
    narrow,
    reveal,
    select,
    share,
    to_numbers,
    truncate,
)
from unspoken.joint.mpc.shared import concatenate, public
from unspoken.joint.session.dry_run import dry_run
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.ledger_rows import ROUNDING

F, N = 20, 400
SECRET = (777 << F) + 654_321
NAMES = ["p0", "p1"]
MODEL = ("the coefficients of the model", "the standard errors of the coefficients",
         "the sums of squares of the model: total and residual")
STEPS = "the coefficients after each step"
# What each task of the small studies opens after rounding on shares; the others open nothing so.
ROUNDED = {
    "kmeans": {"the centres"},
    "kmeans-columns": {f"the centres in the columns of {name}"
                       for name in ("north", "south", "east")},
    "logistic": {STEPS, "the log-likelihood of the model", MODEL[1]},
    "logistic-columns": {STEPS, "the log-likelihood of the model", MODEL[0]},
    "regression": {*MODEL}, "regression-columns": {*MODEL}, "residuals": {*MODEL},
    "residuals-columns": {*MODEL, "means of each column and of residuals, and their spread, over "
                                  "groups of records"},
    "robust": {STEPS, "the scale of residuals after each step, and how many are held down",
               MODEL[1]},
    "influence": {MODEL[0], MODEL[2]},
    "boosted-trees": {"the number of every leaf"},
}
LONG = {*ROUNDED} - {"kmeans", "kmeans-columns", "boosted-trees"}


async def _secret(party, data):
    return await share(party, data, "p0", (N,), 0, 2**40)


@declares("value")
async def cut(party, data):
    """Open what was rounded by chance to a holder, as the script of the finding does."""
    y = await truncate(party, await _secret(party, data), F)
    return await reveal(party, y, because="value", to=["p1"])


@declares("value")
async def down(party, data):
    """Open what is always rounded down."""
    y = await floor(party, await _secret(party, data), F)
    return await reveal(party, y, because="value", to=["p1"])


def run(program, mode):
    data = [np.full(N, SECRET), None]
    return asyncio.run(in_memory(program, data, roles_for(NAMES, mode)))


@pytest.mark.parametrize("mode", ["dealer", "authenticated", "two-party"])
def test_a_holder_that_learns_a_comparison_is_named_in_every_ledger(mode, tmp_path):
    outcomes = run(cut, mode)
    assert not any(outcome.error for outcome in outcomes)
    assert set(outcomes[1].output.tolist()) == {777, 778}
    for name, outcome in zip(NAMES, outcomes, strict=False):
        outcome.ledger.save(tmp_path / name)
        kept = Ledger.load(tmp_path / name)
        assert [opening.rounded for opening in kept.openings] == [True]
        assert ROUNDING in kept.table()


def test_a_dry_run_says_it_before_anything_is_sent():
    roles = roles_for(NAMES, "dealer")
    inputs = {"p0": np.zeros(N, np.int64)}
    assert dry_run(cut, inputs, roles, cut.disclosures).rounded() == ["value"]
    assert dry_run(down, inputs, roles, down.disclosures).rounded() == []


def test_what_is_always_rounded_down_tells_nothing_and_books_nothing():
    outcomes = run(down, "dealer")
    assert set(outcomes[1].output.tolist()) == {777}
    for outcome in outcomes:
        assert ROUNDING not in outcome.ledger.table()


@declares("marks")
async def marks(party, data):
    """Return what is marked of all that is computed from a rounded value and an exact one."""
    x = (await _secret(party, data))[:2].within(0, 1 << 30)
    y = await truncate(party, x, F)
    bits = await less_than(party, y, x)
    wide = await lift(party, x)
    marked = [y + x, x - y, -y, y * 3, y[:1], y.sum(), y.reshape(1, 2).T, concatenate([x, y]),
              await multiply(party, x, y), await select(party, bits, x, y),
              await matmul(party, x.reshape(1, 2), y.reshape(2, 1)),
              await narrow(party, await lift(party, y), 0), await narrow(party, wide.shifted(9), 0),
              await truncate(party, await floor(party, x, 2), 2)]
    exact = [x, public(party, np.ones(2)), await to_numbers(party, bits),
             await narrow(party, wide, 0), await floor(party, y, 2), await multiply(party, x, x)]
    return [one.rounded for one in marked], [one.rounded for one in exact]


def test_the_mark_goes_wherever_the_value_does():
    marked, exact = run(marks, "dealer")[0].output
    assert marked == [True] * len(marked)
    assert exact == [False] * len(exact)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in CASES
    if "dealer" in modes_of(name)])
def test_the_plan_of_a_task_says_what_it_opens_after_rounding(name):
    study, task, records = study_case(name, "dealer")
    plan = task.plan(study, records)
    [note] = [note for note in plan.notes if ROUNDING in note] or [""]
    assert {because for because in opened_by(plan) if f"'{because}'" in note} == ROUNDED.get(
        name, set())
    assert (ROUNDING in plan.text()) == (ROUNDING in str(plan.to_json())) == (name in ROUNDED)


def opened_by(plan):
    return {because for opened in plan.opened.values() for because in opened}
