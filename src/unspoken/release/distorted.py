"""What the methods that distort values share: rules, the guarantee, and making the release.

The person's device, or the custodian, changes every value on its own; the miner gets the changed
values and, in the public manifest, the law by which they were changed. There is no key: nobody
can undo it, and nobody needs to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.errors import DataError, SchemaError, explain
from unspoken.numerics.random import derive, fresh_seed, generator, seed_from
from unspoken.release.guarantee import Guarantee, Verdict
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

Change = Callable[[Any, int], Any]
"""(record batch, number of its first row) -> the changed column as an Arrow array."""

WITHHOLD, TRUTH, DISTORT = CHOICES = ("withhold", "truth", "distort")


def of_column(value: Any, name: str) -> Any:
    """Return what a per-column parameter says about one column, None where it is silent."""
    return value.get(name) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class Distorted(Guarantee):
    """Every value was changed on its own by a published law."""

    name: ClassVar[str] = "distorted"

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return True if that learner takes the law of the distortion into account."""
        if getattr(type(miner), "reconstructs", False) is True:
            return Verdict(True, "It learns from reconstructed distributions. The model is an "
                           "estimate of the original's, not the same one.")
        return Verdict(False, "Values are distorted: a learner that takes them as they are finds "
                       "another model. Use mine.reconstruct, mine.ReconstructingTreeClassifier or "
                       "mine.ReconstructingNaiveBayes (command line: --model tree or naive-bayes), "
                       "which know the law of the distortion.")


def chosen_columns(owner: str, schema: Schema, kinds: tuple[str, ...],
                   columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the features to be distorted: those named, or all of some kinds."""
    if columns is not None:
        for name in columns:
            if schema[name].name not in schema.features:
                raise SchemaError(f"{owner}: 'columns' names '{name}', which is not a feature of "
                                  "the table. Identifiers are never released, the target is kept.")
        return tuple(columns)
    fitting = schema.of_kind(*kinds)
    if not fitting:
        raise SchemaError(f"{owner}: the table has no {' or '.join(kinds)} features. Name the "
                          "columns, or declare their kinds on reading.")
    return fitting


def finite(name: str, column: Any) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return a column as numbers and which are missing; text and infinities are refused."""
    try:
        values = np.asarray(to_numbers(column), np.float64)
    except (ValueError, TypeError, pa.ArrowInvalid):
        raise DataError(explain(f"Column '{name}'", "numeric", f"{column.type}",
                                "Use RandomizedResponse for categories.")) from None
    missing = np.isnan(values)
    if np.isinf(values).any():
        raise DataError(f"Column '{name}' holds an infinite value. Values must be finite or "
                        "missing.")
    return values, missing


@dataclass(frozen=True)
class RowChanger:
    """The row map of a release: some columns changed, some passed on."""

    changes: Mapping[str, Change]
    names: tuple[str, ...]

    def __call__(self, batch: Any, start: int) -> Any:
        """Change one batch whose first row is row `start` of the table."""
        parts = [self.changes[name](batch, start) if name in self.changes else batch.column(name)
                 for name in self.names]
        return pa.RecordBatch.from_arrays(parts, list(self.names))


@dataclass(frozen=True)
class Plan:
    """How a table is to be released: the changes, their Arrow types, and what becomes public."""

    owner: str
    changes: Mapping[str, Change]
    types: Mapping[str, Any]
    mechanism: Mapping[str, Any]
    guarantee: Distorted
    others: str
    markers: tuple[str, ...] = ()
    kinds: Mapping[str, str] | None = None


def make_release(table: Table, plan: Plan, seed: bytes, seeded: bool) -> Release:
    """Describe the changed table and pack it with its public description."""
    kept = [c for c in table.schema.columns if _released(plan, c)]
    schema = Schema(tuple(Column(c.name, (plan.kinds or {}).get(c.name, c.kind), c.role)
                          for c in kept))
    known = table.engine.schema(table.frame)
    fields = [pa.field(c.name, plan.types[c.name]) if c.name in plan.types
              else known.field(c.name) for c in kept]
    frame = table.engine.map(table.frame, RowChanger(plan.changes, schema.names), pa.schema(fields))
    return Release(table.with_frame(frame, schema), plan.mechanism, _named_unchanged(plan, kept),
                   generator(seed, "id").bytes(16).hex(), {"seeded": seeded})


def _named_unchanged(plan: Plan, kept: Sequence[Column]) -> Distorted:
    """Return the guarantee, which says which columns it is not about."""
    bare = [column.name for column in kept if column.name not in plan.changes]
    if not bare:
        return plan.guarantee
    line = f"released as they are, and outside all that is stated: {', '.join(bare)}"
    return replace(plan.guarantee, conditions=(*plan.guarantee.conditions, line),
                   facts={**plan.guarantee.facts, "unchanged": bare})


def _released(plan: Plan, column: Column) -> bool:
    if column.role == "identifier":
        return False
    if column.name in plan.changes or column.name in plan.markers or column.role == "target":
        return True
    if plan.others == "refuse":
        raise SchemaError(
            f"{plan.owner}: column '{column.name}' is not to be distorted. Use others='drop' to "
            "leave such columns out, or others='keep' to release them as they are."
        )
    return plan.others == "keep"


class Draws:
    """Where the seed of every call comes from: the operating system, unless tests say otherwise.

    No seed is kept: a fitted object that is copied to many devices must not draw the same noise
    on all of them. With `random_state` calls are numbered, so that none repeats another.
    """

    def __init__(self, random_state: Any) -> None:
        self.seed = None if random_state is None else seed_from(random_state)
        self.calls = 0

    def next(self) -> bytes:
        """Return the seed of the next call."""
        self.calls += 1
        return fresh_seed() if self.seed is None else derive(self.seed, "call", self.calls)
