"""The lines of a budget: what it was started with, and every disclosure that was booked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unspoken.errors import BudgetError, InputError, explain
from unspoken.release.budget_costs import Cost

FORMAT = "unspoken-budget 3"
_READ = (FORMAT, "unspoken-budget 2")
KINDS = ("release", "baskets", "query", "model", "synthetic", "study")
ROW = "row"
FOLLOWED = "log"
"""A line that begins so says how far a query log has come whose spending was drawn."""
_LONGEST = 500


@dataclass(frozen=True)
class Terms:
    """What a budget was started with; `table` and `people` are keyed digests."""

    table: str
    epsilon: float
    delta: float = 0.0
    unit: str = ROW
    rows: int = 1
    recipients: Mapping[str, float] | None = None
    people: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not _number(self.epsilon, 0.0, 1000.0):
            raise InputError(explain("The epsilon of a budget", "above 0 and up to 1000",
                                     self.epsilon))
        if not (self.delta == 0 or _number(self.delta, 0.0, 0.1)):
            raise InputError(explain("The delta of a budget", "0, or a number up to 0.1",
                                     self.delta, "Use 1e-6; it must be far below 1 / rows."))
        if type(self.rows) is not int or self.rows < 1 or (self.unit == ROW and self.rows != 1):
            raise InputError(explain("The rows of a person", "a whole number of at least 1, and 1 "
                                     "where the unit is a row", self.rows))
        for name, most in (self.recipients or {}).items():
            if not _number(most, 0.0, self.epsilon):
                raise InputError(explain(f"The epsilon of recipient '{name}'",
                                         f"above 0 and up to {self.epsilon:g}", most))

    def to_json(self) -> dict[str, Any]:
        """Return the terms as plain data."""
        return {"format": FORMAT, "table": self.table, "epsilon": self.epsilon,
                "delta": self.delta, "unit": self.unit, "rows": self.rows,
                "recipients": dict(self.recipients or {}), "at": now(),
                "people": dict(self.people)}


@dataclass(frozen=True)
class Draw:
    """One booked disclosure: its cost to a unit, what it was, and who got it.

    `again`: somebody else got the very same answer before, so that it counts for this recipient
    and not once more in all.
    """

    cost: Cost
    to: str
    kind: str
    what: str
    at: str = ""
    again: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(explain("The kind of a disclosure", f"one of {', '.join(KINDS)}",
                                     self.kind))
        for text in (self.to, self.what):
            if not isinstance(text, str) or len(text) > _LONGEST:
                raise InputError(f"Recipient and description must be texts of at most {_LONGEST} "
                                 "characters each.")

    def to_json(self) -> dict[str, Any]:
        """Return the disclosure as plain data."""
        return {"cost": self.cost.to_json(), "to": self.to, "kind": self.kind, "what": self.what,
                "at": self.at, **({"again": True} if self.again else {})}


def read_terms(entry: dict[str, Any], path: Path) -> Terms:
    """Read the first line."""
    if entry.get("format") not in _READ:
        raise BudgetError(f"'{path}' must be a budget of this version of unspoken. It says "
                          f"{entry.get('format')!r}.")
    return Terms(**{name: entry[name] for name in
                    ("table", "epsilon", "delta", "unit", "rows", "recipients")},
                 people=entry.get("people") or {})


def read_draw(entry: dict[str, Any], path: Path) -> Draw:
    """Read any other line."""
    try:
        return Draw(Cost(**entry["cost"]), entry["to"], entry["kind"], entry["what"], entry["at"],
                    entry.get("again") is True)
    except (KeyError, TypeError, InputError):
        raise BudgetError(f"'{path}' holds a line that cannot be read. It was written by another "
                          "version of unspoken.") from None


def _number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low < value <= high


def now() -> str:
    """Return the date and time, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
