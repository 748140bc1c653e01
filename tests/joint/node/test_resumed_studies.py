"""A node that is killed inside a study: it goes on, or everybody ends with the same story."""

from __future__ import annotations

import pytest

from support.node_end import End, agreed, sync
from support.node_fleet import OWNERS, Fleet
from unspoken.joint.node.node_state import Report
from unspoken.joint.node.study_process import CHECKPOINTS
from unspoken.joint.node.study_runs import StudyRuns
from unspoken.joint.session.ledger_audit import audit_ledgers
from unspoken.joint.wire.ledger import Ledger

ROUNDS = 150
MEANS = {"columns": ["age"], "k": 2, "iterations": ROUNDS, "most": 128, "way": "revealed"}
several = pytest.mark.xdist_group("several processes")


def points_of(fleet, name, proposal):
    """Return the checkpoints of a node, without making the folder."""
    return list((fleet.folder / name / "studies" / proposal.id).glob(f"{CHECKPOINTS}/*/*.npz"))


def killed_inside(fleet, name):
    """Propose a study of many rounds, and kill a node after some of them."""
    proposal = fleet.proposal("means", "kmeans", MEANS, mode="sums")
    fleet.propose(proposal)
    fleet.agree(proposal)
    fleet.until(lambda: len(points_of(fleet, name, proposal)) > 2, "three rounds")
    fleet.kill(name)
    return proposal


@pytest.mark.slow
@several
def test_a_killed_node_goes_on_in_the_middle_of_its_study(tmp_path):
    with Fleet(tmp_path, names=OWNERS) as fleet:
        fleet.serve()
        proposal = killed_inside(fleet, "east")
        fleet.serve("east")
        ends = fleet.ended(proposal)
        results = [fleet.result(name, proposal) for name in OWNERS]
        whole = fleet.proposal("whole", "kmeans", MEANS, mode="sums")
        fleet.propose(whole)
        fleet.agree(whole)
        fleet.ended(whole)
        right = fleet.result("north", whole)
        files = [fleet.configs[name].study_folder(proposal.id) / "attempt-2.ledger"
                 for name in OWNERS]
        ledgers, verdict = [Ledger.load(path) for path in files], audit_ledgers(files)
        page = files[0].with_name("report.html").read_text()
        fleet.until(lambda: not points_of(fleet, "east", proposal), "checkpoints are removed")
    [(result, story)] = set(ends.values())
    assert (result, story) == ("complete", "attempt 2 of study 'means'")
    assert results[0]["centres"] == right["centres"]
    assert {str(one["centres"]) for one in results} == {str(right["centres"])}
    assert not verdict.deviations
    assert "went on from checkpoint " in page
    for ledger in ledgers:
        assert ledger.continues.startswith("checkpoint ")
        assert 0 < len(ledger.openings) < ROUNDS


@pytest.mark.slow
@several
def test_other_data_after_a_restart_end_the_study_everywhere(tmp_path):
    with Fleet(tmp_path, names=OWNERS) as fleet:
        fleet.serve()
        proposal = killed_inside(fleet, "east")
        table = tmp_path / "east" / "people.csv"
        table.write_text(table.read_text() + "99,no,no\n")
        fleet.serve("east")
        ends = fleet.ended(proposal)
        private = (fleet.configs["east"].study_folder(proposal.id) / "attempt-2.error.txt")
        assert "was changed since the first attempt" in private.read_text()
    [(result, story)] = set(ends.values())
    assert result == "failed"
    assert story.startswith("'east' says: 'east' could not take part (StudyError")


@pytest.mark.slow
def test_who_returns_too_late_ends_with_the_story_of_the_others(tmp_path, monkeypatch):
    fleet = Fleet(tmp_path)
    ends = {name: End(fleet, name) for name in fleet.names}
    proposal, north = agreed(fleet, ends), ends["north"]
    north.lead.decide()
    lost = Report(1, "", "failed", "'east' closed the connection")
    for name in ("north", "south", "dora"):
        north.state.report(proposal.id, Report(1, name, lost.state, lost.story))
    late = proposal.until + 1
    monkeypatch.setattr("unspoken.joint.node.lead.time.time", lambda: late)
    north.lead._online = lambda peer: peer != "east"
    north.lead.decide()
    monkeypatch.undo()
    for name in ("south", "dora", "east"):
        sync(ends[name], north)
    told = {(kept.result, kept.story) for kept in (end.state.get(proposal.id)
                                                   for end in ends.values())}
    assert told == {("expired", "east could not be reached before the study's time was over")}


def test_checkpoints_of_a_study_that_has_ended_are_removed(tmp_path):
    fleet = Fleet(tmp_path)
    config, folders = fleet.configs["south"], []
    for number in ("a" * 64, "b" * 64):
        folders.append(config.study_folder(number) / CHECKPOINTS)
        (folders[-1] / "x").mkdir(parents=True)
    runs = StudyRuns(config, fleet.state("south"), lambda: None)
    runs.stop_others({"b" * 64})
    assert [folder.exists() for folder in folders] == [False, True]
    assert config.study_folder("a" * 64).exists(), "ledgers and results stay"
