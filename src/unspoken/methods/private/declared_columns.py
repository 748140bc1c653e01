"""Columns as codes of declared cells: intervals of numbers or categories, and one for missing.

Cells are declared from public knowledge. Cells that were taken from the data disclose something
about it: then no epsilon is stated. A number beyond its range counts as the nearest interval, a
category that was not declared as missing. How a column was read does not matter: a text that says
a number is that number, and a text among numbers is missing. A column that is declared complete has
no cell for missing values: should there be one all the same, it counts as the last cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, SchemaError, explain
from unspoken.methods.private.method import SYNTHETIC
from unspoken.release.distorted import of_column
from unspoken.release.parameters import check_columns
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.declared_types import meaning, numbers_of, places_among, texts_of
from unspoken.table.identify.named_roles import looks_like_people, named_roles
from unspoken.table.table import Table

MOST_VALUES = 1000
MOST_CELLS = 1_000_000
FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column; the last code stands for a missing value unless it is complete."""

    name: str
    edges: tuple[float, ...]
    values: tuple[str, ...]
    whole: bool
    declared: bool
    complete: bool = False

    @property
    def known(self) -> int:
        """Return how many cells there are besides the one for missing values."""
        return len(self.edges) - 1 if self.edges else len(self.values)

    @property
    def size(self) -> int:
        """Return how many codes there are."""
        return self.known + (not self.complete)

    def codes(self, column: Any) -> Ints:
        """Return the code of every value of an Arrow column."""
        if self.edges:
            numbers = numbers_of(column)
            place = np.searchsorted(np.array(self.edges[1:-1]), numbers, side="right")
            return np.where(np.isnan(numbers), self.size - 1, place).astype(np.int64)
        if self.declared:
            place = places_among(column, self.values)
            return np.where(place < 0, self.size - 1, place)
        known = pa.array(list(self.values), pa.large_string())
        found = pc.index_in(texts_of(column), known)
        return np.asarray(pc.fill_null(found, self.size - 1).to_numpy(zero_copy_only=False),
                          np.int64)

    def draw(self, codes: Ints, rng: np.random.Generator) -> Any:
        """Return values of these codes: categories, or numbers drawn evenly from the interval."""
        missing = codes == self.known
        place = np.where(missing, 0, codes)
        if not self.edges:
            return pa.array(np.array(self.values, dtype=object)[place], pa.string(), mask=missing)
        low, high = np.array(self.edges[:-1])[place], np.array(self.edges[1:])[place]
        if not self.whole:
            return pa.array(low + rng.random(codes.size) * (high - low), pa.float64(), mask=missing)
        # Whole numbers of [low, high); the last interval holds its end.
        top = np.where(high == self.edges[-1], np.floor(high), np.ceil(high) - 1)
        low = np.ceil(low)
        width = np.maximum(top - low + 1, 1)
        return pa.array((low + np.floor(rng.random(codes.size) * width)).astype(np.int64),
                        pa.int64(), mask=missing)

    @property
    def labels(self) -> tuple[str | None, ...]:
        """Return what the cells are called, None for a missing value."""
        spans = tuple(f"{low:g} .. {high:g}" for low, high in pairwise(self.edges))
        return (*(spans or self.values), *(() if self.complete else (None,)))

    @property
    def arrow_type(self) -> pa.DataType:
        """Return the type of drawn values."""
        if not self.edges:
            return pa.string()
        return pa.int64() if self.whole else pa.float64()

    def middles(self) -> Floats:
        """Return the middle of every interval."""
        return np.asarray((np.array(self.edges[:-1]) + np.array(self.edges[1:])) / 2)

    def to_json(self) -> dict[str, Any]:
        """Return the cells as plain data."""
        return {"edges": list(self.edges), "values": list(self.values), "declared": self.declared,
                "complete": self.complete}


class Coded:
    """The columns of a table as codes of their cells, or as numbers."""

    def __init__(self, table: Table, cells: Sequence[Cells]) -> None:
        names = [one.name for one in cells]
        plain, written = table.arrow(names), table.as_written(names)
        self._frame = {one.name: (written if one.declared else plain)[one.name] for one in cells}
        self._codes = {one.name: one.codes(self._frame[one.name]) for one in cells}

    def __getitem__(self, name: str) -> Ints:
        """Return the codes of a column."""
        return self._codes[name]

    def numbers(self, name: str) -> Floats:
        """Return the numbers of a column."""
        return numbers_of(self._frame[name])


def cells_of(table: Table, names: Sequence[str], edges: Any, values: Any, bins: int,
             complete: Sequence[str] = ()) -> tuple[Cells, ...]:
    """Return the cells of columns: as declared, or else from the data."""
    return tuple(replace(_cells(table, name, of_column(edges, name), of_column(values, name), bins),
                         complete=name in complete) for name in names)


def unseen_cells(table: Table, names: Sequence[str], edges: Any, values: Any, bins: int,
                 complete: Sequence[str] = ()) -> tuple[Cells, ...]:
    """Return the cells of columns as declared; of the others some that no data was seen for."""
    return tuple(
        cells_of(table, [name], edges, values, bins, complete)[0]
        if name in declared_names([name], edges, values) else _stand_in(table, name, bins)
        for name in names)


def declared_names(names: Sequence[str], edges: Any, values: Any) -> tuple[str, ...]:
    """Return the columns whose cells are declared."""
    return tuple(name for name in names
                 if of_column(edges, name) is not None or of_column(values, name) is not None)


def without_guesses(table: Table, edges: Any, values: Any, complete: Any = None) -> Table:
    """Return a table whose roles follow from declarations and names, never from its values.

    What is declared for a column that is not there is refused: the data's cells would be taken.
    """
    rules = {name: SYNTHETIC.parameters[name].rule for name in ("edges", "values", "complete")}
    named = {"edges": edges, "values": values, "complete": complete}
    check_columns("A private result", rules, named, table.schema.names)
    declared = declared_names(table.schema.names, edges, values)
    return replace(table, schema=named_roles(table.schema, declared))


def refuse_names(table: Table, cells: Sequence[Cells]) -> None:
    """Refuse categories from the data in columns that look as if they named people.

    Without declared cells there is no epsilon that the refusal could be outside of.
    """
    for one in cells:
        if not one.declared and looks_like_people(table.schema[one.name]):
            raise SchemaError(f"Column '{one.name}' looks as if it named people, and its cells are "
                              "not declared: its values would be released. Declare them in "
                              f"'values' or 'edges', leave the column out with 'columns', or read "
                              f"the table with keep='{one.name}'.")


def _stand_in(table: Table, name: str, bins: int) -> Cells:
    if table.schema[name].kind in ("numeric", "ordinal"):
        return Cells(name, tuple(np.linspace(0.0, 1.0, bins + 1).tolist()), (), False, False)
    return Cells(name, (), ("", " "), False, False)


def _cells(table: Table, name: str, edges: Any, values: Any, bins: int) -> Cells:
    if edges is not None and values is None:
        # From the declaration, not from the data: one fraction would change the column's type.
        ends = _ends(name, edges)
        return Cells(name, ends, (), all(isinstance(end, Integral) for end in edges), True)
    column = table.arrow([name])[name]
    if table.schema[name].kind in ("numeric", "ordinal") and values is None:
        return Cells(name, tuple(_even(name, column, bins)), (), pa.types.is_integer(column.type),
                     False)
    listed = sorted(pc.unique(texts_of(column).drop_null()).to_pylist()) if values is None \
        else [str(value) for value in values]
    if not 1 <= len(listed) <= MOST_VALUES:
        raise DataError(f"Column '{name}' must have 1 to {MOST_VALUES} categories. Got "
                        f"{len(listed)}. Declare 'values', or leave the column out.")
    if values is not None:
        _check_different(name, listed)
    return Cells(name, (), tuple(listed), False, values is not None)


def _ends(name: str, edges: Any) -> tuple[float, ...]:
    try:
        ends = tuple(float(end) for end in edges)
    except (TypeError, ValueError):
        ends = ()
    if len(ends) < 2 or not np.isfinite(ends).all() or any(a >= b for a, b in pairwise(ends)):
        raise InputError(explain(f"'edges' of column '{name}'", "at least two finite numbers, each "
                                 "above the one before", edges))
    if max(map(abs, ends)) > FARTHEST or min(b - a for a, b in pairwise(ends)) < 1 / FARTHEST:
        raise InputError(f"'edges' of column '{name}' must lie within {FARTHEST:g} of 0 and "
                         f"{1 / FARTHEST:g} or more apart. Use another unit.")
    return ends


def _check_different(name: str, listed: Sequence[str]) -> None:
    first: dict[str, str] = {}
    for value in listed:
        other = first.get(meaning(value))
        first[meaning(value)] = value
        if other is not None:
            raise InputError(f"'values' of column '{name}' must be different. '{other}' and "
                             f"'{value}' say the same. Leave one out: both are counted together.")


def _even(name: str, column: Any, bins: int) -> list[float]:
    numbers = np.asarray(to_numbers(column), np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        raise DataError(f"Column '{name}' holds no number. Declare 'edges', or leave it out.")
    low, high = float(np.floor(numbers.min())), float(np.ceil(numbers.max()))
    return np.linspace(low, max(high, low + 1), bins + 1).tolist()  # type: ignore[no-any-return]


def check_size(cells: Sequence[Cells]) -> None:
    """Refuse a table of more cells than noise can be drawn for."""
    size = math.prod(one.size for one in cells)
    if size > MOST_CELLS:
        raise InputError(f"Columns counted together must have at most {MOST_CELLS:,} cells. "
                         f"{', '.join(one.name for one in cells)} have {size:,}. Declare fewer "
                         "intervals or categories.")


def table_of_counts(codes: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """Return how many records have each combination of codes."""
    flat = np.ravel_multi_index([np.asarray(one) for one in codes], tuple(sizes))
    found: npt.NDArray[np.int64] = np.bincount(flat, minlength=int(np.prod(sizes)))
    return found.reshape(tuple(sizes)).astype(np.int64)
