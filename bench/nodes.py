"""Nodes under load and under the axe: studies in sequence, at once, and with nodes killed.

    PYTHONPATH=tests python bench/nodes.py sequence 100
    PYTHONPATH=tests python bench/nodes.py at-once 10
    PYTHONPATH=tests python bench/nodes.py kills 200 [SEED]
    PYTHONPATH=tests python bench/nodes.py kills-inside 200 [SEED]

Three owners and a dealer, each `unspoken node serve`, on this machine. A study is a sum over shares
with tags (`authenticated`). `kills`: in each study one node, drawn from a seed, gets SIGKILL at a
moment drawn from a seed (0 to 4 s after the last consent), and is started again; the right result
on all sides, one story, and no opening in any ledger that was not declared are checked each time.
`kills-inside` does it in trees, when the node that leads has a drawn number of checkpoints, 0 to 5;
the right tree is that of a study in which nobody is killed. "went on" counts studies that took up a
checkpoint.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

from support.node_fleet import Fleet, people
from unspoken.errors import UnspokenError
from unspoken.joint.wire.ledger import Ledger

RIGHT = {"age": sum(float(line.split(",")[0]) for place in range(3)
                    for line in people(place).splitlines()[1:])}
LONG = 600


def memory(fleet):
    """Return the memory of every node's own process, in MiB."""
    return {name: psutil.Process(one.pid).memory_info().rss / 2**20
            for name, one in fleet.running.items()}


def wrong(fleet, proposal, ends, right=RIGHT):
    """Return what is wrong with the end of a study, if anything."""
    if len(set(ends.values())) != 1:
        return f"different stories: {ends}"
    results = {name: fleet.result(name, proposal) for name in fleet.names}
    if next(iter(ends.values()))[0] != "complete":
        return f"{next(iter(ends.values()))}"
    if any(results[name] != right for name in fleet.names[:3]) or results["dora"] is not None:
        return f"results {results}"
    return undeclared(fleet, proposal)


def undeclared(fleet, proposal):
    """Return what any ledger of any attempt says was opened beyond what was declared."""
    declared = {one.because for one in proposal.study.disclosures}
    for name in fleet.names:
        for path in fleet.configs[name].study_folder(proposal.id).glob("attempt-*.ledger"):
            try:
                opened = {one.because for one in Ledger.load(path).openings}
            except UnspokenError as error:
                # A killed party's ledger may end inside of its last entry.
                if "cut in the middle" not in str(error):
                    return f"{path}: {error}"
                continue
            if opened - declared:
                return f"{name} opened {opened - declared}"
    return ""


TREE = {"target": "ill", "attributes": ["age", "smoker"], "classes": ["no", "yes"],
        "categories.smoker": ["no", "yes"], "range.age": [0, 120, 7, 8], "max_depth": 6}


def study(fleet, number, tree=False):
    proposal = fleet.proposal(f"s{number}", *(("tree", TREE) if tree else ()))
    fleet.propose(proposal)
    fleet.agree(proposal)
    return proposal


def sequence(fleet, count):
    times, first = [], None
    for number in range(count):
        begun = time.monotonic()
        proposal = study(fleet, number)
        fault = wrong(fleet, proposal, fleet.ended(proposal, seconds=LONG))
        times.append(time.monotonic() - begun)
        first = first or memory(fleet)
        if fault:
            print(f"study {number}: {fault}")
        if number % 5 == 4 or number == count - 1:
            print(f"{number + 1} studies: median {statistics.median(times):.1f} s, longest "
                  f"{max(times):.1f} s; memory (MiB) first {shown(first)}, now "
                  f"{shown(memory(fleet))}", flush=True)


def shown(sizes):
    return ", ".join(f"{name} {size:.0f}" for name, size in sizes.items())


def at_once(fleet, count):
    begun = time.monotonic()
    proposals = [fleet.proposal(f"s{number}") for number in range(count)]
    for proposal in proposals:
        fleet.propose(proposal)
    for proposal in proposals:
        fleet.agree(proposal)
    faults = [wrong(fleet, proposal, fleet.ended(proposal, seconds=LONG)) for proposal in proposals]
    print(f"{count} at once: {time.monotonic() - begun:.1f} s, wrong: {[f for f in faults if f]}")


def tree_of(fleet):
    """Return the tree of a study in which nobody is killed."""
    proposal = study(fleet, "whole", tree=True)
    fleet.ended(proposal, seconds=LONG)
    return fleet.result("north", proposal)


def went_on(fleet, proposal):
    """Return True if an attempt took up a checkpoint."""
    folder = fleet.configs["north"].study_folder(proposal.id)
    return any(b'"name":"continues"' in path.read_bytes()
               for path in folder.glob("attempt-*.ledger"))


def some_time(fleet, proposal, draw):
    """Wait for a moment of the clock."""
    time.sleep(draw.uniform(0, 4))


def some_levels(fleet, proposal, draw):
    """Wait until a study has some checkpoints, or has ended."""
    wanted, state = draw.randrange(6), fleet.state("north")
    folder = fleet.folder / "north" / "studies" / proposal.id / "checkpoints"
    while len(list(folder.glob("*/*.npz"))) < wanted and not state.get(proposal.id).result:
        time.sleep(0.005)
    state.close()


def kills(fleet, count):
    killed(fleet, count, some_time, RIGHT)


def kills_inside(fleet, count):
    killed(fleet, count, some_levels, tree_of(fleet), tree=True)


def killed(fleet, count, moment, right, tree=False):
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 23)
    attempts, times, faults, resumed = [], [], 0, 0
    for number in range(count):
        proposal = study(fleet, number, tree)
        begun, victim = time.monotonic(), draw.choice(fleet.names)
        moment(fleet, proposal, draw)
        fleet.kill(victim)
        fleet.serve(victim)
        fault = wrong(fleet, proposal, fleet.ended(proposal, seconds=LONG), right)
        faults += bool(fault)
        resumed += went_on(fleet, proposal)
        if fault:
            print(f"kill {number} of {victim}: {fault}", flush=True)
        state = fleet.state("north")
        attempts.append(state.latest(proposal.id)[0])
        state.close()
        times.append(time.monotonic() - begun)
        if number % 5 == 4 or number == count - 1:
            print(f"{number + 1} kills: {faults} wrong; attempts {sorted(set(attempts))}, "
                  f"{sum(n > 1 for n in attempts)} begun again, {resumed} went on; median "
                  f"{statistics.median(times):.1f} s, longest {max(times):.1f} s", flush=True)


def main():
    jobs = {"sequence": sequence, "at-once": at_once, "kills": kills,
            "kills-inside": kills_inside}
    job, count = jobs[sys.argv[1]], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, Fleet(Path(folder), sync=1.0) as fleet:
        fleet.serve()
        job(fleet, count)


if __name__ == "__main__":
    main()
