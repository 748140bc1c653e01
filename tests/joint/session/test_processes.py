"""Real processes, real TLS: the same results, and every way in which a party can go away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import wait

import numpy as np
import pytest

from support import joint_programs
from unspoken.joint.joint_errors import PartyError
from unspoken.joint.session.processes import Fleet
from unspoken.joint.session.run import run_local, run_outcomes
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.ledger import RECEIVED, SENT, Ledger
from unspoken.joint.wire.transports.limits import Limits

pytestmark = pytest.mark.slow

INPUTS = [np.array([3, -4, 5, 100, -1000]), np.array([1, 2, 3, 4, 5]), np.array([3, 9, -7, 8, 9])]
QUICK = Limits(limit=4.0)
# Far beyond the limit: a test that needs it has found a hang.
GENEROUS = 60.0


def test_processes_and_memory_agree_and_ledgers_reconcile(tmp_path):
    outcomes = run_outcomes(joint_programs.everything, INPUTS, processes=True, folder=tmp_path)
    assert [outcome.error for outcome in outcomes] == [None] * 4
    inside = run_local(joint_programs.everything, INPUTS)
    for outcome, (expected, _) in zip(outcomes, inside, strict=False):
        for one, other in zip(outcome.output, expected, strict=True):
            assert np.array_equal(one, other)
    ledgers = {outcome.name: Ledger.load(tmp_path / f"{outcome.name}.ledger")
               for outcome in outcomes}
    for one, ledger in ledgers.items():
        assert ledger.status == "complete"
        for other in ledgers.keys() - {one}:
            assert (ledger.bytes_with(other, SENT)
                    == ledgers[other].bytes_with(one, RECEIVED) > 0)


@pytest.mark.parametrize(("how", "words"), [
    ("kill", "closed the connection"), ("stop", "was silent for 3 s"),
    ("raise", "ended because its program failed"), ("garbage", "sent a frame whose 'magic'")])
def test_a_party_that_goes_away_ends_every_other_with_its_name_and_the_step(how, words):
    fleet = Fleet(joint_programs.hurt, ["wait", how, "wait"], "dealer",
                  roles_for(["p0", "p1", "p2"], "dealer"), QUICK)
    try:
        outcomes = {name: fleet._outcome(name, GENEROUS) for name in ("p0", "p2", "dealer")}
        if how == "stop":
            os.kill(fleet.children["p1"].pid, signal.SIGCONT)
    finally:
        fleet.stop()
    for outcome in outcomes.values():
        assert isinstance(outcome.error, PartyError)
        assert outcome.error.party == "p1"
        assert "4711" not in str(outcome.error)
        assert "'p1'" in outcome.ledger.status
    for name in ("p0", "p2"):
        # It may hear of it before it has left the step before.
        assert outcomes[name].error.step in ("2 waiting", "3 hurt")
    assert any(words in str(outcome.error) for outcome in outcomes.values())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_party_that_goes_away_while_links_are_full(how):
    fleet = Fleet(joint_programs.heavy, ["go", "go", how], "dealer",
                  roles_for(["p0", "p1", "p2"], "dealer"), QUICK)
    try:
        errors = [fleet._outcome(name, GENEROUS).error for name in ("p0", "p1", "dealer")]
    finally:
        fleet.stop()
    assert [error.party for error in errors] == ["p2"] * 3


def test_a_dealer_that_is_killed_is_named(tmp_path):
    fleet = Fleet(joint_programs.hurt, [f"tell {tmp_path / 'ready'}", "wait"], "dealer",
                  roles_for(["p0", "p1"], "dealer"), QUICK)
    try:
        until = time.monotonic() + GENEROUS
        while not (tmp_path / "ready").exists() and time.monotonic() < until:
            wait([], 0.01)
        fleet.children["dealer"].kill()
        errors = [fleet._outcome(name, GENEROUS).error for name in ("p0", "p1")]
    finally:
        fleet.stop()
    assert [error.party for error in errors] == ["dealer"] * 2


def test_three_parties_alone():
    results = run_local(joint_programs.everything, INPUTS, "three-party", True)
    for (output, _), (expected, _) in zip(
            results, run_local(joint_programs.everything, INPUTS), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(output, expected, strict=True))


def test_one_party_alone():
    [(output, ledger)] = run_local(joint_programs.everything, INPUTS[:1], processes=True)
    assert np.array_equal(output[0], INPUTS[0])
    assert ledger.rows == []


def test_a_party_that_computes_for_long_is_not_lost():
    limits = Limits(limit=2.0)
    for output, _ in run_local(joint_programs.busy, [3.0] * 3, "sums", True, limits=limits):
        assert list(output) == [0, 3, 6]


def test_the_error_of_the_failed_program_is_raised_before_those_who_heard_of_it():
    with pytest.raises(ValueError, match="4711"):
        run_local(joint_programs.hurt, ["wait", "raise", "wait"])


def test_a_script_without_a_main_part_is_told_so_and_does_not_wait_for_ever(tmp_path):
    script = tmp_path / "script.py"
    # More than a pipe holds: a child that dies early reads nothing of it.
    script.write_text("import numpy as np\nfrom unspoken.joint import run_local\n"
                      "async def program(party, data):\n    return 1\n"
                      "run_local(program, [np.zeros(100_000)] * 2, 'sums', True)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                          timeout=GENEROUS, check=False)
    assert done.returncode != 0
    assert "PeerLostError" in done.stderr
    assert '__name__ == "__main__"' in done.stderr.splitlines()[-1]


def test_an_outcome_that_is_printed_does_not_show_what_came_out():
    [outcome] = run_outcomes(joint_programs.everything, INPUTS[:1])
    assert repr(outcome) == "Outcome(name='p0', error=None)"
