"""What one node takes from another: from whom, in which order, and what it refuses and logs."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from support.node_end import End, agreed, sync
from support.node_fleet import Fleet
from unspoken.joint.node.attempt_checks import not_agreed
from unspoken.joint.node.node_state import Report
from unspoken.joint.node.study_process import agreed_attempt


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


@pytest.fixture
def ends(fleet):
    return {name: End(fleet, name) for name in fleet.names}


@pytest.mark.slow
def test_a_study_goes_from_proposal_to_the_same_end_everywhere(fleet, ends):
    proposal = agreed(fleet, ends)
    assert all(not_agreed(proposal, end.state) == [] for end in ends.values())
    assert ends["north"].lead.decide()
    for name in fleet.names[1:]:
        sync(ends["north"], ends[name])
        assert ends[name].state.latest(proposal.id) == (1, "go")
    for name, end in ends.items():
        end.state.report(proposal.id, Report(1, name, "done"))
        if name != "north":
            sync(end, ends["north"])
    assert ends["north"].lead.decide()
    for name in fleet.names[1:]:
        sync(ends[name], ends["north"])
    assert {end.state.find(proposal.id).result for end in ends.values()} == {"complete"}
    assert all(not end.refusals() for end in ends.values())


def test_a_lost_party_leads_to_another_attempt_and_a_final_failure_to_one_story(fleet, ends):
    proposal = agreed(fleet, ends)
    north = ends["north"]
    north.lead.decide()
    for name in fleet.names:
        again = Report(1, name, "failed", "'east' closed the connection at step 3", again=True)
        north.state.report(proposal.id, again)
    north.lead.decide()
    assert north.state.latest(proposal.id) == (2, "go")
    for name in fleet.names:
        north.state.report(proposal.id, Report(2, name, "failed", f"'{name}' cannot",
                                               again=name != "south"))
    north.lead.decide()
    for name in fleet.names[1:]:
        sync(ends[name], north)
    ended = [end.state.find(proposal.id) for end in ends.values()]
    assert {(kept.result, kept.story) for kept in ended} == {
        ("failed", "'south' says: 'south' cannot")}


def test_a_refusal_ends_the_study_with_its_reason(fleet, ends):
    proposal = fleet.proposal()
    fleet.propose(proposal)
    sync(ends["south"], ends["north"])
    ends["south"].state.answer(fleet.verdict("south", proposal, False, "not in this year"))
    sync(ends["south"], ends["north"])
    ends["north"].lead.decide()
    sync(ends["south"], ends["north"])
    assert ends["south"].state.find(proposal.id).story == "'south' refused: not in this year"


def test_a_consent_is_taken_back_and_not_given_again(fleet, ends):
    proposal = agreed(fleet, ends)
    south, north = ends["south"], ends["north"]
    old = south.state.verdicts(proposal.id)["south"]
    assert south.state.answer(fleet.verdict("south", proposal, False, "on second thoughts"))
    assert not south.state.answer(old)
    sync(south, north)
    north.take("east", {"verdict": old.to_json()})
    north.lead.decide()
    assert north.state.latest(proposal.id) == (0, "")
    assert north.state.find(proposal.id).story == "'south' refused: on second thoughts"


def test_only_the_lead_proposes_commands_and_ends(fleet, ends):
    proposal = agreed(fleet, ends)
    south = ends["south"]
    south.take("east", {"proposal": replace(proposal, nonce="1" * 32).to_json()},
               {"attempt": {"proposal": proposal.id, "n": 1, "command": "go"}},
               {"end": {"proposal": proposal.id, "result": "complete", "story": "all is well"}})
    assert [why[:43] for why in south.refusals()] == ["'east' does not lead study "
                                                      + why[27:43] for why in south.refusals()]
    assert len(south.refusals()) == 3
    assert south.state.latest(proposal.id) == (0, "")
    assert south.state.find(proposal.id).result == ""


def test_nothing_begins_without_everybodys_consent(fleet, ends):
    proposal = fleet.proposal()
    fleet.propose(proposal)
    south = ends["south"]
    sync(ends["north"], south)
    south.state.answer(fleet.verdict("south", proposal))
    south.take("north", {"attempt": {"proposal": proposal.id, "n": 1, "command": "go"}})
    assert "to which east, dora did not agree" in south.refusals()[0]
    assert south.state.latest(proposal.id) == (0, "")
    assert not ends["north"].lead.decide()


def test_consents_to_another_study_are_refused(fleet, ends):
    first, second = fleet.proposal(), fleet.proposal()
    north = ends["north"]
    for proposal in (first, second):
        fleet.propose(proposal)
    old = fleet.verdict("south", first)
    replayed = replace(old, proposal=second.id)
    north.take("south", {"verdict": replayed.to_json()})
    north.take("east", {"verdict": {**old.to_json(), "node": "east"}})
    assert all("is not signed with the key" in why for why in north.refusals())
    assert len(north.refusals()) == 2
    assert set(north.state.verdicts(second.id)) == {"north"}


def test_a_study_that_is_changed_after_consent_does_not_run(fleet, ends):
    proposal = agreed(fleet, ends)
    south = ends["south"]
    assert agreed_attempt(south.config, proposal.id, 1).proposal.id == proposal.id
    body = proposal.to_json()
    body["study"]["parameters"] = {"columns": ["ill"]}
    south.state._db.execute("UPDATE proposals SET body = ? WHERE id = ?",
                            (json.dumps(body), proposal.id))
    with pytest.raises(Exception, match="was changed after it had been agreed to"):
        agreed_attempt(south.config, proposal.id, 1)
    assert not_agreed(south.state.find(proposal.id).proposal, south.state) == list(fleet.names)


def test_a_member_whom_this_node_does_not_know_is_refused_for_it(fleet, ends):
    proposal = fleet.proposal()
    ends["south"].state.forget_peer("dora")
    ends["south"].take("north", {"proposal": proposal.to_json()})
    verdict = ends["south"].state.verdicts(proposal.id)["south"]
    assert not verdict.agrees
    assert verdict.reason == "it was not paired with the certificate that is there for dora"


def test_a_table_that_is_not_there_is_refused_for_its_people(fleet, ends):
    proposal = fleet.proposal()
    other = replace(proposal, tables={**proposal.tables, "south": "salaries"})
    ends["south"].take("north", {"proposal": other.to_json()})
    assert ends["south"].state.verdicts(other.id)["south"].reason == "it has no table salaries"


RULE = """
[[standing]]
tasks = ["sum"]
from = ["north"]
receivers = ["north", "south", "east"]
tables = ["people"]
columns = ["age"]
modes = ["authenticated"]
dealers = ["dora"]
studies = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "agrees"), [
    (RULE, True), (RULE.replace('"sum"', '"tree"'), False),
    (RULE.replace('from = ["north"]', 'from = ["east"]'), False),
    (RULE.replace('"people"', '"pay"'), False), (RULE.replace(', "east"]', "]"), False)])
def test_standing_consents_answer_what_they_cover_and_nothing_else(tmp_path, rule, agrees):
    fleet = Fleet(tmp_path, more=rule)
    end = End(fleet, "south")
    first, second = fleet.proposal(), fleet.proposal()
    for proposal in (first, second):
        end.take("north", {"proposal": proposal.to_json()})
    assert ("south" in end.state.verdicts(first.id)) == agrees
    assert "south" not in end.state.verdicts(second.id), "a rule for one study admits one"
    assert end.state.allowed_columns(first.id, "south") == (("age",) if agrees else ())


def test_reports_count_for_their_sender_alone(fleet, ends):
    proposal = agreed(fleet, ends)
    north = ends["north"]
    north.lead.decide()
    north.take("east", {"report": {"proposal": proposal.id, "n": 1, "state": "done", "story": "",
                                   "again": False, "node": "south"}})
    assert "has no field 'node'" in north.refusals()[0]
    ends["south"].take("east", {"report": {"proposal": proposal.id, "n": 1, "state": "done",
                                           "story": "", "again": False}})
    assert "belongs to its lead" in ends["south"].refusals()[0]


def test_what_has_ended_is_not_reported_otherwise_later(fleet, ends):
    proposal = agreed(fleet, ends)
    north = ends["north"]
    north.lead.decide()
    for state in ("running", "done", "failed", "running"):
        north.take("east", {"report": {"proposal": proposal.id, "n": 1, "state": state,
                                       "story": "", "again": True}})
    assert north.state.reports(proposal.id, 1)["east"].state == "done"


JUNK = (None, 1, "x", [], {}, {"rows": "all"}, {"proposal": None}, {"verdict": {}},
        {"attempt": {"n": 10**9}}, {"report": []}, {"end": {"proposal": "f" * 64}},
        {"proposal": {}, "verdict": {}}, {"attempt": {"proposal": ["x"], "n": "1"}})


def test_fuzzed_items_change_nothing_and_are_logged(fleet, ends):
    proposal = agreed(fleet, ends)
    south, draw = ends["south"], random.Random(7)
    before = list(south.state._db.iterdump())
    for _ in range(100):
        south.take("east", draw.choice(JUNK))
    assert len(south.refusals()) == 100
    assert list(south.state._db.iterdump()) == before
    assert south.state.find(proposal.id).result == ""
