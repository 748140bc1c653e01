"""The study: who computes what together, who learns it, and what may be disclosed on the way.

`study.toml` is the same for every party. It is read with the standard library, checked field by
field, and has one canonical form whose SHA-256 names it. It holds public things only: numbers of
records, hidden attributes and anything else that the task keeps private have no place in it, and
parameters that look like them are refused.

    name = "flu-counts"
    task = "sum"
    mode = "dealer"
    coalitions = "any one of holder-1, holder-2 and the dealer, with any other owners"

    [parameters]
    length = 12

    [[party]]
    name = "north"
    address = "north.example:7700"
    roles = ["owner", "holder"]
    fingerprint = "..."      # SHA-256 of the certificate: what people compare by telephone
    certificate = "..."      # the certificate itself, DER in base64

    [[disclosure]]
    because = "total per month"
    to = ["north", "south"]
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import Mode
from unspoken.joint.mpc.engines.modes import MODE_NAMES, mode_of
from unspoken.joint.session.study_checks import check_together
from unspoken.joint.session.study_fields import (
    column_kinds,
    flatten,
    hint_at,
    line_of_text,
    list_of_texts,
    name_in_study,
    one_of,
    only_keys,
    plain_parameters,
    seconds_to_wait,
    tables_in,
)
from unspoken.joint.wire.credentials import Member, fingerprint
from unspoken.table.atomic_files import named_path, write_file

ROLES = ("owner", "holder", "dealer", "receiver", "linker")
_ADDRESS = re.compile(r"(relay://[0-9a-f]{64}@)?[A-Za-z0-9.\-\[\]:]{1,255}:\d{1,5}", re.ASCII)
_TOP = ("name", "author", "task", "mode", "coalitions", "wait", "parameters", "schema", "party",
        "disclosure")
USUAL_WAIT = 60


@dataclass(frozen=True)
class Study:
    """What every party agreed on: who computes what, who learns it, and what may be opened.

    It holds public things only; `study.toml` is the same for every party.

    Attributes
    ----------
    name, task, mode : str
        The study's name, its task (`unspoken joint tasks`) and its mode (`run_local`).
    members : tuple of Member
        The parties.
    parameters : mapping
        The parameters of the task.
    schema : mapping of str to str
        The kinds of the columns.
    coalitions : str
        Against whom the study is safe, in words.
    disclosures : tuple of Disclosure
        What may be opened, and to whom.
    author : str
        Who made the study: a party's name, or words. Shown before anybody agrees.
    wait : int
        How long parties wait until all have come, in seconds; 0 for a minute.

    Examples
    --------
    >>> study = Study.load("study.toml")  # doctest: +SKIP
    """

    name: str
    task: str
    mode: str
    members: tuple[Member, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, str] = field(default_factory=dict)
    coalitions: str = ""
    disclosures: tuple[Disclosure, ...] = ()
    author: str = ""
    wait: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return every party's name, in the order of the study."""
        return tuple(member.name for member in self.members)

    def having(self, role: str) -> tuple[str, ...]:
        """Return the names of the parties with a role."""
        return tuple(member.name for member in self.members if role in member.roles)

    @property
    def start_limit(self) -> float:
        """Return how long parties wait until all have come, in seconds."""
        return float(self.wait or USUAL_WAIT)

    @property
    def dealer(self) -> str | None:
        """Return the dealer's name."""
        return next(iter(self.having("dealer")), None)

    @property
    def facts(self) -> Mode:
        """Return what the study's mode means."""
        return mode_of(self.mode)

    @property
    def outside_dealer(self) -> str | None:
        """Return the dealer's name if it owns nothing and runs no program."""
        return self.dealer if self.facts.dealer_outside else None

    def learning(self, disclosure: Disclosure) -> tuple[str, ...]:
        """Return who learns a value: those it names, or all who take part in the program."""
        outside = (self.outside_dealer, *self.having("linker"))
        return disclosure.to or tuple(name for name in self.names if name not in outside)

    def member(self, name: str) -> Member:
        """Return a party by its name."""
        for member in self.members:
            if member.name == name:
                return member
        raise StudyError(f"'{name}' is not a party of study '{self.name}'."
                         + hint_at(name, self.names))

    def fields(self) -> dict[str, str]:
        """Return every field by its path, for comparison one by one."""
        flat: dict[str, str] = {}
        flatten(self.to_json(), "", flat)
        return flat

    def to_json(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return {
            "name": self.name, **({"author": self.author} if self.author else {}),
            "task": self.task, "mode": self.mode,
            "coalitions": self.coalitions, **({"wait": self.wait} if self.wait else {}),
            "parameters": dict(self.parameters), "schema": dict(self.schema),
            "party": [{"name": m.name, "address": m.address, "roles": list(m.roles),
                       "fingerprint": m.fingerprint,
                       "certificate": base64.b64encode(m.certificate).decode()}
                      for m in self.members],
            "disclosure": [{"because": d.because, "to": list(d.to)} for d in self.disclosures]}

    def hash(self) -> str:
        """Return the SHA-256 of the canonical form."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def save(self, path: Path | str) -> None:
        """Write study.toml at once or not at all."""
        write_file(named_path(path), study_text(self.to_json()).encode())

    @classmethod
    def load(cls, path: Path | str) -> Study:
        """Read study.toml."""
        try:
            data = tomllib.loads(named_path(path).read_text(encoding="utf-8"))
        except OSError:
            raise StudyError(f"The study '{path}' cannot be read. Give the path of a study.toml; "
                             "`unspoken joint new` makes one.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise StudyError(f"'{path}' is not valid TOML: {error}.") from None
        return cls.from_json(data)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Study:
        """Check plain data field by field and return the study."""
        only_keys("study", data, _TOP)
        study = cls(
            name_in_study(data, "name"), name_in_study(data, "task"),
            one_of("mode", data.get("mode"), MODE_NAMES),
            tuple(_member(entry) for entry in tables_in(data, "party")),
            plain_parameters(data.get("parameters", {})), column_kinds(data.get("schema", {})),
            line_of_text("coalitions", data.get("coalitions", "")),
            tuple(_disclosure(entry) for entry in tables_in(data, "disclosure")),
            line_of_text("author", data.get("author", "")), seconds_to_wait(data.get("wait", 0)))
        check_together(study)
        return study


def study_text(data: Mapping[str, Any]) -> str:
    """Return plain data as TOML; empty fields are left out."""
    return tomli_w.dumps({key: value for key, value in data.items() if value not in ("", [], {})})


def is_address(text: str) -> bool:
    """Return True for HOST:PORT; the host may be a DNS name, an IPv4 or, in brackets, an IPv6."""
    return bool(_ADDRESS.fullmatch(text)) and 0 < int(text.rpartition(":")[2]) < 1 << 16


def _member(entry: Mapping[str, Any]) -> Member:
    only_keys("party", entry, ("name", "address", "roles", "fingerprint", "certificate"))
    name = name_in_study(entry, "name")
    address = entry.get("address")
    if not isinstance(address, str) or not is_address(address):
        raise StudyError(explain(f"The address of '{name}'",
                                 "HOST:PORT, or relay://FINGERPRINT@HOST:PORT", address))
    roles = list_of_texts(f"roles of {name}", entry.get("roles", []))
    for role in roles:
        one_of(f"roles of {name}", role, ROLES)
    certificate = _certificate(name, entry.get("certificate"))
    if entry.get("fingerprint") != fingerprint(certificate):
        raise StudyError(f"The fingerprint of '{name}' is not the SHA-256 of its certificate. "
                         "Ask that party for both again.")
    return Member(name, address, roles, fingerprint(certificate), certificate)


def _certificate(name: str, text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise StudyError(f"The certificate of '{name}' is not DER in base64.") from None


def _disclosure(entry: Mapping[str, Any]) -> Disclosure:
    only_keys("disclosure", entry, ("because", "to"))
    because = line_of_text("because", entry.get("because", ""))
    if not because:
        raise StudyError("Every disclosure needs a 'because'. One has none.")
    return Disclosure(because, list_of_texts("to", entry.get("to", [])))
