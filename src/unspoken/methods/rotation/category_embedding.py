"""Categories as places: a stated embedding of mixed records, for methods that keep distances.

liu2006 rotates numbers. Here a column of k categories becomes k indicators, of which a record has
one, each times weight / sqrt(2). So two records lie `weight` apart where their categories differ
and nothing apart where they are the same, and the squared distance of mixed records is

    sum over numbers (x - y)^2  +  weight^2 * (number of categories that differ),

which is the distance of k-prototypes (Huang 1998) with gamma = weight^2. A rotation of these
columns keeps it, and so whatever liu2006 section 2 says of distances holds for it.

Who learns what. The miner sees as many columns more as there are categories, and that differences
of records come in few lengths: who shares all categories is seen where numbers are few. Indicators
are the most discrete data there are, on which an adversary who knows nothing finds the axes; the
audit attacks them like all columns, and says for each how many categories are found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats
from unspoken.errors import DamagedKeyError, DataError, SchemaError
from unspoken.release.key import Key
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

EMBEDDED = "embedding"
"""Where a key holds the categories of every embedded column."""
MOST_CATEGORIES = 200
"""Most categories of one column: each is a column of the release."""


@dataclass(frozen=True)
class Embedding:
    """Numbers as they are, then an indicator for every category of every other column."""

    numbers: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    weight: float = 1.0

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the original columns, numbers first."""
        return (*self.numbers, *self.categories)

    @property
    def features(self) -> tuple[str, ...]:
        """Return the embedded columns: numbers by their names, indicators as COLUMN=CATEGORY."""
        return (*self.numbers, *(f"{column}={category}" for column, listed
                                 in self.categories.items() for category in listed))

    @property
    def step(self) -> float:
        """Return what an indicator is multiplied by, so that categories are `weight` apart."""
        return float(self.weight / np.sqrt(2.0))

    def groups(self) -> dict[str, slice]:
        """Return where the indicators of every column stand."""
        places, start = {}, len(self.numbers)
        for column, listed in self.categories.items():
            places[column] = slice(start, start + len(listed))
            start += len(listed)
        return places

    def frame(self, centre: Floats, scale: Floats) -> tuple[Floats, Floats]:
        """Return what is subtracted and divided out, indicators being what the distance says."""
        indicator = np.arange(centre.size) >= len(self.numbers)
        return np.where(indicator, 0.0, centre), np.where(indicator, 1.0 / self.step, scale)

    def spread(self, table: Table) -> Table:
        """Return a table of numbers and indicators (0 and 1), with the target of the original."""
        target = table.schema.target
        kept = [Column(name, "numeric", "plain") for name in self.features]
        fields = [pa.field(name, pa.float64()) for name in self.features]
        if target is not None:
            kept.append(Column(target, table.schema[target].kind, "target"))
            fields.append(table.engine.schema(table.frame).field(target))
        frame = table.engine.map(table.frame, Spreading(self, target), pa.schema(fields))
        return Table(Schema(tuple(kept)), frame, table.engine, table.notes)

    def measured(self, records: Floats) -> Floats:
        """Return spread records as they are compared, numbers in their own units."""
        return np.asarray(records / self.frame(np.zeros(records.shape[1]),
                                               np.ones(records.shape[1]))[1])

    def lengths(self, differences: Floats, numbers: Floats) -> Floats:
        """Return stated distances, exactly where they can be; `numbers` are squares over numbers.

        Rounding must not tell records apart that lie equally far from another.
        """
        differing = sum((np.any(differences[:, places] != 0, axis=1) for places
                         in self.groups().values()), np.zeros(differences.shape[0]))
        return np.asarray(np.sqrt(numbers + self.weight**2 * differing))

    def restored(self, records: Floats) -> Any:
        """Return spread records as an Arrow table of the original columns.

        A category is the one whose indicator is largest; a record without numbers has none.
        """
        columns: dict[str, Any] = {
            name: pa.array(records[:, place], from_pandas=True)
            for place, name in enumerate(self.numbers)}
        for name, places in self.groups().items():
            part = records[:, places]
            gone = np.isnan(part).any(axis=1)
            best = np.where(gone, 0, np.argmax(np.nan_to_num(part), axis=1))
            columns[name] = pa.array(self.categories[name], pa.string()).take(
                pa.array(best, mask=gone))
        return pa.table(columns)

    def to_secret(self) -> dict[str, Any]:
        """Return the embedding as plain data for a key."""
        return {"numbers": list(self.numbers), "weight": float(self.weight),
                "categories": {name: list(some) for name, some in self.categories.items()}}


@dataclass(frozen=True)
class Spreading:
    """The row map of an embedding: record batch in, numbers and indicators out."""

    embedding: Embedding
    target: str | None

    def __call__(self, batch: Any, start: int) -> Any:
        """Spread one batch."""
        parts = [pa.array(np.asarray(to_numbers(batch.column(name)), np.float64), from_pandas=True)
                 for name in self.embedding.numbers]
        for name, listed in self.embedding.categories.items():
            parts += _indicators(batch.column(name), name, listed)
        names = list(self.embedding.features)
        if self.target is not None:
            parts.append(batch.column(self.target))
            names.append(self.target)
        return pa.RecordBatch.from_arrays(parts, names)


def _indicators(column: Any, name: str, listed: tuple[str, ...]) -> list[Any]:
    """Return an array of 0 and 1 for every category, missing where the category is."""
    texts = column.cast(pa.string())
    place = pc.index_in(texts, pa.array(listed, pa.string()))
    if place.null_count > texts.null_count:
        raise DataError(f"Column '{name}' has a category that the released table did not have. "
                        "No place was stated for it. Leave those records out.")
    return [pc.equal(place, number).cast(pa.float64()) for number in range(len(listed))]


def embedding_for(table: Table, weight: float) -> Embedding:
    """Return the embedding of a table's features; the distance of categories is `weight`."""
    if table.schema.of_kind("basket"):
        raise SchemaError("Baskets have no place beside numbers and categories. Got the columns "
                          f"{list(table.schema.of_kind('basket'))[:10]}. Leave them out.")
    listed = {name: _categories(table, name) for name in table.schema.of_kind("categorical")}
    return Embedding(table.schema.of_kind("numeric", "ordinal"), listed, float(weight))


def _categories(table: Table, name: str) -> tuple[str, ...]:
    values = table.engine.distinct(table.frame, name)
    texts = pa.array(values).cast(pa.string()).to_pylist() if values else []
    if not 0 < len(texts) <= MOST_CATEGORIES:
        raise DataError(f"Column '{name}' must have from 1 to {MOST_CATEGORIES} categories to be "
                        f"embedded, because each becomes a column. Got {len(texts)}. Leave it "
                        "out, or group its values.")
    return tuple(texts)


def embedding_of(key: Key) -> Embedding | None:
    """Return the embedding that a key holds, None where the release has numbers only."""
    held = key.secrets.get(EMBEDDED)
    if held is None:
        return None
    try:
        return Embedding(tuple(held["numbers"]), {
            str(name): tuple(map(str, some)) for name, some in held["categories"].items()},
            float(held["weight"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise DamagedKeyError("The key's list of categories cannot be read.") from None


def spread_as_in(key: Key, table: Table) -> Table:
    """Return a table as the release of this key was made of it: numbers, and indicators if any."""
    embedding = embedding_of(key)
    return table if embedding is None else embedding.spread(table)
