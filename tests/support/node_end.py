"""Nodes without their processes: what each takes from another is seen in its state and its log."""

from __future__ import annotations

import io
import json

from unspoken.joint.node.exchange import Exchange
from unspoken.joint.node.lead import Lead
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_log import NodeLog


class End:
    """One node without its process."""

    def __init__(self, fleet, name):
        self.name, self.out = name, io.StringIO()
        self.config = NodeConfig.load(fleet.folder / name)
        self.log = NodeLog(self.out)
        self.state = fleet.state(name)
        self.exchange = Exchange(self.config, self.config.identity, self.state, self.log)
        self.lead = Lead(self.config, self.state, self.log, lambda peer: True)

    def take(self, peer, *items, known=()):
        return self.exchange.take(peer, {"known": list(known), "items": list(items)})

    def refusals(self):
        return [line["why"] for line in map(json.loads, self.out.getvalue().splitlines())
                if line["event"] == "refused"]


def sync(one, other):
    """Let one node call another, through the form in which it travels."""
    view = json.loads(json.dumps(one.exchange.view_for(other.name)))
    other.exchange.take(one.name, view)
    one.exchange.take(other.name, json.loads(json.dumps(other.exchange.view_for(one.name))))


def agreed(fleet, ends):
    proposal = fleet.proposal()
    fleet.propose(proposal)
    for name in fleet.names[1:]:
        sync(ends[name], ends["north"])
        ends[name].state.answer(fleet.verdict(name, proposal))
        sync(ends[name], ends["north"])
    for name in fleet.names[1:]:
        sync(ends["north"], ends[name])
    return proposal
