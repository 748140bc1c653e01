"""A ledger is there however its party ends: killed, terminated, interrupted, or alone."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from support import joint_programs
from support.joint_commands import free_ports, joint_command, spawn
from unspoken.joint.joint_errors import LedgerError
from unspoken.joint.session.ledger_audit import audit_ledgers
from unspoken.joint.session.processes import run_processes
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.limits import Limits

pytestmark = pytest.mark.slow


def test_a_party_that_is_killed_after_it_learned_the_total_has_a_ledger(tmp_path):
    """e4c: the total was opened to it, and its own ledger has that on the disk."""
    roles = roles_for(["a", "b", "c"], "sums")
    outcomes = run_processes(joint_programs.killed_after_sum, [np.arange(3)] * 3, "sums", roles,
                             Limits(limit=5.0), tmp_path)
    assert [outcome.error is not None for outcome in outcomes] == [True] * 3
    killed = Ledger.load(tmp_path / "c.ledger")
    assert (killed.status, [o.because for o in killed.learned()]) == ("running", ["total"])
    assert "no last entry" in killed.table()
    verdict = audit_ledgers([tmp_path / f"{name}.ledger" for name in "abc"])
    assert not any("'c' was cut" in one for one in verdict.deviations)


@pytest.fixture
def study(tmp_path, capsys):
    for name in ("north", "south", "east"):
        joint_command("identity", name, "--folder", tmp_path)
        (tmp_path / f"{name}.csv").write_text("a\n1\n2\n")
    parties = [word for name, port in zip(("north", "south", "east"), free_ports(3), strict=True)
               for word in ("--party", f"{tmp_path / name}.crt=127.0.0.1:{port}")]
    joint_command("new", tmp_path / "study.toml", "--name", "try", "--columns", "a", *parties)
    return tmp_path / "study.toml"


def waiting(study):
    """Start one party alone; return it when its ledger is there."""
    path = study.parent / "north.ledger"
    run = spawn("join", study, "--as", "north", "--data", "north.csv", "--yes", "--approver",
                "Ada Lovelace", cwd=study.parent)
    while run.poll() is None and not (path.exists() and b"signed" in path.read_bytes()):
        os.sched_yield()
    return run, path


@pytest.mark.parametrize(("number", "status"), [
    (signal.SIGTERM, "failed: ended by this party's operator"),
    (signal.SIGINT, "failed: ended by this party's operator"), (signal.SIGKILL, "running")])
def test_a_party_that_waits_for_the_others_leaves_a_ledger(study, number, status):
    run, path = waiting(study)
    run.send_signal(number)
    run.communicate(timeout=60)
    ledger = Ledger.load(path)
    assert (ledger.party, ledger.status) == ("north", status)
    assert ledger.approver == "Ada Lovelace, with --yes"
    assert len(ledger.versions["protocol code"]) == 64


def test_a_ledger_that_cannot_be_written_is_refused_before_the_run(study):
    taken = study.parent / "mine.ledger"
    taken.write_text("kept")
    words = ("join", study, "--as", "north", "--data", study.parent / "north.csv", "--yes",
             "--identity", study.parent, "--ledger")
    for path, reason in ((taken, "never overwritten"), (Path("/proc/x.ledger"), "cannot be")):
        with pytest.raises(LedgerError, match=reason):
            joint_command(*words, path)
    assert taken.read_text() == "kept"


def test_three_ledgers_of_a_study_are_audited_and_the_result_is_bound(study, capsys):
    folder = study.parent
    names = ("north", "south", "east")
    runs = [spawn("join", study, "--as", name, "--data", f"{name}.csv", "--yes", "--out",
                  f"{name}.json", cwd=folder) for name in names]
    for run in runs:
        run.communicate(timeout=60)
        assert run.returncode == 0
    files = [folder / f"{name}.ledger" for name in names]
    capsys.readouterr()
    assert joint_command("audit", *files, "--study", study, "--json") == 0
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["deviations"], verdict["notes"]) == ([], [])
    shown = ("ledger", files[0], "--identity", folder, "--result")
    assert joint_command(*shown, folder / "north.json") == 0
    (folder / "other.json").write_text('{"a": 10}')
    assert joint_command(*shown, folder / "other.json") == 1
    lines = files[2].read_bytes().splitlines(keepends=True)
    last = next(i for i, line in enumerate(lines) if b'"kind":"results"' in line)
    files[2].write_bytes(b"".join(lines[:last]))
    assert joint_command("audit", *files) == 1
    assert "'east' was cut short" in capsys.readouterr().out
