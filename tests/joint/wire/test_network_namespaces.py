"""Parties in network namespaces of their own: delay, loss, and a place that is cut off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unspoken
from support.joint_commands import joint_command
from support.joint_network import Network, missing
from unspoken.joint.wire.ledger import Ledger

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=missing() or "can be made"),
]
OWNERS = ("north", "south", "east")


def words(*more):
    return [sys.executable, "-m", "unspoken", "joint", *map(str, more)]


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])}


@pytest.fixture
def study(tmp_path):
    """Return the folder of a study of three owners and a dealer, each in a place of its own."""
    names = (*OWNERS, "dora")
    for i, name in enumerate(names):
        assert joint_command("identity", name, "--folder", tmp_path) == 0
        (tmp_path / f"{name}.csv").write_text("a\n" + "".join(f"{i + j}\n" for j in range(5)))
    parties = [w for i, name in enumerate(OWNERS)
               for w in ("--party", f"{tmp_path / name}.crt=10.77.0.{i + 1}:7700")]
    assert joint_command("new", tmp_path / "study.toml", "--name", "far", "--columns", "a",
                         *parties,
                       "--dealer", f"{tmp_path / 'dora'}.crt=10.77.0.4:7700") == 0
    return tmp_path


def start(network, folder, name, *more):
    verb = (["dealer", "study.toml"] if name == "dora" else
            ["join", "study.toml", "--as", name, "--data", f"{name}.csv"])
    return network.spawn(name, words(*verb, "--yes", "--json", *more), cwd=folder,
                         env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)


def test_delay_and_loss_change_nothing_but_the_time(study):
    with Network((*OWNERS, "dora"), delay=0.02, loss=0.02, seed=7) as network:
        runs = {name: start(network, study, name) for name in network.names}
        ends = {name: run.communicate(timeout=120) for name, run in runs.items()}
    assert all(run.returncode == 0 for run in runs.values()), ends
    total = {"a": sum(i + j for i in range(3) for j in range(5))}
    for name in OWNERS:
        assert json.loads(ends[name][0])["results"] == {name: total}
    assert network.lost > 0


ENDLESS = """
import asyncio, sys
from pathlib import Path
from unspoken.joint import Limits, Study, less_than, load_identity, share_sum
from unspoken.joint.session.join import join

async def program(party, data):
    print("met", flush=True)
    while True:
        x = await share_sum(party, [1, 2], (2,), 0, 9)
        await less_than(party, x, 3)

name = sys.argv[1]
outcome = asyncio.run(join(Study.load(Path("study.toml")), load_identity(name, Path()), program,
                           None, limits=Limits(limit=3.0), ledger_path=Path(f"{name}.ledger")))
print(outcome.error)
"""


@pytest.mark.parametrize("gone", ["dora", "south"])
def test_a_place_that_is_cut_off_is_named_by_everybody_else(study, gone):
    with Network((*OWNERS, "dora"), delay=0.005) as network:
        runs = {name: network.spawn(name, [sys.executable, "-c", ENDLESS, name], cwd=study,
                                    env=environment(), stdout=subprocess.PIPE, text=True)
                for name in network.names}
        for name in OWNERS:
            # Whoever does not meet the others in time says so instead, and ends.
            assert runs[name].stdout.readline() == "met\n"
        network.cut.add(gone)
        ends = {name: run.communicate(timeout=60)[0] for name, run in runs.items()}
    for name in set(network.names) - {gone}:
        assert f"'{gone}'" in ends[name]
        assert Ledger.load(study / f"{name}.ledger").status.startswith("failed")
    assert Ledger.load(study / f"{gone}.ledger").status.startswith("failed")
