"""What is agreed about a linkage, and what each way of linking shows to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.linkage.field_tokens import LinkColumn
from unspoken.joint.mpc.linkage.record_encodings import EncodingRules

ENCODED = ("a keyed encoding of each record of every owner, how similar they are, and which are "
           "linked; names that many people have can be guessed from it")
LINKED = "which of its records are linked"
FIGURES = "how many records are linked, from which similarity on, and how many of them are right"
SIZES = "how many records each owner has to be linked"
SIMILAR = "which of its records are similar to how many of the other's"
MOST_RECORDS = 1 << 22
MOST_PAIRS = 1 << 22
"""Pairs that are compared on shares, at most."""


@dataclass(frozen=True)
class LinkRules:
    """By which columns records are linked, how, and how sure it shall be.

    `on`: "unit" (a linkage unit compares encodings) or "shares" (nobody sees any).
    `precision`: the share of linked pairs that shall be right, by which the unit sets the
    threshold; on shares the threshold is agreed.
    """

    columns: tuple[LinkColumn, ...]
    encoding: EncodingRules = field(default_factory=EncodingRules)
    precision: float = 0.98
    threshold: float = 0.55
    least: int = 10
    on: str = "unit"

    def disclosures(self, owners: Sequence[str], unit: str | None) -> tuple[Disclosure, ...]:
        """Return everything that linking discloses."""
        if self.on == "shares":
            return (Disclosure(SIZES), Disclosure(SIMILAR, tuple(owners)))
        shown = (Disclosure(ENCODED, (unit,)),) if unit is not None else ()
        return (*shown, Disclosure(LINKED, tuple(owners)), Disclosure(FIGURES, tuple(owners)))

    def check_size(self, records: int) -> None:
        """Refuse a list that is too short to hide anybody, or too long."""
        if records < self.least:
            raise RefusedError(f"The study asks for at least {self.least} records of an owner. "
                               "This party has fewer. Small lists disclose single records.")
        if records > MOST_RECORDS:
            raise RefusedError(f"At most {MOST_RECORDS:,} records of an owner can be linked. This "
                               "party has more.")
