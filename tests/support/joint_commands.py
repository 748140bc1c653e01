"""`unspoken joint` as tests call it: in this process, in others, and for a whole study."""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from unittest import mock

import unspoken
from unspoken.cli import joint_verb as joint
from unspoken.joint.mpc.engines.spu.spu_process import keep_port
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.processes import run_processes

DRIVER = """
import argparse, sys
from unspoken.cli import joint_verb as joint
parser = argparse.ArgumentParser()
joint.add(parser.add_subparsers(dest="verb"))
args = parser.parse_args(sys.argv[1:])
sys.exit(args.run(args))
"""


def joint_command(*words):
    parser = argparse.ArgumentParser()
    joint.add(parser.add_subparsers(dest="verb"))
    args = parser.parse_args(["joint", *map(str, words)])
    return args.run(args)


def spawn(*words, cwd):
    env = {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])}
    return subprocess.Popen([sys.executable, "-c", DRIVER, "joint", *map(str, words)], cwd=cwd,
                            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL)


KEPT = []


def free_ports(count):
    """Return ports that nobody else is given as long as these tests run."""
    KEPT.extend(keep_port() for _ in range(count))
    return [each.getsockname()[1] for each in KEPT[-count:]]


def ended(runs):
    """Return what processes said (stdout, stderr); none is left behind, whatever happens."""
    try:
        return [run.communicate(timeout=60) for run in runs]
    finally:
        for run in runs:
            run.kill()
            run.wait()


OWNERS = ("north", "south", "east")


def write(path, columns):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def in_order(task, settings):
    """Return settings that say how records come into one order: as they are, unless by ids."""
    named = any(each.startswith(("ids=", "same_order=")) for each in settings)
    over_columns = task.endswith("-columns") or task == "network"
    return [*settings, "same_order=true"] if over_columns and not named else list(settings)


def run_in_memory(program, inputs, mode, roles, limits=None, folder=None):
    """Run parties as `run_processes` does, all in this process; what they get is pickled too."""
    program, inputs = pickle.loads(pickle.dumps((program, inputs)))
    return asyncio.run(in_memory(program, inputs, roles, limits))


def tried(folder, task, settings, capsys, mode="dealer", processes=False, planned=True,
          **files):
    """Write a study, plan it, run it here, and return the results by name; tables are NAME.csv.

    The mode is the fastest; the default one has tests of its own, for every task. Starting a
    process per party takes five times what a small study takes, so that few tests do.
    """
    ports = free_ports(4)
    parties = [w for name, port in zip(OWNERS, ports, strict=False)
               for w in ("--party", f"{folder / name}.crt=127.0.0.1:{port}")]
    words = [w for each in in_order(task, settings) for w in ("--set", each)]
    assert joint_command("new", folder / "study.toml", "--name", "weather", "--task", task,
                         *parties, "--mode", mode,
                       "--dealer", f"{folder / 'dora'}.crt=127.0.0.1:{ports[3]}", *words) == 0
    capsys.readouterr()
    if planned:
        assert joint_command("plan", folder / "study.toml", "--json") == 0
        plan = json.loads(capsys.readouterr().out)
        assert plan["learns"]["dora"]
    data = [w for name in OWNERS
            for w in ("--data", f"{name}={folder / files.get(name, name + '.csv')}")]
    run = run_processes if processes else run_in_memory
    with mock.patch("unspoken.joint.session.processes.run_processes", run):
        assert joint_command("local", folder / "study.toml", "--json", "--out",
                             folder / "out.json", *data) == 0
    return json.loads(capsys.readouterr().out)["results"]
