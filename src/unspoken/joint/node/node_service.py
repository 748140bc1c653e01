"""`unspoken node serve`: the one process that an organisation runs.

It listens, talks with the nodes of other organisations about the studies in common, decides about
those that it leads, and starts the attempts that everybody agreed to. What it knows is in its
state: killed at any moment, it goes on from there when it is started again.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import time
from collections.abc import Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any

from unspoken._version import __version__
from unspoken.joint.joint_errors import JointError
from unspoken.joint.node.attempt_checks import hindrance, is_over
from unspoken.joint.node.catalogue import Catalogue
from unspoken.joint.node.exchange import Exchange
from unspoken.joint.node.health_page import serve_health
from unspoken.joint.node.lead import Lead
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_doors import Doors, Porter
from unspoken.joint.node.node_link import code_words, other_code, receive, send, server_context
from unspoken.joint.node.node_lock import hold_node
from unspoken.joint.node.node_log import NodeLog, words_of
from unspoken.joint.node.node_state import Kept, NodeState, Report
from unspoken.joint.node.pairing import SMALL, answer_pairing, pairing_context, token_hash
from unspoken.joint.node.peer_calls import LOOK, PeerCalls
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.relay_seats import RelaySeats
from unspoken.joint.node.study_runs import StudyRuns
from unspoken.joint.session.study import is_address
from unspoken.joint.wire.credentials import valid_until
from unspoken.joint.wire.transports.handed_connections import PAIR
from unspoken.joint.wire.transports.links import Link

MOST_PENDING = 20


class NodeService:
    """A running node."""

    def __init__(self, config: NodeConfig, log: NodeLog | None = None) -> None:
        self.config = config
        self.identity = config.identity
        self.log = log or NodeLog()
        self.state = NodeState(config.state_path)
        self._catalogue = Catalogue(config)
        self._exchange = Exchange(config, self.identity, self.state, self.log)
        self._wake = asyncio.Event()
        self._calls = PeerCalls(self._exchange, self._changed, self._wake.set)
        self._lead = Lead(config, self.state, self.log, self._calls.online)
        self._runs = StudyRuns(config, self.state, self._changed)
        self._porter = Porter(Doors(self._context, self._pair, self._node, self._runs.take),
                              self.log)
        self._began = time.monotonic()

    async def serve(self) -> None:
        """Serve until SIGTERM or SIGINT."""
        ending = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, ending.set)
        self._porter.open(self.config.listen)
        health = await serve_health(self.config.health, self.numbers) if self.config.health \
            else None
        self.log.event("started", version=__version__, address=self.config.address)
        jobs = [asyncio.create_task(job) for job in (self._decide(), self._watch(),
                                                     self._calls.keep(), *self._seats())]
        waiting = asyncio.create_task(ending.wait())
        done, _ = await asyncio.wait([waiting, *jobs], return_when=asyncio.FIRST_COMPLETED)
        await self._close([waiting, *jobs], health)
        for job in done:
            job.result()

    def _seats(self) -> list[Coroutine[Any, Any, None]]:
        """Return what keeps this node at its relay, if its address is one."""
        relay = self.config.relay
        seats = RelaySeats(self.config, self.identity, self.state, self.log)
        return [] if relay is None else [seats.keep(relay, self._porter.welcome)]

    async def _close(self, jobs: list[asyncio.Task[Any]], health: asyncio.Server | None) -> None:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        if health is not None:
            health.close()
        await self._runs.close()
        await self._porter.close()
        self.log.event("stopped")
        self.state.close()

    def _context(self, door: int) -> ssl.SSLContext:
        return pairing_context(self.identity) if door == PAIR else server_context(
            self.identity, self.state.let_in())

    def _changed(self) -> None:
        """Something is new: decide again, and let everybody concerned know."""
        self._wake.set()
        self._calls.tell()

    async def _watch(self) -> None:
        """Notice what people did on the command line, and that time passes."""
        seen, due = self.state.changes(), time.monotonic()
        while True:
            await asyncio.sleep(LOOK)
            if self.state.changes() != seen:
                seen = self.state.changes()
                self._changed()
            elif time.monotonic() > due:
                due = time.monotonic() + self.config.sync_seconds
                self._wake.set()

    async def _decide(self) -> None:
        """Decide, start and stop, whenever something is new."""
        while True:
            changed = self._lead.decide()
            active = self.state.active()
            self._runs.stop_others({kept.proposal.id for kept in active})
            for kept in active:
                changed |= await self._act(kept)
            if changed:
                self._changed()
            await self._wake.wait()
            self._wake.clear()

    async def _act(self, kept: Kept) -> bool:
        """Do what the lead's latest command asks; return True if something changed."""
        id_ = kept.proposal.id
        lead = kept.proposal.lead
        if lead != self.config.name and is_over(kept.proposal, self._calls.online(lead)):
            return self._give_up(kept)
        n, command = self.state.latest(id_)
        own, running = self.state.reports(id_, n).get(self.config.name), self._runs.of(id_)
        verdict = self.state.verdicts(id_).get(self.config.name)
        taken_back = verdict is not None and not verdict.agrees
        if running is not None and (running.n != n or command == "stop" or taken_back):
            self._runs.stop(id_)
            return False
        if n == 0 or (own is not None and own.state != "running") or running is not None:
            return False
        if own is not None:
            return self.state.report(id_, self._runs.outcome(id_, n, "was restarted"))
        if command == "stop":
            return self.state.report(id_, Report(n, self.config.name, "failed",
                                                 f"'{self.config.name}' was stopped"))
        return await self._begin(kept, n)

    async def _begin(self, kept: Kept, n: int) -> bool:
        reason = hindrance(kept.proposal, n, self.state, self.config.name)
        if reason:
            self.log.refused(kept.proposal.lead, reason, study=kept.proposal.id[:16])
            story = f"'{self.config.name}' did not begin: {reason}"[:400]
            return self.state.report(kept.proposal.id, Report(n, self.config.name, "failed", story,
                                                              again=False))
        self.log.event("runs", study=kept.proposal.id[:16], attempt=n)
        await self._runs.start(kept.proposal.id, n)
        return True

    def _give_up(self, kept: Kept) -> bool:
        """End a study whose lead was not heard from when its time was over."""
        self._runs.stop(kept.proposal.id)
        return self.state.end(kept.proposal.id, "expired", f"'{kept.proposal.lead}', who leads it, "
                              "was not heard from when the study's time was over")

    async def _node(self, link: Link) -> None:
        """Answer one question of a trusted peer."""
        peer = next((one for one in self.state.let_in()
                     if one.member.fingerprint == link.certificate), None)
        if peer is None:
            raise JointError("A certificate that is not that of a trusted node was shown.")
        if peer not in self.state.peers():
            self.state.succeed(peer)
            self.log.event("pinned anew", peer=peer.name)
        message = await receive(link)
        try:
            answer = await self._answer(peer, message)
        except Exception as error:
            self.log.refused(peer.name, words_of(error))
            answer = {"refused": words_of(error)[:300]}
        await send(link, {**code_words(), **answer})

    async def _answer(self, peer: Peer, message: Mapping[str, Any]) -> dict[str, Any]:
        different = other_code(dict(message))
        if different:
            raise JointError(f"'{peer.name}' cannot take part: {different}.")
        asked = message.get("ask")
        if asked == "catalogue":
            return await self._catalogue.answer(peer.name, self.state, self.log)
        if asked != "sync":
            raise JointError(f"'{peer.name}' asked for '{str(asked)[:40]}', which a node never "
                             "gives: it answers sync and catalogue.")
        address = message.get("address")
        if isinstance(address, str) and is_address(address) \
                and self.state.move_peer(peer.name, address):
            self.log.event("moved", peer=peer.name, address=address)
        self._calls.hear(peer.name, message.get("time"))
        if self._exchange.take(peer.name, message.get("view")):
            self._changed()
        return {"view": self._exchange.view_for(peer.name), "time": time.time()}

    async def _pair(self, link: Link) -> None:
        """Be the inviting side of a pairing; the invitation is used up whatever happens."""
        message = await receive(link, SMALL)
        pending = self.state.peers(trusted=False)
        if not self.state.invited(token_hash(str(message.get("token")))) \
                or len(pending) >= MOST_PENDING:
            self.log.refused("somebody", "showed an invitation that is not open")
            await send(link, {"refused": "this invitation is not open; ask for a new one"})
            return
        peer = await answer_pairing(link, dict(message), self.identity, self.config.address)
        if peer.name == self.config.name or any(
                one.name == peer.name for one in self.state.peers()):
            self.log.refused(peer.name, "a node of this name is paired already")
            await send(link, {"refused": "a node of this name is paired already"})
            return
        self.state.keep_peer(peer)
        self.log.event("introduced", peer=peer.name)
        await send(link, {"kept": True})

    def numbers(self) -> Mapping[str, float]:
        """Return what health and metrics show: counts, no names and no values."""
        results = self.state.results()
        events = {f"events_{name.replace(' ', '_')}_total": float(count)
                  for name, count in self.log.counts.items()}
        return {"up_seconds": time.monotonic() - self._began, "running": float(len(self._runs)),
                "certificate_days_left": days_left(self.identity.certificate),
                "peers": float(len(self.state.peers())),
                "peers_online": float(self._calls.count_online()),
                **{f"studies_{name}": float(count) for name, count in results.items()}, **events}


def days_left(certificate: bytes) -> float:
    """Return for how many days a certificate is valid."""
    return (valid_until(certificate) - datetime.now(UTC)).total_seconds() / 86400


def serve(config: NodeConfig) -> None:
    """Run a node; only one at a time in a folder."""
    lock = hold_node(config)

    async def run() -> None:
        await NodeService(config).serve()

    try:
        asyncio.run(run())
    finally:
        os.close(lock)
