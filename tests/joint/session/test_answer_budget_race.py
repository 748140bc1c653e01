"""A budget of one query is granted once, however many processes ask at the same moment."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

RACER = """
import sys
from pathlib import Path
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
budget = QueryBudget("study", {most}, 1, Path({path!r}))
ids = [b"%d" % i for i in range(3000)]
print("ready", flush=True)
sys.stdin.readline()
granted = 0
for _ in range({tries}):
    try:
        budget.spend(ids)
        granted += 1
    except RefusedError:
        pass
print(granted, flush=True)
"""


def race(path, most, tries, processes=6):
    """Start processes that all wait for one word, and count what each was granted."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    code = RACER.format(path=str(path), most=most, tries=tries)
    racers = [subprocess.Popen([sys.executable, "-c", code], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    counts = [int(racer.communicate(timeout=240)[0]) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * processes
    return counts


def test_one_query_is_granted_to_one_of_six_processes(tmp_path):
    assert sum(race(tmp_path / "x.queries", most=1, tries=1)) == 1


def test_no_query_is_lost_or_granted_twice(tmp_path):
    assert sum(race(tmp_path / "x.queries", most=10, tries=4)) == 10
