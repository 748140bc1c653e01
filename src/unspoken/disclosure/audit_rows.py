"""The parts of an audit: its rows, what it suggests, and what a policy said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Row:
    """One number of an audit: median over trials, where 95% of the trials lie, the baseline.

    The baseline is what the same knowledge gives without the release.
    """

    adversary: str
    knowledge: str
    column: str
    measure: str
    value: float
    low: float
    high: float
    baseline: float
    trials: int


COLUMNS = tuple(entry.name for entry in fields(Row))


@dataclass(frozen=True)
class Suggestion:
    """What would lower the risk, of one column or (None) of the release, and why."""

    column: str | None
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} ({self.why})"


@dataclass(frozen=True)
class Judgement:
    """Whether a policy holds, and why not; `checked` counts what was compared.

    `broken` names the levels of knowledge against which a limit was broken.
    """

    passed: bool
    reasons: tuple[str, ...] = ()
    checked: int = 0
    broken: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    def summary(self) -> str:
        """Return the verdict and its reasons."""
        head = f"Policy: {'holds' if self.passed else 'does not hold'} ({self.checked} checked)."
        return "\n".join([head, *(f"  - {reason}" for reason in self.reasons)])

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"passed": self.passed, "reasons": list(self.reasons), "checked": self.checked,
                "broken": list(self.broken)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Judgement:
        """Read plain data."""
        return cls(bool(data["passed"]), tuple(map(str, data["reasons"])), int(data["checked"]),
                   tuple(map(str, data["broken"])))
