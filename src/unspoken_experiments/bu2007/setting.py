"""The setting of bu2007 section 6 and the data: ten attributes of Forest Covertype.

The paper does not state everything. What is fixed here fits its numbers best: the class is
"Aspen (5) against the rest", monochromatic pieces are at least 2 values wide, at least w = 20
breakpoints are drawn, and the radius of a crack is 2% of max - min + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.numerics.label_runs import (
    AttributeFacts,
    Pieces,
    attribute_facts,
    monochromatic_runs,
)
from unspoken_experiments.data_sets import need

COVERTYPE = "covtype.parquet"
ASPEN = 5
MIN_WIDTH = 2
BREAKPOINTS = 20
RADIUS = 0.02
TRIALS = 500
SEED = 2007
ATTRIBUTES = 10


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute: its number in the paper, its distinct values, and records by class."""

    number: int
    name: str
    values: Floats
    counts: Ints

    @cached_property
    def facts(self) -> AttributeFacts:
        """Return the statistics of Figure 8."""
        return attribute_facts(self.values, self.counts, MIN_WIDTH)

    @cached_property
    def runs(self) -> Pieces:
        """Return the monochromatic pieces and what lies between them."""
        return monochromatic_runs(self.counts, MIN_WIDTH)

    @property
    def records(self) -> Ints:
        """Return the number of records of each value."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def shift(self) -> float:
        """Return what brings the smallest value to 2; attribute 1 stays where it is."""
        return 0.0 if self.number == 1 else 2.0 - float(self.values[0])

    def radius(self, share: float = RADIUS) -> float:
        """Return the radius of a crack."""
        return share * self.facts.width


@dataclass(frozen=True, eq=False)
class Data:
    """The attributes, the value number of every record in every attribute, and the class."""

    attributes: tuple[Attribute, ...]
    where: tuple[npt.NDArray[np.integer], ...]
    aspen: Bools

    def __getitem__(self, number: int) -> Attribute:
        return self.attributes[number - 1]

    @cached_property
    def matrix(self) -> npt.NDArray[np.float32]:
        """Return the records as float32, one column an attribute."""
        columns = [a.values[w] for a, w in zip(self.attributes, self.where, strict=True)]
        return np.stack(columns, axis=1).astype(np.float32)


def load(folder: Path | None = None) -> Data:
    """Read the ten attributes and the class from the Covertype file."""
    import pyarrow.parquet as pq

    table = pq.read_table(need(COVERTYPE, folder))
    aspen = table["Cover_Type"].to_numpy() == ASPEN
    attributes, where = [], []
    for number, name in enumerate(table.column_names[:ATTRIBUTES], 1):
        values, found = np.unique(table[name].to_numpy(), return_inverse=True)
        counts = np.bincount(2 * found + aspen, minlength=2 * values.size).reshape(-1, 2)
        attributes.append(Attribute(number, name, values.astype(np.float64), counts))
        where.append(found.astype(np.int16))
    return Data(tuple(attributes), tuple(where), aspen)
