"""From recoded cells to a release: columns by block, what was changed, and the public words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.methods.anonymity.method import TREE_PRESERVING
from unspoken.methods.anonymity.tree_preserving.cells import Cells
from unspoken.methods.anonymity.tree_preserving.column_uses import column_uses
from unspoken.methods.anonymity.tree_preserving.guarantee import promise
from unspoken.methods.anonymity.tree_preserving.kept_trees import Kept
from unspoken.methods.anonymity.tree_preserving.privacy_targets import Needs
from unspoken.methods.anonymity.tree_preserving.public_names import (
    public_blocks,
    public_groups,
    public_tree,
)
from unspoken.methods.anonymity.tree_preserving.recoding_loop import Candidate
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Group, Recoding, suppressed
from unspoken.numerics.random import derive, generator
from unspoken.numerics.shuffle import permutation
from unspoken.numerics.splitting import NUMERIC
from unspoken.release.record_key import SHUFFLED
from unspoken.release.release import Release
from unspoken.table.integer_columns import Coded
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

Changed = dict[str, Any]


@dataclass(frozen=True)
class Blocked:
    """A released column: the cell of every row, and the value of every cell."""

    of_row: npt.NDArray[np.integer]
    values: Any

    def rows(self, start: int, count: int) -> Any:
        """Return some rows of the column."""
        return self.values.take(pa.array(self.of_row[start : start + count]))


@dataclass(frozen=True)
class RowRecoder:
    """The row map of a release: recoded columns, suppressed columns, and what passes as it is."""

    names: tuple[str, ...]
    blocked: Mapping[str, Blocked]
    constant: Mapping[str, Any]

    def __call__(self, batch: Any, start: int) -> Any:
        """Recode one batch whose first row is row `start` of the table."""
        parts = [self._column(name, batch, start) for name in self.names]
        return pa.RecordBatch.from_arrays(parts, list(self.names))

    def _column(self, name: str, batch: Any, start: int) -> Any:
        if name in self.blocked:
            return self.blocked[name].rows(start, batch.num_rows)
        if name in self.constant:
            return pa.repeat(self.constant[name], batch.num_rows)
        return batch.column(name)


@dataclass(frozen=True)
class Plan:
    """Everything that a release is made of."""

    table: Table
    trees: Sequence[Kept]
    columns: Mapping[str, Coded]
    needs: Needs
    quasi: tuple[str, ...]
    targets: tuple[str, ...]
    params: Mapping[str, Any]
    keep_sensitive: bool
    seed: bytes
    order_seed: bytes | None
    seeded: bool


def make_release(plan: Plan, recoded: Candidate, refused: Sequence[str], why: str) -> Release:
    """Describe the recoded table and pack it with its trees and its public description."""
    kept = [c for c in plan.table.schema.columns if c.role != "identifier" and c.kind != "basket"]
    schema = Schema(tuple(Column(c.name, c.kind, c.role) for c in kept))
    frame = _frame(plan, recoded, kept)
    groups = {name: r.groups for name, r in recoded.recodings.items()}
    public = _public_groups(plan, recoded)
    trees = [public_tree(tree.pattern(step), groups, public).to_json()
             for tree, step in zip(plan.trees, recoded.steps, strict=True)]
    rules = [tree.growth.rule(step, tree.leaves(step))
             for tree, step in zip(plan.trees, recoded.steps, strict=True)]
    details = {"seeded": plan.seeded, "stopping_rule": rules[0], "stopping_rules": rules,
               "trees": trees, "reached": recoded.reached.to_json(), "stopped_because": why,
               # Where two trees differ is said in values of the original.
               "trees_given_up": [one.partition(":")[0] for one in refused],
               "changed": changes(plan, recoded),
               "column_uses": column_uses(plan.columns, recoded)}
    return Release(plan.table.with_frame(frame, schema), _mechanism(plan, recoded),
                   promise(rules, trees, _facts(plan)),
                   generator(plan.seed, "id").bytes(16).hex(), details,
                   seal_key=derive(plan.seed, "seal"))


def _frame(plan: Plan, recoded: Candidate, kept: Sequence[Column]) -> Any:
    """Shuffle what passes as it is, and put the recoded columns beside it in the same order.

    Recoded columns are dealt from small codes: shuffling their texts would cost far more.
    """
    engine, frame, rows = plan.table.engine, plan.table.frame, plan.table.rows
    of_row = recoded.cells.of_row
    if plan.order_seed is not None:
        of_row = of_row[permutation(plan.order_seed, rows)]
    recoder, fields = _recoder(plan, recoded.recodings, recoded.cells.moved_to(of_row), kept)
    passing = [c.name for c in kept
               if c.name not in recoder.blocked and c.name not in recoder.constant]
    known = engine.schema(frame)
    frame = engine.map(frame, _Selecting(tuple(passing)),
                       pa.schema([known.field(name) for name in passing]))
    if plan.order_seed is not None:
        frame = engine.shuffle(frame, plan.order_seed)
    return engine.map(frame, recoder, pa.schema(fields))


@dataclass(frozen=True)
class _Selecting:
    names: tuple[str, ...]

    def __call__(self, batch: Any, start: int) -> Any:
        return batch.select(list(self.names))


def _mechanism(plan: Plan, recoded: Candidate) -> dict[str, Any]:
    groups = {name: [[label, list(members)] for label, members in listed]
              for name, listed in _public_groups(plan, recoded).items()}
    blocks = {name: public_blocks(plan.columns[name], r, _used(recoded, name), plan.needs.k)
              for name, r in recoded.recodings.items() if r.representatives is not None}
    unused = [name for name in plan.columns if name not in recoded.recodings]
    hidden = [] if plan.keep_sensitive else list(plan.needs.sensitive)
    return {"name": TREE_PRESERVING.name, **plan.params,
            SHUFFLED: plan.order_seed is not None, "quasi": list(plan.quasi),
            "targets": list(plan.targets), "groups": groups, "blocks": blocks,
            "suppressed": unused + hidden}


def _public_groups(plan: Plan, recoded: Candidate) -> dict[str, tuple[Group, ...]]:
    return {name: public_groups(plan.columns[name], r, _used(recoded, name), plan.needs.k)
            for name, r in recoded.recodings.items() if r.representatives is None}


def _used(recoded: Candidate, name: str) -> Ints:
    """Return the blocks of a column in which released records stand."""
    cells = recoded.cells
    return np.unique(cells.blocks[np.unique(cells.of_row), cells.names.index(name)])


def _facts(plan: Plan) -> dict[str, Any]:
    shown = list(plan.needs.sensitive) if plan.keep_sensitive else []
    return {"rows": plan.table.rows, "predictors": list(plan.columns), "k": plan.needs.k,
            "numeric": [n for n, c in plan.columns.items() if c.kind == NUMERIC],
            "l": dict(plan.needs.l), "t": dict(plan.needs.t), "diversity": plan.needs.form,
            "quasi": list(plan.quasi), "released_sensitive": shown,
            "ordered": sorted(plan.needs.ordered),
            "orders": {name: list(one.order) for name, one in plan.needs.sensitive.items()
                       if one.order and name in shown}}


def _recoder(plan: Plan, recodings: Mapping[str, Recoding], cells: Cells, kept: Sequence[Column]
             ) -> tuple[RowRecoder, list[Any]]:
    known = plan.table.engine.schema(plan.table.frame)
    blocked: dict[str, Blocked] = {}
    constant: dict[str, Any] = {}
    fields = []
    for column in kept:
        name, kind = column.name, known.field(column.name).type
        if name in recodings:
            values = released_values(recodings[name], kind)
            of_cell = pa.array(cells.blocks[:, cells.names.index(name)])
            blocked[name] = Blocked(cells.of_row, values.take(of_cell))
            kind = values.type
        elif name in plan.columns:
            constant[name] = _fitting([suppressed(plan.columns[name])], kind,
                                      plan.columns[name].kind == NUMERIC)[0]
            kind = constant[name].type
        elif column.role == "sensitive" and not plan.keep_sensitive:
            constant[name] = pa.scalar(None, kind)
        fields.append(pa.field(name, kind))
    return RowRecoder(tuple(c.name for c in kept), blocked, constant), fields


def released_values(recoding: Recoding, kind: Any) -> Any:
    """Return what blocks are released as, in the column's own type where it holds them."""
    return _fitting(recoding.values, kind, recoding.representatives is not None)


def _fitting(values: list[Any], kind: Any, numeric: bool) -> Any:
    if not numeric:
        return pa.array(values, kind if _is_text(kind) else pa.string())
    known = [v for v in values if v is not None]
    if all(v == int(v) for v in known) and (pa.types.is_integer(kind) or pa.types.is_date(kind)):
        try:
            whole = pa.array([None if v is None else int(v) for v in values], pa.int64())
            if pa.types.is_integer(kind):
                return whole.cast(kind)
            return whole.cast(pa.int32()).cast(pa.date32())
        except pa.ArrowInvalid:
            pass
    return pa.array(values, pa.float64())


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def changes(plan: Plan, recoded: Candidate) -> Changed:
    """Count what is released with another value than it had: cells, rows, and per column."""
    anywhere = np.zeros(plan.table.rows, np.bool_)
    columns = {}
    for name, column in plan.columns.items():
        different = _different(column, recoded, name)
        anywhere |= different
        columns[name] = int(different.sum())
    return {"rows": int(anywhere.sum()), "cells": sum(columns.values()), "columns": columns,
            "moved_rows": recoded.moved}


def _different(column: Coded, recoded: Candidate, name: str) -> npt.NDArray[np.bool_]:
    """Return for every row whether it is released with another value than it had."""
    used = name in recoded.recodings
    values = recoded.recodings[name].values if used else [suppressed(column)]
    cells = recoded.cells
    block = cells.blocks[:, cells.names.index(name)][cells.of_row] if used else 0
    if column.values is None:
        same = np.array([[a == b for b in values] for a in column.labels], np.bool_)
        return np.asarray(~same[column.codes, block])
    shown = np.array([np.nan if v is None else v for v in values])[block]
    mine = np.append(column.values, np.nan)[column.codes]
    return np.asarray(~((mine == shown) | (np.isnan(mine) & np.isnan(shown))))
