"""A proposed study, and the signed answer of each organisation to it.

The number of a proposal is the SHA-256 over everything in it: the study, which table each owner
takes, when it may run and until when, how often it may begin again, and fresh bytes. A study that
was changed in any way is another proposal, and nobody has agreed to it. A verdict is signed with
the key of the organisation's certificate and names the proposal by its number, so that a consent
cannot be used for another study, nor for the same one proposed again.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from unspoken.errors import explain
from unspoken.joint.joint_errors import IdentityError, StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.session.study_fields import line_of_text, only_keys
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import (
    Identity,
    Member,
    check_name,
    public_key,
    refuse_out_of_date,
    signing_key,
)

LONGEST_DAYS = 366
MOST_ATTEMPTS = 1000
_NONCE = re.compile("[0-9a-f]{32}", re.ASCII)
_SIGNED = b"unspoken verdict 1\0"


@dataclass(frozen=True)
class Proposal:
    """What one organisation proposes to others."""

    study: Study
    tables: Mapping[str, str]
    not_before: int
    until: int
    attempts: int = 20
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    def to_json(self) -> dict[str, Any]:
        """Return the proposal as plain data."""
        return {"study": self.study.to_json(), "tables": dict(self.tables),
                "not_before": self.not_before, "until": self.until, "attempts": self.attempts,
                "nonce": self.nonce}

    @property
    def id(self) -> str:
        """Return the number of the proposal: the SHA-256 over all of it."""
        return hashlib.sha256(_canonical(self.to_json())).hexdigest()

    @property
    def lead(self) -> str:
        """Return who proposes and leads it."""
        return self.study.author

    @classmethod
    def from_json(cls, data: Any) -> Proposal:
        """Check a proposal that came from outside, field by field; StudyError names what is wrong.

        The task and its parameters are checked too, and that the study declares exactly what its
        task discloses.
        """
        only_keys("proposal", data, ("study", "tables", "not_before", "until", "attempts", "nonce"))
        nonce = data.get("nonce")
        if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce):
            raise StudyError("'nonce' of a proposal must be 32 hexadecimal digits.")
        tables = data.get("tables")
        if not isinstance(tables, Mapping) or not all(isinstance(v, str) for v in tables.values()):
            raise StudyError(explain("'tables'", "a table's name for each owner", tables))
        proposal = cls(Study.from_json(data.get("study")), dict(tables),
                       _whole(data, "not_before"), _whole(data, "until"), _whole(data, "attempts"),
                       nonce)
        proposal.check()
        return proposal

    def check(self) -> None:
        """Refuse what no node would run."""
        study = self.study
        study.member(self.lead)
        for owner in study.having("owner"):
            check_name(self.tables.get(owner, ""), f"The table of '{owner}'")
        for name in self.tables:
            if "owner" not in study.member(name).roles:
                raise StudyError(f"'{name}' owns no data in study '{study.name}', and a table is "
                                 "named for it.")
        if not self.not_before < self.until <= self.not_before + LONGEST_DAYS * 86400:
            raise StudyError(explain("'until'", f"after 'not_before', by at most {LONGEST_DAYS} "
                                     "days", self.until))
        if not 1 <= self.attempts <= MOST_ATTEMPTS:
            raise StudyError(explain("'attempts'", f"1 to {MOST_ATTEMPTS}", self.attempts))
        refuse_out_of_date(study.members)
        if task_of(study).disclosures(study) != study.disclosures:
            raise StudyError(f"Study '{study.name}' does not declare what its task discloses.")

    def text(self) -> str:
        """Return what is agreed on beside the study, for people."""
        tables = ", ".join(f"{owner}: {name}" for owner, name in self.tables.items())
        return (f"proposal: {self.id}\nproposed and led by '{self.lead}'\ntables: {tables}\n"
                f"runs from {date_text(self.not_before)} on, until {date_text(self.until)} at the "
                f"latest; may begin again {self.attempts - 1} times if a party is lost")


@dataclass(frozen=True)
class Verdict:
    """An organisation's answer to a proposal."""

    proposal: str
    node: str
    agrees: bool
    approver: str
    reason: str = ""
    time: int = 0
    signature: str = ""

    def body(self) -> bytes:
        """Return what is signed."""
        return _SIGNED + _canonical({"proposal": self.proposal, "node": self.node,
                                     "agrees": self.agrees, "approver": self.approver,
                                     "reason": self.reason, "time": self.time})

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {"proposal": self.proposal, "node": self.node, "agrees": self.agrees,
                "approver": self.approver, "reason": self.reason, "time": self.time,
                "signature": self.signature}

    @classmethod
    def from_json(cls, data: Any) -> Verdict:
        """Check the form of a verdict; its signature is checked against a member."""
        only_keys("verdict", data, ("proposal", "node", "agrees", "approver", "reason", "time",
                                    "signature"))
        if not isinstance(data.get("agrees"), bool):
            raise StudyError(explain("'agrees'", "true or false", data.get("agrees")))
        texts = [line_of_text(name, data.get(name)) for name in
                 ("proposal", "node", "approver", "reason", "signature")]
        return cls(texts[0], texts[1], data["agrees"], texts[2], texts[3], _whole(data, "time"),
                   texts[4])

    def must_be_of(self, member: Member, proposal: str) -> None:
        """Refuse a verdict about another proposal, or one that the member did not sign."""
        if self.proposal != proposal or self.node != member.name:
            raise IdentityError(f"A verdict of '{self.node}' about proposal {self.proposal[:16]} "
                                f"was sent for '{member.name}' and {proposal[:16]}.")
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key(member)))
            key.verify(bytes.fromhex(self.signature), self.body())
        except (InvalidSignature, ValueError):
            raise IdentityError(f"The verdict of '{self.node}' is not signed with the key of its "
                                "certificate.") from None


def signed_verdict(identity: Identity, proposal: str, agrees: bool, approver: str,
                   reason: str = "") -> Verdict:
    """Return this organisation's answer, signed with its key."""
    line_of_text("reason", reason)
    line_of_text("approver", approver)
    bare = Verdict(proposal, identity.name, agrees, approver, reason, int(time.time()))
    signature = signing_key(identity).sign(bare.body()).hex()
    return Verdict(proposal, identity.name, agrees, approver, reason, bare.time, signature)


def _canonical(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _whole(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        raise StudyError(explain(f"'{name}'", "a whole number", value))
    return value


def date_text(seconds: float) -> str:
    """Return a time for people, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
