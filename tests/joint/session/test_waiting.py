"""Nobody waits for ever: every wait has a limit, or ends when what it waits for cannot come."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess

import numpy as np
import pytest

from support import joint_programs
from unspoken.joint import run_local
from unspoken.joint.joint_errors import EngineError, PartyError, PeerGarbageError, PeerLostError
from unspoken.joint.mpc.engines.spu import spu_tunnel as tunnel
from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.mpc.engines.spu.spu_process import CHILD, keep_port
from unspoken.joint.session import processes
from unspoken.joint.session.preflight import compare_studies
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.mailbox import Mailbox
from unspoken.joint.wire.transports.memory import memory_transports

pytestmark = pytest.mark.slow

# Far beyond every limit that is tested: a test that needs it has found a hang.
GENEROUS = 60.0
needs_spu = pytest.mark.skipif(spu_python() is None, reason="SPU is not installed")


def words(n):
    return Message("x", np.arange(n, dtype=np.uint64), Purpose.MASKED)


def finite(job):
    async def run():
        async with asyncio.timeout(GENEROUS):
            return await job

    return asyncio.run(run())


def test_a_peer_that_takes_nothing_is_lost():
    async def run():
        ends = memory_transports("ab", Limits(ahead=1000, patience=0.05))
        await ends["a"].send("b", words(200))
        with pytest.raises(PeerLostError, match=r"'b' took nothing for 0\.05 s"):
            await ends["a"].send("b", words(2))

    finite(run())


def test_a_party_that_is_done_does_not_stop_those_who_still_send_to_it():
    async def run():
        ends = memory_transports("ab", Limits(ahead=1000))
        await ends["a"].send("b", words(200))
        done = asyncio.create_task(ends["b"].finish())
        await ends["a"].send("b", words(200))
        await ends["a"].send("b", words(200))
        await asyncio.gather(done, ends["a"].finish())
        return ends["b"]._boxes["a"].messages

    assert not finite(run())


def test_a_peer_that_never_shows_its_study_is_lost(circle):
    study, _, _ = circle("a", "b")

    async def run():
        ends = memory_transports("ab", Limits(start=0.05))
        with pytest.raises(PeerLostError, match=r"'b' sent nothing for 0\.05 s"):
            await compare_studies(ends["a"], study)

    finite(run())


def test_room_is_there_only_if_nothing_takes_it_away():
    async def run():
        box = Mailbox(1000)
        box.hold(full=True)
        box.put(words(1))
        box.take()
        assert not box.room.is_set()
        box.put(words(200))
        box.hold(full=False)
        assert not box.room.is_set()
        box.take()
        assert box.room.is_set()

    finite(run())


class Ends:
    """Two parties with tunnels; the child of 'b' is a server that does what a test wants."""

    async def open(self, serve, limits=None):
        self.ends = memory_transports("ab", limits or Limits(patience=GENEROUS))
        self.server = await asyncio.start_server(serve, tunnel.HOST, 0)
        port = self.server.sockets[0].getsockname()[1]
        self.a, self.b = tunnel.Tunnel(self.ends["a"], 1), tunnel.Tunnel(self.ends["b"], port)
        self.port = (await self.a.open(["b"]))["b"]
        await self.b.open(["a"])
        return self

    async def close(self):
        self.server.close()
        await asyncio.gather(self.a.close(), self.b.close())


async def echo(reader, writer):
    while piece := await reader.read(1000):
        writer.write(piece)
    writer.close()


async def said(port, what):
    reader, writer = await asyncio.open_connection(tunnel.HOST, port)
    writer.write(what)
    found = await reader.readexactly(len(what))
    return found, writer


def test_connections_that_ended_make_room_for_others(monkeypatch):
    monkeypatch.setattr(tunnel, "MOST", 2)

    async def run():
        both = await Ends().open(echo)
        for turn in range(5):
            found, writer = await said(both.port, b"hello %d" % turn)
            assert found == b"hello %d" % turn
            writer.close()
            while both.a._waiting or both.b._waiting:
                await asyncio.sleep(0)
        # The one at 'a' left; what 'b' answered to that is no leaving of its own.
        assert (both.a.left, both.b.left) == (set(), {"a"})
        await both.close()

    finite(run())


def test_one_connection_too_many_is_refused_aloud(monkeypatch):
    monkeypatch.setattr(tunnel, "MOST", 2)

    async def run():
        both = await Ends().open(echo)
        writers = [(await said(both.port, b"x"))[1] for _ in range(2)]
        third = await asyncio.open_connection(tunnel.HOST, both.port)
        error = await both.ends["b"].broken()
        for writer in (*writers, third[1]):
            writer.close()
        await both.close()
        return error

    error = finite(run())
    assert isinstance(error, PeerGarbageError)
    assert (error.party, "more than 2 connections" in str(error)) == ("a", True)


def test_a_connection_that_died_does_not_hold_the_link_up(monkeypatch):
    monkeypatch.setattr(tunnel, "BEHIND", 10_000)
    gone = asyncio.Event()

    async def die(reader, writer):
        await reader.readexactly(10)
        writer.transport.abort()
        gone.set()

    async def run():
        both = await Ends().open(die)
        line = "b", True, 1
        _, writer = await asyncio.open_connection(tunnel.HOST, both.port)
        writer.write(b"x" * 10)
        await gone.wait()
        for _ in range(50):
            await both.a._send(line, tunnel.OUT, b"y" * 1000)
        await both.ends["a"].send("b", words(3))
        assert (await both.ends["b"].receive("a")).array.size == 3
        writer.close()
        await both.close()

    finite(run())


def test_a_kept_port_is_nobody_elses():
    with keep_port() as kept:
        where = kept.getsockname()
        with pytest.raises(OSError, match="in use"), socket.socket() as other:
            other.bind(where)
        with socket.socket() as child:
            child.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            child.bind(where)
            child.listen()
            socket.create_connection(where).close()


def test_a_child_that_does_not_get_ready_is_named():
    with pytest.raises(PeerLostError, match=r"'p0' was not done within 3 s at step start"):
        run_local(joint_programs.Stuck(), [None], "sums", True, limits=Limits(start=3.0))


def test_a_party_that_has_said_everything_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(processes, "FAREWELL", 0.1)
    found = run_local(joint_programs.lingering, [None] * 2, "sums", True)
    assert [name for name, _ in found] == ["p0", "p1"]


async def forgetting(party, data):
    """One child is killed, and nobody asks it anything afterwards."""
    if party.name == "p1":
        os.kill(party.engine.handle._child.pid, signal.SIGKILL)
    await party.receive(party.names[party.index - 1], "never", "<u8", (1,), Purpose.CONTROL)


@needs_spu
@pytest.mark.parametrize("processes", [False, True])
def test_a_child_that_dies_while_nobody_asks_it_ends_the_run(processes):
    outcomes = {o.name: o.error for o in run_outcomes(
        forgetting, [None] * 2, mode="spu", processes=processes,
        limits=Limits(patience=GENEROUS))}
    assert isinstance(outcomes["p1"], EngineError)
    assert isinstance(outcomes["p0"], PartyError)
    assert outcomes["p0"].party == "p1"
    assert "lost the process that runs SPU" in str(outcomes["p0"])


@needs_spu
def test_a_child_without_its_party_ends_though_its_peers_never_come():
    with socket.create_server((tunnel.HOST, 0)) as silent, keep_port() as kept:
        parties = [[name, f"{tunnel.HOST}:{each.getsockname()[1]}"]
                   for name, each in (("p0", kept), ("p1", silent))]
        header = json.dumps({"op": "start", "protocol": "CHEETAH", "rank": 0, "parties": parties,
                             "patience_ms": 3_600_000}).encode()
        child = subprocess.Popen([spu_python(), str(CHILD)], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 env={n: v for n, v in os.environ.items() if n != "PYTHONPATH"})
        try:
            child.stdin.write(struct.pack("<I", len(header)) + header)
            child.stdin.flush()
            # It is in the middle of meeting the other, who takes the call and says nothing.
            silent.settimeout(GENEROUS)
            called, _ = silent.accept()
            child.stdin.close()
            assert child.wait(GENEROUS) == 0
            called.close()
        finally:
            child.kill()
