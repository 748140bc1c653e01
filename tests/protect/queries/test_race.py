"""Two real processes on one log."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import tacit
from tacit.errors import QueryRefusedError
from tacit.protect import QueryGuard


def people(n=200):
    income = np.random.default_rng(5).integers(1000, 10**6, n).astype(float)
    return tacit.read({"unit": np.arange(n), "income": income}, sensitive="income", show=False)


RACER = """
import sys
sys.path.insert(0, {folder!r})
from test_race import people
from tacit.errors import QueryRefusedError
from tacit.protect import QueryGuard
guard = QueryGuard(people(), {log!r})
print("ready", flush=True)
sys.stdin.readline()
for k in range(20):
    low, more = 10 * k, {more}
    where = f"unit >= {{low}} and unit < {{low + 9 + more}} or unit >= 190 and unit < 195"
    try:
        guard.sum("income", where)
        print(k, flush=True)
    except QueryRefusedError:
        pass
"""


def test_two_processes_cannot_race_past_the_log(tmp_path):
    """Each asks one half of twenty differences that single somebody out: never both halves."""
    log = str(tmp_path / "log")
    QueryGuard(people(), log, smallest=5)
    folder = os.path.dirname(__file__)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    racers = [subprocess.Popen(
        [sys.executable, "-c", RACER.format(folder=folder, log=log, more=more)], env=env,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for more in (0, 1)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = [set(map(int, racer.communicate(timeout=120)[0].split())) for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0]
    assert told[0] & told[1] == set()
    assert told[0] | told[1] == set(range(20))
    lines = (tmp_path / "log").read_bytes().splitlines()
    entries = [json.loads(line)["entry"] for line in lines]
    assert sum(entry.get("answered", False) for entry in entries) == 20
    assert len(entries) == 41
    # The log is whole: a third reader agrees.
    third = QueryGuard(people(), log)
    other = 9 + (0 in told[0])
    where = f"unit < {other} or unit >= 190 and unit < 195"
    with pytest.raises(QueryRefusedError):
        third.sum("income", where)
