"""An abort says what happened, the end of a link only that something did: the abort wins."""

from __future__ import annotations

import asyncio

import pytest

from unspoken.joint.joint_errors import BystanderError, PeerLostError
from unspoken.joint.wire.frames import NO_SESSION, Kind, framed
from unspoken.joint.wire.transports import Limits, memory_transports
from unspoken.joint.wire.transports.incoming import control
from unspoken.joint.wire.transports.links import LastWords, Link
from unspoken.joint.wire.transports.tls import TlsTransport

TOLD = {"party": "c", "step": "4 sum", "what": "was silent for 3 s"}


def abort_bytes():
    """Return the frames in which somebody says that 'c' was lost."""
    return b"".join(frame for _, frame in framed(control(Kind.ABORT, "abort", TOLD),
                                                 NO_SESSION, 0))


def reader_of(*pieces, broken=True):
    reader = LastWords()
    for piece in pieces:
        reader.feed_data(piece)
    if broken:
        reader.set_exception(ConnectionResetError())
    return reader


def test_what_came_before_a_reset_can_be_read():
    async def run():
        link = Link(reader_of(b"last words"), None)
        assert await link.exactly(10, 1.0) == b"last words"
        with pytest.raises(EOFError):
            await link.exactly(1, 1.0)

    asyncio.run(run())


def transport_of(circle, **readers):
    study, identities, _ = circle("a", "b", "c", "d")
    end = TlsTransport(study, identities["a"], Limits(limit=2.0))
    end._links = {name: Link(reader, None) for name, reader in readers.items()}
    # There is nothing to write to.
    end._tell = end._cut = lambda *_: None
    return end


def test_an_abort_that_lies_in_the_buffer_of_a_broken_link_wins(circle):
    async def run():
        end = transport_of(circle, b=reader_of(abort_bytes()))
        await end._read("b")
        return end.error

    error = asyncio.run(run())
    assert isinstance(error, BystanderError)
    assert error.party == "c"


def test_an_abort_that_comes_after_the_end_of_another_link_wins(circle):
    async def run():
        late = reader_of(broken=False)
        end = transport_of(circle, b=reader_of(), d=late)
        tasks = [asyncio.create_task(end._read(name)) for name in "bd"]
        for _ in range(10):
            await asyncio.sleep(0)
        assert end.error is None
        late.feed_data(abort_bytes())
        late.feed_eof()
        await asyncio.gather(*tasks)
        return end.error

    error = asyncio.run(run())
    assert isinstance(error, BystanderError)
    assert error.party == "c"


def test_a_link_that_ends_without_an_abort_names_its_peer(circle):
    async def run():
        end = transport_of(circle, b=reader_of())
        await end._read("b")
        return end.error

    error = asyncio.run(run())
    assert isinstance(error, PeerLostError)
    assert error.party == "b"


@pytest.mark.parametrize("first", ["abort", "end"])
def test_a_write_that_fails_waits_for_what_was_told(first):
    async def run():
        ends = memory_transports(("a", "b", "c"), Limits(limit=2.0))
        ends["a"]._write_now = broken
        if first == "abort":
            ends["b"].fail(PeerLostError("c", "4 sum", "was silent for 3 s"))
        sending = asyncio.create_task(ended(ends["a"]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if first == "end":
            ends["b"].fail(PeerLostError("c", "4 sum", "was silent for 3 s"))
        return await sending

    assert asyncio.run(run()).party == "c"


def broken(peer, message):
    raise ConnectionResetError


async def ended(end):
    """Send something; return why that failed."""
    try:
        await end.send("b", control(Kind.DATA, "x"))
    except PeerLostError as error:
        return error
    except BystanderError as error:
        return error
    raise AssertionError("it was sent")
