"""Spoiled models, keys and releases in child processes: nothing dies, all is refused by us."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support.paths import ROOT

BATCH = 500


def child(first: int, count: int):
    done = subprocess.run([sys.executable, "-m", "support.fuzz_child", str(first), str(count)],
                          capture_output=True, text=True, cwd=ROOT / "tests", check=False)
    assert done.returncode == 0, f"a child died: {done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def holds(first: int, count: int) -> None:
    found = child(first, count)
    assert found["wrong"] == []
    assert sum(found["counts"].values()) == count
    assert found["counts"]["refused"] > count // 2


@pytest.mark.slow
def test_a_few_spoiled_files():
    holds(0, 200)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_five_thousand_spoiled_files(batch):
    holds(10_000 + batch * BATCH, BATCH)
