"""Links with something between them: a relay that counts, delays, cuts or swallows."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading

import numpy as np
import pytest

from unspoken.errors import InputError
from unspoken.joint import secure_sum
from unspoken.joint.joint_errors import PartyError, PeerGarbageError, PeerLostError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_local
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.ledger import RECEIVED, SENT
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.threaded import ThreadedTransport
from unspoken.joint.wire.transports.tls import TlsTransport

pytestmark = pytest.mark.slow

QUICK = Limits(limit=4.0, start=30.0)


class Relay:
    """Passes bytes between two parties."""

    def __init__(self, target):
        self.target = target
        self.bytes = 0
        self.swallow = False
        self._writers = []

    async def open(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        theirs = await asyncio.open_connection(*self.target)
        self._writers += [writer, theirs[1]]
        await asyncio.gather(self._pass(reader, theirs[1]), self._pass(theirs[0], writer))

    async def _pass(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                self.bytes += len(data)
                if not self.swallow:
                    writer.write(data)
                    await writer.drain()
        writer.close()

    def cut(self):
        for writer in self._writers:
            writer.transport.abort()


def relayed(circle, act):
    """Let three parties meet with a relay before 'a'; then act(ends, relay)."""
    study, identities, sockets = circle("a", "b", "c")

    async def run():
        relay = Relay(sockets["a"].getsockname())
        port = await relay.open()
        moved = dataclasses.replace(study, members=(
            dataclasses.replace(study.members[0], address=f"127.0.0.1:{port}"),
            *study.members[1:]))
        ends = {name: TlsTransport(moved, identities[name], QUICK) for name in moved.names}
        await asyncio.gather(*(end.open(sockets[name]) for name, end in ends.items()))
        try:
            return await act(ends, relay)
        finally:
            relay.cut()

    return asyncio.run(run())


def words(n):
    return Message("x", np.arange(n, dtype=np.uint64), Purpose.MASKED)


async def outcome(job):
    try:
        return await job
    except Exception as error:
        return error


def test_ledgers_reconcile_with_the_wire(circle):
    async def act(ends, relay):
        await asyncio.gather(ends["b"].send("a", words(500_000)), ends["a"].receive("b"))
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return ends["a"].ledger, relay.bytes

    ledger, wire = relayed(circle, act)
    told = sum(ledger.bytes_with(peer, way) for peer in "bc" for way in (SENT, RECEIVED))
    # What TLS adds: certificates at the start, 22 bytes for each record of up to 16 KiB.
    assert told < wire < 1.01 * told + 20_000


@pytest.mark.parametrize("how", ["cut", "swallow"])
def test_a_party_that_is_cut_off_ends_the_run_for_all(circle, how):
    async def act(ends, relay):
        waits = [asyncio.create_task(outcome(ends[x].receive(y))) for x, y in ("ab", "bc", "cb")]
        await asyncio.sleep(0)
        if how == "cut":
            relay.cut()
        else:
            relay.swallow = True
        return await asyncio.gather(*waits)

    a, b, c = relayed(circle, act)
    assert all(isinstance(error, PartyError) for error in (a, b, c))
    # 'a' cannot know whether it or the others are cut off; the others agree on 'a'.
    assert (b.party, c.party) == ("a", "a")
    assert a.party in "bc"


def test_somebody_who_comes_and_goes_ends_the_waiting(circle):
    study, identities, sockets = circle("a", "b", "c")

    async def run():
        a = TlsTransport(study, identities["a"], Limits(limit=10.0, start=60.0))
        b = TlsTransport(study, identities["b"], Limits(limit=10.0, start=60.0))
        waiting = asyncio.create_task(outcome(a.open(sockets["a"])))
        coming = asyncio.create_task(b.open(sockets["b"]))
        async with asyncio.timeout(60):
            while "b" not in a._links:
                await asyncio.sleep(0.01)
        coming.cancel()
        return await waiting

    error = asyncio.run(run())
    assert isinstance(error, PeerLostError)
    assert "'b' closed the connection at step start" in str(error)


def test_a_large_message_in_both_directions_at_once_does_not_lock_up(circle):
    async def act(ends, relay):
        pairs = [(x, y) for x in "abc" for y in "abc" if x != y]
        got = await asyncio.gather(*(ends[x].receive(y) for x, y in pairs),
                                   *(ends[x].send(y, words(1 << 20)) for x, y in pairs))
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return [message.array.size for message in got[:6]]

    assert relayed(circle, act) == [1 << 20] * 6


def test_a_transport_in_a_thread_ends_its_thread(circle):
    study, identities, sockets = circle("a", "b")

    async def make(name):
        end = TlsTransport(study, identities[name], QUICK)
        await end.open(sockets[name])
        return end

    async def run():
        ends = {name: ThreadedTransport() for name in "ab"}
        await asyncio.gather(*(end.open(lambda n=name: make(n)) for name, end in ends.items()))
        await ends["a"].send("b", words(10))
        assert (await ends["b"].receive("a")).array.size == 10
        finishing = asyncio.create_task(ends["b"].finish())
        assert await ends["a"].receive_or_end("b") is None
        await ends["a"].finish()
        await finishing
        for end in ends.values():
            await end.close()

    before = threading.active_count()
    asyncio.run(run())
    assert threading.active_count() == before


def test_steps_side_by_side_are_refused():
    @declares("total")
    async def program(party, data):
        await asyncio.gather(secure_sum(party, data, because="total"),
                             secure_sum(party, data, because="total"))

    with pytest.raises(InputError, match="Put independent work into one array"):
        run_local(program, [np.arange(2)] * 3, "sums")


def test_a_stream_is_handed_out_once():
    async def program(party, data):
        party.begin("x")
        party.stream_with("p1" if party.index == 0 else "p0", "mask")
        party.stream_with("p1" if party.index == 0 else "p0", "other mask")
        with pytest.raises(RuntimeError, match="was used in this step"):
            party.stream_with("p1" if party.index == 0 else "p0", "mask")

    run_local(program, [None] * 2, "sums")


def test_another_purpose_than_expected_ends_the_run():
    @declares("x")
    async def program(party, data):
        party.begin("x")
        party.opening("x", (), (1,))
        purpose = Purpose.DISCLOSURE if party.index else Purpose.RESULT
        await party.swap(party.peers, "x", np.zeros(1, np.uint64), purpose)

    outcomes = asyncio.run(in_memory(program, [None] * 2, roles_for(["a", "b"], "sums")))
    assert any(isinstance(each.error, PeerGarbageError) for each in outcomes)


def test_a_program_for_processes_must_be_importable():
    async def program(party, data):
        pass

    with pytest.raises(InputError, match="can import"):
        run_local(program, [None], processes=True)
