"""A policy: what a release must withstand, as a TOML file that runs in a pipeline.

    radius = 0.02
    allow_unscored = ["comment"]   # any other column without a score fails
    allow_seeded = false           # a release with random_state fails: a guessed seed undoes it

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

    [people]                  # beyond the control group, where there was one
    max_identified = 0.05
    max_confident = 0.13
    max_singled_out = 0.05
    max_inferred = 0.10
    max_member = 0.60
    max_worst_percent = 0.20

    [anonymity]
    k = 10
    l = 2
    t = 0.3

    [privacy]
    max_epsilon = 1.0

    [register]
    max_added = 0.0           # what earlier releases of the same people may add

A release that is not what it says it is fails every policy, and so does what could not be scored.
What a release cannot show (K of an encoded one, paths without a tree, membership without people)
fails the policy and says so: a gate that was not checked is not open.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import TOGETHER, Judgement
from unspoken.disclosure.policy_findings import Findings
from unspoken.disclosure.policy_rules import (
    SECTIONS,
    TOP,
    admit,
    known_names,
    section,
    unknown_name,
)
from unspoken.errors import PolicyError, reason
from unspoken.table.atomic_files import named_path

SEEDED = ("the release was made with a seed (random_state): whoever guesses the seed undoes it. "
          "Leave random_state out, or write allow_seeded = true for an experiment")


@dataclass(frozen=True)
class Policy:
    r"""What a release must withstand; `Policy.load(path)` or `Policy.parse(text)` reads it.

    Attributes
    ----------
    sections : mapping
        The limits by section: "columns", "subspaces", "paths", "people", "anonymity", "privacy",
        "register".
    column : mapping
        Limits for single columns, by original name.
    radius : float, default 0.02
        How near a guess must be to count as recovered, as a share of the range.
    allow_unscored : tuple of str
        Columns that may lack a score; any other one without a score fails the policy.
    allow_seeded : bool, default False
        Whether a release that was made with a seed may pass.

    Examples
    --------
    >>> policy = Policy.parse('[columns]\nmax_recovered = 0.2\nagainst = "expert"')
    >>> policy.judge(audit).summary()  # doctest: +SKIP
    """

    sections: Mapping[str, Mapping[str, Any]]
    column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    radius: float = 0.02
    allow_unscored: tuple[str, ...] = ()
    allow_seeded: bool = False

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file."""
        try:
            text = named_path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(f"'{path}' must be a readable policy file. {reason(error)}") from None
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, source: str = "policy") -> Policy:
        """Read the text of a policy; unknown names are refused with the closest known one."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"'{source}' must be TOML. {reason(error)}") from None
        known_names(f"{source}:", data, (*SECTIONS, "column", *TOP))
        sections = {name: section(f"{source}: [{name}]", data[name], SECTIONS[name])
                    for name in SECTIONS if name in data}
        column = _single(source, data.get("column", {}), sections.get("columns"))
        for name, rule in TOP.items():
            if name in data:
                admit(f"{source}: '{name}'", rule, data[name])
        if not sections and not column:
            raise PolicyError(f"'{source}' must ask for something. Write a section such as "
                              "[columns] with max_recovered = 0.2 and against = \"expert\".")
        return cls(sections, column, float(data.get("radius", 0.02)),
                   tuple(data.get("allow_unscored", ())), bool(data.get("allow_seeded", False)))

    def limits(self, name: str) -> bool:
        """Return True if values of a column may be recovered up to a limit only."""
        return "columns" in self.sections or name in self.column

    def judge(self, audit: Audit) -> Judgement:
        """Compare every number of an audit with what the policy allows."""
        self._check_radius(audit)
        findings = Findings()
        findings.reasons += [f"the release is not what it says it is: {one}"
                             for one in audit.faults]
        if audit.release.get("seeded") and not self.allow_seeded:
            findings.reasons.append(SEEDED)
        self._columns(audit, findings)
        self._others(audit, findings)
        return Judgement(not findings.reasons, tuple(findings.reasons), findings.checked,
                         tuple(dict.fromkeys(findings.broken)))

    def _others(self, audit: Audit, findings: Findings) -> None:
        """Compare everything that is not about one column."""
        for name, measure in (("subspaces", "subspace"), ("paths", "paths")):
            if name in self.sections:
                findings.compare(audit.select(measure=measure), self.sections[name], name)
        findings.people(audit, self.sections.get("people", {}))
        findings.anonymity(audit, self.sections.get("anonymity", {}))
        if "privacy" in self.sections:
            findings.epsilon(audit, float(self.sections["privacy"]["max_epsilon"]))
        findings.register(audit.select(measure=TOGETHER),
                          self.sections.get("register", {}).get("max_added"))

    def _check_radius(self, audit: Audit) -> None:
        # Audits of labels and baskets have no range, and no radius.
        if audit.radius not in (0, self.radius):
            raise PolicyError(f"The audit has radius {audit.radius:g}, the policy {self.radius:g}. "
                              "Audit with the policy's radius.")

    def _columns(self, audit: Audit, findings: Findings) -> None:
        names = dict.fromkeys(row.column for row in audit.rows
                              if row.measure in ("domain", "records"))
        clear = dict.fromkeys(row.column for row in audit.select(measure="target"))
        known = [*names, *clear, *audit.unscored, *audit.release.get("columns", ())]
        _known_columns("A column of the policy", self.column, known)
        _known_columns("'allow_unscored': a column", self.allow_unscored, known)
        whole = self.sections.get("columns")
        findings.reasons += [f"'{name}' could not be scored: {why}"
                             for name, why in audit.unscored.items()
                             if name not in self.allow_unscored]
        findings.reasons += [f"'{name}': nothing was measured, so its limit cannot be confirmed"
                             for name in self._unmeasured(audit, {*names, *clear})]
        for name in clear:
            if name in self.column and name not in names:
                findings.compare(audit.select(measure="target", column=name),
                                 {**(whole or {}), **self.column[name]}, f"'{name}'")
        for name in names:
            rule = {**(whole or {}), **self.column.get(name, {})}
            if rule:
                rows = audit.select(measure=rule.get("measure", audit.measure), column=name)
                findings.compare(rows, rule, f"'{name}'")


    def _unmeasured(self, audit: Audit, measured: Collection[str]) -> Iterator[str]:
        """Yield the columns that have a limit and no number to compare with it."""
        whole = audit.release.get("columns", ()) if "columns" in self.sections else ()
        for name in dict.fromkeys((*self.column, *whole)):
            allowed = name in self.allow_unscored and name not in self.column
            said = name in audit.unscored and name not in self.allow_unscored
            if not (name in measured or allowed or said):
                yield name


def _single(source: str, data: Any, whole: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the limits of single columns; what they leave out is said in [columns]."""
    if not isinstance(data, dict):
        raise PolicyError(f"{source}: [column] holds no tables named after columns. Write "
                          "[column.NAME], with the name of a column.")
    return {name: section(f"{source}: [column.{name}]", part, SECTIONS["columns"], whole)
            for name, part in data.items()}


def _known_columns(what: str, wanted: Iterable[str], columns: list[str]) -> None:
    for name in wanted:
        if name not in columns:
            raise PolicyError(unknown_name(what, name, columns))
