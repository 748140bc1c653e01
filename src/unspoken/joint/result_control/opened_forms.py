"""In which forms results are opened, and what each form lets a party work out.

A task lists what it opens, to whom, in these forms. What follows is computed here, for every party:
one that owns data knows its own part, one that owns none knows only the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from unspoken.joint.result_control.coded_inference import pairs_follow
from unspoken.joint.result_control.linear_inference import fixed_by
from unspoken.joint.result_control.moment_inference import (
    MOST_TERMS,
    MOST_TRIED,
    ModelNumbers,
    over_columns,
    over_rows,
)
from unspoken.joint.result_control.shared_denominators import greatest_fixed
from unspoken.joint.result_control.verdict import Certainty, Verdict

COUNT = "number of records"
MINUS_OWN = "the result less its own part"
AT_A_BOUND = "where the others' part is as small or as great as it can be"
FEW_VALUES = "where records and values are so few that they can be tried out"
CODED = "the equations of the model, where columns are of 0 and 1"
MANY_DIGITS = "where records are few, or columns of whole numbers, that can be tried out"


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
    """The numbers of a linear model over rows of all owners, `smaller` models inside it too.

    `where`: when they are these numbers, if they are not always.
    """

    terms: int
    errors: bool
    sums: bool
    ridge: bool = False
    to: tuple[str, ...] = ()
    smaller: tuple[tuple[int, ...], ...] = ()
    bits: int | None = None
    where: str = ""

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return which moments of a single other owner follow."""
        numbers = _numbers(self, self.terms)
        any_, coded = over_rows(numbers), over_rows(replace(numbers, zero_one=True))
        return [self._less_sure(Verdict(name, (other,), *_model_certainty(
                    sure and fixed, coded[name] and fixed, None if name == COUNT else self.bits)))
                for other in others_of(party, owners)
                for fixed in [part_is_fixed(party, owners, other)] for name, sure in any_.items()]

    def _less_sure(self, verdict: Verdict) -> Verdict:
        if not self.where or verdict.certainty < Certainty.USUALLY:
            return verdict
        why = f"{verdict.why}, where {self.where}"
        return replace(verdict, certainty=Certainty.USUALLY, why=why, few=Certainty.USUALLY)


@dataclass(frozen=True)
class ColumnModel:
    """The numbers of a linear model over columns; `places` of every owner, the response last.

    Terms are numbered from 0; the response has the number `terms`. `chosen`: any of the terms may
    be left out, as the data has it.
    """

    places: Mapping[str, tuple[int, ...]]
    terms: int
    errors: bool
    sums: bool
    ridge: bool = False
    to: tuple[str, ...] = ()
    smaller: tuple[tuple[int, ...], ...] = ()
    chosen: bool = False
    bits: int | None = None

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return which moments of the columns of all others follow, taken together."""
        about = tuple(n for n in self.places if n != party and self.places[n])
        own = self.places.get(party, ())
        if not about:
            return []
        any_, coded = self._followed(own, False), self._followed(own, True)
        return [Verdict(name, self._about(name, about),
                        *_model_certainty(sure, coded[name], self.bits))
                for name, sure in any_.items()]

    def _about(self, name: str, others: tuple[str, ...]) -> tuple[str, ...]:
        """Return whose columns a quantity is about: the response's holder, or that of terms."""
        held = tuple(other for other in others if self.terms in self.places[other])
        if name.endswith(("mean of the response", "deviation of the response")):
            return held or others
        if "response" in name:
            return others
        return tuple(other for other in others if set(self.places[other]) - {self.terms}) or others

    def _followed(self, own: Sequence[int], zero_one: bool) -> dict[str, bool]:
        """Return what follows; of a model whose terms are chosen, from any that may come out."""
        followed: dict[str, bool] = {}
        for terms, inside in self._shapes(own):
            numbers = replace(_numbers(self, terms), zero_one=zero_one)
            for name, sure in over_columns(numbers, inside).items():
                followed[name] = followed.get(name, False) or sure
        return followed

    def _shapes(self, own: Sequence[int]) -> list[tuple[int, list[int]]]:
        """Return models of the same shape, smaller ones where more columns change nothing."""
        if len(self.smaller) > 0 and self.terms <= MOST_TRIED:
            return [(self.terms, sorted(own))]
        mine = min(sum(place < self.terms for place in own), MOST_TERMS)
        theirs = min(self.terms - sum(place < self.terms for place in own), MOST_TERMS)
        left = [(a, b) for a in range(mine + 1) for b in range(theirs + 1) if a + b] if (
            self.chosen) else [(mine, theirs)]
        return [(a + b, [*range(a), *([a + b] if self.terms in own else [])]) for a, b in left]


def _numbers(model: RowModel | ColumnModel, terms: int) -> ModelNumbers:
    """Return what is opened of a model, of a smaller one where it follows the same."""
    if model.smaller and model.terms <= MOST_TRIED:
        return ModelNumbers(model.terms, model.errors, model.sums, model.ridge, model.smaller)
    most = MOST_TERMS if isinstance(model, RowModel) else terms
    return ModelNumbers(min(terms, most), model.errors, model.sums, model.ridge)


def _model_certainty(sure: bool, coded: bool,
                     bits: int | None) -> tuple[Certainty, str, Certainty | None]:
    """Return how surely something follows: whatever the columns are, or those of 0 and 1.

    Of numbers in steps nothing follows but whole numbers, while a step is less than one record.
    """
    if bits is not None and (sure or coded):
        return (Certainty.USUALLY, "the equations of the model, where columns are of "
                f"{'whole numbers' if sure else '0 and 1'} and records up to about {2**bits:,}",
                Certainty.USUALLY)
    if sure:
        return Certainty.ALWAYS, "the equations of the model, up to the sign of a mean", None
    return (Certainty.USUALLY, CODED, Certainty.USUALLY) if coded else (
        Certainty.SOMETIMES, MANY_DIGITS, Certainty.USUALLY)


@dataclass(frozen=True)
class LogisticNumbers:
    """The numbers of a logistic model; `places` as of a `ColumnModel`, None over rows."""

    quantity: str
    terms: int
    errors: bool
    to: tuple[str, ...] = ()
    places: Mapping[str, tuple[int, ...]] | None = None

    def verdicts(self, party: str, owners: Sequence[str]) -> list[Verdict]:
        """Return that counts follow where columns are of 0 and 1: over rows, of a single other."""
        others = others_of(party, owners)
        own = tuple(sorted((self.places or {}).get(party, ())))
        if (self.places is not None or len(others) == 1) and pairs_follow(
                self.terms, self.errors, own):
            how = Certainty.USUALLY, CODED, Certainty.USUALLY
        else:
            how = Certainty.SOMETIMES, MANY_DIGITS, Certainty.SOMETIMES
        return [Verdict(self.quantity, (other,), *how) for other in others
                if self.places is None or self.places.get(other)]


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
