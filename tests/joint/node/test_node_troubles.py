"""Days on which something is wrong: full disks, broken files, clocks, words for a screen."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from support.node_end import End, agreed
from support.node_fleet import Fleet
from unspoken.cli.main import main
from unspoken.joint.joint_errors import StateError, StudyError
from unspoken.joint.node import attempt_checks, exchange, node_link, peer_calls, study_process
from unspoken.joint.node.attempt_checks import hindrance, is_over
from unspoken.joint.node.catalogue import Catalogue, TableView
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_log import NodeLog
from unspoken.joint.node.peer_calls import PeerCalls, clock_words
from unspoken.joint.node.prediction_service import Offer
from unspoken.joint.wire import credentials

ESCAPE = "\x1b[2J"


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


@pytest.fixture
def ends(fleet):
    return {name: End(fleet, name) for name in fleet.names}


def fill(state):
    """Leave no room in the file of a state, as a full disk does."""
    state._db.execute("PRAGMA max_page_count=1")
    for length in (900, 1):
        with contextlib.suppress(StateError):
            while True:
                state.note("", "x" * length)


def test_a_full_disk_is_said_in_words_and_nothing_is_taken(fleet, ends):
    south, proposal = ends["south"], fleet.proposal()
    fill(south.state)
    with pytest.raises(StateError, match=r"disk is full\. Nothing was kept"):
        south.take("north", {"proposal": proposal.to_json()})
    assert not south.state.has(proposal.id)
    assert south.refusals() == [], "the fault is not the peer's"


def test_a_file_that_is_no_state_is_refused_in_words(fleet, capsys):
    place = fleet.configs["south"].state_path
    for path in place.parent.glob("state.db*"):
        path.unlink()
    place.write_text("no database at all, but long enough for one" * 99)
    assert main(["node", "status", "--folder", str(place.parent)]) == 2
    assert "state.db in its folder) cannot be used: file is not a database" \
        in capsys.readouterr().err


def test_a_node_without_its_key_is_not_told_to_make_another(fleet, capsys):
    (fleet.folder / "south" / "identity" / "south.key").unlink()
    assert main(["node", "status", "--folder", str(fleet.folder / "south")]) == 2
    error = capsys.readouterr().err
    assert "Put it back from your copy" in error
    assert "joint identity" not in error


def told(fleet, peer="south"):
    out, config = io.StringIO(), NodeConfig.load(fleet.folder / "north")
    answer = asyncio.run(Catalogue(config).answer(peer, fleet.state("north"), NodeLog(out)))
    return answer, out.getvalue()


def test_what_is_wrong_with_a_file_is_not_told_to_others(fleet):
    home = fleet.folder / "north"
    with (home / "node.toml").open("a") as config:
        config.write('[[table]]\nname = "broken"\npath = "secret-name.csv"\nshow_to = ["south"]\n')
    (home / "secret-name.csv").write_bytes(b"age,age\n1,2\n")
    answer, log = told(fleet)
    people, broken = (TableView.from_json(table) for table in answer["tables"])
    assert people.column("age").unit == "years", "the other tables are shown"
    assert (broken.readable, broken.columns) == (False, ())
    assert "secret" not in json.dumps(answer)
    assert "more than once" not in json.dumps(answer)
    assert "more than once" in log
    assert '"table": "broken"' in log


def test_a_peer_that_a_table_does_not_name_is_told_nothing_of_it(fleet):
    place = fleet.folder / "north" / "node.toml"
    place.write_text(place.read_text().replace('"east",', ""))
    assert told(fleet, "east")[0] == {"tables": [], "services": []}
    assert len(told(fleet, "south")[0]["tables"]) == 1


@pytest.mark.parametrize("change", [{"signature": "00" * 64}, {"agrees": True, "reason": "other"}])
def test_a_consent_that_was_changed_on_the_disk_begins_nothing(fleet, ends, change):
    proposal, south = agreed(fleet, ends), ends["south"]
    changed = replace(south.state.verdicts(proposal.id)["east"], **change)
    assert hindrance(proposal, 1, south.state, "south") == ""
    south.state._db.execute("UPDATE verdicts SET body = ? WHERE node = 'east'",
                            (json.dumps(changed.to_json()),))
    assert hindrance(proposal, 1, south.state, "south").endswith("no consent of east")


@pytest.mark.parametrize("change", [{"categories": [ESCAPE]}, {"unit": ESCAPE}, {"name": ESCAPE}])
def test_a_catalogue_cannot_rule_the_screen(change):
    column = {"name": "age", "kind": "categorical", "role": "plain", **change}
    with pytest.raises(StudyError, match="one line of text"):
        TableView.from_json({"name": "people", "columns": [column]})


@pytest.mark.parametrize("parameters", [{"columns": 5}, {"columns": [1]}, {"target": ESCAPE}, None])
def test_an_offer_cannot_break_or_rule_the_screen(parameters):
    with pytest.raises(StudyError):
        Offer.from_json({"name": "risk", "parameters": parameters, "modes": ["authenticated"],
                         "dealers": [], "attempts": 1, "left": 1})


def test_a_refusal_cannot_rule_the_screen(fleet, monkeypatch):
    async def none(*_):
        return None

    async def refusal(*_):
        return {"refused": f"{ESCAPE}\nRead them: AAAA-AAAA"}

    monkeypatch.setattr(node_link, "send", none)
    monkeypatch.setattr(node_link, "receive", refusal)
    [peer] = [one for one in fleet.state("north").peers() if one.name == "south"]
    link = type("link", (), {"certificate": peer.member.fingerprint})
    with pytest.raises(node_link.RefusedByNodeError) as caught:
        asyncio.run(node_link._asked(link, peer, {}))
    assert str(caught.value).isprintable()


def test_a_study_whose_time_is_over_is_not_proposed(fleet, capsys):
    words = ["node", "propose", "--name", "late", "--with", "south,east", "--dealer", "dora",
             "--table", "people", "--set", 'columns=["age"]', "--at", "2020-01-01T06:00", "--yes",
             "--folder", str(fleet.folder / "north")]
    assert main(words) == 2
    assert "time would be over already, at 2020-01-02 06:00:00 UTC" in capsys.readouterr().err
    assert fleet.state("north").active() == []


def test_clocks_that_differ_are_told_once_and_shown(fleet, ends, monkeypatch, capsys):
    north = ends["north"]
    calls = PeerCalls(north.exchange, lambda: None, lambda: None)
    monkeypatch.setattr(peer_calls.time, "time", lambda: 1.8e9)
    for seconds in (300, 301, 302):
        calls.hear("south", 1.8e9 + seconds)
    calls.hear("east", 1.8e9 + 59)
    lines = [json.loads(line) for line in north.out.getvalue().splitlines()]
    assert [(line["event"], line["peer"]) for line in lines] == [("clocks differ", "south")]
    assert main(["node", "status", "--folder", str(fleet.folder / "north")]) == 0
    status = capsys.readouterr().out
    assert "last heard 2027-01-15 08:00:00 UTC: its clock is about 5 min ahead" in status
    calls.hear("south", 1.8e9)
    assert north.state.contact("south") == (1.8e9, "")


@pytest.mark.parametrize("junk", [None, "soon", True, float("nan"), float("inf"), -1e308, 10**400])
def test_any_clock_can_be_said(junk):
    assert isinstance(clock_words(junk, time.time()), str)


def test_the_status_says_who_cannot_be_reached_and_why(fleet, ends, capsys):
    north = ends["north"]
    PeerCalls(north.exchange, lambda: None, lambda: None)._lost(
        "south", "'south': 192.0.2.1:7700 does not answer (a firewall on the way may drop).")
    assert main(["node", "status", "--folder", str(fleet.folder / "north")]) == 0
    assert "not heard yet: 'south': 192.0.2.1:7700 does not answer" in capsys.readouterr().out


def test_a_node_whose_clock_is_ahead_says_so_when_it_refuses(fleet, ends, monkeypatch):
    south, proposal = ends["south"], fleet.proposal()
    monkeypatch.setattr(exchange.time, "time", lambda: proposal.until + 7200.0)
    south.take("north", {"proposal": proposal.to_json()})
    reason = south.state.verdicts(proposal.id)["south"].reason
    assert "by the clock of 'south' it is " in reason


def test_a_lead_that_lives_is_waited_for_although_its_clock_is_behind(fleet, monkeypatch):
    proposal = fleet.proposal()
    for late, lives, over in ((61, False, True), (61, True, False), (901, True, True),
                              (59, False, False)):
        monkeypatch.setattr(attempt_checks.time, "time", lambda late=late: proposal.until + late)
        assert is_over(proposal, lives) == over


def test_people_are_told_when_a_certificate_ends_soon(fleet, monkeypatch, capsys):
    words = ["node", "status", "--folder", str(fleet.folder / "north")]
    assert main(words) == 0
    assert "unspoken node rotate" not in capsys.readouterr().out
    monkeypatch.setattr(credentials, "valid_until",
                        lambda _: datetime.now(UTC) + timedelta(days=59))
    assert main(words) == 0
    assert "with: unspoken node rotate" in capsys.readouterr().out


def test_a_dealer_that_asks_for_the_result_reads_that_it_learns_none(fleet, ends, capsys):
    proposal = agreed(fleet, ends)
    ends["dora"].state.end(proposal.id, "complete", "attempt 1 of study 'sums'")
    out = fleet.folder / "out.json"
    assert main(["node", "results", "sums", "--out", str(out), "--folder",
                 str(fleet.folder / "dora")]) == 2
    assert "is not one of those that learn it" in capsys.readouterr().err


def test_an_attempt_that_cannot_be_kept_says_so_in_one_line(fleet, ends, monkeypatch, capfd):
    proposal, refusal = agreed(fleet, ends), "changed its mind"
    ends["dora"].state.answer(fleet.verdict("dora", proposal, False, refusal))
    monkeypatch.setattr(study_process.signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        study_process.main(str(fleet.folder / "dora"), proposal.id, 1, None, {})
    assert ended.value.code == study_process.UNKEPT
    [line] = capfd.readouterr().err.splitlines()
    assert json.loads(line)["event"] == "attempt not kept"


def test_two_changes_that_fail_on_a_full_disk_leave_the_state_usable(fleet):
    state = fleet.state("south")
    fill(state)
    for _ in range(2):
        with pytest.raises(StateError, match="disk is full"), state.together():
            state.note("", "x" * 900_000)
    assert state.active() == []
