"""What strangers send to the door for pairing is refused in words, and logged."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import socket
from types import SimpleNamespace

import pytest

from support.node_fleet import Fleet
from unspoken.cli.main import main
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.node.node_doors import Doors, Porter
from unspoken.joint.node.node_log import NodeLog
from unspoken.joint.node.pairing import Introduction, token_hash
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.spoken_codes import same_code
from unspoken.joint.session.identity import make_identity
from unspoken.joint.wire.transports.handed_connections import PAIR

ED25519 = bytes.fromhex("2b6570")


def of_alien_key(certificate):
    """Return a certificate whose key is of a kind that nobody knows."""
    place = certificate.index(ED25519, certificate.index(ED25519) + 1)
    return certificate[:place] + bytes.fromhex("2b656b") + certificate[place + 3:]


def test_tokens_and_codes_may_hold_any_character():
    assert token_hash("\ud800") != token_hash("a")
    assert not same_code("BBB\u00c9", "BBBB-BBBB")
    assert not same_code("BBBB\ud800", "BBBB-BBBB")
    assert same_code("bbbb bbbb", "BBBB-BBBB")


def test_a_certificate_of_an_alien_key_is_refused_in_words(tmp_path):
    alien = of_alien_key(make_identity("west", tmp_path).certificate)
    with pytest.raises(IdentityError, match="has no Ed25519 key"):
        Introduction.from_json({"name": "west", "address": "west.example:7700",
                                "certificate": base64.b64encode(alien).decode()})


def test_whatever_breaks_behind_a_door_is_logged_as_refused():
    out = io.StringIO()

    async def pair(link):
        raise ZeroDivisionError("inside")

    porter = Porter(Doors(None, pair, None, None), NodeLog(out))
    link = SimpleNamespace(writer=io.StringIO())
    asyncio.run(porter._answered(PAIR, link, "192.0.2.1"))
    [line] = map(json.loads, out.getvalue().splitlines())
    assert (line["event"], line["why"]) == ("refused", "ZeroDivisionError")


def test_a_wrong_code_of_any_characters_drops_the_introduction(tmp_path, capsys):
    fleet = Fleet(tmp_path, names=("north", "south"))
    state = fleet.state("south")
    west = Peer("west", "west.example:7700", b"", False, "AAAA-AAAA", "BBBB-BBBB")
    state.keep_peer(west)
    words = ["node", "trust", "west", "BBB\u00c9", "--folder", str(fleet.folder / "south")]
    assert main(words) != 0
    assert "This is not the code" in capsys.readouterr().err
    assert state.peers(trusted=False) == []


def test_connections_without_room_are_logged_and_do_not_flood_the_log():
    out = io.StringIO()
    porter = Porter(Doors(None, None, None, None), NodeLog(out))
    for _ in range(100):
        porter._drop(socket.socket(), "192.0.2.1")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["count"] for line in lines] == [1, 2, 4, 8, 16, 32, 64]
    assert {line["why"] for line in lines} == {"more than 200 connections at once"}
