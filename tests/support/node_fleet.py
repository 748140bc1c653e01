"""Nodes as processes on this machine, paired with each other, for tests and benches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import unspoken
from support.joint_commands import free_ports
from unspoken.joint.node.node_config import NodeConfig, config_text
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.proposal import Proposal, signed_verdict
from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member

OWNERS = ("north", "south", "east")
DEALER = "dora"
FACTS = """
[table.column.age]
unit = "years"
range = [0, 120]

[table.column.smoker]
categories = "data"

[table.column.ill]
categories = ["no", "yes"]
"""


def people(place, rows=40):
    """Return a small table as text; every owner has other rows."""
    lines = [f"{30 + place + row},{'yes' if row % 2 else 'no'},{'yes' if row % 3 else 'no'}"
             for row in range(rows + place)]
    return "\n".join(["age,smoker,ill", *lines, ""])


class Fleet:
    """Folders of nodes, the processes that serve them, and what tests do to them."""

    def __init__(self, folder, names=(*OWNERS, DEALER), sync=1.0, limit=4.0, more="",
                 network=None, relay=""):
        self.folder, self.names = Path(folder), names
        self.running, self.network = {}, network
        ports = free_ports(len(names))
        self.address = {name: f"127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)}
        if network is not None:
            self.address = {name: f"{network.address[name]}:7700" for name in names}
        if relay:
            self.address = dict.fromkeys(names, relay)
        for place, name in enumerate(names):
            self._make(place, name, {"sync_seconds": sync, "limit_seconds": limit}, more)
        self.configs = {name: NodeConfig.load(self.folder / name) for name in names}
        for name in names:
            state = self.state(name)
            for other in names:
                if other != name:
                    own = self.configs[other].identity
                    state.keep_peer(Peer(other, self.address[other], own.certificate, True))
            state.close()

    def _make(self, place, name, settings, more):
        home = self.folder / name
        (home / "identity").mkdir(parents=True)
        make_identity(name, home / "identity")
        owner = name in OWNERS
        tables = [{"name": "people", "path": "people.csv", "show_to": list(self.names)}]
        if owner:
            (home / "people.csv").write_text(people(place))
        text = config_text({"name": name, "listen": [] if "relay:" in self.address[name]
                            else [self.address[name]],
                            "address": self.address[name], **settings,
                            "table": tables if owner else []})
        (home / "node.toml").write_text(text + (FACTS if owner else "") + more)

    def state(self, name):
        """Return the state of a node, as a command of its people opens it."""
        return NodeState(self.configs[name].state_path)

    def serve(self, *names):
        """Start nodes."""
        env = {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])}
        for name in names or self.names:
            words = [sys.executable, "-m", "unspoken", "node", "serve", "--folder",
                     str(self.folder / name)]
            with (self.folder / f"{name}.log").open("a") as log:
                options = {"env": env, "stderr": log, "stdout": log}
                self.running[name] = subprocess.Popen(words, **options) if self.network is None \
                    else self.network.spawn(name, words, **options)

    def kill(self, name):
        """Kill a node with SIGKILL."""
        self.running[name].kill()
        self.running.pop(name).wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name):
        """Return the events that a node has logged."""
        lines = (self.folder / f"{name}.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def proposal(self, name="sums", task="sum", parameters=None, mode="authenticated", **times):
        """Return a study that the first owner proposes to all others."""
        roles = {"north": ("owner", "holder", "receiver"), "south": ("owner", "holder", "receiver"),
                 "east": ("owner", "receiver"), "dora": ("dealer",)}
        members = []
        for node in self.names:
            own = self.configs[node].identity
            members.append(Member(node, self.address[node], roles[node], own.fingerprint,
                                  own.certificate))
        given = parameters or {"columns": ["age"]}
        draft = Study(name, task, mode, tuple(members), given, author="north")
        study = Study(name, task, mode, tuple(members), given, author="north",
                      coalitions=task_of(draft).outlook(draft).safe,
                      disclosures=task_of(draft).disclosures(draft))
        now = int(time.time())
        whole = {"not_before": now, "until": now + 3600, "attempts": 20, **times}
        return Proposal(study, {owner: "people" for owner in OWNERS}, **whole)

    def propose(self, proposal):
        """Propose a study at the node that leads it, and agree there."""
        state = self.state("north")
        with state.together():
            state.keep(proposal)
            state.answer(self.verdict("north", proposal))
        state.close()

    def verdict(self, name, proposal, agrees=True, reason=""):
        """Return a node's signed verdict."""
        return signed_verdict(self.configs[name].identity, proposal.id, agrees, "a test", reason)

    def agree(self, proposal, *names):
        """Agree to a study at nodes that have received it; waits for it."""
        for name in names or self.names[1:]:
            state = self.state(name)
            self.until(lambda state=state: state.has(proposal.id), f"{name} has the proposal")
            state.answer(self.verdict(name, proposal))
            state.close()

    def ended(self, proposal, *names, seconds=180):
        """Wait until a study has ended at nodes; return result and story of each."""
        ends = {}
        for name in names or self.names:
            state = self.state(name)
            self.until(lambda state=state: state.find(proposal.id).result, f"{name} ends", seconds)
            kept = state.find(proposal.id)
            ends[name] = kept.result, kept.story
            state.close()
        return ends

    def until(self, ready, what, seconds=180):
        """Wait for something that a node does by itself; the state is looked at, nothing else."""
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def result(self, name, proposal):
        """Return a node's result, or None."""
        path = self.configs[name].study_folder(proposal.id) / "result.json"
        return json.loads(path.read_text()) if path.exists() else None
