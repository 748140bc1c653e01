"""Values that a release hides in other ones: hashed, spelt backwards, or in low digits.

Nothing of this changes how a column is distributed, so adversaries who compare distributions pass
it by. Here original and released records are put side by side, and every released column is asked
whether it says what a column of the original says of the same person, in one of the forms that
tools and people use. What the original itself already says in that way is no fault of the release.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.hidden_digits import digits_held
from unspoken.audit.turned_values import OTHERWISE, TurnedColumns, turned_columns
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

PAIRS = 400
"""Records that are put side by side."""
HELD = 0.5
"""Share of them that must agree before it counts."""
CHANCE = 0.2
"""Share that may agree with somebody else's record."""
LEAST = 20
"""Different values that a column must have to be worth hiding."""
PLACES = range(14)
"""Digits behind the point that are tried."""

_TEXTS: Mapping[str, Callable[[str], str]] = {
    "spelt backwards": lambda text: text[::-1],
    "in base 64": lambda text: base64.b64encode(text.encode()).decode(),
    "in hexadecimal": lambda text: text.encode().hex(),
    **{f"as {name}": lambda text, name=name: hashlib.new(  # type: ignore[misc]
        name, text.encode(), usedforsecurity=False).hexdigest()
       for name in ("md5", "sha1", "sha256", "sha512")},
}


def hidden_values(table: Table, release: Table, own: Ints, shown: Ints,
                  turned: TurnedColumns | None = None) -> tuple[str, ...]:
    """Return in sentences what released rows `shown` hide of the original rows `own`.

    Digests, turned words and digits are looked for in whole columns as well, whoever the rows
    belong to; `turned` is what `turned_columns` says of both tables, where it is known already.
    """
    turned = turned_columns(table, release) if turned is None else turned
    whole = {(there, one.name): f"'{there}' holds the values of '{one.name}' {one.form}"
             for there, one in turned.items()
             if one.form != OTHERWISE and one.distinct >= LEAST}
    whole |= {(there, name): f"'{there}' holds the values of '{name}' {how}"
              for there, name, how in digits_held(table, release)}
    paired = _of_pairs(table, release, own, shown)
    return (*whole.values(), *(line for pair, line in paired if pair not in whole))


Hidden = tuple[tuple[str, str], str]
"""A released and an original column, and the sentence about them."""


def _of_pairs(table: Table, release: Table, own: Ints, shown: Ints) -> tuple[Hidden, ...]:
    some = np.linspace(0, own.size - 1, min(PAIRS, own.size)).astype(np.int64) if own.size else own
    if some.size < LEAST:
        return ()
    left = {name: _Said.by(column) for name, column in _columns(table, own[some]).items()}
    right = {name: _Said.by(column) for name, column in _columns(release, shown[some]).items()}
    return tuple(((there, name), sentence) for name, one in left.items() if one.distinct >= LEAST
                 for there, found in right.items()
                 for sentence in _between(name, one, there, found, left.get(there)))


def _columns(table: Table, rows: Ints) -> dict[str, Any]:
    names = [c.name for c in table.schema.columns if c.kind != "basket"]
    taken = table.take(rows, names)
    return {name: taken[name] for name in names}


@dataclass(frozen=True)
class _Said:
    """A column of some records, as numbers where it has any, and as texts."""

    numbers: Floats | None
    texts: tuple[str, ...]

    @classmethod
    def by(cls, column: Any) -> _Said:
        numbers = np.asarray(to_numbers(column), np.float64) if is_number(column.type) else None
        return cls(numbers, tuple(_words(column)))

    @cached_property
    def distinct(self) -> int:
        return len(set(self.texts))

    @cached_property
    def turned(self) -> dict[str, list[str]]:
        """Return the texts in every form in which they may be hidden."""
        return {form: [turn(text).lower() if text else "" for text in self.texts]
                for form, turn in _TEXTS.items()}


def _words(column: Any) -> list[str]:
    if pa.types.is_floating(column.type):
        return [f"{value:.15g}" if value is not None else "" for value in column.to_pylist()]
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _between(name: str, one: _Said, there: str, found: _Said,
             before: _Said | None) -> Iterator[str]:
    """Yield how one released column says what one original column says."""
    said = [form for form in _forms_in(one, found)
            if before is None or form not in _forms_in(one, before)]
    yield from (f"'{there}' holds the values of '{name}' {form}" for form in said[:1])


def _forms_in(one: _Said, found: _Said) -> list[str]:
    """Return the forms in which one column stands in another."""
    if found.numbers is not None:
        both = one.numbers is not None and _says(*_low_digits(one.numbers, found.numbers))
        return ["in its low digits"] if both else []
    shown = [text.lower() for text in found.texts]
    return [form for form, turned in one.turned.items() if _says(*_same(turned, shown, one.texts))]


def _says(own: Bools, others: Bools) -> bool:
    return float(own.mean()) > HELD and float(others.mean()) < CHANCE


def _same(turned: Sequence[str], shown: Sequence[str],
          plain: Sequence[str]) -> tuple[Bools, Bools]:
    # A word that reads the same in both directions is not hidden by turning it round.
    own = np.array([a == b and a != c.lower() and bool(b)
                    for a, b, c in zip(turned, shown, plain, strict=True)])
    moved = [*shown[1:], *shown[:1]]
    return own, np.array([a == b and bool(b) for a, b in zip(turned, moved, strict=True)])


def _low_digits(values: Floats, found: Floats) -> tuple[Bools, Bools]:
    """Return who agrees in some digits before or behind the point, in the best place for it."""
    best = (np.zeros(values.size, np.bool_), np.zeros(values.size, np.bool_))
    held = values[np.isfinite(values)]
    base = 10.0 ** len(f"{int(held.max())}") if held.size and 0 < held.max() < 1e15 else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        for place in PLACES if base else ():
            scaled = np.rint(np.abs(found) * 10.0**place)
            part = np.where(scaled < 2**53, np.mod(scaled, base), -1.0)
            # Before the point, a number that rounds to the value is near it and hides nothing.
            near = (np.abs(found - values) <= 0.5) if place == 0 else found == values
            own = (part == values) & ~near & (values != 0)
            if own.sum() > best[0].sum():
                best = own, (np.roll(part, 1) == values) & (values != 0)
    return best
