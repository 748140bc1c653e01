"""Two parties that both dial a relay: what they say arrives; the relay can only cut the line."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unspoken
from support.joint_commands import OWNERS, ended, free_ports, joint_command, spawn, write
from unspoken.joint.joint_errors import IdentityError, JointError, PartyError, StudyError
from unspoken.joint.session.consent import consent
from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.join import meet
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.relay.relay_server import Relay, RelayLimits, Visitor
from unspoken.joint.wire.relay.relay_words import encoded_certificate, line
from unspoken.joint.wire.transports.limits import Limits

NAMES = ("north", "south")
QUICK = Limits(limit=3, start=8, patience=8)
IN_VAIN = Limits(limit=1, start=1)
SECRET = np.frombuffer(b"a diagnosis that nobody else shall read" * 2000, np.uint8)


@pytest.fixture(scope="module")
def identities(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identities")
    return {name: make_identity(name, folder) for name in (*NAMES, "stranger", "rita")}


class Passing(Visitor):
    """A visitor of a relay that does something to what it passes on."""

    seen = bytearray()

    def changed(self, data):
        return [data]

    def data_received(self, data):
        if self.partner is None:
            super().data_received(data)
            return
        type(self).seen += data
        for piece in self.changed(data):
            self.partner.transport.write(piece)


@asynccontextmanager
async def relay_of(identities, kind=Visitor, limits=None, allowed=NAMES):
    relay = Relay(identities["rita"], frozenset(identities[n].fingerprint for n in allowed),
                  limits or RelayLimits(greeting=2.0))
    server = await asyncio.get_running_loop().create_server(lambda: kind(relay), "127.0.0.1", 0)
    async with server:
        yield relay, server.sockets[0].getsockname()[1]
        for visitor in list(relay.visitors):
            visitor.transport.abort()


def study_at(identities, port, names=NAMES, print_=None):
    address = f"relay://{print_ or identities['rita'].fingerprint}@127.0.0.1:{port}"
    members = [Member(n, address, ("owner",), identities[n].fingerprint,
                      identities[n].certificate) for n in names]
    return Study("care", "sum", "sums", tuple(members))


async def met(study, identities, limits=QUICK):
    return await asyncio.gather(*(meet(study, identities[n], limits) for n in study.names),
                                return_exceptions=True)


async def talk(ends):
    """Send a long message both ways, twice, and return what came."""
    message, came = Message("data", SECRET, Purpose.DISCLOSURE), []
    for _ in range(2):
        done = await asyncio.gather(*(end.send(end.peers[0], message) for end in ends),
                                    *(end.receive(end.peers[0]) for end in ends),
                                    return_exceptions=True)
        came += done[len(ends):]
    return came


async def over(identities, kind, limits=QUICK):
    async with relay_of(identities, kind) as (relay, port):
        ends = await met(study_at(identities, port), identities, limits)
        if any(isinstance(end, Exception) for end in ends):
            for end in ends:
                if not isinstance(end, Exception):
                    await end.close()
            return ends, relay
        try:
            return await talk(ends), relay
        finally:
            await asyncio.gather(*(end.close() for end in ends))


def test_messages_arrive_and_the_relay_reads_none(identities):
    Passing.seen = bytearray()
    came, relay = asyncio.run(over(identities, Passing))
    assert all(np.array_equal(each.array, SECRET) for each in came)
    assert relay.joined == 1
    assert len(Passing.seen) > 2 * SECRET.nbytes
    assert b"diagnosis" not in Passing.seen


class Crumbs(Passing):
    """A slow link: everything comes in small pieces."""

    def changed(self, data):
        return [data[i:i + 97] for i in range(0, len(data), 97)]


def test_small_pieces_are_put_together(identities):
    came, _ = asyncio.run(over(identities, Crumbs))
    assert all(np.array_equal(each.array, SECRET) for each in came)


class Later(Passing):
    """Nothing is done to the handshake, of some kilobytes."""

    def __init__(self, relay):
        super().__init__(relay)
        self.passed = 0

    def changed(self, data):
        self.passed += len(data)
        return [data] if self.passed < 20_000 else self.bad(data)


class Flipping(Later):
    def bad(self, data):
        return [data[:-1] + bytes([data[-1] ^ 1])]


class Replaying(Later):
    def bad(self, data):
        return [data, data]


class Reordering(Later):
    def bad(self, data):
        half = len(data) // 2
        return [data[half:], data[:half]]


class Dropping(Later):
    def bad(self, data):
        return [data[:len(data) // 2]]


class FromTheFirst(Passing):
    def changed(self, data):
        return [bytes([data[0] ^ 1]) + data[1:]]


@pytest.mark.parametrize("kind", [Flipping, Replaying, Reordering, Dropping])
def test_a_relay_that_changes_anything_ends_the_run(identities, kind):
    came, _ = asyncio.run(over(identities, kind))
    assert any(isinstance(each, PartyError) for each in came)
    assert all(isinstance(each, PartyError) or np.array_equal(each.array, SECRET)
               for each in came)


def test_a_relay_that_changes_the_handshake_lets_nobody_in(identities):
    ends, _ = asyncio.run(over(identities, FromTheFirst, IN_VAIN))
    assert all(isinstance(end, JointError) for end in ends)


def test_a_party_that_was_not_allowed_is_refused(identities):
    async def run():
        async with relay_of(identities) as (relay, port):
            ends = await met(study_at(identities, port, ("stranger", "north")), identities,
                             IN_VAIN)
            for end in ends:
                if not isinstance(end, Exception):
                    await end.close()
            return ends[0], relay

    error, relay = asyncio.run(run())
    assert isinstance(error, IdentityError)
    assert "not allowed" in str(error)
    assert relay.joined == 0
    assert relay.refused > 0


def test_another_relay_than_the_studys_is_refused(identities):
    async def run():
        async with relay_of(identities) as (_, port):
            return await met(study_at(identities, port, print_="0" * 64), identities)

    for error in asyncio.run(run()):
        assert isinstance(error, IdentityError)


async def say(port, *lines):
    """Return what a relay answers to raw bytes; `lines` may be made of its greeting."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    greeting = json.loads(await reader.readline())
    for each in lines:
        writer.write(each(greeting) if callable(each) else each)
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return json.loads(answer.splitlines()[-1])


@pytest.mark.parametrize("words", [
    b"GET / HTTP/1.1\r\n", b"{}\n", b"[" * 5000 + b"\n", b"\xff\xfe\n", b"x" * 20_000, b"1\n",
    b'{"certificate": "aGVsbG8=", "study": "a", "party": "b", "peer": "c", "nonce": "", '
    b'"signature": ""}\n', b""])
def test_what_is_no_greeting_is_refused_and_forgotten(identities, words):
    async def run():
        async with relay_of(identities, limits=RelayLimits(greeting=0.3)) as (relay, port):
            answer = await say(port, words)
            await asyncio.sleep(0)
            return answer, relay

    answer, relay = asyncio.run(run())
    assert "refused" in answer
    assert not relay.waiting


def test_a_greeting_with_a_key_of_an_alien_kind_is_refused(identities):
    own, kind = identities["north"].certificate, bytes.fromhex("2b6570")
    place = own.index(kind, own.index(kind) + 1)
    alien = own[:place] + bytes.fromhex("2b656b") + own[place + 3:]
    words = line(certificate=encoded_certificate(alien), study="0" * 64, party="1" * 64,
                 peer="2" * 64, nonce="aa", signature="00")

    async def run():
        async with relay_of(identities) as (_, port):
            return await say(port, words)

    assert asyncio.run(run()) == {"refused": "sent no greeting"}


def test_a_greeting_cannot_be_used_again(identities):
    """What an eavesdropper recorded of a party proves nothing to a relay with other fresh bytes."""
    kept = []

    class Recording(Visitor):
        def data_received(self, data):
            kept.append(data)
            super().data_received(data)

    async def run():
        async with relay_of(identities, Recording) as (relay, port):
            study = study_at(identities, port)
            ends = await met(study, identities)
            await asyncio.gather(*(end.close() for end in ends))
            return await say(port, kept[0]), relay

    answer, relay = asyncio.run(run())
    assert answer == {"refused": "sent no greeting"}
    assert relay.joined == 1


def test_there_is_room_for_so_many_strangers_only(identities):
    async def run():
        limits = RelayLimits(strangers=3, greeting=5)
        async with relay_of(identities, limits=limits) as (_, port):
            open_ = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            for reader, _ in open_:
                await reader.readline()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            answer = json.loads(await reader.readline())
            for _, each in [*open_, (None, writer)]:
                each.close()
            return answer

    assert asyncio.run(run()) == {"refused": "too many connections"}


@pytest.mark.slow
def test_what_is_kept_for_a_party_that_does_not_read_is_bounded(identities):
    async def run():
        limits = RelayLimits(buffer=1 << 16)
        async with relay_of(identities, limits=limits) as (relay, port):
            ends = await met(study_at(identities, port), identities)
            one, other = relay.visitors
            one.transport.pause_reading()
            link = ends[0]._links[ends[0].peers[0]]
            link.writer.transport.set_write_buffer_limits(high=1 << 30)
            for each in ends:
                each._links[each.peers[0]].reader._transport.pause_reading()
                each._links[each.peers[0]].writer.write(bytes(1 << 25))
            one.transport.resume_reading()
            for _ in range(200):
                await asyncio.sleep(0.001)
            kept = [v.transport.get_write_buffer_size() for v in (one, other)]
            for end in ends:
                end._links[end.peers[0]].writer.transport.abort()
                await end.close()
            return kept

    assert max(asyncio.run(run())) <= (1 << 16) + (1 << 19)


def test_the_consent_says_what_a_relay_sees(identities):
    study = study_at(identities, 7799)
    assert Study.from_json(study.to_json()) == study
    assert "north, south can be reached over a relay (127.0.0.1:7799)" in consent(study, "north")
    assert "WARNING" not in consent(study, "north")
    wrong = replace(study.members[0], address="relay://abc@host:1")
    with pytest.raises(StudyError, match="relay://FINGERPRINT@HOST:PORT"):
        Study.from_json(replace(study, members=(wrong, study.members[1])).to_json())


def relay_process(folder, port):
    env = {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-m", "unspoken", "relay", "serve", "--as", "rita", "--listen",
         f"127.0.0.1:{port}", *(w for name in OWNERS for w in ("--allow", f"{name}.crt"))],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_study_over_a_relay_gives_the_same_result(tmp_path, capsys):
    for name in (*OWNERS, "rita"):
        joint_command("identity", name, "--folder", tmp_path)
    for place, name in enumerate(OWNERS):
        write(tmp_path / f"{name}.csv", {"a": [10 ** place, 2 * 10 ** place]})
    relay = relay_process(tmp_path, free_ports(1)[0])
    try:
        relay.stdout.readline()
        address = relay.stdout.readline().strip().replace("HOST", "127.0.0.1")
        assert address.startswith("relay://")
        joint_command("new", tmp_path / "study.toml", "--name", "sums", "--mode", "sums",
                      *(w for n in OWNERS for w in ("--party", f"{tmp_path / n}.crt={address}")),
                      "--columns", "a")
        capsys.readouterr()
        runs = [spawn("join", "study.toml", "--as", name, "--data", f"{name}.csv", "--yes",
                      "--json", cwd=tmp_path) for name in OWNERS]
        results = [json.loads(out)["results"] for out, _ in ended(runs)]
    finally:
        relay.terminate()
        last, _ = relay.communicate(timeout=20)
    assert "3 links were joined" in last
    assert results[0]["north"] == results[1]["south"] == results[2]["east"]
    assert "333" in json.dumps(results[0])
