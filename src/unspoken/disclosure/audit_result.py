"""Audit: what came out, frozen, with its table, its words and its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from unspoken.disclosure.audit_rows import (
    COLUMNS,
    NOTICEABLE,
    TOGETHER,
    Judgement,
    Row,
    Suggestion,
)
from unspoken.disclosure.evidence import Evidence
from unspoken.disclosure.people_risk import PeopleAudit
from unspoken.disclosure.plain_language import summary
from unspoken.errors import DataError, explain
from unspoken.table.engines.frames_out import notebook_text, on_a_screen

FORMAT = "unspoken-audit"
VERSION = 1


@dataclass(frozen=True)
class Audit:
    """Every adversary that applies, at every level of knowledge, on every column.

    `unspoken.risk.audit` makes it. It has `.summary()`, `.worst()`, `.ranking()`, `.select(...)`,
    `.frame()` and `.to_json()`.

    Attributes
    ----------
    rows : tuple of Row
        All numbers.
    radius : float
        How near a guess must be to count as recovered, as a share of the range.
    trials : int
        How often knowledge was drawn.
    release : mapping
        What was audited: fingerprint, rows, mechanism, columns.
    words : mapping of str to str
        What each adversary does.
    unscored : mapping of str to str
        Why a column has no numbers.
    suggestions : tuple of Suggestion
        What would lower the risk.
    limits : tuple of str
        What was not tested.
    judgement : Judgement or None
        What the policy says, if there was one.
    evidence : tuple of Evidence
        Original values for the pictures of a report; in no file.
    faults : tuple of str
        Where the release is not what it says it is; any of them fails the verdict.
    added : tuple of str
        What it discloses together with earlier releases of the same people, in sentences.
    people : PeopleAudit or None
        The risks to people: being singled out, linked, inferred about, recognised as a member.
    """

    rows: tuple[Row, ...]
    radius: float
    trials: int
    release: Mapping[str, Any]
    words: Mapping[str, str] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    suggestions: tuple[Suggestion, ...] = ()
    limits: tuple[str, ...] = ()
    judgement: Judgement | None = None
    evidence: tuple[Evidence, ...] = field(default=(), repr=False, compare=False)
    faults: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    people: PeopleAudit | None = field(default=None, repr=False, compare=False)

    def frame(self) -> Any:
        """Return the rows as an Arrow table (`.to_pandas()` makes it a pandas frame)."""
        import pyarrow as pa

        kinds = [pa.string()] * 4 + [pa.float64()] * 4 + [pa.int64()]
        schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
        return pa.Table.from_pylist([asdict(row) for row in self.rows], schema)

    def plot(self, axes: Any = None) -> Any:
        """Draw the strongest attacks and their baselines; return matplotlib axes."""
        from unspoken.release.lazy_imports import resolve

        return resolve("unspoken.report.result_axes:audit_axes")(self, axes)

    def __repr__(self) -> str:
        return "\n".join(on_a_screen(self.summary().split("\n")))

    def _repr_html_(self) -> str:
        return notebook_text(repr(self))

    def select(self, **wanted: str) -> tuple[Row, ...]:
        """Return the rows with these fields, e.g. select(measure="domain", column="age")."""
        strange = set(wanted) - set(COLUMNS)
        if strange:
            raise DataError(explain("A field of an audit", f"one of {COLUMNS}", sorted(strange)))
        return tuple(row for row in self.rows
                     if all(getattr(row, name) == value for name, value in wanted.items()))

    @property
    def measure(self) -> str:
        """Return the default measure: people ("records"), where they were counted."""
        return "records" if any(row.measure == "records" for row in self.rows) else "domain"

    @property
    def assessed(self) -> bool:
        """Return True if everything that leaves was scored."""
        return bool(self.rows) and not self.unscored

    @property
    def verdict(self) -> str:
        """Return "assessed" or the worst that can be said.

        "not what it says it is" where there are faults, "not assessed", "the policy does not
        hold"; "the policy holds" only where everything was scored.
        """
        if self.faults:
            return "not what it says it is"
        if self.judgement is not None and not self.judgement.passed:
            return "the policy does not hold" if self.assessed else (
                "not assessed, and the policy does not hold")
        if not self.assessed:
            return "not assessed"
        return "assessed" if self.judgement is None else "the policy holds"

    @property
    def failed(self) -> bool:
        """Return True if the release has faults, breaks the policy, or adds to earlier ones.

        Without a policy anything that earlier releases of the same people add counts.
        """
        if self.judgement is not None:
            return not self.judgement.passed
        more = any(row.value - row.baseline > NOTICEABLE for row in self.select(measure=TOGETHER))
        return bool(self.faults) or more

    def worst(self, column: str | None = None, measure: str | None = None) -> Row | None:
        """Return the row of highest risk of a measure, of one column or of all.

        Without a measure people are counted (`Audit.measure`), not distinct values.
        """
        wanted = self.measure if measure is None else measure
        rows = self.select(measure=wanted, **({} if column is None else {"column": column}))
        return max(rows, key=lambda row: (row.value, row.high), default=None)

    def ranking(self, measure: str | None = None) -> tuple[Row, ...]:
        """Return the worst row of every column, the riskiest column first."""
        wanted = self.measure if measure is None else measure
        names = dict.fromkeys(row.column for row in self.select(measure=wanted))
        worst = [row for name in names if (row := self.worst(name, wanted)) is not None]
        return tuple(sorted(worst, key=lambda row: -row.value))

    def summary(self) -> str:
        """Return the audit in plain words."""
        return summary(self)

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> dict[str, Any]:
        """Return plain data that `from_json` reads back; the judgement travels with it."""
        return {
            "format": FORMAT, "version": VERSION, "radius": self.radius, "trials": self.trials,
            "release": dict(self.release), "rows": [asdict(row) for row in self.rows],
            "words": dict(self.words), "unscored": dict(self.unscored),
            "suggestions": [asdict(one) for one in self.suggestions], "limits": list(self.limits),
            "judgement": None if self.judgement is None else self.judgement.to_json(),
            "faults": list(self.faults), "added": list(self.added),
            **({} if self.people is None else {"people": self.people.to_json()}),
        }

    @classmethod
    def from_json(cls, data: Any) -> Audit:
        """Read an audit from plain data or from its JSON text."""
        try:
            document = json.loads(data) if isinstance(data, str | bytes) else data
            if document["format"] != FORMAT or document["version"] > VERSION:
                raise ValueError(str(document.get("format")))
            verdict = document["judgement"]
            return cls(
                tuple(Row(**row) for row in document["rows"]), float(document["radius"]),
                int(document["trials"]), dict(document["release"]), dict(document["words"]),
                dict(document["unscored"]),
                tuple(Suggestion(**one) for one in document["suggestions"]),
                tuple(str(line) for line in document["limits"]),
                None if verdict is None else Judgement.from_json(verdict),
                faults=tuple(str(line) for line in document.get("faults", ())),
                added=tuple(str(line) for line in document.get("added", ())),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"This is not the JSON of a '{FORMAT}' of version {VERSION}: "
                            f"{error}.") from None
