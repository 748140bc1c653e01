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
import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import Mode
from unspoken.joint.mpc.engines.modes import MODE_NAMES, mode_of
from unspoken.joint.session.study_checks import check_together
from unspoken.joint.wire.credentials import Member, check_name, fingerprint
from unspoken.table.atomic_files import write_file

ROLES = ("owner", "holder", "dealer", "receiver")
PRIVATE = ("rows", "row_count", "n_rows", "records", "record_count", "n_records", "samples",
           "n_samples", "count", "counts", "size", "sizes")
_ADDRESS = re.compile(r"[A-Za-z0-9.\-\[\]:]{1,255}:\d{1,5}", re.ASCII)
_TOP = ("name", "author", "task", "mode", "coalitions", "parameters", "schema", "party",
        "disclosure")


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

    @property
    def names(self) -> tuple[str, ...]:
        """Return every party's name, in the order of the study."""
        return tuple(member.name for member in self.members)

    def having(self, role: str) -> tuple[str, ...]:
        """Return the names of the parties with a role."""
        return tuple(member.name for member in self.members if role in member.roles)

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

    def member(self, name: str) -> Member:
        """Return a party by its name."""
        for member in self.members:
            if member.name == name:
                return member
        raise StudyError(f"'{name}' is not a party of study '{self.name}'."
                         + _hint(name, self.names))

    def fields(self) -> dict[str, str]:
        """Return every field by its path, for comparison one by one."""
        flat: dict[str, str] = {}
        _flatten(self.to_json(), "", flat)
        return flat

    def to_json(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return {
            "name": self.name, **({"author": self.author} if self.author else {}),
            "task": self.task, "mode": self.mode,
            "coalitions": self.coalitions, "parameters": dict(self.parameters),
            "schema": dict(self.schema),
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
        write_file(Path(path), study_text(self.to_json()).encode())

    @classmethod
    def load(cls, path: Path | str) -> Study:
        """Read study.toml."""
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError:
            raise StudyError(f"The study '{path}' cannot be read. Give the path of a study.toml; "
                             "`unspoken joint new` makes one.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise StudyError(f"'{path}' is not valid TOML: {error}.") from None
        return cls.from_json(data)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Study:
        """Check plain data field by field and return the study."""
        _keys("study", data, _TOP)
        study = cls(
            _word(data, "name"), _word(data, "task"), _one_of("mode", data.get("mode"), MODE_NAMES),
            tuple(_member(entry) for entry in _tables(data, "party")),
            _parameters(data.get("parameters", {})), _schema(data.get("schema", {})),
            _text("coalitions", data.get("coalitions", "")),
            tuple(_disclosure(entry) for entry in _tables(data, "disclosure")),
            _text("author", data.get("author", "")))
        check_together(study)
        return study


def study_text(data: Mapping[str, Any]) -> str:
    """Return plain data as TOML; empty fields are left out."""
    return tomli_w.dumps({key: value for key, value in data.items() if value not in ("", [], {})})


def _keys(where: str, data: Any, known: Iterable[str]) -> None:
    if not isinstance(data, Mapping):
        raise StudyError(explain(f"'{where}'", "a table", type(data).__name__))
    for key in data:
        if key not in set(known):
            raise StudyError(f"'{where}' has no field '{key}'." + _hint(str(key), known))


def _hint(name: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(name, known, 1)
    return f" Did you mean '{close[0]}'?" if close else " It may be " + ", ".join(known) + "."


def _one_of(field_: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise StudyError(f"'{field_}' cannot be {value!r}." + _hint(str(value), known))
    return str(value)


def _word(data: Mapping[str, Any], field_: str) -> str:
    try:
        return check_name(data.get(field_, ""), f"The study's '{field_}'")
    except InputError as error:
        raise StudyError(str(error)) from None


def _text(field_: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > 400 or not value.isprintable():
        raise StudyError(explain(f"'{field_}'", "one line of text", value))
    return value


def _tables(data: Mapping[str, Any], field_: str) -> list[Mapping[str, Any]]:
    tables = data.get(field_, [])
    if not isinstance(tables, list):
        raise StudyError(f"'{field_}' must be written as [[{field_}]], once for each.")
    return tables


def _texts(field_: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise StudyError(explain(f"'{field_}'", "a list of names", value))
    return tuple(value)


def _member(entry: Mapping[str, Any]) -> Member:
    _keys("party", entry, ("name", "address", "roles", "fingerprint", "certificate"))
    name = _word(entry, "name")
    address = entry.get("address")
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise StudyError(explain(f"The address of '{name}'", "HOST:PORT", address))
    roles = _texts(f"roles of {name}", entry.get("roles", []))
    for role in roles:
        _one_of(f"roles of {name}", role, ROLES)
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
    _keys("disclosure", entry, ("because", "to"))
    because = _text("because", entry.get("because", ""))
    if not because:
        raise StudyError("Every disclosure needs a 'because'. One has none.")
    return Disclosure(because, _texts("to", entry.get("to", [])))


def _parameters(data: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise StudyError(explain("'parameters'", "a table", type(data).__name__))
    for key, value in data.items():
        if key.lower() in PRIVATE:
            raise StudyError(f"Parameter '{key}' must not be in a study: the number of records of "
                             "a party is its own secret. Leave it out.")
        if not isinstance(value, str | int | float | bool | list):
            raise StudyError(explain(f"Parameter '{key}'", "text, a number or a list", value))
    return dict(data)


def _schema(data: Any) -> dict[str, str]:
    if not isinstance(data, Mapping) or not all(isinstance(v, str) for v in data.values()):
        raise StudyError(explain("'schema'", "a table of column = \"kind\"", data))
    return dict(data)


def _flatten(value: Any, path: str, flat: dict[str, str]) -> None:
    if isinstance(value, Mapping):
        for key in sorted(value):
            _flatten(value[key], f"{path}.{key}" if path else str(key), flat)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for place, item in enumerate(value):
            name = item.get("name", str(place + 1))
            _flatten(item, f"{path}[{name}]", flat)
    else:
        flat[path] = json.dumps(value, allow_nan=False)
