"""What can be read without any guess: a target in clear, patterns of missing values, row order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.disclosure.adversary import Adversary
from unspoken.disclosure.audit_rows import Row
from unspoken.methods.encoding.adversaries.record_singling_out import MissingPattern, RowOrder
from unspoken.methods.encoding.adversaries.unchanged_values import UnchangedValues
from unspoken.methods.encoding.audit.released_labels import LabelColumn, Records
from unspoken.methods.encoding.target_units import KINDS, MANY
from unspoken.release.release import Release
from unspoken.table.table import Table


def as_is_rows(table: Table, release: Release, labels: Sequence[LabelColumn], records: Records,
               chosen: Sequence[Adversary]) -> Iterator[Row]:
    """Yield rows about what was released as it is."""
    names = {one.name for one in chosen}
    target = table.schema.target
    encoded = release.mechanism.get("target") in KINDS
    if UnchangedValues.name in names and target and not encoded and (
            target not in {c.name for c in labels}):
        yield from _target_rows(table, target)
    if MissingPattern.name in names:
        yield from _missing_rows(release)
    if RowOrder.name in names and records.rows:
        share = records.in_place()
        yield Row(RowOrder.name, "row order", "(rows)", "identified", share, share, share,
                  1.0 / records.rows, 1)


def _target_rows(table: Table, target: str) -> Iterator[Row]:
    """Yield that every receiver reads the target; a quantity counts like any other column."""
    values = table.engine.count_distinct(table.frame, target)
    quantity = table.schema[target].kind in ("numeric", "ordinal") and values > MANY
    even = 1.0 / max(values, 1)
    for measure in ("target", "domain", "records") if quantity else ("target",):
        yield Row(UnchangedValues.name, "ignorant", target, measure, 1.0, 1.0, 1.0, even, 1)


def _missing_rows(release: Release) -> Iterator[Row]:
    """Yield for every column with missing values who stands alone by what is missing."""
    masks = {}
    for name in release.schema.features:
        column = release.table.arrow([name])[name]
        floating = pa.types.is_floating(column.type)
        mask = pc.is_null(column, nan_is_null=floating).to_numpy(zero_copy_only=False)
        if mask.any():
            masks[name] = np.asarray(mask, np.bool_)
    if not masks:
        return
    packed = np.packbits(np.column_stack(list(masks.values())), axis=1)
    _, where, counts = np.unique(packed, axis=0, return_inverse=True, return_counts=True)
    alone = counts[where.reshape(-1)] == 1
    for name, mask in masks.items():
        share = float((alone & mask).mean())
        yield Row(MissingPattern.name, "missing values", name, "missing pattern", share, share,
                  share, 1.0 / mask.size, 1)
