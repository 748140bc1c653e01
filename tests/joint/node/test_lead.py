"""What the lead of a study writes down as its end: who said what, and what nobody did."""

from __future__ import annotations

import pytest

from support.node_end import End, agreed
from support.node_fleet import Fleet
from unspoken.joint.node.node_state import Report


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


@pytest.fixture
def ends(fleet):
    return {name: End(fleet, name) for name in fleet.names}


def reported(end, proposal, reports):
    for name, report in reports.items():
        end.state.report(proposal.id, Report(1, name, *report))
    end.lead.decide()
    return end.state.get(proposal.id)


FRAMED = ("failed", "'east' sent something other than what arrived", False)
LOST = ("failed", "'east' closed the connection", True)
DONE = ("done", "", False)


def test_nobody_is_framed_in_the_name_of_all(fleet, ends):
    proposal, north = agreed(fleet, ends), ends["north"]
    north.lead.decide()
    kept = reported(north, proposal, {"north": LOST, "south": FRAMED, "east": LOST, "dora": LOST})
    assert kept.story == "'south' says: 'east' sent something other than what arrived"


def test_the_story_is_of_who_failed_not_of_who_was_done(fleet, ends):
    proposal, north = agreed(fleet, ends), ends["north"]
    north.lead.decide()
    kept = reported(north, proposal, {"north": DONE, "south": LOST, "east": DONE, "dora": DONE})
    assert (kept.result, kept.story) == ("failed", "'south' says: 'east' closed the connection")


def test_a_study_that_never_began_blames_nobody_for_computing(fleet, ends):
    proposal, north = agreed(fleet, ends), ends["north"]
    story = north.lead._too_late(north.state.get(proposal.id), 0, {})
    assert story.startswith("attempt 1 did not begin before the study's time was over")
    reports = {name: Report(1, name, "failed") for name in fleet.names}
    assert "attempt 2 did not begin" in north.lead._too_late(
        north.state.get(proposal.id), 1, reports)
    reports["east"] = Report(1, "east", "running")
    assert north.lead._too_late(north.state.get(proposal.id), 1, reports) == (
        "east still computed in attempt 1 when the time was over")
