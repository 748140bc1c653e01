"""What was noticed about a column."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from unspoken.table.identify.law import SPECIAL_CATEGORIES

WITHHELD = ("identifier", "free text")
"""Roles of findings that are not released unless the user says so by name."""


@dataclass(frozen=True)
class Finding:
    """One column, what it seems to hold, and how that was noticed.

    `matching` of the `looked_at` values look like it; `how` is "by name", "by content" or "by
    uniqueness". `role` is what is suggested: "identifier", "quasi", "sensitive", "free text" or
    None. `hipaa` is one of the eighteen identifiers, `gdpr` a special category or "personal data".
    """

    column: str
    what: str
    role: str | None
    how: str
    matching: int
    looked_at: int
    reason: str
    hipaa: str | None = None
    gdpr: str | None = None

    @property
    def confidence(self) -> float:
        """Return the share of the values looked at that match."""
        return self.matching / self.looked_at if self.looked_at else 0.0

    @property
    def withheld(self) -> bool:
        """Return True if the column is not released unless it is kept by name."""
        return self.role in WITHHELD

    @property
    def special(self) -> bool:
        """Return True if the GDPR counts it among the special categories."""
        return self.gdpr in SPECIAL_CATEGORIES

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain data; it holds no value of the table."""
        return asdict(self) | {"confidence": round(self.confidence, 4), "withheld": self.withheld}
