"""Proposals and verdicts: what is agreed to is exactly what was signed, and nothing else."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from support.node_fleet import Fleet
from unspoken.errors import UnspokenError
from unspoken.joint.joint_errors import IdentityError, StudyError
from unspoken.joint.node.proposal import Proposal, Verdict


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("nodes"))


def test_a_proposal_survives_the_wire_with_its_number(fleet):
    proposal = fleet.proposal()
    again = Proposal.from_json(json.loads(json.dumps(proposal.to_json())))
    assert again.id == proposal.id
    assert again.lead == "north"


def test_anything_that_changes_is_another_proposal(fleet):
    proposal = fleet.proposal()
    body = proposal.to_json()
    other = [{**body, "until": body["until"] + 1}, {**body, "attempts": 3},
             {**body, "tables": {**body["tables"], "east": "others"}},
             {**body, "study": {**body["study"], "parameters": {"columns": ["ill"]}}}]
    assert len({proposal.id, *(Proposal.from_json(one).id for one in other)}) == 5


def test_the_same_study_proposed_again_needs_new_consents(fleet):
    first = fleet.proposal()
    again = replace(first, nonce="0" * 32)
    verdict = fleet.verdict("south", first)
    verdict.must_be_of(first.study.member("south"), first.id)
    with pytest.raises(IdentityError, match="A verdict of 'south' about proposal"):
        verdict.must_be_of(again.study.member("south"), again.id)


@pytest.mark.parametrize("change", [{"agrees": False}, {"reason": "no"}, {"time": 1},
                                    {"approver": "somebody else"}, {"signature": "00" * 64},
                                    {"signature": "x"}])
def test_a_verdict_that_was_changed_is_refused(fleet, change):
    proposal = fleet.proposal()
    changed = replace(fleet.verdict("south", proposal), **change)
    with pytest.raises(IdentityError, match="not signed with the key"):
        changed.must_be_of(proposal.study.member("south"), proposal.id)


def test_nobody_signs_for_another(fleet):
    proposal = fleet.proposal()
    forged = replace(fleet.verdict("east", proposal), node="south")
    with pytest.raises(IdentityError, match="not signed with the key"):
        forged.must_be_of(proposal.study.member("south"), proposal.id)


def test_a_study_that_opens_more_than_its_task_is_refused(fleet):
    body = fleet.proposal().to_json()
    body["study"]["disclosure"].append({"because": "every row", "to": ["north"]})
    with pytest.raises(StudyError, match="does not declare what its task discloses"):
        Proposal.from_json(body)


@pytest.mark.parametrize(("change", "match"), [
    ({"until": 1}, "'until' must be"), ({"attempts": 0}, "'attempts' must be"),
    ({"nonce": "?"}, "'nonce'"), ({"tables": {"north": "people"}}, "The table of 'south'"),
    ({"tables": 3}, "'tables'"), ({"rows": True}, "no field 'rows'"),
    ({"not_before": -1}, "'not_before'"), ({"until": 1 << 60}, "'until'")])
def test_what_is_wrong_with_a_proposal_is_named(fleet, change, match):
    with pytest.raises(UnspokenError, match=match):
        Proposal.from_json({**fleet.proposal().to_json(), **change})


JUNK = (None, True, -1, 1 << 70, 0.5, "", "x" * 5000, "\x00", [], [[]], {}, {"": 1}, [{}] * 3)


def places(value, path=()):
    """Yield the path to every value inside of plain data."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def changed(body, path, junk):
    if not path:
        return junk
    copy = body.copy()
    copy[path[0]] = changed(body[path[0]], path[1:], junk)
    return copy


def test_fuzzed_proposals_and_verdicts_are_refused_by_name_or_are_others(fleet):
    """Whatever stands in a field: a refusal of ours, or another proposal than the agreed one."""
    draw = random.Random(23)
    proposal = fleet.proposal()
    bodies = [(proposal.to_json(), Proposal.from_json),
              (fleet.verdict("south", proposal).to_json(), Verdict.from_json)]
    for body, read in bodies:
        every = [(path, junk) for path in places(body) for junk in JUNK]
        for path, junk in draw.sample(every, min(len(every), 400)):
            other = changed(body, path, junk)
            try:
                whole = read(other)
            except UnspokenError:
                continue
            assert whole.to_json() != body or other == body
