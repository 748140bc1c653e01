"""Two real processes on one log."""

import json
import os
import subprocess
import sys

import pytest

from support.query_people import linear_guard, people
from unspoken.errors import QueryRefusedError

pytestmark = pytest.mark.slow


RACER = """
import sys
from support.query_people import linear_guard, people
from unspoken.errors import QueryRefusedError
guard = linear_guard(people(), {log!r})
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
    linear_guard(people(), log, smallest=5)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    racers = [subprocess.Popen(
        [sys.executable, "-c", RACER.format(log=log, more=more)], env=env,
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
    third = linear_guard(people(), log)
    other = 9 + (0 in told[0])
    where = f"unit < {other} or unit >= 190 and unit < 195"
    with pytest.raises(QueryRefusedError):
        third.sum("income", where)
