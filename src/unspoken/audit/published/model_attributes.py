"""Guessing an input of a person from the model's answers (Fredrikson et al. 2014).

Everything else about the person is known, the target too. Every value that the input may have is
put in; the guess is the one under which the target is likeliest, weighed by how common the value
is. Numbers are guessed in ten stretches of equally many people. An input that cannot be guessed in
this way is not scored, which is worse than any score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
MOST_INPUTS = 100
MOST_VALUES = 20
MOST_LABELS = 300
"""Different texts of an input that are tried."""
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
    """Yield the risk of every sensitive input, of every input where none is declared."""
    secret, _ = attacked_inputs(published.model.features, table)
    groups = {"people": table, **({} if control is None else {"control": control})}
    rows = {key: rng.permutation(group.rows)[:PEOPLE] for key, group in groups.items()}
    spread = _spread(published, table, rows["people"])
    for name in secret:
        some = candidates(table.arrow([name])[name])
        assert some is not None
        counts = {key: _hits(published, group, rows[key], name, some, spread)
                  for key, group in groups.items()}
        yield Risk(INFERRED, name, "model inversion", KNOWS, *counts["people"],
                   float(some.share.max()), *counts.get("control", (None, 0)))


def attacked_inputs(features: Sequence[str], table: Table) -> tuple[list[str], dict[str, str]]:
    """Return the inputs that are guessed, and why each of the others is not scored."""
    known = [name for name in features if name in table.schema.names]
    wanted = [name for name in known if table.schema[name].role == "sensitive"] or known
    telling = [name for name in wanted if len(coded(table.arrow([name])[name]).labels) > 1]
    guessed = [name for name in telling if candidates(table.arrow([name])[name]) is not None]
    why = {name: f"it has more than {MOST_LABELS} different values, which were not tried"
           for name in telling if name not in guessed}
    why |= dict.fromkeys(guessed[MOST_INPUTS:], f"{MOST_INPUTS} other inputs were guessed; declare "
                         "the sensitive ones")
    return guessed[:MOST_INPUTS], why


def candidates(column: Any) -> Candidates | None:
    """Return the values of a column, or stretches of numbers; None where there are too many."""
    found = coded(column)
    counts = np.bincount(found.codes, minlength=found.missing + 1)[:-1]
    most = MOST_VALUES if is_number(column.type) else MOST_LABELS
    if 2 <= counts.size <= most:
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
