"""A policy: what a release must withstand, as a TOML file that runs in a pipeline.

    radius = 0.02

    [columns]
    max_recovered = 0.20      # no column above 20% ...
    against = "expert"        # ... against an expert, or anybody who knows less
    measure = "records"       # of the people, the default; "domain" counts distinct values

    [column.salary]           # another limit for one column
    max_recovered = 0.05

    [subspaces]
    max_recovered = 0.05
    against = "expert"

    [paths]
    max_recovered = 0.01
    against = "insider"

    [anonymity]
    k = 10

Columns that could not be scored fail every policy, unless they are named before the first
section: `allow_unscored = ["comment"]`. What a release cannot show (K of an encoded one, paths
without a tree) fails the policy and says so: a gate that was not checked is not open.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Judgement, Row
from unspoken.disclosure.knowledge import PRESETS
from unspoken.disclosure.plain_language import MUST_KNOW, level, percent
from unspoken.errors import PolicyError, explain
from unspoken.release.method import name_in
from unspoken.release.parameters import OneOf, Rule, Whole

ANYBODY = "anybody"
AGAINST = (*MUST_KNOW, ANYBODY)


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1."""

    least: float = 0.0

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a number from {self.least:g} to 1"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        real = isinstance(value, int | float) and not isinstance(value, bool)
        return real and self.least <= float(value) <= 1.0


_LIMIT: Mapping[str, Rule] = {"max_recovered": Share(), "against": OneOf(AGAINST)}
_SECTIONS: Mapping[str, Mapping[str, Rule]] = {
    "columns": {**_LIMIT, "measure": OneOf(("domain", "records"))},
    "subspaces": _LIMIT,
    "paths": _LIMIT,
    "anonymity": {"k": Whole(1)},
}
_TOP = (*_SECTIONS, "column", "radius", "allow_unscored")


@dataclass(frozen=True)
class Policy:
    r"""What a release must withstand; `Policy.load(path)` or `Policy.parse(text)` reads it.

    Attributes
    ----------
    sections : mapping
        The limits by section: "columns", "subspaces", "paths", "anonymity".
    column : mapping
        Limits for single columns, by original name.
    radius : float, default 0.02
        How near a guess must be to count as recovered, as a share of the range.
    allow_unscored : tuple of str
        Columns that may lack a score; any other one without a score fails the policy.

    Examples
    --------
    >>> policy = Policy.parse('[columns]\nmax_recovered = 0.2\nagainst = "expert"')
    >>> policy.judge(audit).summary()  # doctest: +SKIP
    """

    sections: Mapping[str, Mapping[str, Any]]
    column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    radius: float = 0.02
    allow_unscored: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(f"'{path}' must be a readable policy file. {error}.") from None
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, source: str = "policy") -> Policy:
        """Read the text of a policy; unknown names are refused with the closest known one."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"'{source}' must be TOML. {error}.") from None
        _known_names(f"{source}:", data, _TOP)
        sections = {name: _section(f"{source}: [{name}]", data[name], _SECTIONS[name])
                    for name in _SECTIONS if name in data}
        single = data.get("column", {})
        if not isinstance(single, dict):
            raise PolicyError(f"{source}: [column] holds no tables named after columns. Write "
                              "[column.NAME], with the name of a column.")
        column = {name: _section(f"{source}: [column.{name}]", part, _SECTIONS["columns"])
                  for name, part in single.items()}
        radius = data.get("radius", 0.02)
        _admit(f"{source}: 'radius'", Share(1e-9), radius)
        if not sections and not column:
            raise PolicyError(f"'{source}' must ask for something. Write a section such as "
                              "[columns] with max_recovered = 0.2 and against = \"expert\".")
        return cls(sections, column, float(radius),
                   _names(f"{source}: 'allow_unscored'", data.get("allow_unscored", [])))

    def judge(self, audit: Audit) -> Judgement:
        """Compare every number of an audit with what the policy allows."""
        self._check_radius(audit)
        findings = _Findings()
        self._columns(audit, findings)
        for name, measure in (("subspaces", "subspace"), ("paths", "paths")):
            if name in self.sections:
                findings.compare(audit.select(measure=measure), self.sections[name], name)
        if "anonymity" in self.sections:
            findings.anonymity(audit, int(self.sections["anonymity"]["k"]))
        return Judgement(not findings.reasons, tuple(findings.reasons), findings.checked,
                         tuple(dict.fromkeys(findings.broken)))

    def _check_radius(self, audit: Audit) -> None:
        if audit.radius != self.radius:
            raise PolicyError(f"The audit has radius {audit.radius:g}, the policy {self.radius:g}. "
                              "Audit with the policy's radius.")

    def _columns(self, audit: Audit, findings: _Findings) -> None:
        names = dict.fromkeys(row.column for row in audit.rows
                              if row.measure in ("domain", "records"))
        clear = dict.fromkeys(row.column for row in audit.select(measure="target"))
        _known_columns(self.column, [*names, *clear, *audit.unscored])
        whole = self.sections.get("columns")
        findings.reasons += [f"'{name}' could not be scored: {why}"
                             for name, why in audit.unscored.items()
                             if name not in self.allow_unscored]
        for name in clear:
            if name in self.column and name not in names:
                findings.compare(audit.select(measure="target", column=name), self.column[name],
                                 f"'{name}'")
        for name in names:
            rule = {**(whole or {}), **self.column.get(name, {})}
            if rule:
                rows = audit.select(measure=rule.get("measure", audit.measure), column=name)
                findings.compare(rows, rule, f"'{name}'")


def _known_columns(wanted: Iterable[str], columns: list[str]) -> None:
    for name in wanted:
        if name not in columns:
            raise PolicyError(_unknown("A column of the policy", name, columns))


class _Findings:
    """What a judgement collects on its way."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.broken: list[str] = []
        self.checked = 0

    def compare(self, rows: Iterable[Row], rule: Mapping[str, Any], what: str) -> None:
        """Compare the highest median among the levels that count with the limit."""
        against, limit = str(rule.get("against", ANYBODY)), float(rule.get("max_recovered", 1.0))
        chosen = [row for row in rows if _within(row.knowledge, against)]
        self.checked += len(chosen)
        if not chosen:
            self.reasons.append(f"{what}: nothing was measured against '{against}', so the limit "
                                f"of {percent(limit)} cannot be confirmed")
            return
        worst = max(chosen, key=lambda row: row.value)
        if worst.value > limit:
            shown = what if worst.column in what else f"{what} ({worst.column})"
            self.broken += [row.knowledge for row in chosen if row.value > limit]
            self.reasons.append(
                f"{shown}: {percent(worst.value)} recovered by '{worst.adversary}' "
                f"({worst.knowledge}), at most {percent(limit)} allowed against {against}")

    def anonymity(self, audit: Audit, k: int) -> None:
        """Compare K, where the release has one."""
        rows = audit.select(measure="k")
        self.checked += len(rows)
        if not rows:
            kind = name_in(audit.release.get("mechanism", {}))
            self.reasons.append(f"K of at least {k} cannot be confirmed: a '{kind}' release keeps "
                                "every record apart and makes no promise about K")
        elif min(row.value for row in rows) < k:
            least = min(row.value for row in rows)
            self.reasons.append(f"K is {least:g}, at least {k} required")


def _within(knowledge: str, against: str) -> bool:
    """Return True if a level is covered: presets include everybody who knows fewer points."""
    if against == ANYBODY:
        return True
    reached = level(knowledge)
    if against in PRESETS and reached in PRESETS:
        return PRESETS[reached] <= PRESETS[against]
    return reached == against


def _names(what: str, data: Any) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
        raise PolicyError(explain(what, "a list of column names", data))
    return tuple(data)


def _section(where: str, data: Any, rules: Mapping[str, Rule]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise PolicyError(explain(where, "a table", data))
    _known_names(where, data, rules)
    for name, value in data.items():
        _admit(f"{where} '{name}'", rules[name], value)
    if not data:
        raise PolicyError(f"{where} is empty. Write some of {', '.join(rules)}.")
    return dict(data)


def _admit(what: str, rule: Rule, value: Any) -> None:
    if not rule.admits(value):
        raise PolicyError(explain(what, rule.allowed(), value))


def _known_names(where: str, data: Mapping[str, Any], allowed: Iterable[str]) -> None:
    for name in data:
        if name not in allowed:
            raise PolicyError(_unknown(f"{where} every name", name, list(allowed)))


def _unknown(what: str, name: str, allowed: list[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1)
    return explain(what, f"one of {', '.join(allowed[:20])}", repr(name),
                   f"Did you mean '{close[0]}'?" if close else "")
