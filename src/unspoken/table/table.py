"""Table: a schema over an engine's frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import SchemaError
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
        lines = [f"Table of {self.rows:,} rows", self.schema.summary(), *self.notes]
        return "\n".join(lines)

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

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield record batches in row order."""
        return self.engine.batches(self.frame, columns)

    def counts(self, columns: Sequence[str], by: str | None = None) -> dict[str, Counts]:
        """Count the values of numeric columns by class."""
        return self.engine.counts(self.frame, columns, by)

    def numbers(self, columns: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
        """Return numeric features as float64, one column each, NaN where missing."""
        from unspoken.table.arrow_arrays import to_numbers

        names = list(self.schema.of_kind("numeric", "ordinal") if columns is None else columns)
        for name in names:
            if name not in self.schema.names:
                raise SchemaError(unknown_name(name, self.schema.names))
        rows = self.arrow(names)
        out = np.empty((rows.num_rows, len(names)), dtype=np.float64, order="F")
        for index, name in enumerate(names):
            out[:, index] = to_numbers(rows[name])
        return out

    def labels(self) -> npt.NDArray[Any]:
        """Return the target column as a numpy array."""
        column = self.arrow([self.target])[self.target]
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def with_frame(self, frame: Frame, schema: Schema | None = None) -> Table:
        """Return a table over another frame of the same engine."""
        return Table(schema or self.schema, frame, self.engine)
