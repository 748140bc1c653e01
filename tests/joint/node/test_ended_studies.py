"""What is kept of studies that have ended, and what others cannot fill a node with."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.node_end import End
from support.node_fleet import Fleet
from unspoken.joint.node import node_state


@pytest.fixture
def south(tmp_path, monkeypatch):
    monkeypatch.setattr(node_state, "MOST_ENDED", 2)
    fleet = Fleet(tmp_path)
    end = End(fleet, "south")
    end.fleet = fleet
    return end


def rows(end, table):
    return end.state._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def ended(end, name, begun=False, rule=""):
    proposal = end.fleet.proposal(name)
    end.take("north", {"proposal": proposal.to_json()})
    end.state.answer(end.fleet.verdict("south", proposal), rule)
    if begun:
        end.state.command(proposal.id, 1, "go")
    end.take("north", {"end": {"proposal": proposal.id, "result": "withdrawn", "story": "no"}})
    return proposal.id


def test_a_lead_that_proposes_and_withdraws_for_ever_fills_nothing(south):
    for number in range(6):
        ended(south, f"s{number}")
    assert [kept.proposal.study.name for kept in south.state.all_kept()] == ["s5", "s4"]
    assert rows(south, "verdicts") == 2
    assert rows(south, "events") == 6


def test_what_was_begun_and_what_a_rule_admitted_stays_counted(south):
    begun = ended(south, "begun", begun=True)
    ended(south, "ruled", rule="a rule")
    for number in range(4):
        ended(south, f"s{number}")
    assert south.state.has(begun)
    assert south.state.verdicts(begun)
    assert south.state.admitted_by("a rule") == 1
    assert [kept.proposal.study.name for kept in south.state.all_kept()] == ["s3", "s2", "begun"]


def test_two_states_in_one_process_keep_their_locks(south):
    """Without them another process takes itself for the last, and removes what they write to."""
    others = [south.fleet.state("south") for _ in range(2)]
    path = south.config.state_path
    look = f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('SELECT * FROM peers'" \
        ").fetchall(); c.close()"
    subprocess.run([sys.executable, "-c", look], check=True)
    assert path.with_name("state.db-wal").exists()
    for state in others:
        state.close()


def test_the_state_of_an_earlier_version_is_taken_over(south):
    south.state._db.executescript("DROP TABLE successions; DROP TABLE confirmations; "
                                  "PRAGMA user_version=1;")
    again = south.fleet.state("south")
    assert again.succession("north") is None
    assert len(again.peers()) == 3
