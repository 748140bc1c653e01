"""Nodes that only know each other by a relay: who gets through it, and what is left if it fails."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import unspoken
from support.http_proxy import proxy
from support.joint_commands import free_ports
from support.node_fleet import Fleet, people
from unspoken.cli.main import main
from unspoken.errors import InputError
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.node import node_link
from unspoken.joint.node.node_link import NodeLostError, ask
from unspoken.joint.node.node_log import NodeLog
from unspoken.joint.node.node_service import NodeService
from unspoken.joint.node.pairing import accept_invitation, new_invitation
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.session.identity import make_identity
from unspoken.joint.wire.relay.relay_server import Relay, RelayLimits, Visitor
from unspoken.joint.wire.transports.proxied import VARIABLE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]
NAMES = ("north", "south")
IN_COMMON = len(set.intersection(*({line.split(",")[0] for line in people(place).splitlines()[1:]}
                                   for place in range(2))))


class Seeing(Visitor):
    """A visitor of a relay that keeps what it passes on."""

    seen = bytearray()

    def data_received(self, data):
        if self.partner is not None:
            type(self).seen += data
        super().data_received(data)


class Place:
    """A relay in this process, the node 'south' that waits there, and others that may call it."""

    def __init__(self, folder):
        for name in ("rita", "guest", "stranger"):
            (folder / f"of-{name}").mkdir()
        self.identities = {name: make_identity(name, folder / f"of-{name}")
                           for name in ("rita", "guest", "stranger")}
        self.port = free_ports(1)[0]
        self.address = f"relay://{self.identities['rita'].fingerprint}@127.0.0.1:{self.port}"
        self.fleet = Fleet(folder, names=NAMES, relay=self.address)
        self.identities |= {name: self.fleet.configs[name].identity for name in NAMES}
        allowed = frozenset(self.identities[name].fingerprint for name in (*NAMES, "guest"))
        self.relay = Relay(self.identities["rita"], allowed, RelayLimits(greeting=2.0))
        self.out = io.StringIO()

    async def open(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Seeing(self.relay), "127.0.0.1", self.port)

    def cut(self):
        self.server.close()
        for visitor in list(self.relay.visitors):
            visitor.transport.abort()

    @asynccontextmanager
    async def served(self):
        await self.open()
        service = NodeService(self.fleet.configs["south"], NodeLog(self.out))
        task = asyncio.create_task(service.serve())
        try:
            await self.until(lambda: self.events("waits"))
            yield service
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await service._close([], None)
            self.cut()

    def events(self, name):
        return [line for line in map(json.loads, self.out.getvalue().splitlines())
                if line["event"] == name]

    async def until(self, ready):
        while not ready():
            await asyncio.sleep(0.01)

    async def ask(self, name):
        own = self.identities["south"].certificate
        try:
            return await ask(self.identities[name], Peer("south", self.address, own, True),
                             {"ask": "catalogue"})
        except Exception as error:
            return error


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def during(place, job):
    async def run():
        async with asyncio.timeout(60), place.served() as service:
            return await job(service)

    return asyncio.run(run())


def test_a_peer_is_answered_through_the_relay_which_reads_nothing(place):
    Seeing.seen = bytearray()

    async def job(service):
        # More calls at once than seats: each waits until there is one.
        return await asyncio.gather(*(place.ask("north") for _ in range(5)))

    answers = during(place, job)
    assert all("smoker" in json.dumps(answer) for answer in answers)
    assert place.relay.joined == 5
    assert len(Seeing.seen) > 5000
    assert not any(word in Seeing.seen for word in (b"smoker", b"people", b"catalogue"))


def test_a_stranger_is_refused_at_the_relay_and_a_guest_of_it_at_the_node(place):
    async def job(service):
        return await place.ask("stranger"), await place.ask("guest")

    stranger, guest = during(place, job)
    assert isinstance(stranger, IdentityError)
    assert "not allowed there" in str(stranger)
    assert isinstance(guest, NodeLostError)
    assert "does not trust this node's certificate" in str(guest)
    assert place.relay.joined == 1
    [refusal] = place.events("refused")
    assert refusal["why"] == "TLS failed: CERTIFICATE_VERIFY_FAILED"
    assert refusal["address"] == f"relay 127.0.0.1:{place.port}"


def test_a_node_returns_to_a_relay_that_went_away(place, capsys):
    def status():
        assert main(["node", "status", "--folder", str(place.fleet.folder / "south"),
                     "--json"]) == 0
        return json.loads(capsys.readouterr().out)["relay"]

    async def job(service):
        waited = status()
        place.cut()
        await place.until(lambda: place.events("no seat"))
        lost, unanswered = status(), await place.ask("north")
        await place.open()
        await place.until(lambda: len(place.events("waits")) == 2)
        return waited, lost, unanswered, status(), await place.ask("north")

    waited, lost, unanswered, back, answer = during(place, job)
    assert waited["heard"]
    assert (waited["wrong"], back["wrong"]) == ("", "")
    assert lost["wrong"].startswith("it refuses connections")
    assert lost["wrong"] in lost["words"]
    assert isinstance(unanswered, NodeLostError)
    assert "smoker" in json.dumps(answer)


def test_a_node_waits_and_calls_through_the_proxy_of_its_network(place, monkeypatch):
    heads = []

    async def run():
        async with asyncio.timeout(60), proxy(heads) as port:
            monkeypatch.setenv(VARIABLE, f"http://127.0.0.1:{port}")
            async with place.served():
                return await place.ask("north")

    assert "smoker" in json.dumps(asyncio.run(run()))
    assert len(heads) >= 3
    assert all(head.startswith(f"CONNECT 127.0.0.1:{place.port} ".encode()) for head in heads)


def test_a_node_that_is_not_at_its_relay_is_the_one_that_is_blamed(place, monkeypatch):
    monkeypatch.setattr(node_link, "SECONDS", 0.3)

    async def job():
        await place.open()
        try:
            return await place.ask("north")
        finally:
            place.cut()

    assert "It does not wait at its relay now" in str(asyncio.run(job()))


def test_nodes_are_paired_through_a_relay(place):
    async def job(service):
        own = place.identities["south"].fingerprint
        invitation, hashed = new_invitation(place.address, own)
        service.state.invite(hashed, 1e12)
        there = await accept_invitation(invitation, place.identities["guest"], place.address)
        [here] = [peer for peer in service.state.peers(trusted=False)]
        with pytest.raises(InputError, match="This is not an invitation"):
            await accept_invitation(invitation.replace(f".{own}", ""),
                                    place.identities["guest"], place.address)
        return there, here

    there, here = during(place, job)
    assert (there.name, here.name) == ("south", "guest")
    assert there.address == here.address == place.address
    assert (there.shown, there.expected) == (here.expected, here.shown)


def test_a_relay_that_leads_an_invitation_to_another_node_is_found_out(place, monkeypatch):
    """A relay that lies joins the caller with whom it likes: here with 'south', not with 'rita'."""
    invitation, hashed = new_invitation(place.address, place.identities["rita"].fingerprint)
    monkeypatch.setattr("unspoken.joint.wire.relay.relay_words.Meeting.fits",
                        lambda self, other: self.party != other.party)

    async def job(service):
        service.state.invite(hashed, 1e12)
        with pytest.raises(IdentityError, match="not the node that made the invitation"):
            await accept_invitation(invitation, place.identities["guest"], place.address)
        return service.state.peers(trusted=False)

    assert during(place, job) == []


def node(capsys, fleet, name, *words):
    """Run a command of a node's people and return what it printed."""
    status = main(["node", *map(str, words), "--folder", str(fleet.folder / name), "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out)


def relay_process(place):
    env = {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])}
    allowed = [place.identities[name].certificate_path for name in NAMES]
    process = subprocess.Popen(
        [sys.executable, "-m", "unspoken", "relay", "serve", "--as", "rita", "--identity",
         place.identities["rita"].certificate_path.parent, "--listen", f"127.0.0.1:{place.port}",
         *(word for path in allowed for word in ("--allow", path))],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def test_two_nodes_pair_agree_and_run_a_study_over_a_relay_alone(place, capsys):
    fleet = place.fleet
    for name, other in (NAMES, NAMES[::-1]):
        state = fleet.state(name)
        state.forget_peer(other)
        state.close()
    relay = relay_process(place)
    try:
        with fleet:
            fleet.serve()
            for name in NAMES:
                fleet.until(lambda name=name: any(e["event"] == "waits" for e in fleet.log(name)),
                            f"{name} waits at the relay")
            invitation = node(capsys, fleet, "north", "invite")["invitation"]
            read = node(capsys, fleet, "south", "accept", invitation)["read aloud"]
            [peer] = node(capsys, fleet, "north", "status")["peers"]
            node(capsys, fleet, "north", "trust", "south", read)
            node(capsys, fleet, "south", "trust", "north", peer["read aloud"])
            study = node(capsys, fleet, "north", "propose", "--name", "ages", "--task",
                         "intersection", "--with", "south", "--table", "people", "--set",
                         "column=age", "--yes")["study"]
            state = fleet.state("south")
            fleet.until(lambda: state.has(study), "the proposal comes")
            assert {m.address for m in state.find(study).proposal.study.members} == {place.address}
            proposal = state.find(study).proposal
            state.close()
            node(capsys, fleet, "south", "consent", "ages", "--yes")
            ends = fleet.ended(proposal)
            results = [fleet.result(name, proposal) for name in NAMES]
    finally:
        relay.terminate()
        relay.communicate(timeout=20)
    assert {result for result, _ in ends.values()} == {"complete"}, ends
    assert results[0] == results[1]
    assert IN_COMMON in results[0].values()
