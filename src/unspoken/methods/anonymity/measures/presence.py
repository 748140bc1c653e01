"""What a table says about who is in it, beside the population that it was drawn from.

    k-map            the fewest people of the population that a released record could be (Sweeney
                     2002): weaker than k where the population is larger than the table
    delta-presence   the least and the greatest chance that a person of the population is in the
                     table, given the release (Nergiz, Atzori and Clifton 2007)
    weighted risk    the chance that a record is re-identified where survey weights say how many
                     people each record stands for (Benedetti and Franconi 1998; Franconi and
                     Polettini 2004): E[1 / F | f], with f / (sum of weights) of a class sampled

The population must show the same columns in the same form as the table: recode it in the same way,
or ask for `k_map` and `delta` where the table is recoded (`protect.OptimalRecoder`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.measure import Names, columns_of
from unspoken.methods.anonymity.measures.population_columns import as_in_table
from unspoken.methods.anonymity.measures.population_uniqueness import individual_risk
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table


@dataclass(frozen=True)
class Presence:
    """k-map, and the least and greatest chance that a person is in the table."""

    k_map: int
    least: float
    greatest: float

    def summary(self) -> str:
        """Return the figures in plain words."""
        return (f"Every record could be one of at least {self.k_map:,} people of the population; "
                f"a person of it is in the table with a chance of {self.least:.1%} to "
                f"{self.greatest:.1%}.")


def presence(table: Table | Release, population: Table, quasi: Names = None) -> Presence:
    """Count the people of the population in every class of a table."""
    table = table.table if isinstance(table, Release) else table
    names, _ = columns_of(table, quasi, ())
    mine, theirs = table.arrow(list(names)), population.arrow(list(names))
    columns = []
    for name in names:
        other = as_in_table(name, mine[name], theirs[name])
        both = pa.chunked_array([*mine[name].chunks, *other.chunks])
        columns.append(np.asarray(coded(both).codes, np.int64))
    inside, outside = counted(stats.classes(columns), table.rows)
    absent = (inside > 0) & (outside < inside)
    if absent.any():
        raise DataError("The table must be a part of the population. In "
                        f"{int(absent.sum()):,} classes it has more people than the population. "
                        "Check that both are recoded in the same way.")
    known = outside > 0
    chances = inside[known] / outside[known]
    return Presence(int(outside[inside > 0].min()), float(chances.min()), float(chances.max()))


def counted(owner: Ints, rows: int) -> tuple[Ints, Ints]:
    """Return how many of the first `rows`, and of the others, stand in every class."""
    size = int(owner.max()) + 1
    return (np.bincount(owner[:rows], minlength=size), np.bincount(owner[rows:], minlength=size))


def weighted_risk(table: Table | Release, weights: str, quasi: Names = None) -> Floats:
    """Return the chance of re-identification of every record, by its survey weight."""
    table = table.table if isinstance(table, Release) else table
    names, _ = columns_of(table, quasi, ())
    rows = table.arrow([*names, weights])
    stands_for: Any = np.asarray(to_numbers(rows[weights]), np.float64)
    if not (stands_for >= 1).all():
        raise DataError(f"The weights '{weights}' must be numbers of at least 1: how many people "
                        "a record stands for. Some are missing or smaller.")
    owner = stats.classes([np.asarray(coded(rows[name]).codes, np.int64) for name in names])
    sizes, people = stats.sizes(owner), np.bincount(owner, stands_for)
    risk = np.array([individual_risk(np.array([size]), float(min(size / total, 1.0)))[0]
                     for size, total in zip(sizes, people, strict=True)])
    return np.asarray(risk[owner])
