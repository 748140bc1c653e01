"""Guessing an input of a person from the model's answers (Fredrikson et al. 2014).

Everything else about the person is known, the target too. Every value that the input may have is
put in; the guess is the one under which the target is likeliest, weighed by how common the value
is. Numbers are guessed in ten stretches of equally many people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats, Ints
from unspoken.audit.published.model_losses import Published, inputs_of
from unspoken.disclosure.people_risk import INFERRED, Risk
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

PEOPLE = 500
MOST_INPUTS = 10
MOST_VALUES = 20
STRETCHES = 10
KNOWS = "all other columns and the model"


@dataclass(frozen=True)
class Candidates:
    """The values that an input may have: what is put in, and how common each is."""

    values: tuple[Any, ...]
    cuts: Floats | None
    share: Floats
    kind: Any

    def place(self, column: Any) -> Ints:
        """Return which of them each person has, -1 for none."""
        if self.cuts is not None:
            numbers = np.asarray(to_numbers(column), np.float64)
            return np.where(np.isnan(numbers), -1,
                            np.searchsorted(self.cuts, numbers, side="right"))
        known = {value: i for i, value in enumerate(self.values)}
        found = coded(column)
        codes = np.array([known.get(v, -1) for v in found.values()] + [-1], np.int64)
        return codes[found.codes]


def model_attributes(published: Published, table: Table, control: Table | None,
                     rng: np.random.Generator) -> Iterator[Risk]:
    """Yield the risk of every sensitive input, of the first ten where none is declared."""
    secret = [n for n in table.schema.with_role("sensitive") if n in published.model.features]
    groups = {"people": table, **({} if control is None else {"control": control})}
    rows = {key: rng.permutation(group.rows)[:PEOPLE] for key, group in groups.items()}
    spread = _spread(published, table, rows["people"])
    for name in (secret or list(published.model.features))[:MOST_INPUTS]:
        some = candidates(table.arrow([name])[name])
        if some is None:
            continue
        counts = {key: _hits(published, group, rows[key], name, some, spread)
                  for key, group in groups.items()}
        yield Risk(INFERRED, name, "model inversion", KNOWS, *counts["people"],
                   float(some.share.max()), *counts.get("control", (None, 0)))


def candidates(column: Any) -> Candidates | None:
    """Return the values of a column, or stretches of numbers; None where there are too many."""
    found = coded(column)
    counts = np.bincount(found.codes, minlength=found.missing + 1)[:-1]
    if 2 <= counts.size <= MOST_VALUES:
        return Candidates(tuple(found.values()), None, counts / counts.sum(), column.type)
    if counts.size < 2 or not is_number(column.type):
        return None
    numbers = np.asarray(to_numbers(column), np.float64)
    numbers = numbers[np.isfinite(numbers)]
    cuts = np.unique(np.quantile(numbers, np.linspace(0, 1, STRETCHES + 1)[1:-1]))
    place = np.searchsorted(cuts, numbers, side="right")
    middles = tuple(float(np.median(numbers[place == i])) for i in range(cuts.size + 1)
                    if (place == i).any())
    share = np.bincount(place, minlength=cuts.size + 1)
    if len(middles) != cuts.size + 1:
        return None
    return Candidates(middles, cuts, share / share.sum(), pa.float64())


def _spread(published: Published, table: Table, rows: Ints) -> float:
    """Return the spread of the errors of a model that predicts numbers."""
    if published.classifies:
        return 1.0
    losses = published.losses(inputs_of(published, table, rows), published.truth(table)[rows])
    held = losses[np.isfinite(losses)]
    return max(float(np.sqrt(np.mean(held**2))) if held.size else 1.0, 1e-12)


def _hits(published: Published, table: Table, rows: Ints, name: str, some: Candidates,
          spread: float) -> tuple[int, int]:
    data, truth = inputs_of(published, table, rows), published.truth(table)[rows]
    weights = []
    for value, share in zip(some.values, some.share, strict=True):
        column = pa.array([value] * rows.size, some.kind)
        losses = published.losses({**data, name: column}, truth)
        penalty = losses if published.classifies else 0.5 * (losses / spread) ** 2
        weights.append(np.log(max(float(share), 1e-12)) - penalty)
    guess = np.argmax(np.column_stack(weights), axis=1)
    own = some.place(table.arrow([name])[name])[rows]
    return int((guess == own).sum()), rows.size
