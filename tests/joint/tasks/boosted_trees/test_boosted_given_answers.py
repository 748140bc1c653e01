"""A site that gives other answers while boosted trees grow than it gave in the beginning."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from support.boosted_reference import random_table, sites_of
from unspoken.joint.mpc.authentic.guarded import Guarded
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.boosted_trees.column_growth import BoostedTree
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.program_columns import BoostOverColumns
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape

NAMES = ("north", "south")


def grown():
    sites = sites_of(*random_table(6, 20), NAMES, "north")
    program = BoostOverColumns(TreeShape(("no", "yes"), "north", 24, 2), TreeParams(max_depth=1),
                               Boost(1, 0.4, 0.5), NAMES)
    return asyncio.run(in_memory(program, list(sites.values()), roles_for(NAMES, "authenticated")))


def other_answers(monkeypatch):
    """Let whoever asks move one record to the other child."""
    real = BoostedTree._shared_bits

    async def shared(self, asking, slots):
        codes = None if self.ground.codes is None else self.ground.codes.copy()
        if codes is not None:
            codes[:, 3] = 1 - codes[:, 3]
        return await real(replace(self, ground=replace(self.ground, codes=codes)), asking, slots)

    monkeypatch.setattr(BoostedTree, "_shared_bits", shared)


@pytest.mark.slow
def test_other_answers_than_before_end_the_run(monkeypatch):
    assert [outcome.error for outcome in grown()] == [None] * 3
    other_answers(monkeypatch)
    outcomes = grown()
    assert all(outcome.error is not None and outcome.output is None for outcome in outcomes)
    assert any("gave something else than before" in str(outcome.error) for outcome in outcomes)


@pytest.mark.slow
def test_without_the_test_nobody_notices(monkeypatch):
    monkeypatch.setattr(Guarded, "claim_again", lambda self, claim: None)
    other_answers(monkeypatch)
    assert [outcome.error for outcome in grown()] == [None] * 3
