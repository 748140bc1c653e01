"""The part of a node's state that is about other nodes: peers, invitations, new identities."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace

from unspoken.joint.node.state_file import StateFile
from unspoken.joint.node.succession import Succession
from unspoken.joint.wire.credentials import Member, fingerprint

MINUTE = 60.0


@dataclass(frozen=True)
class Peer:
    """Another organisation's node. `shown` is read aloud here, `expected` must be heard."""

    name: str
    address: str
    certificate: bytes
    trusted: bool
    shown: str = ""
    expected: str = ""

    @property
    def member(self) -> Member:
        """Return it as a party without roles."""
        return Member(self.name, self.address, (), fingerprint(self.certificate), self.certificate)


class PeerState:
    """What a node knows of others; every method is one transaction."""

    def __init__(self, db: StateFile) -> None:
        self._db = db

    def peers(self, trusted: bool | None = True) -> list[Peer]:
        """Return the peers; those that are trusted, those that are not yet, or all."""
        rows = self._db.execute("SELECT name, address, certificate, trusted, shown, expected "
                                "FROM peers ORDER BY name")
        return [peer for peer in (Peer(r[0], r[1], r[2], bool(r[3]), r[4], r[5]) for r in rows)
                if trusted is None or peer.trusted == trusted]

    def keep_peer(self, peer: Peer) -> None:
        """Keep a peer; one that is trusted is never replaced here."""
        self._db.execute("INSERT OR REPLACE INTO peers VALUES (?, ?, ?, ?, ?, ?, ?)",
                         (peer.name, peer.address, peer.certificate, peer.trusted, peer.shown,
                          peer.expected, time.time()))

    def forget_peer(self, name: str) -> None:
        """Forget a peer."""
        for table, column in (("peers", "name"), ("successions", "name"),
                              ("confirmations", "peer"), ("contacts", "name")):
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))  # noqa: S608

    def move_peer(self, name: str, address: str) -> bool:
        """Keep the address from which a trusted peer says that it can be reached."""
        return self._db.execute("UPDATE peers SET address = ? WHERE name = ? AND trusted = 1 "
                                "AND address <> ?", (address, name, address)).rowcount > 0

    def note_contact(self, name: str, words: str, *, heard: bool) -> None:
        """Keep how it went with a peer, when that is news, and once a minute that it was heard."""
        self._db.execute(
            "INSERT INTO contacts VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET words = "
            "excluded.words, heard = max(heard, excluded.heard) WHERE words <> excluded.words OR "
            "heard < excluded.heard - ?", (name, time.time() if heard else 0.0, words, MINUTE))

    def contact(self, name: str) -> tuple[float, str]:
        """Return when a peer was heard last, to the minute, and what is wrong with it, if it is."""
        row = self._db.execute("SELECT heard, words FROM contacts WHERE name = ?",
                               (name,)).fetchone()
        return (0.0, "") if row is None else (float(row[0]), str(row[1]))

    def invite(self, token: str, until: float) -> None:
        """Keep the hash of an invitation's token."""
        self._db.execute("INSERT INTO invitations VALUES (?, ?)", (token, until))

    def invited(self, token: str) -> bool:
        """Return True if an invitation is open, and use it up."""
        self._db.execute("DELETE FROM invitations WHERE until < ?", (time.time(),))
        return self._db.execute("DELETE FROM invitations WHERE token = ?", (token,)).rowcount > 0

    def keep_succession(self, succession: Succession) -> bool:
        """Keep a new identity that was announced and checked; one that people confirmed stays."""
        done = self._db.execute(
            "INSERT INTO successions VALUES (?, ?, 0) ON CONFLICT (name) DO UPDATE SET body = "
            "excluded.body WHERE confirmed = 0 AND body <> excluded.body",
            (succession.name, json.dumps(succession.to_json())))
        return done.rowcount > 0

    def succession(self, name: str, confirmed: bool | None = None) -> Succession | None:
        """Return the new identity that a node has announced; only if it is (not) confirmed."""
        row = self._db.execute("SELECT body, confirmed FROM successions WHERE name = ?",
                               (name,)).fetchone()
        if row is None or (confirmed is not None and bool(row[1]) != confirmed):
            return None
        return Succession.from_json(json.loads(row[0]))

    def drop_succession(self, name: str) -> None:
        """Forget a new identity, and who has confirmed it."""
        self._db.execute("DELETE FROM successions WHERE name = ?", (name,))

    def confirm_succession(self, name: str) -> None:
        """Keep that people here have heard the code of a node's new identity."""
        self._db.execute("UPDATE successions SET confirmed = 1 WHERE name = ?", (name,))

    def keep_confirmation(self, peer: str, certificate: str) -> bool:
        """Keep that a peer has confirmed a new identity of this node, by its fingerprint."""
        return self._db.execute("INSERT OR IGNORE INTO confirmations VALUES (?, ?)",
                                (peer, certificate)).rowcount > 0

    def confirmed_by(self, certificate: str) -> list[str]:
        """Return the peers that have confirmed a new identity of this node."""
        return [str(row[0]) for row in self._db.execute(
            "SELECT peer FROM confirmations WHERE certificate = ? ORDER BY peer", (certificate,))]

    def newer(self, name: str) -> Peer | None:
        """Return a trusted peer under the new identity that people here have confirmed."""
        succession = self.succession(name, confirmed=True)
        peer = next((one for one in self.peers() if one.name == name), None)
        return None if succession is None or peer is None else replace(
            peer, certificate=succession.certificate)

    def let_in(self) -> list[Peer]:
        """Return trusted peers, those that have a confirmed new identity under both."""
        newer = (self.newer(peer.name) for peer in self.peers())
        return [*self.peers(), *(peer for peer in newer if peer is not None)]

    def succeed(self, peer: Peer) -> None:
        """Pin the new certificate of a peer that has shown it; the old one is refused from here."""
        self._db.execute("UPDATE peers SET certificate = ? WHERE name = ? AND trusted = 1",
                         (peer.certificate, peer.name))
        self.drop_succession(peer.name)
