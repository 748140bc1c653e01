"""Few layers stand between a party's start and a byte on the wire; each of them does something."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import numpy as np

import unspoken
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.join import join
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.threaded import ThreadedTransport

SRC = str(Path(unspoken.__file__).parent)
ROLES = {"north": ("owner", "holder"), "south": ("owner", "holder"), "dora": ("dealer",)}
MOST = 12


def own_frames():
    """Return the files and functions of unspoken that wait for, or run, the caller of this."""
    frame, names = sys._getframe(2), []
    while frame is not None:
        if frame.f_code.co_filename.startswith(SRC):
            names.append((frame.f_code.co_filename[len(SRC) + 1:], frame.f_code.co_name))
        frame = frame.f_back
    return names[::-1]


def watch(monkeypatch):
    """Keep, by label, the longest way from the start of a party to a frame on a link."""
    ways, above = {}, {}
    there, frames = ThreadedTransport._there, Transport._frames

    def over_there(self, job):
        message = job.cr_frame.f_locals.get("message")

        async def visit():
            if message is not None:
                # The layer that changes threads is one of them.
                above[self.name, message.label] = [*own_frames(), ("threaded.py", "_there")]
            return await there(self, job)

        return visit()

    def written(self, peer, message):
        way = above.get((self.name, message.label), []) + own_frames()
        ways[message.label] = max(ways.get(message.label, []), way, key=len)
        return frames(self, peer, message)

    monkeypatch.setattr(ThreadedTransport, "_there", over_there)
    monkeypatch.setattr(Transport, "_frames", written)
    return ways


async def squares(party, data):
    shared = await share(party, data, "north", (3,), 0, 100)
    return await reveal(party, await multiply(party, shared, shared), because="squares")


async def run(folder, program, inputs):
    """Run three parties over TLS, each with its links in a thread of its own."""
    sockets, members, own = [], [], {}
    for name, roles in ROLES.items():
        (folder / name).mkdir()
        own[name] = make_identity(name, folder / name)
        sockets.append(socket.create_server(("127.0.0.1", 0)))
        members.append(Member(name, f"127.0.0.1:{sockets[-1].getsockname()[1]}", roles,
                              own[name].fingerprint, own[name].certificate))
    study = Study("way", "program", "dealer", tuple(members), disclosures=(Disclosure("squares"),))
    return await asyncio.gather(*(
        join(study, own[name], program, inputs.get(name), listening=mine)
        for name, mine in zip(ROLES, sockets, strict=True)))


def test_from_the_start_of_a_party_to_the_byte_at_most_twelve_layers(monkeypatch, tmp_path):
    ways = watch(monkeypatch)
    program = InOneOrder(squares, ("north", "south"), None)
    outcomes = asyncio.run(run(tmp_path, program, {"north": np.array([1, 2, 3])}))
    assert [outcome.error for outcome in outcomes] == [None] * 3
    np.testing.assert_array_equal(outcomes[0].output, [1, 4, 9])
    way = ways["multiply.open"]
    # The program itself is a frame too, but of this file.
    assert way[0] == ("joint/session/join.py", "join")
    assert way[-1] == ("joint/wire/transports/tls.py", "_write_now")
    assert len(way) + 1 <= MOST, way
    assert all(len(each) + 1 <= MOST for each in ways.values()), ways
