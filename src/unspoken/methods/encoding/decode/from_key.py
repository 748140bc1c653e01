"""What a key opens: mined models, and the original records as they were released."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import InputError, explain
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.dispatch import LEARNERS, decode_with, taken_over
from unspoken.methods.encoding.decode.feature_design import Design
from unspoken.methods.encoding.decode.model_facts import design_for
from unspoken.methods.encoding.decode.original_places import in_place
from unspoken.methods.encoding.decode.replayed_stopping import (
    as_the_original_stops,
    grown_on_the_original,
)
from unspoken.methods.encoding.decode.target_values import check_number, in_original_units
from unspoken.methods.encoding.decode.training_rows import (
    original_label,
    original_names,
    released_labels,
)
from unspoken.methods.encoding.decode.xgboost_replay import DrawnElsewhereError
from unspoken.models.readers import LightGBMModel, XGBoostModel
from unspoken.models.recipe import Recipe
from unspoken.release.key import Key
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.read import read
from unspoken.table.table import Table


def decode_from_key(model: Any, key: Key, data: Any, y: Any, units: str = "original",
                    recipe: Recipe | None = None, **options: Any) -> Any:
    """Decode a mined model with the code book of a key.

    `recipe`: how it was mined, which names the rows that it learned from and those by which it was
    stopped early; where the original stops elsewhere, its model is returned.

    `units` "released" leaves the leaf values of a numeric target in the units of the release, in
    which the model is that of the original bit for bit (see `in_released_order`).
    """
    if units not in ("original", "released"):
        raise InputError(explain("'units'", "'original' or 'released'", units))
    book = PiecewiseBook.from_key(key)
    if recipe is not None and options.get("rows") is None:
        options["rows"] = recipe.rows
    read_model, options["learner"] = taken_over(model, options.get("learner") or _method(recipe))
    if book.units is not None:
        check_number(read_model)
    design = design_for(book, read_model)
    data, y = in_place(key, data, y, options)
    if y is None and isinstance(data, Table) and data.schema.target is not None:
        y = data.labels() if book.units is None else to_numbers(
            data.arrow([data.target])[data.target])
    try:
        decoded = decode_with(read_model, design, design.numbers(data), y, **options)
    except DrawnElsewhereError:
        if recipe is None or not isinstance(data, Table):
            raise
        decoded = grown_on_the_original(read_model, recipe, key, data, _groups(read_model, design))
    if recipe is not None and recipe.watched is not None:
        decoded = as_the_original_stops(_named(decoded, design, y), recipe, key, data)
    if book.units is not None and units == "original":
        decoded = in_original_units(decoded, book.units)
    return _named(decoded, design, y)


def _method(recipe: Recipe | None) -> str | None:
    """Return how a recipe says that XGBoost was trained; its file does not."""
    if recipe is None or recipe.learner != "xgboost":
        return None
    method = recipe.params.get("tree_method")
    return "hist" if method in (None, "auto") else method if method in LEARNERS else None


def _groups(mined: Any, design: Design) -> Any:
    """Return the original categories behind the numbers of a mined booster, None if it has none."""
    if not any(design.categorical):
        return None
    names = mined.feature_names
    return design.groups(original_names(design, names) if names else mined.features)


def _named(decoded: Any, design: Design, y: Any) -> Any:
    """Put the original categories and classes into a decoded model, where it keeps them apart."""
    if isinstance(decoded, LightGBMModel):
        decoded = decoded.with_columns(design.features)
    if hasattr(decoded, "with_categories") and any(design.categorical):
        decoded = decoded.with_categories(design.groups(decoded.features))
    booster = isinstance(decoded, XGBoostModel | LightGBMModel)
    if not booster or y is None or decoded.task != "classification":
        return decoded
    released = np.unique(released_labels(design, np.asarray(y))).tolist()
    if len(released) != len(decoded.classes):
        return decoded
    return decoded.with_classes(tuple(original_label(design, label) for label in released))


def in_released_order(key: Key, table: Table) -> Table:
    """Return the released features and the target, original values, in the released order.

    A target in secret units stays in them: that is where models are compared bit for bit.
    """
    book = PiecewiseBook.from_key(key)
    names = list(book.everything)
    table, _ = in_place(key, table, None, {})
    rows = table.arrow([*names, table.target])
    for column in book.columns:
        if column.merged or column.floor.size:
            place = rows.column_names.index(column.name)
            values = column.rounded(np.asarray(to_numbers(rows[column.name]), np.float64))
            rows = rows.set_column(place, column.name, pa.array(values, from_pandas=True))
    if book.units is not None:
        numbers = book.units.encode(to_numbers(rows[table.target]))
        rows = rows.set_column(len(names), table.target, pa.array(numbers))
    order = book.order(rows.num_rows)
    if order is not None:
        rows = rows.take(pa.array(order))
    kinds = {name: "numeric" if name in book.features else "categorical" for name in names}
    return read(rows, target=table.target, kinds=kinds, keep=[*names, table.target],
                show=False)
