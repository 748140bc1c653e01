"""The engine protocol: small enough that another engine is one file.

A frame is whatever an engine calls a table; nobody outside the engine looks inside. Frames are
lazy where the engine wants: `map` and `shuffle` only describe work, `write` and `collect` do it,
batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints

Frame = Any
RowMap = Callable[[Any, int], Any]
"""(record batch, number of its first row in the source) -> record batch."""
Progress = Callable[[int], None]
"""Called with the number of rows just finished."""


@dataclass(frozen=True)
class Counts:
    """How often each value of a numeric column occurs with each class."""

    values: npt.NDArray[np.float64]
    table: npt.NDArray[np.int64]
    classes: tuple[Any, ...]
    missing: int

    @property
    def by_value(self) -> npt.NDArray[np.int64]:
        """Return how often each value occurs."""
        return np.asarray(self.table.sum(axis=1))


class Engine(Protocol):
    """Counting, mapping, shuffling and moving of frames."""

    name: str
    most_cells: int | None
    """The most cells that `collect` brings into this process; None where it sets no bound."""

    def schema(self, frame: Frame) -> Any:
        """Return the Arrow schema of a frame."""

    def rows(self, frame: Frame) -> int:
        """Return the number of rows."""

    def counts(self, frame: Frame, columns: Sequence[str], by: str | None) -> dict[str, Counts]:
        """Count the values of numeric columns by the classes of `by`."""

    def groups(self, frame: Frame, columns: Sequence[str]) -> tuple[Any, Ints | None]:
        """Return combinations of values as one Arrow table, and how many rows each stands for.

        Over files and on Spark every combination comes once, counted where the rows are, and
        nothing else of the rows is brought together. Rows in memory come as they are, with None.
        """

    def distinct(self, frame: Frame, column: str) -> tuple[Any, ...]:
        """Return the distinct values of a column, sorted, missing left out."""

    def count_distinct(self, frame: Frame, column: str) -> int:
        """Return the number of distinct values of a column, missing left out."""

    def count_missing(self, frame: Frame, column: str) -> int:
        """Return how many rows have no value in a column (null or NaN)."""

    def batches(self, frame: Frame, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield Arrow record batches in row order."""

    def gather(self, frame: Frame, columns: Sequence[str], fn: RowMap, schema: Any,
               block: int | None = None) -> Iterator[Any]:
        """Yield in row order what `fn` makes of the rows, worked out where they are.

        `fn` returns a batch of `schema` with any number of rows, small ones by preference. It is
        called with rows that follow each other: with `block` rows from every multiple of it on
        (at the end fewer), so that no sum depends on the engine, else with any number of them.
        """

    def take(self, frame: Frame, rows: Ints, columns: Sequence[str]) -> Any:
        """Return some rows, whose numbers increase, as one Arrow table."""

    def map(self, frame: Frame, fn: RowMap, schema: Any) -> Frame:
        """Describe a frame whose batches are mapped."""

    def shuffle(self, frame: Frame, seed: bytes) -> Frame:
        """Describe a frame in the row order of `shuffle.permutation(seed, rows)`."""

    def collect(self, frame: Frame, columns: Sequence[str] | None = None) -> Any:
        """Return the rows as one Arrow table."""

    def write(self, frame: Frame, path: str, progress: Progress | None = None) -> None:
        """Write a frame as Parquet in bounded memory."""
