"""A node's new identity, announced under the old one: what is signed, and what people hear.

The old key signs the new certificate and the new key signs the same words, so that nobody can
announce a key that he has not. That is not enough: whoever has stolen the old key can announce a
key of his own. So people call each other once more, on a number that they knew before: the node
whose identity changes reads 16 signs aloud, 80 bits of SHA-256 over the announcement, and the
others type what they heard. The code is not on their screens. To find another announcement with the
same code takes 2^80 trials. An announcement names the certificate that it follows: once the new one
is pinned, no announcement under the old one counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from dataclasses import dataclass, replace
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from unspoken.joint.joint_errors import IdentityError, StudyError
from unspoken.joint.node.spoken_codes import spoken
from unspoken.joint.session.identity import name_in
from unspoken.joint.session.study_fields import line_of_text, only_keys
from unspoken.joint.wire.credentials import (
    Identity,
    Member,
    check_name,
    fingerprint,
    public_key,
    refuse_out_of_date,
    signing_key,
)

_SIGNED = b"unspoken succession 1\0"
_FIELDS = ("name", "old", "certificate", "time", "by_old", "by_new")
CODE_BITS = 80


@dataclass(frozen=True)
class Succession:
    """A certificate that takes the place of another; `by_old` and `by_new` are signatures."""

    name: str
    old: str
    certificate: bytes
    time: int
    by_old: str = ""
    by_new: str = ""

    @property
    def new(self) -> str:
        """Return the fingerprint of the new certificate."""
        return fingerprint(self.certificate)

    @property
    def code(self) -> str:
        """Return what the people of the node read aloud."""
        number = int.from_bytes(hashlib.sha256(b"code\0" + self.body()).digest()[:10], "big")
        return spoken(number, CODE_BITS)

    def body(self) -> bytes:
        """Return what both keys sign."""
        return _SIGNED + json.dumps([self.name, self.old, self.certificate.hex(), self.time]
                                    ).encode()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"name": self.name, "old": self.old, "time": self.time, "by_old": self.by_old,
                "certificate": base64.b64encode(self.certificate).decode(), "by_new": self.by_new}

    @classmethod
    def from_json(cls, data: Any) -> Succession:
        """Check the form of an announcement from outside; `must_follow` checks the signatures."""
        only_keys("succession", data, _FIELDS)
        name, when = check_name(data.get("name", "")), data.get("time")
        if not isinstance(when, int) or isinstance(when, bool) or not 0 <= when < 1 << 53:
            raise StudyError(f"The new identity of '{name}' has no time.")
        try:
            certificate = base64.b64decode(str(data.get("certificate")), validate=True)
        except ValueError:
            raise StudyError(f"The new certificate of '{name}' is not DER in base64.") from None
        texts = [line_of_text(key, data.get(key)) for key in ("old", "by_old", "by_new")]
        return cls(name, texts[0], certificate, when, texts[1], texts[2])

    def must_follow(self, member: Member) -> None:
        """Refuse an announcement that does not follow the pinned certificate of a member."""
        if self.name != member.name or self.old != member.fingerprint:
            raise IdentityError(f"The new identity of '{self.name}' does not follow the "
                                f"certificate that is pinned here for '{member.name}'.")
        if name_in(self.certificate) != self.name:
            raise IdentityError(f"The new certificate of '{self.name}' carries another name.")
        heir = replace(member, fingerprint=self.new, certificate=self.certificate)
        refuse_out_of_date([heir])
        _must_sign(member, self.by_old, self.body(), "old")
        _must_sign(heir, self.by_new, self.body(), "new")


def _must_sign(member: Member, signature: str, body: bytes, which: str) -> None:
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key(member)))
        key.verify(bytes.fromhex(signature), body)
    except (InvalidSignature, ValueError):
        raise IdentityError(f"The new identity of '{member.name}' is not signed with its {which} "
                            "key.") from None


def announced(old: Identity, new: Identity) -> Succession:
    """Return the announcement of a new identity, signed with both keys."""
    bare = Succession(old.name, old.fingerprint, new.certificate, int(time.time()))
    return replace(bare, by_old=signing_key(old).sign(bare.body()).hex(),
                   by_new=signing_key(new).sign(bare.body()).hex())
