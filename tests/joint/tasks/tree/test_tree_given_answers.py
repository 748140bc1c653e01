"""A site that gives something else in the course of a tree over columns than it gave before."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.tree_data import LAYOUT, NAMES, WEATHER
from support.weather_sites import SPLIT, weather_sites
from unspoken.joint.mpc.authentic.guarded import Guarded
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.tree import column_steps
from unspoken.joint.tasks.tree.column_steps import Growing
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.site_tree_part import join_parts

SHAPE = TreeShape(("no", "yes"), "south", 2, 3, "play")
SITES = tuple(SPLIT)
MODES = ["authenticated", "three-party-verified"]
# It asks at the root, and holds shares.
CHEAT = "north"


def grown(mode):
    sites = weather_sites()
    program = TreeOverColumns(SHAPE, TreeParams(), SITES)
    return asyncio.run(in_memory(program, [sites[name] for name in SITES],
                                 roles_for(SITES, mode)))


def refused(outcomes):
    honest = [outcome for outcome in outcomes if outcome.name in SITES and outcome.name != CHEAT]
    assert all(o.error is not None and o.output is None for o in honest)
    return any(f"'{CHEAT}' gave something else than before" in str(o.error) for o in honest)


def right(outcomes):
    parts = [outcome.output for outcome in outcomes if outcome.name in SITES]
    return join_parts(parts, NAMES[:-1]).same_as(pooled(LAYOUT, WEATHER))


def giving(monkeypatch, change):
    """Let the cheat change what it shares for its nodes."""
    real = Growing._from_sites

    async def given(self, asking, values, shape):
        if self.party.name == CHEAT:
            values = change(values.copy())
        return await real(self, asking, values, shape)

    monkeypatch.setattr(Growing, "_from_sites", given)


def another_question(values):
    return values[:, ::-1] if values.shape[1] == SHAPE.slots else values


def both_questions(values):
    return np.ones_like(values) if values.shape[1] == SHAPE.slots else values


def no_question(values):
    return np.zeros_like(values) if values.shape[1] == SHAPE.slots else values


def another_answer(values):
    if values.shape[1] != SHAPE.slots:
        values[0, 3] = 1 - values[0, 3]
    return values


def other_answers(values):
    return values if values.shape[1] == SHAPE.slots else values[:, ::-1]


CHANGES = [another_question, both_questions, no_question, another_answer]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_honest_sites_grow_the_tree(mode):
    outcomes = grown(mode)
    assert [outcome.error for outcome in outcomes if outcome.error is not None] == []
    assert right(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("change", CHANGES)
def test_something_else_than_before_ends_the_run(monkeypatch, change, mode):
    giving(monkeypatch, change)
    assert refused(grown(mode))


@pytest.mark.slow
def test_fewer_answers_than_records_have_end_the_run(monkeypatch):
    real = column_steps._announced

    async def fewer(party, name, values, size):
        told = None if values is None else [2 if name == CHEAT else value for value in values]
        return await real(party, name, told, size)

    monkeypatch.setattr(column_steps, "_announced", fewer)
    assert refused(grown(MODES[0]))


@pytest.mark.slow
def test_without_the_test_a_wrong_tree_is_reported_as_right(monkeypatch):
    monkeypatch.setattr(Guarded, "claim_again", lambda self, claim: None)
    giving(monkeypatch, other_answers)
    outcomes = grown(MODES[0])
    assert [outcome.error for outcome in outcomes if outcome.error is not None] == []
    assert not right(outcomes)
