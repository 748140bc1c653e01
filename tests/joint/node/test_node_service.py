"""A running node: who is let in, by which door, and what it says to whom."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from dataclasses import replace

import pytest

from support.http_proxy import proxy
from support.node_fleet import Fleet
from unspoken.errors import InputError
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.node import node_link
from unspoken.joint.node.node_link import NodeLostError, RefusedByNodeError, ask
from unspoken.joint.node.node_log import NodeLog
from unspoken.joint.node.node_service import NodeService
from unspoken.joint.node.pairing import Introduction, accept_invitation, codes, new_invitation
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.spoken_codes import same_code
from unspoken.joint.node.succession import announced
from unspoken.joint.session.identity import make_identity
from unspoken.joint.wire.transports.handed_connections import NODE, RUN, opening, read_opening
from unspoken.joint.wire.transports.proxied import VARIABLE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path, names=("north", "south"))


class Served:
    """The node 'south' in this process, while something is done to it."""

    def __init__(self, fleet):
        self.fleet, self.out = fleet, io.StringIO()

    async def __aenter__(self):
        self.service = NodeService(self.fleet.configs["south"], NodeLog(self.out))
        self._task = asyncio.create_task(self.service.serve())
        while '"started"' not in self.out.getvalue():
            await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self.service._close([], None)

    def refusals(self):
        return [line["why"] for line in map(json.loads, self.out.getvalue().splitlines())
                if line["event"] == "refused"]


def with_south(fleet, job):
    async def run():
        async with asyncio.timeout(60), Served(fleet) as served:
            return await job(served), served.refusals()

    return asyncio.run(run())


def south_of(fleet):
    own = fleet.configs["south"].identity
    return Peer("south", fleet.address["south"], own.certificate, True)


async def error_of(job):
    try:
        await job
    except Exception as error:
        return error


@pytest.mark.parametrize("question", ["rows", "data", "", None, "sync; rows"])
def test_a_question_for_rows_is_refused_by_name_and_logged(fleet, question):
    async def job(served):
        return await error_of(ask(fleet.configs["north"].identity, south_of(fleet),
                                  {"ask": question}))

    error, refusals = with_south(fleet, job)
    assert isinstance(error, RefusedByNodeError)
    assert f"'north' asked for '{question}', which a node never gives" in str(error)
    assert refusals == [str(error).removeprefix("'south' refused: ")]


def test_a_peer_is_asked_through_the_proxy(fleet, monkeypatch):
    heads = []

    async def job(served):
        async with proxy(heads) as port:
            monkeypatch.setenv(VARIABLE, f"http://127.0.0.1:{port}")
            return await ask(fleet.configs["north"].identity, south_of(fleet),
                             {"ask": "catalogue"})

    answer, _ = with_south(fleet, job)
    assert "smoker" in json.dumps(answer)
    assert any(f"CONNECT {fleet.address['south']} ".encode() in head for head in heads)


def test_a_node_with_another_certificate_is_not_let_in(fleet, tmp_path):
    (tmp_path / "other").mkdir()
    stranger = make_identity("north", tmp_path / "other")

    async def job(served):
        return await error_of(ask(stranger, south_of(fleet), {"ask": "catalogue"}))

    error, refusals = with_south(fleet, job)
    assert isinstance(error, NodeLostError)
    assert "does not trust this node's certificate" in str(error)
    assert refusals == ["TLS failed: CERTIFICATE_VERIFY_FAILED"]


def test_a_node_that_answers_with_another_certificate_is_not_asked(fleet, tmp_path):
    (tmp_path / "other").mkdir()
    other = replace(south_of(fleet), certificate=make_identity("south", tmp_path / "other"
                                                               ).certificate)

    async def job(served):
        return await error_of(ask(fleet.configs["north"].identity, other, {"ask": "catalogue"}))

    error, _ = with_south(fleet, job)
    assert isinstance(error, IdentityError)
    assert "'south' did not show the certificate" in str(error)


def test_another_version_is_refused_by_name(fleet, monkeypatch):
    async def job(served):
        here = node_link.code_words()
        theirs = {**here, "unspoken": "9.9"}
        answer = await error_of(ask(fleet.configs["north"].identity, south_of(fleet),
                                    {"ask": "catalogue", **theirs}))
        code = await error_of(ask(fleet.configs["north"].identity, south_of(fleet),
                                  {"ask": "catalogue", **here, "code": "0" * 64}))
        return answer, code

    (version, code), _ = with_south(fleet, job)
    assert "it runs unspoken 9.9, and this node" in str(version)
    assert "its protocol code differs" in str(code)


def test_what_is_no_opening_is_dropped_and_logged(fleet):
    host, _, port = fleet.address["south"].rpartition(":")

    async def job(served):
        loop = asyncio.get_running_loop()
        for first in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", opening(NODE)[:-1] + b"x",
                      opening(RUN, b"r" * 16), b"UNSP\x09" + bytes(17),
                      b"UNSP\x01\x07" + bytes(16)):
            with socket.create_connection((host, int(port))) as line:
                line.setblocking(False)
                await loop.sock_sendall(line, first + bytes(100))
                try:
                    while await loop.sock_recv(line, 100):
                        pass
                except ConnectionError:
                    pass

    _, refusals = with_south(fleet, job)
    assert sorted(refusals)[-3:] == [
        "sent a door that does not exist", "sent something that is no opening of unspoken",
        "sent version 9 of the opening; this node has 1"]


def test_an_opening_is_read_as_it_was_written():
    assert read_opening(opening(RUN, b"x" * 16)) == (RUN, b"x" * 16)
    with pytest.raises(ValueError, match="no opening"):
        read_opening(bytes(22))


def test_two_nodes_are_paired_by_codes_that_each_hears_from_the_other(fleet, tmp_path):
    (tmp_path / "west").mkdir()
    west = make_identity("west", tmp_path / "west")

    async def job(served):
        invitation, hashed = new_invitation(fleet.address["south"])
        served.service.state.invite(hashed, 1e12)
        there = await accept_invitation(invitation, west, "west.example:7700")
        again = await error_of(accept_invitation(invitation, west, "west.example:7700"))
        [here] = [p for p in served.service.state.peers(trusted=None) if p.name == "west"]
        return there, here, again

    (there, here, again), refusals = with_south(fleet, job)
    assert not there.trusted
    assert not here.trusted
    assert (there.shown, there.expected) == (here.expected, here.shown)
    assert there.shown != there.expected
    assert same_code(there.shown.lower().replace("-", " "), here.expected)
    assert not same_code(there.expected, here.expected)
    assert "this invitation is not open" in str(again)
    assert refusals == ["showed an invitation that is not open"]


def test_somebody_in_between_gives_both_ends_other_codes():
    a, b, m = (Introduction(name, f"{name}.example:7700", name.encode()) for name in "abm")
    nonces = (bytes(32), b"1" * 32)
    fake = Introduction("b", "b.example:7700", b"m")
    assert set(codes(a, b, nonces)).isdisjoint(codes(a, fake, nonces))
    assert codes(a, b, nonces) != codes(a, b, nonces[::-1])
    assert all(len(code) == 9 for code in codes(m, b, nonces))


@pytest.mark.parametrize("text", ["", "unspoken:host#short", "unspoken:#" + "a" * 22,
                                  "http://host:1#" + "a" * 22, "unspoken:host:99999#" + "a" * 22,
                                  "unspoken:host:1#" + "a" * 23, "unspoken:ho st:1#" + "a" * 22])
def test_fuzzed_invitations_are_refused_before_anybody_is_dialled(fleet, text):
    with pytest.raises(InputError, match="This is not an invitation"):
        asyncio.run(accept_invitation(text, fleet.configs["north"].identity, "h:1"))


def test_an_introduction_that_does_not_open_its_commitment_is_refused(fleet, tmp_path, monkeypatch):
    (tmp_path / "west").mkdir()
    west = make_identity("west", tmp_path / "west")
    honest = Introduction.digest
    monkeypatch.setattr(Introduction, "digest", lambda self, *more: honest(
        self, *more, b"another" if self.name == "west" and more and not seen.append(1)
        and len(seen) == 1 else b""))
    seen = []

    async def job(served):
        invitation, hashed = new_invitation(fleet.address["south"])
        served.service.state.invite(hashed, 1e12)
        await error_of(accept_invitation(invitation, west, "west.example:7700"))
        return [p.name for p in served.service.state.peers(trusted=False)]

    pending, refusals = with_south(fleet, job)
    assert pending == []
    assert refusals == ["'west' did not open the commitment that it had sent."]


def test_health_and_metrics_show_counts_alone(fleet):
    from unspoken.joint.node.health_page import response

    async def job(served):
        served.service.log.event("cut off", address="192.0.2.1")
        return served.service.numbers()

    numbers, _ = with_south(fleet, job)
    assert numbers["events_cut_off_total"] == 1
    assert 729 < numbers["certificate_days_left"] < 730
    assert response(b"GET /health HTTP/1.1", numbers).startswith(b"HTTP/1.1 200 OK")
    assert b"unspoken_node_peers 1" in response(b"GET /metrics HTTP/1.1", numbers)
    assert response(b"POST /health HTTP/1.1", numbers).startswith(b"HTTP/1.1 405")
    assert response(b"GET /rows HTTP/1.1", numbers).startswith(b"HTTP/1.1 404")
    assert response(b"\x00", numbers).startswith(b"HTTP/1.1 405")
    assert all(isinstance(value, float) for value in numbers.values())


def test_a_field_that_is_not_listed_is_never_logged():
    with pytest.raises(ValueError, match="never logged"):
        NodeLog(io.StringIO()).event("x", value="secret")


def test_the_old_certificate_is_refused_once_the_confirmed_new_one_was_shown(fleet, tmp_path):
    (tmp_path / "next").mkdir()
    old, new = fleet.configs["north"].identity, make_identity("north", tmp_path / "next")

    async def job(served):
        state, answers = served.service.state, []
        state.keep_succession(announced(old, new))
        answers.append(await error_of(ask(new, south_of(fleet), {"ask": "catalogue"})))
        state.confirm_succession("north")
        for identity in (old, new, new, old):
            answers.append(await error_of(ask(identity, south_of(fleet), {"ask": "catalogue"})))
        return answers

    (unconfirmed, *answers), refusals = with_south(fleet, job)
    assert isinstance(unconfirmed, NodeLostError)
    assert answers[:3] == [None, None, None]
    assert isinstance(answers[3], NodeLostError)
    assert refusals == ["TLS failed: CERTIFICATE_VERIFY_FAILED"] * 2
