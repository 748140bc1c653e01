"""A paired peer may say anything: a node refuses it by name, logs it, and goes on."""

from __future__ import annotations

import secrets
from dataclasses import replace

import pytest

from support.node_end import End, agreed
from support.node_fleet import Fleet
from unspoken.cli.node_steps import plan_text
from unspoken.errors import InputError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node import exchange
from unspoken.joint.node.forgetting import forget
from unspoken.joint.node.node_state import Report
from unspoken.joint.node.study_process import agreed_attempt
from unspoken.joint.session.study_fields import column_kinds
from unspoken.release.parameters import NotNegative, Range, Real, check


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


@pytest.fixture
def ends(fleet):
    return {name: End(fleet, name) for name in fleet.names}


def bayes(fleet, **parameters):
    """Return a proposal of naive Bayes with parameters of the proposer's choice, as it comes."""
    body = fleet.proposal(task="bayes", parameters={
        "target": "ill", "classes": ["no", "yes"], "columns": ["smoker"],
        "categories.smoker": ["no", "yes"]}).to_json()
    body["study"]["parameters"] |= parameters
    return body


@pytest.mark.parametrize("rule", [Real(0.0), NotNegative(), Range()])
def test_numbers_beyond_a_float_are_refused_in_words(rule):
    value = (0, 10**400) if isinstance(rule, Range) else 10**400
    with pytest.raises(InputError, match="'alpha' must be a"):
        check("x", {"alpha": (rule, "")}, {"alpha": value})


def test_a_number_that_no_float_can_hold_is_refused_and_the_node_goes_on(fleet, ends):
    south = ends["south"]
    assert not south.take("north", {"proposal": bayes(fleet, alpha=10**400)})
    [why] = south.refusals()
    assert "alpha" in why
    assert south.take("north", {"proposal": fleet.proposal().to_json()})


def test_an_item_that_breaks_our_code_is_refused_by_the_kind_of_error_alone(fleet, ends):
    south = ends["south"]

    def broken(peer, body):
        raise ZeroDivisionError("a value of a table")

    south.exchange._take["proposal"] = broken
    assert not south.take("north", {"proposal": {}})
    assert south.refusals() == ["ZeroDivisionError"]


def test_people_are_shown_the_parameters_that_they_agree_to(fleet, ends):
    proposal = fleet.proposal(parameters={"columns": ["age"], "range.age": [0, 120],
                                          "epsilon": 0.5})
    south = ends["south"]
    south.take("north", {"proposal": proposal.to_json()})
    lines = plan_text(south.config, south.state.get(proposal.id)).splitlines()
    assert '  columns = ["age"]' in lines
    assert "  epsilon = 0.5" in lines


def go(proposal, n):
    return {"attempt": {"proposal": proposal.id, "n": n, "command": "go"}}


@pytest.mark.slow
@pytest.mark.parametrize(("report", "again"), [
    (Report(1, "south", "done", again=False), False),
    (Report(1, "south", "done", again=True), False),
    (Report(1, "south", "failed", "'south' cannot", again=False), False),
    (Report(1, "south", "failed", "'east' was lost", again=True), True)])
def test_one_consent_is_for_one_result(fleet, ends, report, again):
    proposal, south = agreed(fleet, ends), ends["south"]
    assert south.take("north", go(proposal, 1))
    south.state.report(proposal.id, report)
    assert south.take("north", go(proposal, 2)) == again
    assert south.state.latest(proposal.id)[0] == (2 if again else 1)
    assert [why for why in south.refusals() if "for one result" in why] == south.refusals()
    assert len(south.refusals()) == (not again)
    if not again:
        with pytest.raises(StudyError, match="was for one result"):
            agreed_attempt(south.config, proposal.id, 2)


def test_a_later_attempt_does_not_jump_over_the_one_that_was_done(fleet, ends):
    proposal, south = agreed(fleet, ends), ends["south"]
    south.take("north", go(proposal, 1))
    south.state.report(proposal.id, Report(1, "south", "done", again=False))
    assert not south.take("north", go(proposal, 7))


def test_a_forgotten_node_is_kept_out_of_studies_that_were_agreed_to(fleet, ends):
    proposal, south = agreed(fleet, ends), ends["south"]
    assert south.take("north", go(proposal, 1))
    assert forget(south.config, south.state, "dora", "a test") == ["sums"]
    verdict = south.state.verdicts(proposal.id)["south"]
    assert (verdict.agrees, verdict.reason) == (False, "'south' no longer trusts 'dora'")
    with pytest.raises(StudyError, match="no consent of south"):
        agreed_attempt(south.config, proposal.id, 1)
    north = ends["north"]
    assert forget(north.config, north.state, "dora", "a test") == ["sums"]
    assert north.state.get(proposal.id).result == "withdrawn"
    assert forget(north.config, north.state, "dora", "a test") == []


def test_certificates_are_compared_again_when_an_attempt_begins(fleet, ends):
    proposal, south = agreed(fleet, ends), ends["south"]
    [east] = [peer for peer in south.state.peers() if peer.name == "east"]
    south.state.keep_peer(replace(east, certificate=fleet.configs["dora"].identity.certificate))
    assert not south.take("north", go(proposal, 1))
    assert "a certificate that is not trusted here for east" in south.refusals()[0]
    with pytest.raises(StudyError, match="not trusted here for east"):
        agreed_attempt(south.config, proposal.id, 1)


def test_the_end_of_a_study_is_told_to_its_parties_alone(fleet, ends):
    proposal, north = agreed(fleet, ends), ends["north"]
    other = replace(proposal, study=replace(
        proposal.study, members=tuple(m for m in proposal.study.members if m.name != "east")))
    for one in (proposal, other):
        north.state.keep(one)
        north.state.end(one.id, "withdrawn", "our own affair")
    north.take("east", known=[proposal.id, other.id])
    ends_told = [item["end"]["proposal"] for item in north.exchange.view_for("east")["items"]]
    assert ends_told == [proposal.id]


def test_the_name_of_a_study_is_not_captured_by_the_number_of_another(fleet):
    first, state = fleet.proposal(), fleet.state("south")
    state.keep(first)
    named = fleet.proposal(name=next(sign for sign in "abcdef" if sign != first.id[0]))
    state.keep(named)
    captured = fleet.proposal()
    while not captured.id.startswith(named.study.name):
        captured = replace(captured, nonce=secrets.token_hex(16))
    state.keep(captured)
    with pytest.raises(StudyError, match=f"proposals are called '{named.study.name}'"):
        state.find(named.study.name)
    assert state.find(named.id).proposal.id == named.id


def test_a_lead_has_room_for_so_many_proposals_and_bytes_only(fleet, ends, monkeypatch):
    south, proposals = ends["south"], [fleet.proposal() for _ in range(4)]
    monkeypatch.setattr(exchange, "MOST_ACTIVE", 2)
    for proposal in proposals[:3]:
        south.take("north", {"proposal": proposal.to_json()})
    assert len(south.state.active()) == 2
    count, size = south.state.load_of("north")
    assert count == 2
    assert f"has 2 proposals of {size} bytes" in south.refusals()[0]
    monkeypatch.setattr(exchange, "MOST_ACTIVE", 1000)
    monkeypatch.setattr(exchange, "MOST_ACTIVE_BYTES", size - 1)
    assert not south.take("north", {"proposal": proposals[3].to_json()})
    assert south.state.load_of("east") == (0, 0)


@pytest.mark.parametrize("schema", [{"a\nb": "numeric"}, {"a": "x" * 401},
                                    {str(place): "numeric" for place in range(10_001)}])
def test_a_schema_is_bounded(schema):
    with pytest.raises(StudyError, match="'schema' must have at most"):
        column_kinds(schema)
