"""From a table to a rotated release: which columns go out, under which names, in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.errors import SchemaError
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.methods.rotation.streamed_moments import BlockMoments, Moments, merged
from unspoken.numerics.random import derive, generator
from unspoken.release.guarantee import Guarantee
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

BLOCK_ROWS = 1 << 16
"""Sums are taken over this many records at a time, so that they do not depend on the engine."""
_MEASURED = pa.schema([("counts", pa.list_(pa.int64())), ("mean", pa.list_(pa.float64())),
                       ("scatter", pa.list_(pa.float64())), ("decimals", pa.list_(pa.int64()))])
_PINS = {
    "columns": "use all released columns together; each mixes all original ones",
    "distance": "use the Euclidean distance",
    "predict": "new records and starting points must be rotated by the custodian first",
}


def numeric_features(owner: str, schema: Schema, categorical: str) -> tuple[str, ...]:
    """Return the columns that are rotated; texts have no distances."""
    other = schema.of_kind("categorical", "basket")
    if other and categorical == "refuse":
        raise SchemaError(
            f"{owner} rotates numeric columns. Got the categorical features {list(other)[:10]}. "
            "Use categorical='drop' to leave them out.")
    return schema.of_kind("numeric", "ordinal")


def table_moments(table: Table, names: tuple[str, ...]) -> Moments:
    """Return the moments of a table, measured block by block where its rows are."""
    parts = table.engine.gather(table.frame, list(names), _Measuring(names), _MEASURED, BLOCK_ROWS)
    return merged((_measured(part, len(names)) for batch in parts for part in batch.to_pylist()),
                  len(names))


@dataclass(frozen=True)
class _Measuring:
    """Makes one row of a block of records: its moments."""

    names: tuple[str, ...]

    def __call__(self, batch: Any, start: int) -> Any:
        part = BlockMoments.of(as_matrix(batch, self.names))
        cells = [[part.counts.tolist()], [part.mean.tolist()], [part.scatter.ravel().tolist()],
                 [part.decimals.tolist()]]
        return pa.RecordBatch.from_arrays(
            [pa.array(cell, kind) for cell, kind in zip(cells, _MEASURED.types, strict=True)],
            schema=_MEASURED)


def _measured(part: Mapping[str, Any], columns: int) -> BlockMoments:
    return BlockMoments(np.array(part["counts"], np.int64), np.array(part["mean"], np.float64),
                        np.array(part["scatter"], np.float64).reshape(columns, columns),
                        np.array(part["decimals"], np.int64))


def as_matrix(batch: Any, names: tuple[str, ...]) -> Floats:
    """Return columns of a record batch as one float64 array, NaN where missing."""
    out = np.empty((batch.num_rows, len(names)))
    for index, name in enumerate(names):
        out[:, index] = to_numbers(batch.column(name))
    return out


def release_of(
    table: Table, motion: Motion, mechanism: Mapping[str, Any], seed: bytes, seeded: bool,
    promise: Callable[[tuple[str, ...]], Guarantee],
) -> Release:
    """Describe the rotated table in the released row order."""
    target = table.schema.target
    columns = released_names(motion.inner, target)
    kept = [Column(name, "numeric", "plain") for name in columns]
    fields = [pa.field(name, pa.float64()) for name in columns]
    if target is not None:
        kept.append(Column(target, table.schema[target].kind, "target"))
        fields.append(table.engine.schema(table.frame).field(target))
    frame = table.engine.map(table.frame, RowTurner(motion, columns, target), pa.schema(fields))
    if motion.order_seed is not None:
        frame = table.engine.shuffle(frame, motion.order_seed)
    return Release(table.with_frame(frame, Schema(tuple(kept))), dict(mechanism),
                   promise(columns), generator(seed, "id").bytes(16).hex(),
                   {"seeded": seeded, "miner": dict(_PINS)}, seal_key=derive(seed, "seal"))


def released_names(count: int, target: str | None) -> tuple[str, ...]:
    """Return neutral names for mixtures of columns, none of them the target's."""
    prefix = "r" if target is None or not target.startswith("r") else "turned_"
    prefix = "column_" if target is not None and target.startswith(prefix) else prefix
    return tuple(f"{prefix}{i + 1}" for i in range(count))


@dataclass(frozen=True)
class RowTurner:
    """The row map of a release: record batch in, rotated record batch out."""

    motion: Motion
    columns: tuple[str, ...]
    target: str | None

    def __call__(self, batch: Any, start: int) -> Any:
        """Rotate one batch whose first row is row `start` of the table."""
        rotated = self.motion.released(as_matrix(batch, self.motion.features), start)
        parts = [pa.array(rotated[:, i], pa.float64(), from_pandas=True)
                 for i in range(rotated.shape[1])]
        names = list(self.columns)
        if self.target is not None:
            parts.append(batch.column(self.target))
            names.append(self.target)
        return pa.RecordBatch.from_arrays(parts, names)
