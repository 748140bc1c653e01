"""Seats at a relay: a node waits for whoever calls it, and gets no call that is for another."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager

import pytest

from unspoken.joint.session.identity import make_identity
from unspoken.joint.wire.relay.relay_server import Relay, RelayLimits
from unspoken.joint.wire.relay.relay_words import ANYBODY, NODES, Meeting, RelayAddress
from unspoken.joint.wire.transports.links import NoRoomError, unreachable
from unspoken.joint.wire.transports.relayed import InnerTls, seat_at, through_relay

NAMES = ("north", "south", "east")


@pytest.fixture(scope="module")
def identities(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identities")
    return {name: make_identity(name, folder) for name in (*NAMES, "rita")}


class Place:
    """A relay, and nodes that take seats there or call each other."""

    def __init__(self, identities, limits):
        self.identities, self.calls = identities, []
        allowed = frozenset(identities[name].fingerprint for name in NAMES)
        self.relay = Relay(identities["rita"], allowed, limits)

    async def seat(self, name):
        return await seat_at(self.address, self.identities[name])

    def call(self, caller, node, handshake=10.0):
        tls = InnerTls(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), False, handshake, 1 << 16)
        prints = (self.identities[name].fingerprint for name in (caller, node))
        self.calls.append(asyncio.create_task(through_relay(
            self.address, self.identities[caller], Meeting.at_node(*prints), tls, b"door")))
        return self.calls[-1]

    async def until_there(self, count):
        while len(self.relay.nodes) != count:
            await asyncio.sleep(0)


@asynccontextmanager
async def place_of(identities, **limits):
    place = Place(identities, RelayLimits(**limits))
    server = await place.relay.listen("127.0.0.1", 0)
    place.address = RelayAddress(identities["rita"].fingerprint, "127.0.0.1",
                                 server.sockets[0].getsockname()[1])
    async with asyncio.timeout(30), server:
        try:
            yield place
        finally:
            for call in place.calls:
                call.cancel()
            await asyncio.gather(*place.calls, return_exceptions=True)
            for visitor in list(place.relay.visitors):
                visitor.transport.abort()


async def first_words(seat):
    """Take the call of a seat and return what the caller sends before TLS."""
    with await seat.caller(10) as taken:
        seat.leave()
        return await asyncio.get_running_loop().sock_recv(taken, 4)


def test_a_call_waits_for_its_node_and_goes_to_no_other(identities):
    async def run():
        async with place_of(identities) as place:
            await place.seat("east")
            place.call("north", "south")
            await place.until_there(2)
            before = place.relay.joined
            words = await first_words(await place.seat("south"))
            [left] = place.relay.nodes
            return before, words, left.name

    before, words, left = asyncio.run(run())
    assert before == 0
    assert words == b"door"
    assert left == identities["east"].fingerprint


def test_a_call_goes_to_the_seat_that_was_taken_last(identities):
    async def run():
        async with place_of(identities) as place:
            _, last = await place.seat("south"), await place.seat("south")
            place.call("north", "south")
            return await first_words(last), len(place.relay.nodes)

    assert asyncio.run(run()) == (b"door", 1)


def test_a_seat_whose_line_is_dead_keeps_nobody(identities):
    async def run():
        async with place_of(identities) as place:
            await place.seat("south")
            with pytest.raises(TimeoutError):
                await place.call("north", "south", handshake=0.1)

    asyncio.run(run())


def test_a_seat_to_which_nobody_comes_is_left_and_forgotten(identities):
    async def run():
        async with place_of(identities) as place:
            seat = await place.seat("south")
            nobody = await seat.caller(0)
            seat.leave()
            await place.until_there(0)
            return nobody

    assert asyncio.run(run()) is None


def test_a_relay_without_room_says_so(identities):
    async def run():
        async with place_of(identities, each=1) as place:
            await place.seat("south")
            with pytest.raises(NoRoomError) as caught:
                await place.seat("south")
            return unreachable(caught.value)

    assert "unspoken relay serve --each" in asyncio.run(run())


def test_two_that_both_wait_or_both_call_do_not_meet():
    a, b = "a" * 64, "b" * 64
    assert Meeting.of_node(a).fits(Meeting.at_node(b, a))
    assert Meeting.at_node(b, a).fits(Meeting.of_node(a))
    assert not Meeting.of_node(a).fits(Meeting.of_node(b))
    assert not Meeting.at_node(a, b).fits(Meeting.at_node(b, a))
    assert not Meeting.of_node(b).fits(Meeting(NODES, a, ANYBODY))
