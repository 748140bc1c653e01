"""Table: a schema over an engine's frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import DataError, SchemaError
from unspoken.table.engines.frames_out import notebook_text, on_a_screen, to_pandas, to_polars
from unspoken.table.engines.protocol import Counts, Engine, Frame
from unspoken.table.formats.header_names import unknown_name
from unspoken.table.schema import Schema


@dataclass(frozen=True)
class Table:
    """Rows in an engine, and what their columns mean; `unspoken.read` builds it.

    Attributes
    ----------
    schema : Schema
        Kind and role of every column.
    frame : Frame
        Where the rows are.
    engine : Engine
        What reads them.
    notes : tuple of str
        What was done to a file when it was read; for the custodian only.
    written : Frame or None
        Columns of a text file as they are written, where their type hides it.
    """

    schema: Schema
    frame: Frame
    engine: Engine
    notes: tuple[str, ...] = field(default=(), compare=False)
    written: Frame | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        columns = on_a_screen(self.schema.summary().split("\n"))
        return "\n".join([f"Table of {self.rows:,} rows", *columns, *self.notes])

    def _repr_html_(self) -> str:
        return notebook_text(repr(self))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas frame."""
        return to_pandas(self.arrow())

    def to_polars(self) -> Any:
        """Return the rows as a polars frame."""
        return to_polars(self.arrow())

    def __len__(self) -> int:
        return self.rows

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.engine.rows(self.frame)

    @property
    def target(self) -> str:
        """Return the name of the target, or say that there is none."""
        if self.schema.target is None:
            raise SchemaError(
                "This needs a table with a target. Got none. "
                "Name it when reading: unspoken.read(source, target=...)."
            )
        return self.schema.target

    def arrow(self, columns: Sequence[str] | None = None) -> Any:
        """Return the rows as one Arrow table (this needs the memory for it)."""
        return self.engine.collect(self.frame, columns)

    def take(self, rows: Ints, columns: Sequence[str] | None = None) -> Any:
        """Return some rows, in the order in which they are named, as one Arrow table."""
        names = list(self.schema.names if columns is None else columns)
        if 2 * len(rows) > self.rows:
            return self.arrow(names).take(pa.array(rows))
        order = np.argsort(rows, kind="stable")
        picked = self.engine.take(self.frame, np.asarray(rows)[order], names)
        return picked.take(pa.array(np.argsort(order)))

    def as_written(self, columns: Sequence[str] | None = None) -> Any:
        """Return rows whose columns do not depend on what a text file holds in other rows.

        Dates, and numbers beside "?", come as the texts that they are written as.
        """
        rows = self.arrow(columns)
        if self.written is None:
            return rows
        texts = self.engine.collect(self.written)
        for name in texts.column_names:
            if name in rows.column_names:
                rows = rows.set_column(rows.column_names.index(name), name, texts[name])
        return rows

    @property
    def guessed(self) -> frozenset[str]:
        """Return the columns of a text file whose type one other row would change."""
        if self.written is None:
            return frozenset()
        return frozenset(self.engine.schema(self.written).names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield record batches in row order."""
        return self.engine.batches(self.frame, columns)

    def counts(self, columns: Sequence[str], by: str | None = None) -> dict[str, Counts]:
        """Count the values of numeric columns by class."""
        return self.engine.counts(self.frame, columns, by)

    def numbers(self, columns: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
        """Return numeric features as float64, one column each, NaN where missing."""
        names = list(self.schema.of_kind("numeric", "ordinal") if columns is None else columns)
        for name in names:
            if name not in self.schema.names:
                raise SchemaError(unknown_name(name, self.schema.names))
        rows = self.arrow(names)
        out = np.empty((rows.num_rows, len(names)), dtype=np.float64, order="F")
        for index, name in enumerate(names):
            _fill(out[:, index], name, rows[name])
        return out

    def labels(self) -> npt.NDArray[Any]:
        """Return the target column as a numpy array."""
        column = self.arrow([self.target])[self.target]
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def with_frame(self, frame: Frame, schema: Schema | None = None) -> Table:
        """Return a table over another frame of the same engine."""
        return Table(schema or self.schema, frame, self.engine)


def _fill(out: npt.NDArray[np.float64], name: str, column: Any) -> None:
    """Write a column into an array; texts that spell numbers are numbers."""
    from unspoken.table.arrow_arrays import is_number, to_numbers

    try:
        out[:] = to_numbers(column if is_number(column.type) else column.cast(pa.float64()))
    except (ValueError, TypeError, NotImplementedError, pa.ArrowException):
        # No value is shown: whose it is may be read by somebody else.
        raise DataError(f"Column '{name}' must hold numbers. It holds something else in some rows. "
                        "Correct them, or leave those rows out.") from None
