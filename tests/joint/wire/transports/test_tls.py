"""Real links: who is let in, what garbage does, and that the bytes add up."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import ssl
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from unspoken.joint.joint_errors import (
    BystanderError,
    IdentityError,
    PartyError,
    PeerGarbageError,
    PeerLostError,
)
from unspoken.joint.session.identity import make_identity
from unspoken.joint.wire.credentials import refuse_out_of_date
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.ledger import RECEIVED, SENT
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.links import greeting, tls_context
from unspoken.joint.wire.transports.tls import TlsTransport

pytestmark = pytest.mark.slow

QUICK = Limits(limit=4.0, start=30.0)


def words(n, label="x"):
    return Message(label, np.arange(n, dtype=np.uint64), Purpose.MASKED)


async def meet(study, identities, sockets, limits=QUICK):
    ends = {name: TlsTransport(study, identities[name], limits) for name in study.names}
    await asyncio.gather(*(end.open(sockets[name]) for name, end in ends.items()))
    return ends


def test_messages_travel_and_ledgers_reconcile(circle):
    study, identities, sockets = circle("a", "b", "c")

    async def run():
        ends = await meet(study, identities, sockets)
        sent = [ends[x].send(y, words(300_000)) for x in ends for y in ends if x != y]
        got = [ends[x].receive(y) for x in ends for y in ends if x != y]
        done = await asyncio.gather(*sent, *got)
        assert all(m.array.size == 300_000 and m.array[-1] == 299_999 for m in done[6:])
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return ends

    ends = asyncio.run(run())
    assert len({end.session for end in ends.values()}) == 1
    for x in ends:
        for y in ends[x].peers:
            assert (ends[x].ledger.bytes_with(y, SENT) == ends[y].ledger.bytes_with(x, RECEIVED)
                    > 2_400_000)


def test_short_messages_are_not_held_back_on_either_end(circle):
    study, identities, sockets = circle("a", "b", "c")

    async def run():
        ends = await meet(study, identities, sockets)
        found = [link.writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP,
                                                                 socket.TCP_NODELAY)
                 for end in ends.values() for link in end._links.values()]
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return found

    found = asyncio.run(run())
    assert len(found) == 6
    assert all(found)


def test_two_runs_have_two_sessions(circle):
    study, identities, sockets = circle("a", "b")

    async def run():
        ends = await meet(study, identities, sockets)
        await asyncio.gather(*(end.finish() for end in ends.values()))
        return ends["a"].session

    # The first run closes its sockets; the same ports, without letting anybody else have them.
    again = {name: listening.dup() for name, listening in sockets.items()}
    first = asyncio.run(run())
    sockets = again
    assert asyncio.run(run()) != first


async def outcome(job):
    try:
        await job
    except Exception as error:
        return error


def opened(study, who, identities, sockets, limits=QUICK):
    async def run():
        ends = {name: TlsTransport(s, identities[name], limits) for name, s in who.items()}
        jobs = [outcome(end.open(sockets[name])) for name, end in ends.items()]
        return dict(zip(ends, await asyncio.gather(*jobs), strict=True))

    return asyncio.run(run())


def test_an_unknown_certificate_is_refused_by_name(circle, tmp_path):
    study, identities, sockets = circle("a", "b")
    (tmp_path / "other").mkdir()
    stranger = make_identity("b", tmp_path / "other")
    # The stranger has a study of its own in which it is 'b'.
    forged = dataclasses.replace(study, members=(study.members[0], dataclasses.replace(
        study.members[1], fingerprint=stranger.fingerprint, certificate=stranger.certificate)))
    errors = opened(study, {"a": study, "b": forged}, {**identities, "b": stranger}, sockets,
                    Limits(limit=4, start=2))
    assert isinstance(errors["b"], IdentityError)
    assert "'a' refused the certificate of 'b'" in str(errors["b"])
    assert isinstance(errors["a"], PeerLostError)
    assert "'b' did not connect" in str(errors["a"])


def test_an_unknown_listener_is_refused_by_name(circle, tmp_path):
    study, identities, sockets = circle("a", "b")
    (tmp_path / "other").mkdir()
    stranger = make_identity("a", tmp_path / "other")
    forged = dataclasses.replace(study, members=(dataclasses.replace(
        study.members[0], fingerprint=stranger.fingerprint, certificate=stranger.certificate),
        study.members[1]))
    errors = opened(study, {"a": forged, "b": study}, {**identities, "a": stranger}, sockets,
                    Limits(limit=4, start=2))
    assert isinstance(errors["b"], IdentityError)
    assert "'a' did not show its certificate of the study" in str(errors["b"])


class Swapped(TlsTransport):
    """A party that claims another one's name with its own, valid certificate."""

    claimed = "c"

    async def _say_hello(self, peer, link):
        for frame in self._frames(peer, greeting(self.claimed, peer, self._nonce)):
            link.writer.write(frame)
        await link.writer.drain()


def test_a_valid_certificate_of_another_party_is_refused_by_name(circle):
    study, identities, sockets = circle("a", "b", "c")

    async def run():
        a = TlsTransport(study, identities["a"], QUICK)
        b = Swapped(study, identities["b"], QUICK)
        return await asyncio.gather(outcome(a.open(sockets["a"])),
                                    outcome(asyncio.wait_for(b.open(sockets["b"]), 10)))

    a, b = asyncio.run(run())
    assert isinstance(a, IdentityError)
    assert "'c' did not show the certificate that the study has for it" in str(a)
    assert "It showed that of 'b'" in str(a)
    assert isinstance(b, IdentityError)


def test_a_listener_with_another_partys_certificate_is_refused(circle):
    study, identities, sockets = circle("a", "b", "c")
    # 'b' listens where the study says that 'a' is.
    moved = dataclasses.replace(study, members=tuple(
        dataclasses.replace(m, address={"a": study.member("b").address,
                                        "b": study.member("a").address}.get(m.name, m.address))
        for m in study.members))

    async def run():
        b = TlsTransport(moved, identities["b"], Limits(limit=4, start=30))
        c = TlsTransport(moved, identities["c"], Limits(limit=4, start=30))
        listening = asyncio.create_task(outcome(b.open(sockets["b"])))
        error = await outcome(c.open(sockets["c"]))
        listening.cancel()
        return error

    error = asyncio.run(run())
    assert isinstance(error, IdentityError)
    assert "'a' did not show" in str(error)
    assert "that of 'b'" in str(error)


def test_a_key_that_is_not_the_studys_is_refused_at_once(circle, tmp_path):
    study, _, _ = circle("a", "b")
    (tmp_path / "other").mkdir()

    async def run():
        TlsTransport(study, make_identity("a", tmp_path / "other"))

    with pytest.raises(IdentityError, match="is not the one in the study"):
        asyncio.run(run())


@pytest.mark.parametrize(("version", "spoken"), [(ssl.TLSVersion.TLSv1_3, "TLSv1.3"),
                                                 (ssl.TLSVersion.TLSv1_2, None)])
def test_only_tls_1_3_is_spoken(circle, version, spoken):
    study, identities, sockets = circle("a", "b")

    def dial():
        context = tls_context(ssl.PROTOCOL_TLS_CLIENT, study, identities["b"])
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = version
        with socket.create_connection(sockets["a"].getsockname(), 60) as plain:
            try:
                return context.wrap_socket(plain).version()
            except ssl.SSLError:
                return None

    async def run():
        a = TlsTransport(study, identities["a"], QUICK)
        listening = asyncio.create_task(outcome(a.open(sockets["a"])))
        got = await asyncio.to_thread(dial)
        listening.cancel()
        return got

    assert asyncio.run(run()) == spoken


def test_a_stranger_without_tls_does_not_disturb(circle):
    study, identities, sockets = circle("a", "b")

    async def run():
        noise = socket.create_connection(sockets["a"].getsockname())
        noise.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        ends = await meet(study, identities, sockets)
        await ends["a"].send("b", words(3))
        assert (await ends["b"].receive("a")).array.size == 3
        await asyncio.gather(*(end.finish() for end in ends.values()))
        noise.close()

    asyncio.run(run())


def faulty(circle, act):
    """Let a and b wait for each other while c does something; return their errors."""
    study, identities, sockets = circle("a", "b", "c")

    async def run():
        ends = await meet(study, identities, sockets)
        for end in ends.values():
            end.step = "4 sum"
        waits = [asyncio.create_task(outcome(ends[x].receive(y))) for x, y in ("ab", "ba")]
        await asyncio.sleep(0)
        act(ends["c"])
        errors = await asyncio.gather(*waits)
        await asyncio.gather(*(end.close() for end in ends.values()))
        return ends, errors

    return asyncio.run(run())


def write(end, data):
    for link in end._links.values():
        link.writer.write(data)


@pytest.mark.parametrize("data", [b"x" * 5000, bytes(132), bytes(range(256)) * 3])
def test_garbage_ends_every_other_and_names_the_sender(circle, data):
    _, errors = faulty(circle, lambda c: write(c, data))
    for error in errors:
        assert isinstance(error, PeerGarbageError | BystanderError)
        assert (error.party, error.step) == ("c", "4 sum")


def test_a_cut_connection_names_the_party(circle):
    def cut(c):
        for link in c._links.values():
            link.writer.transport.abort()

    _, errors = faulty(circle, cut)
    assert {error.party for error in errors} == {"c"}


def test_a_silent_party_is_lost(circle):
    def be_silent(c):
        c._beating.cancel()

    _, errors = faulty(circle, be_silent)
    assert {error.party for error in errors} == {"c"}
    assert any("silent for 3 s" in str(error) for error in errors)


def test_a_sender_that_waits_for_room_ends_too(circle):
    study, identities, sockets = circle("a", "b")

    async def run():
        ends = await meet(study, identities, sockets)
        for task in [*ends["b"]._tasks, ends["b"]._beating]:
            task.cancel()
        for _ in range(40):
            await ends["a"].send("b", words(1 << 20))

    with pytest.raises(PartyError) as caught:
        asyncio.run(run())
    assert caught.value.party == "b"


def test_nothing_is_sent_after_the_abort(circle):
    ends, _ = faulty(circle, lambda c: write(c, b"x" * 200))
    for name in "ab":
        last = {row.peer: row.label for row in ends[name].ledger.rows if row.direction == SENT}
        assert last[{"a": "b", "b": "a"}[name]] == "abort"


def test_who_is_missing_is_blamed_by_everybody(circle):
    """Those who give up first inform the others; nobody takes their leaving for the fault."""
    study, identities, sockets = circle("a", "b", "c", "d")

    async def run():
        waits = {"a": 30, "b": 30, "d": 1}
        ends = {name: TlsTransport(study, identities[name], Limits(limit=4, start=wait))
                for name, wait in waits.items()}
        jobs = [outcome(end.open(sockets[name])) for name, end in ends.items()]
        return await asyncio.gather(*jobs)

    errors = asyncio.run(run())
    assert [error.party for error in errors] == ["c", "c", "c"]
    assert "'c' did not connect within 1 s" in str(errors[0])


def test_the_reason_why_a_party_was_not_reached_is_stated(circle):
    study, identities, sockets = circle("a", "b")
    sockets["a"].close()
    errors = opened(study, {"b": study}, identities, sockets, Limits(limit=4, start=0.3))
    assert "refuses connections: nothing listens there" in str(errors["b"])


@pytest.mark.parametrize(("days", "what"), [(-800, "expired on"), (800, "is not valid before")])
def test_certificates_out_of_date_are_refused_by_name(circle, days, what):
    study, _, _ = circle("a", "b")
    now = datetime.now(UTC) - timedelta(days=days)
    with pytest.raises(IdentityError, match=f"certificate of 'a' {what}"):
        refuse_out_of_date(study.members, now)
    refuse_out_of_date(study.members)
