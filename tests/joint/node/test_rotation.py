"""A new key for a node: signed by the old one, confirmed by people, and the old one refused."""

from __future__ import annotations

import asyncio
import os
import ssl
from dataclasses import replace

import pytest

from support.node_end import End, sync
from support.node_fleet import Fleet
from unspoken.errors import InputError, UnspokenError
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.node import rotation
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_link import server_context
from unspoken.joint.node.node_lock import hold_node
from unspoken.joint.node.node_state import Kept
from unspoken.joint.node.succession import Succession, announced
from unspoken.joint.session.identity import load_identity, make_identity
from unspoken.joint.wire.credentials import signing_key


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path, names=("north", "south"))


@pytest.fixture
def ends(fleet):
    return {name: End(fleet, name) for name in fleet.names}


def rotated(ends):
    """Let south get a new identity that north confirms; return its announcement."""
    south, north = ends["south"], ends["north"]
    announcement = rotation.begin(south.config, south.state)
    sync(south, north)
    rotation.confirm(north.state, "south", announcement.code.lower().replace("-", " "))
    sync(south, north)
    rotation.finish(south.config, south.state)
    return announcement


def pinned(end, name="south"):
    return [peer.member.fingerprint for peer in end.state.peers() if peer.name == name]


def test_a_new_identity_takes_the_place_of_the_old_one(fleet, ends):
    old = fleet.configs["south"].identity
    announcement = rotated(ends)
    new = NodeConfig.load(fleet.folder / "south").identity
    assert new.fingerprint == announcement.new != old.fingerprint
    signing_key(new)
    north = ends["north"].state
    assert pinned(ends["north"]) == [old.fingerprint], "until the new one is shown"
    assert {peer.member.fingerprint for peer in north.let_in()} == {old.fingerprint,
                                                                    new.fingerprint}
    north.succeed(north.newer("south"))
    assert pinned(ends["north"]) == [new.fingerprint]
    assert [peer.member.fingerprint for peer in north.let_in()] == [new.fingerprint]
    retired = fleet.folder / "south" / "identity" / f"retired-{announcement.old[:16]}"
    assert load_identity("south", retired).certificate == old.certificate
    assert (retired / "south.key").stat().st_mode & 0o777 == 0o600


def test_nothing_is_trusted_before_people_confirm_and_a_wrong_code_confirms_nothing(ends):
    south, north = ends["south"], ends["north"]
    before = pinned(north)
    announcement = rotation.begin(south.config, south.state)
    assert rotation.begin(south.config, south.state) == announcement
    sync(south, north)
    assert north.state.newer("south") is None
    assert [peer.member.fingerprint for peer in north.state.let_in()] == before
    with pytest.raises(InputError, match="somebody has the old key"):
        rotation.confirm(north.state, "south", "AAAA-AAAA-AAAA-AAAA")
    assert north.state.newer("south") is None
    with pytest.raises(InputError, match="Not every peer has confirmed the new identity: north"):
        rotation.finish(south.config, south.state)
    assert south.config.identity.fingerprint == announcement.old


def test_a_rotation_waits_for_studies_and_for_the_node_to_stop(fleet, ends, monkeypatch):
    north = ends["north"]
    rotation.begin(north.config, north.state)
    lock = hold_node(north.config)
    with pytest.raises(InputError, match="Stop it, finish the rotation"):
        rotation.finish(north.config, north.state, anyway=True)
    os.close(lock)
    kept = Kept(fleet.proposal(), "active", "", "", 0.0)
    monkeypatch.setattr(type(north.state), "active", lambda self: [kept])
    with pytest.raises(InputError, match="have not ended: sums"):
        rotation.finish(north.config, north.state, anyway=True)


def announcement_of(fleet, tmp_path, name="south", signer=None):
    folder = tmp_path / "other"
    folder.mkdir()
    old = fleet.configs["south"].identity if signer is None else signer
    return announced(old, make_identity(name, folder))


@pytest.mark.parametrize("change", [
    {"by_old": "00" * 64}, {"by_new": "00" * 64}, {"time": 1}, {"old": "0" * 64},
    {"name": "north"}, {"certificate": b"junk"}])
def test_an_announcement_that_was_changed_is_refused(fleet, ends, tmp_path, change):
    true = announcement_of(fleet, tmp_path)
    member = ends["north"].state.peers()[0].member
    true.must_follow(member)
    with pytest.raises(UnspokenError):
        replace(true, **change).must_follow(member)


def test_announcements_of_others_and_second_ones_are_refused_and_logged(fleet, ends, tmp_path):
    north, south = ends["north"], ends["south"]
    (tmp_path / "thief").mkdir()
    thief = make_identity("south", tmp_path / "thief")
    forged = announcement_of(fleet, tmp_path, signer=thief)
    north.take("south", {"succession": forged.to_json()})
    assert "does not follow the certificate" in north.refusals()[0]
    rotation.begin(south.config, south.state)
    sync(south, north)
    second = announced(fleet.configs["south"].identity, thief)
    north.take("south", {"succession": second.to_json()}, {"confirmed": second.new})
    assert "announced two new identities" in north.refusals()[1]
    assert "did not announce" in north.refusals()[2]
    assert north.state.succession("south").new != second.new


def test_once_the_new_one_is_pinned_the_old_key_announces_nothing(fleet, ends, tmp_path):
    rotated(ends)
    north = ends["north"]
    north.state.succeed(north.state.newer("south"))
    retired = next((fleet.folder / "south" / "identity").glob("retired-*"))
    (tmp_path / "third").mkdir()
    replay = announced(load_identity("south", retired), make_identity("south", tmp_path / "third"))
    north.take("south", {"succession": replay.to_json()})
    assert "does not follow the certificate" in north.refusals()[-1]
    assert north.state.succession("south") is None


def test_a_rotation_that_was_killed_between_two_files_is_finished_again(fleet, ends, monkeypatch):
    south = ends["south"]
    announcement = rotation.begin(south.config, south.state)
    real, count = rotation.os.replace, iter(range(9))

    def once(source, target):
        if next(count):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(rotation.os, "replace", once)
    with pytest.raises(KeyboardInterrupt):
        rotation.finish(south.config, south.state, anyway=True)
    monkeypatch.setattr(rotation.os, "replace", real)
    rotation.finish(south.config, south.state, anyway=True)
    assert south.config.identity.fingerprint == announcement.new
    retired = south.config.folder / "identity" / f"retired-{announcement.old[:16]}"
    assert load_identity("south", retired).fingerprint == announcement.old
    for folder in (retired, south.config.folder / "identity"):
        own = load_identity("south", folder)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(own.certificate_path, own.key_path)


def test_the_code_is_eighty_bits_over_all_that_is_announced(fleet, tmp_path):
    true = announcement_of(fleet, tmp_path)
    assert len(true.code.replace("-", "")) * 5 == 80
    assert replace(true, time=true.time + 1).code != true.code
    assert Succession.from_json(true.to_json()) == true


def test_tls_lets_in_who_shows_the_new_certificate_and_then_no_longer_the_old(fleet, ends):
    """Two contexts in memory: north's door, and south with its old and its new key."""
    old = fleet.configs["south"].identity
    rotated(ends)
    new, north = fleet.configs["south"].identity, ends["north"]
    retired = load_identity("south", next((fleet.folder / "south" / "identity").glob("retired-*")))
    assert retired.certificate == old.certificate
    for identity in (retired, new):
        assert admitted(north, identity)
    north.state.succeed(north.state.newer("south"))
    assert admitted(north, new)
    assert not admitted(north, retired)


def admitted(north, identity):
    """Return True if the door of north ends a TLS handshake with this identity."""
    server = server_context(north.config.identity, north.state.let_in())
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.load_cert_chain(identity.certificate_path, identity.key_path)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = client.wrap_bio(to_client, to_server)
    other = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = [one, other]
    try:
        for side in (one, other, one, other):
            try:
                side.do_handshake()
                waiting = [each for each in waiting if each is not side]
            except ssl.SSLWantReadError:
                pass
    except ssl.SSLError:
        return False
    return other not in waiting


def test_a_peer_that_shows_its_confirmed_new_certificate_is_pinned_when_it_is_asked(
        ends, monkeypatch):
    rotated(ends)
    north, shown = ends["north"], []

    async def ask(identity, peer, question):
        shown.append(peer.member.fingerprint)
        if len(shown) == 1:
            raise IdentityError("'south' did not show the certificate that it was paired with.")
        return {}

    monkeypatch.setattr(rotation, "ask", ask)
    [south] = north.state.peers()
    asyncio.run(rotation.ask_either(north.config.identity, north.state, south, {}))
    assert pinned(north) == [shown[1]]
    shown.clear()
    [south] = north.state.peers()
    with pytest.raises(IdentityError):
        asyncio.run(rotation.ask_either(north.config.identity, north.state, south, {}))
