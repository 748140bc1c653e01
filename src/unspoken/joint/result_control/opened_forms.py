"""In which forms results are opened, and what each form lets a party work out.

A task lists what it opens, to whom, in these forms. What follows is computed here, for every party:
one that owns data knows its own part, one that owns none knows only the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from unspoken.joint.result_control.linear_inference import fixed_by
from unspoken.joint.result_control.moment_inference import (
    MOST_TERMS,
    ModelNumbers,
    over_columns,
    over_rows,
)
from unspoken.joint.result_control.shared_denominators import greatest_fixed
from unspoken.joint.result_control.verdict import Certainty, Verdict

MINUS_OWN = "the result less its own part"
AT_A_BOUND = "where the others' part is as small or as great as it can be"
FEW_VALUES = "where records and values are so few that they can be tried out"


class Opened(Protocol):
    """Something that a task opens; nobody named means everybody."""

    @property
    def to(self) -> tuple[str, ...]:
        """Return who learns it."""

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return what a party that learns it can work out of the owners."""


def others_of(party: str, owners: Sequence[str]) -> tuple[str, ...]:
    """Return the owners other than a party."""
    return tuple(name for name in owners if name != party)


def part_is_fixed(party: str, owners: Sequence[str], other: str) -> bool:
    """Return True if a total over all owners and a party's own part fix another's part."""
    total = [1] * len(owners)
    own = [[int(name == party) for name in owners]] if party in owners else []
    return fixed_by([total, *own], [int(name == other) for name in owners])


@dataclass(frozen=True)
class Totals:
    """Sums over all owners, opened exactly, or with noise that nobody knows."""

    quantity: str
    to: tuple[str, ...] = ()
    noisy: bool = False

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return the parts of others: of a single other the total less one's own."""
        if self.noisy:
            return [Verdict(self.quantity, (other,), Certainty.NEVER)
                    for other in others_of(party, owners)]
        return [Verdict(self.quantity, (other,), Certainty.ALWAYS, MINUS_OWN)
                if part_is_fixed(party, owners, other)
                else Verdict(self.quantity, (other,), Certainty.SOMETIMES, AT_A_BOUND)
                for other in others_of(party, owners)]


@dataclass(frozen=True)
class Quotients:
    """Quotients of counts that share denominators.

    `bits`: how finely they are opened; 0: as finely as the smallest denominator allows.
    `together`: how many independent ones share a denominator.
    """

    quantity: str
    bits: int
    together: int
    to: tuple[str, ...] = ()

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return whether counts follow, and so, of a single other owner, its own."""
        reach = greatest_fixed(self.bits, self.together) if self.bits else 0
        lines = []
        for other in others_of(party, owners):
            # Multiples of one quotient fit it as well: it takes a second one to tell them apart.
            if reach > 1 and self.together > 1 and part_is_fixed(party, owners, other):
                why = f"quotients with a common denominator of up to about {reach:,} records"
                lines.append(Verdict(self.quantity, (other,), Certainty.USUALLY, why))
            else:
                lines.append(Verdict(self.quantity, (other,), Certainty.SOMETIMES, AT_A_BOUND))
        return lines


@dataclass(frozen=True)
class RowModel:
    """The numbers of a linear model over rows of all owners."""

    terms: int
    errors: bool
    sums: bool
    ridge: bool = False
    to: tuple[str, ...] = ()

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return which moments of a single other owner follow."""
        names = over_rows(ModelNumbers(min(self.terms, MOST_TERMS), self.errors, self.sums,
                                       self.ridge))
        return [Verdict(name, (other,), *_model_certainty(
                    sure and part_is_fixed(party, owners, other)))
                for other in others_of(party, owners) for name, sure in names.items()]


@dataclass(frozen=True)
class ColumnModel:
    """The numbers of a linear model over columns; `places` of every owner, the response last.

    Terms are numbered from 0; the response has the number `terms`.
    """

    places: Mapping[str, tuple[int, ...]]
    terms: int
    errors: bool
    sums: bool
    ridge: bool = False
    to: tuple[str, ...] = ()

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return which moments of the columns of all others follow, taken together."""
        about = tuple(n for n in self.places if n != party and self.places[n])
        if not about:
            return []
        terms, own = self._smaller(self.places.get(party, ()))
        names = over_columns(ModelNumbers(terms, self.errors, self.sums, self.ridge), own)
        if not own:
            names = {name: sure for name, sure in names.items() if name != "correlations"}
        return [Verdict(f"column {name}", about, *_model_certainty(sure))
                for name, sure in names.items()]

    def _smaller(self, own: Sequence[int]) -> tuple[int, list[int]]:
        """Return a smaller model of the same shape: more columns change nothing."""
        mine = min(sum(place < self.terms for place in own), MOST_TERMS)
        theirs = min(self.terms - sum(place < self.terms for place in own), MOST_TERMS)
        response = [mine + theirs] if self.terms in own else []
        return mine + theirs, [*range(mine), *response]


def _model_certainty(sure: bool) -> tuple[Certainty, str, Certainty | None]:
    if sure:
        return Certainty.ALWAYS, "the equations of the model, up to the sign of a mean", None
    return Certainty.SOMETIMES, FEW_VALUES, Certainty.USUALLY


@dataclass(frozen=True)
class FineNumbers:
    """Numbers with many bits that fit few data sets, where data sets are small."""

    quantity: str
    to: tuple[str, ...] = ()

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return that small data sets follow by trying them out, of a single other owner."""
        alone = len(others_of(party, owners)) == 1
        return [Verdict(self.quantity, (other,), Certainty.SOMETIMES, FEW_VALUES,
                        Certainty.USUALLY if alone else None)
                for other in others_of(party, owners)]


@dataclass(frozen=True)
class Decisions:
    """Classes, questions, sets, flags: each answer bounds what the others have.

    `about`: the owners whose data it is; all if nobody is named.
    """

    quantity: str
    why: str = AT_A_BOUND
    to: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    certainty: Certainty = Certainty.SOMETIMES

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return that some answers leave one possibility only."""
        return [Verdict(self.quantity, (other,), self.certainty, self.why)
                for other in others_of(party, self.about or owners)]


def worked_out(opened: Sequence[Opened], party: str, owners: Sequence[str]) -> list[Verdict]:
    """Return what a party can work out from everything that is opened to it."""
    return [verdict for each in opened if not each.to or party in each.to
            for verdict in each.verdicts(party, owners)]
