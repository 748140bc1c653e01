"""A study that links records goes on with the people that its first attempt had linked."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.broken_attempts import CODE, STUDY, Mortal
from support.linked_people import LINK, two_owners
from unspoken.joint import secure_sum
from unspoken.joint.joint_errors import PartyError
from unspoken.joint.mpc.checkpoints import Checkpoints, kept
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.linkage.field_tokens import LinkColumn
from unspoken.joint.mpc.linkage.linkage_rules import ENCODED, LinkRules
from unspoken.joint.mpc.linkage.linkage_unit import LinkageUnit
from unspoken.joint.session.play import in_memory
from unspoken.joint.tasks.common.record_order import InOneOrder, RecordOrder, Records
from unspoken.joint.wire.endpoint import Roles

RULES = LinkRules(tuple(map(LinkColumn.of, LINK)))
OWNERS = ("p0", "p1", "p2")
ROLES = Roles(OWNERS, OWNERS, mode="sums", linker="lina")


@declares("values of linked people")
async def totals(party, data):
    """Open what both have of each linked person, twice; return it with the own part."""
    for number in range(2):
        total = await kept(party, f"round {number}", lambda: secure_sum(
            party, data, because="values of linked people"))
    return np.asarray(total), data


def linking():
    program = InOneOrder(totals, OWNERS, RecordOrder(linkage=RULES))
    program.disclosures = (*totals.disclosures, *RULES.disclosures(OWNERS, "lina"))
    return program


@pytest.fixture(scope="module")
def inputs():
    mine, theirs, here, there = two_owners(200, seed=8)
    order = np.random.default_rng(1).permutation(np.arange(50, 200))
    third = [[column[i] for i in order] for column in theirs]
    return [Records(here, None, mine), Records(1000 * there, None, theirs),
            Records(10**6 * order, None, third)]


def attempt(folder, inputs, lost_at=0):
    """Run an attempt; 'p1' is lost at a barrier, if one is named."""
    points = {name: Checkpoints(folder / name, STUDY, CODE) for name in OWNERS}
    if lost_at:
        points["p1"] = Mortal(folder / "p1", lost_at)
    return asyncio.run(in_memory(linking(), inputs, ROLES, checkpoints=points))


@pytest.mark.slow
@pytest.mark.parametrize(("lost_at", "links_again"), [(1, True), (2, False), (3, False)])
def test_the_next_attempt_computes_on_the_same_people(tmp_path, inputs, lost_at, links_again):
    broken = attempt(tmp_path, inputs, lost_at)
    assert all(one.error is not None for one in broken[:3])
    *owners, unit = attempt(tmp_path, inputs)
    assert [one.error for one in (*owners, unit)] == [None] * 4
    total = owners[0].output[0]
    assert len(total) >= 60
    np.testing.assert_array_equal(total, sum(one.output[1] for one in owners))
    assert [one.because for one in unit.ledger.learned()] == [ENCODED] * links_again


@pytest.mark.slow
def test_an_owner_that_alone_says_it_had_linked_before_is_named(tmp_path, inputs, monkeypatch):
    send = LinkageUnit._encodings
    monkeypatch.setattr(LinkageUnit, "_encodings", lambda self, owner, message: send(
        self, owner, message)[:0 if owner == "p1" else None])
    *_, unit = attempt(tmp_path, inputs)
    assert isinstance(unit.error, PartyError)
    assert unit.error.party == "p1"
