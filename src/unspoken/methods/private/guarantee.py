"""What a private release promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from unspoken.methods.private.declared_columns import Cells
from unspoken.release.budget_costs import NONE, Cost
from unspoken.release.guarantee import Guarantee, Verdict

LEARNED = ("cells of {} were taken from the data and disclose something about it: no epsilon "
           "holds; declare 'edges' and 'values' to have one stated")


@dataclass(frozen=True)
class Private(Guarantee):
    """Nothing about one row changes the odds of any release more than a stated factor."""

    name: ClassVar[str] = "private"

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return False: models of synthetic rows are not the original's."""
        return Verdict(False, "The rows are synthetic. Whatever is learned from them is an "
                              "estimate, and no promise is made for any miner.")


def promise(cells: Sequence[Cells], epsilon: float, delta: float, what: str) -> Private:
    """Return the guarantee of a release; cells from the data void its epsilon."""
    learned = [one.name for one in cells if not one.declared]
    cost = Cost(None, law=NONE) if learned else Cost(epsilon, delta)
    stated = None if learned else epsilon
    words = "No epsilon is stated." if learned else (
        f"Whatever one row says, and whatever is known about all others, the odds of any release "
        f"change at most exp({epsilon:g})-fold" + (f", but for a probability of {delta:g}."
                                                   if delta else "."))
    return Private(f"{what} {words}", (
        "one row is one person; the number of rows is public",
        "every further release of the same table adds its own epsilon",
        *([LEARNED.format(", ".join(learned))] if learned else ())),
        {"epsilon_total": stated, "delta": delta, "cost": cost.to_json()})
