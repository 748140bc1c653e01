"""The seam in memory: order, faults, back-pressure, and a ledger that adds up."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from unspoken.errors import InputError
from unspoken.joint.joint_errors import (
    BystanderError,
    LedgerError,
    PeerAbortedError,
    PeerFinishedError,
    PeerGarbageError,
    PeerLostError,
)
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.ledger import RECEIVED, SENT, Ledger
from unspoken.joint.wire.transports import Limits, memory_transports

NAMES = ("a", "b", "c")


def words(n, label="x"):
    return Message(label, np.arange(n, dtype=np.uint64), Purpose.MASKED, step=1)


def test_messages_arrive_in_order_and_ledgers_reconcile():
    async def run():
        ends = memory_transports(NAMES)
        for n in (1, 5, 400_000):
            await ends["a"].send("b", words(n))
        got = [(await ends["b"].receive("a")).array.size for _ in range(3)]
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return ends, got

    ends, got = asyncio.run(run())
    assert got == [1, 5, 400_000]
    for one in NAMES:
        for other in ends[one].peers:
            assert (ends[one].ledger.bytes_with(other, SENT)
                    == ends[other].ledger.bytes_with(one, RECEIVED) > 0)


def test_wire_bytes_are_what_the_ledger_says():
    seen = {}

    def tap(source, target, frame):
        seen[source, target] = seen.get((source, target), 0) + len(frame)
        return frame

    async def run():
        ends = memory_transports(NAMES, tap=tap)
        await ends["a"].send("b", words(300_000))
        await ends["c"].send("a", words(3))
        await ends["b"].receive("a")
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return ends

    ends = asyncio.run(run())
    for (source, target), size in seen.items():
        assert ends[source].ledger.bytes_with(target, SENT) == size
        assert ends[target].ledger.bytes_with(source, RECEIVED) == size


def failing(act):
    """Let b and c wait for each other while something happens; return the errors of all."""

    async def wait(end, peer):
        try:
            end.step = "4 sum"
            await end.receive(peer)
        except Exception as error:
            return error

    async def run():
        ends = memory_transports(NAMES)
        waits = [asyncio.create_task(wait(ends["b"], "c")),
                 asyncio.create_task(wait(ends["c"], "b"))]
        await asyncio.sleep(0)
        act(ends)
        return ends, await asyncio.gather(*waits)

    return asyncio.run(run())


def test_a_lost_party_ends_every_other_with_its_name_and_the_step():
    _, errors = failing(lambda ends: ends["a"].vanish())
    for error in errors:
        assert isinstance(error, PeerLostError | BystanderError)
        assert (error.party, error.step) == ("a", "4 sum")
        assert str(error).startswith("'a' closed the connection")


def test_garbage_names_the_sender_to_the_bystander_too():
    _, (b, c) = failing(lambda ends: ends["b"].take_frame("a", b"garbage" * 40))
    assert isinstance(b, PeerGarbageError)
    assert isinstance(c, BystanderError)
    assert (b.party, c.party) == ("a", "a")
    assert "says 'b'" in str(c)


def test_a_failed_program_is_told_to_the_others():
    def act(ends):
        ends["a"].fail(PeerAbortedError("a", "3 share", "ended because its program failed"))

    _, errors = failing(act)
    for error in errors:
        assert isinstance(error, PeerAbortedError | BystanderError)
        assert error.party == "a"
        assert "3 share" in str(error)


@pytest.mark.parametrize("payload", [b"{", b"[]", b"1", b'{"party": "z", "step": "1", "what": "x"}',
                                     b'{"party": "a", "step": "1", "what": "\\u001b[31m"}',
                                     b"[" * 60_000])
def test_an_abort_from_outside_is_not_believed_blindly(payload):
    from unspoken.joint.wire.frames import Kind

    def act(ends):
        body = np.frombuffer(payload, np.uint8)
        ends["a"]._tell("b", Message("abort", body, Purpose.CONTROL, kind=Kind.ABORT))

    _, (b, _) = failing(act)
    assert isinstance(b, PeerGarbageError)
    assert b.party == "a"
    assert "\x1b" not in str(b)


def test_nothing_is_sent_after_a_failure():
    async def run():
        ends = memory_transports(NAMES)
        ends["b"].fail(PeerLostError("a", "2 mul", "was lost"))
        before = ends["b"].ledger.bytes_with("c", SENT)
        with pytest.raises(PeerLostError):
            await ends["b"].send("c", words(2))
        await ends["b"].finish()
        return before, ends["b"].ledger

    before, ledger = asyncio.run(run())
    assert ledger.bytes_with("c", SENT) == before > 0
    assert [row.label for row in ledger.rows] == ["abort", "abort"]


def test_a_peer_that_ends_too_early():
    async def run():
        ends = memory_transports(("a", "b"))
        other = asyncio.create_task(ends["a"].finish())
        with pytest.raises(PeerFinishedError, match="'a' ended its program too early"):
            await ends["b"].receive("a")
        await other

    asyncio.run(run())


def test_patience_ends():
    async def run():
        ends = memory_transports(("a", "b"), Limits(patience=0.01))
        with pytest.raises(PeerLostError, match="sent nothing"):
            await ends["b"].receive("a")

    asyncio.run(run())


def test_back_pressure_stops_the_sender():
    async def run():
        ends = memory_transports(("a", "b"), Limits(ahead=1000))
        await ends["a"].send("b", words(200))
        second = asyncio.create_task(ends["a"].send("b", words(2)))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not second.done()
        await ends["b"].receive("a")
        await second
        assert (await ends["b"].receive("a")).array.size == 2

    asyncio.run(run())


def test_unknown_peers_and_bad_limits_are_refused():
    async def run():
        with pytest.raises(InputError, match="one of b"):
            await memory_transports(("a", "b"))["a"].send("z", words(1))

    asyncio.run(run())
    with pytest.raises(InputError, match="limit"):
        Limits(limit=0)


def test_the_ledger_is_a_private_file_and_a_table(tmp_path):
    ledger = Ledger("a", mode="dealer")
    ledger.opened(3, "total of the counts", ["a", "b"], (4,))
    ledger.status = "complete"  # nothing is written behind the end
    path = tmp_path / "a.ledger"
    ledger.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    back = Ledger.load(path)
    assert back.to_json() == ledger.to_json()
    assert "step 3: total of the counts, 4 values, to a, b" in back.table()
    assert "unvetted" in back.table() or "not reviewed" in back.table()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "unspoken-ledger", "version": 9}',
                                  '{"format": "unspoken-ledger", "version": 1}'])
def test_other_files_are_no_ledgers(tmp_path, text):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(LedgerError):
        Ledger.load(path)
