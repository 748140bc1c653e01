"""Answers with noise of OpenDP, their errors, and what a person can move.

A person changes or withdraws up to `rows` rows. A count moves by one a row; a sum by the reach of
the declared bounds. A mean is a noisy sum of distances from the middle of the bounds over a noisy
count, half of epsilon each: who changes a value moves the sum by twice the largest distance and the
count not at all, who withdraws moves the sum by once the distance and the count by one; either way
epsilon is spent once. A variance has a third part for squares. Where protected values decide the
group, a person leaves one group and enters another, and each group gets half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints, Words
from unspoken.errors import InputError
from unspoken.methods.queries.grid_columns import GridColumn
from unspoken.methods.queries.predicates import Missing
from unspoken.methods.queries.service.question import MILLION, Question
from unspoken.methods.queries.service.service_records import Groups, ServiceRecords
from unspoken.numerics.packed_bits import bit_counts
from unspoken.numerics.private_noise import laplace_error, laplace_noise, noisy_choice
from unspoken.numerics.record_bitsets import shared, unpack

_FINE = 1 << 12
_CANDIDATES = 256
_FEW = 40
"""Groups up to which every group is a set of its own."""


@dataclass(frozen=True)
class Aggregates:
    """The whole numbers that noise is added to, one per group, and how the answer is put together.

    They are protected values: they go nowhere but into `noisy`.
    """

    question: Question
    counts: Ints
    sums: Ints
    squares: Ints
    groups: Groups | None
    column: GridColumn | None
    shrink: int = 1


def aggregates(records: ServiceRecords, question: Question) -> Aggregates:
    """Compute what a question needs; whatever is wrong with the question is found here."""
    records.check_names(question.columns)
    inside = records.members(question.condition)
    groups = records.groups(question.group) if question.group else None
    if question.select == "histogram":
        groups = records.bins(str(question.column), question.edges)
    if question.select in ("count", "histogram"):
        return Aggregates(question, _tally(records, inside, groups), _NONE, _NONE, groups, None)
    column = records.column(str(question.column))
    inside = inside & records.present(str(question.column))
    if question.select == "quantile":
        places = records.once(("places", question.column), lambda: _places(column))
        return Aggregates(question, _ranks(unpack(inside, records.count), column, places), _NONE,
                          _NONE, None, column)
    return _moments(question, inside, column, groups, records)


_NONE: Ints = np.zeros(0, np.int64)


def prepare(records: ServiceRecords, bounded: Sequence[str], valued: Sequence[str]) -> None:
    """Compute what questions about declared columns have in common, before the first of them."""
    laplace_noise([0], 1, 1.0)
    for name in records.asked_about:
        records.members(Missing(name))
    for name in bounded:
        for question in (Question("sum", name), Question("variance", name),
                         Question("quantile", name, at=0.5)):
            with suppress(InputError):  # Whoever asks will be told.
                aggregates(records, question)
    for name in valued:
        with suppress(InputError):
            aggregates(records, Question("count", group=(name,)))


def _moments(question: Question, inside: Words, column: GridColumn,
             groups: Groups | None, records: ServiceRecords) -> Aggregates:
    shrink = shrunk(column.low, column.high) if question.select == "variance" else 1
    counts = _tally(records, inside, groups)
    add_up = _Sums(records, str(question.column), _middle(column), shrink, inside, groups, counts)
    sums = add_up.power(1)
    if question.select == "sum":
        sums = sums + counts * _middle(column)
    second = add_up.power(2) if question.select == "variance" else _NONE
    return Aggregates(question, counts, sums, second, groups, column, shrink)


def shrunk(low: int, high: int) -> int:
    """Return how many steps of a column a variance takes as one."""
    return max(-(-(high - low) // _FINE), 1)


def _tally(records: ServiceRecords, inside: Words, groups: Groups | None) -> Ints:
    if groups is None:
        return np.array([int(bit_counts(inside))], np.int64)
    if len(groups.labels) > _FEW:
        rows = unpack(inside, records.count).astype(np.float64)
        return np.asarray(np.rint(np.bincount(groups.codes, rows, len(groups.labels))), np.int64)
    return shared(_stack(records, groups), inside)


def _stack(records: ServiceRecords, groups: Groups) -> Words:
    found: Words = records.kept(("stack", groups), lambda: records.each_group(groups))
    return found


@dataclass(frozen=True)
class _Sums:
    """Sums of offsets, or of their squares, over a set and over its groups."""

    records: ServiceRecords
    column: str
    middle: int
    shrink: int
    inside: Words
    groups: Groups | None
    counts: Ints

    def power(self, power: int) -> Ints:
        """Return the sums, one per group; all are exact."""
        planes = self.records.planes(self.column, self.middle, self.shrink, power)
        if self.groups is None:
            return np.array([planes.total(self.inside, int(self.counts[0]))], np.int64)
        if len(self.groups.labels) > _FEW:
            return self._over_rows(power)
        stack = _stack(self.records, self.groups)
        return np.array([planes.total(self.inside & one, count) for one, count
                         in zip(stack, self.counts.tolist(), strict=True)], np.int64)

    def _over_rows(self, power: int) -> Ints:
        """Add up row by row: sums of less than 2^53 are exact in floating point, in any order."""
        assert self.groups is not None
        rows = unpack(self.inside, self.records.count)
        off = self.records.offsets(self.column, self.middle, self.shrink) ** power * rows
        return np.asarray(np.rint(np.bincount(self.groups.codes, off.astype(np.float64),
                                              len(self.groups.labels))), np.int64)


def _middle(column: GridColumn) -> int:
    return (column.low + column.high) // 2


def _candidates(column: GridColumn) -> Ints:
    steps = np.linspace(column.low, column.high, min(_CANDIDATES, column.high - column.low + 1))
    return np.unique(np.rint(steps).astype(np.int64))


def _ranks(inside: Bools, column: GridColumn, places: Ints) -> Ints:
    """Return, for every candidate, how many values lie below it and up to it, in two rows."""
    # A pass over all records: its time says nothing about how many of them are inside.
    held = np.rint(np.bincount(places, inside.astype(np.float64), _candidates(column).size))
    up_to = np.cumsum(held)
    return np.array([up_to - held, up_to], np.int64)


def _places(column: GridColumn) -> Ints:
    """Return the candidate k that every value is nearest to.

    Between two candidates many equal values would leave both of them equally far from every rank.
    """
    at = _candidates(column)
    return np.asarray(np.searchsorted((at[1:] + at[:-1]) / 2, column.values), np.int64)


def noisy(found: Aggregates, epsilon: float, rows: int) -> dict[str, Any]:
    """Add noise and return the answer as plain data."""
    if found.question.select == "quantile":
        return _quantile(found, epsilon, rows)
    moving = found.groups is not None and found.groups.moving
    each = epsilon / 2 if moving else epsilon
    values, errors = _BY_KIND[found.question.select](found, each, rows)
    answer: dict[str, Any] = {"epsilon": epsilon, "done": _done(found, epsilon)}
    if found.groups is None:
        return {"value": values[0], "error": errors[0], **answer}
    return {"groups": [{"group": list(label), "value": value, "error": error}
                       for label, value, error in zip(found.groups.labels, values, errors,
                                                      strict=True)], **answer}


Parts = tuple[list[float], list[float]]


def _count(found: Aggregates, epsilon: float, rows: int) -> Parts:
    values = laplace_noise(found.counts.tolist(), rows, epsilon)
    return [float(v) for v in values], [laplace_error(rows, epsilon)] * len(values)


def _sum(found: Aggregates, epsilon: float, rows: int) -> Parts:
    assert found.column is not None
    reach, step = found.column.reach * rows, float(found.column.step)
    values = laplace_noise(found.sums.tolist(), reach, epsilon)
    return [v * step for v in values], [laplace_error(reach, epsilon) * step] * len(values)


def _far(column: GridColumn, shrink: int) -> int:
    middle = _middle(column)
    return -(-max(column.high - middle, middle - column.low) // shrink)


def _mean(found: Aggregates, epsilon: float, rows: int) -> Parts:
    assert found.column is not None
    column, half = found.column, epsilon / 2
    far, step, middle = _far(column, 1), float(column.step), _middle(column)
    sums = laplace_noise(found.sums.tolist(), far * rows, half)
    people = [max(n, 1) for n in laplace_noise(found.counts.tolist(), rows, half)]
    offs = [min(max(s / n, column.low - middle), column.high - middle)
            for s, n in zip(sums, people, strict=True)]
    wide, narrow = laplace_error(far * rows, half), laplace_error(rows, half)
    return ([(middle + off) * step for off in offs],
            [math.hypot(wide, off * narrow) / n * step
             for off, n in zip(offs, people, strict=True)])


def _variance(found: Aggregates, epsilon: float, rows: int) -> Parts:
    assert found.column is not None
    third, far = epsilon / 3, _far(found.column, found.shrink) + 1
    unit = float(found.column.step) * found.shrink
    people = [max(n, 2) for n in laplace_noise(found.counts.tolist(), rows, third)]
    sums = laplace_noise(found.sums.tolist(), far * rows, third)
    squares = laplace_noise(found.squares.tolist(), far * far * rows, third)
    means = [s / n for s, n in zip(sums, people, strict=True)]
    values = [min(max(q / n - m * m, 0.0), far * far)
              for q, n, m in zip(squares, people, means, strict=True)]
    wide, narrow = laplace_error(far * far * rows, third), laplace_error(far * rows, third)
    # One person more moves the mean of squares and the squared mean in opposite directions.
    errors = [math.hypot(wide, 2 * m * narrow, (m * m - v) * laplace_error(rows, third)) / n
              for n, m, v in zip(people, means, values, strict=True)]
    return [v * unit * unit for v in values], [e * unit * unit for e in errors]


_BY_KIND = {"count": _count, "histogram": _count, "sum": _sum, "mean": _mean,
            "variance": _variance}


def _quantile(found: Aggregates, epsilon: float, rows: int) -> dict[str, Any]:
    """Choose the candidate whose rank is right, with noise (permute and flip)."""
    assert found.column is not None
    assert found.question.at is not None
    low = round(found.question.at * MILLION)
    below, up_to = found.counts
    rank = low * int(up_to[-1])
    # Many equal values hold many ranks: how far the rank asked for is from the nearest of them.
    scores = -np.maximum(0, np.maximum(MILLION * below - rank, rank - MILLION * up_to))
    at = _candidates(found.column)
    chosen = at[noisy_choice(scores.tolist(), MILLION * rows, epsilon)]
    ranks = 2 * rows / epsilon * math.log(at.size / 0.05)
    step = float(found.column.step)
    return {"value": float(chosen) * step, "error": None, "epsilon": epsilon,
            "rank_error_95": ranks, "done": [
                *_done(found, epsilon),
                f"one of {at.size} candidates, and every value counts as the nearest of them; its "
                f"rank is off by at most {ranks:.0f} records in 95 of 100 answers"]}


def _done(found: Aggregates, epsilon: float) -> list[str]:
    kind = "chosen with noise" if found.question.select == "quantile" else "discrete Laplace noise"
    notes = [f"{kind} for an epsilon of {epsilon:g}"]
    if found.column is not None:
        low, high = (float(end * found.column.step) for end in (found.column.low,
                                                                found.column.high))
        notes.append(f"values were clamped to {low:g} .. {high:g} and counted in steps of "
                     f"{float(found.column.step):g}")
    return notes
