"""What two ends of a link compare: the bytes that travelled, ledger heads, and what both learned.

Both ends keep a tag (Poly1305) over every message of a link, one for each direction: over headers,
so that both booked the same messages in the same order, and over contents where the link does not
authenticate them itself, as TLS does. Its key is no secret, because a party that lies about its own
messages needs no forgery.
What two parties both learned travels as a digest under a key of that pair.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from cryptography.hazmat.primitives.poly1305 import Poly1305

from unspoken.joint.wire.frames import Header, Message
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.ledger_chain import SignedHead

MOST_DIGEST = 32


class LinkEnds:
    """One party's ends of all its links: what it will compare when the run ends."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self._name = name
        self._ledger = ledger
        self._tags: dict[tuple[bytes, str, str], Poly1305] = {}
        self._came: dict[str, str] = {}
        self._results: Mapping[str, bytes] = {}
        self._words: dict[str, dict[str, str]] = {}

    def frame(self, link: tuple[bytes, str, str], header: Header,
              piece: bytes | memoryview) -> None:
        """Take a frame into the tag of a link: session, sender and receiver."""
        tag = self._tag(link)
        tag.update(f"{header.label}|{header.purpose}|{header.dtype}|{header.shape}|{header.step}|"
                   f"{header.chunk}|".encode())
        tag.update(piece)

    def _tag(self, link: tuple[bytes, str, str]) -> Poly1305:
        if link not in self._tags:
            session, source, target = link
            text = b"unspoken link\0" + session + source.encode() + b"\0" + target.encode()
            self._tags[link] = Poly1305(hashlib.sha256(text).digest())
        return self._tags[link]

    def expect(self, results: Mapping[str, bytes]) -> None:
        """Keep what this party and each peer learned, and put it into the ledger."""
        self._results = results
        for peer, digest in results.items():
            self._ledger.chain.note("results", peer=peer, digest=digest.hex())

    def last_words(self, session: bytes, peers: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the last word to each peer; the ledger is signed for it."""
        signed = self._ledger.sign().to_bytes().hex()
        return {peer: {"sent": self._tag((session, self._name, peer)).finalize().hex(),
                       "results": self._results.get(peer, b"").hex(), "head": signed}
                for peer in peers}

    def hear(self, session: bytes, peer: str, message: Message) -> str:
        """Take a peer's last word; return what is wrong with it."""
        try:
            data = json.loads(bytes(message.array))
            words = {name: str(data[name]) for name in ("sent", "results", "head")}
            head = bytes.fromhex(words["head"])
            if len(bytes.fromhex(words["results"])) > MOST_DIGEST:
                raise ValueError("longer than a digest")
        except (ValueError, TypeError, KeyError, RecursionError):
            return "a last word that cannot be read"
        self._came[peer] = self._tag((session, peer, self._name)).finalize().hex()
        self._words[peer] = words
        return self._head(peer, head, results=words["results"])

    def hear_head(self, peer: str, message: Message) -> str:
        """Take the head of a peer's ledger; return what is wrong with it."""
        return self._head(peer, message.array.tobytes())

    def _head(self, peer: str, raw: bytes, **also: str) -> str:
        try:
            signed = SignedHead.from_bytes(raw)
        except ValueError:
            return "a ledger head that cannot be read"
        if not signed.is_of(peer, self._ledger.keys.get(peer, "")):
            return "a ledger head that its key did not sign"
        self._ledger.seen(peer, signed, **also)
        return ""

    def difference(self, peer: str) -> str:
        """Return how a peer's last word differs from what this party has seen, in words."""
        words = self._words.get(peer)
        if words is None:
            return "ended without a last word"
        if words["sent"] != self._came[peer]:
            return "sent something other than what arrived here"
        if words["results"] != self._results.get(peer, b"").hex():
            return "learned other results than this party"
        return ""
