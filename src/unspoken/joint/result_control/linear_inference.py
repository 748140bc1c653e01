"""Exact linear algebra: whether known sums fix another sum, whatever the values are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[int | Fraction]


def fixed_by(known: Sequence[Row], wanted: Row) -> bool:
    """Return True if `wanted` is a combination of the rows of `known`, over the rationals.

    Rows are coefficients of unknown values: then, and only then, do known sums fix the wanted one.
    """
    rest = [Fraction(value) for value in wanted]
    for pivot, row in _reduced(known):
        rest = _less(rest, row, rest[pivot])
    return not any(rest)


def _reduced(rows: Sequence[Row]) -> list[tuple[int, list[Fraction]]]:
    """Return rows with a leading 1 each, and where it stands."""
    basis: list[tuple[int, list[Fraction]]] = []
    for row in rows:
        rest = [Fraction(value) for value in row]
        for pivot, done in basis:
            rest = _less(rest, done, rest[pivot])
        place = next((i for i, value in enumerate(rest) if value), None)
        if place is not None:
            basis.append((place, [value / rest[place] for value in rest]))
    return basis


def _less(row: list[Fraction], other: list[Fraction], times: Fraction) -> list[Fraction]:
    return [a - times * b for a, b in zip(row, other, strict=True)]
