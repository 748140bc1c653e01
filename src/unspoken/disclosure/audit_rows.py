"""The parts of an audit: its rows, what it suggests, and what a policy said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

TOGETHER = "together"
"""The measure of what a release discloses together with earlier ones, see the register."""
NOTICEABLE = 0.01
"""How much earlier releases may add where no policy says."""


@dataclass(frozen=True)
class Row:
    """One number of an audit.

    Attributes
    ----------
    adversary : str
        The name of the adversary.
    knowledge : str
        Its level of knowledge, such as "expert".
    column : str
        The original name of the column, or several joined by " & ".
    measure : str
        What is counted: "records", "domain" (distinct values), "subspace", "paths" and others.
    value : float
        The median over trials.
    low, high : float
        The interval in which 95% of the trials lie.
    baseline : float
        What the same knowledge gives without the release.
    trials : int
        The number of trials.
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
    """A change that would lower the risk.

    Attributes
    ----------
    column : str or None
        The column it concerns; None: the whole release.
    what : str
        What to change.
    why : str
        The reason.
    """

    column: str | None
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} ({self.why})"


@dataclass(frozen=True)
class Judgement:
    """Whether a policy holds, and why not; true if it holds.

    Attributes
    ----------
    passed : bool
        True if every limit holds and could be checked.
    reasons : tuple of str
        Why it does not hold.
    checked : int
        How many numbers were compared with a limit.
    broken : tuple of str
        The levels of knowledge against which a limit was broken.
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
