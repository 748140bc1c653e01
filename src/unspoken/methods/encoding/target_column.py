"""Whether the target of a table is a number, and how it is then released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from unspoken.errors import InputError
from unspoken.methods.encoding.draw_column import Recipe
from unspoken.methods.encoding.target_units import (
    KINDS,
    MANY,
    TWO,
    TargetUnits,
    draw_units,
    is_quantity,
)
from unspoken.numerics.random import generator
from unspoken.table.arrow_arrays import is_number
from unspoken.table.table import Table

if TYPE_CHECKING:
    from unspoken.methods.encoding.encoding_settings import PiecewiseSettings

CLEAR = "clear"


def target_code(encoder: PiecewiseSettings, table: Table, recipe: Recipe) -> str:
    """Return "affine", "scaled" or "clear" for a number, and an empty text for classes."""
    target, wanted = table.schema.target, encoder.target
    if encoder.clear_target is not None:
        return _clear(encoder.clear_target, table)
    if target is None or wanted == "classes" or not holds_numbers(table):
        if wanted in KINDS:
            raise InputError(f"'target' must be 'auto' or 'classes' where the target does not hold "
                             f"numbers. Got '{wanted}'.")
        return ""
    if wanted == "auto":
        values = table.counts([target])[target].values
        # A neutral name would make a class of what may be a number; kept as it is, it stays one.
        number = is_quantity(values, TWO if encoder.neutral_names else MANY)
        return "affine" if number and not recipe.needs_classes else ""
    if recipe.needs_classes:
        raise InputError(f"'target' must be 'auto' or 'classes' with mode '{recipe.mode}', whose "
                         f"pieces need classes. Got '{wanted}'. Use mode='strict'.")
    return wanted


def _clear(name: str, table: Table) -> str:
    if name != table.schema.target:
        raise InputError(f"'clear_target' must be the name of the target, "
                         f"'{table.schema.target}'. Got '{name[:60]}'. Leave it out to release no "
                         "number in clear.")
    return CLEAR if holds_numbers(table) else ""


def holds_numbers(table: Table) -> bool:
    """Return True if the target of a table holds numbers."""
    kind = table.engine.schema(table.frame).field(table.target).type
    number = is_number(kind) and not pa.types.is_boolean(kind)
    return number and table.schema[table.target].kind in ("numeric", "ordinal")


def target_units(table: Table, code: str, seed: bytes) -> TargetUnits | None:
    """Draw the secret units of a target that is to be encoded."""
    if code not in KINDS:
        return None
    values = table.counts([table.target])[table.target].values
    return draw_units(values, table.rows, code, generator(seed, "target"))
