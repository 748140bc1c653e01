"""From a table to a release and a key: which columns go out, under which names, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, SchemaError
from unspoken.methods.encoding.category_labels import random_labels
from unspoken.methods.encoding.code_book import PiecewiseBook, released_names
from unspoken.methods.encoding.draw_column import Recipe
from unspoken.methods.encoding.guarantee import promise
from unspoken.methods.encoding.method import PIECEWISE
from unspoken.methods.encoding.target_column import holds_numbers, target_code, target_units
from unspoken.models.category_groups import category_texts
from unspoken.numerics.random import derive, generator, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import with_original
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import arrow_of, to_numbers
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

if TYPE_CHECKING:
    from unspoken.methods.encoding.encoding_settings import PiecewiseSettings

MAX_CLASSES = 1000
_PINS = {
    "seed": "use the same random_state (and the same number of threads) when comparing",
    "columns": "keep the columns in the order of the schema",
    "labels": "keep the class labels as they are: their sorted order breaks ties",
    "rows": "identity is with the original table in the released row order",
    "categories": "number the labels of a column in their sorted order, or take them as sets",
    "predict": "do not encode new records; the custodian decodes the model and predicts",
}


def make_release(encoder: PiecewiseSettings, table: Table) -> tuple[Release, Key]:
    """Fit an encoder on a table; return what goes out and what stays."""
    recipe = encoder.recipe()
    numeric, categorical = _features(table.schema, encoder.categorical)
    _check_target(table, recipe)
    seed = seed_from(encoder.random_state)
    number = target_code(encoder, table, recipe)
    counts = table.counts(numeric, table.target if recipe.needs_classes else None)
    encoder._draw(recipe, list(numeric), [(counts[n].values, counts[n].table) for n in numeric],
                  derive(seed, "codes"), table.rows)
    encoder.book_ = book = replace(_name_everything(encoder, table, categorical, seed, number),
                                   units=target_units(table, number, seed))
    schema = _released_schema(table.schema, book)
    row_map = RowEncoder(book, schema.names)
    frame = table.engine.map(table.frame, row_map, _arrow_schema(table, book))
    if book.order_seed is not None:
        frame = table.engine.shuffle(frame, book.order_seed)
    release = Release(
        table.with_frame(frame, schema), _mechanism(recipe, encoder, number),
        promise(recipe, encoder.facts_, [n for n in schema.names if n != schema.target],
                [new for _, new in _labels_of(book)],
                {"rows": table.rows, "least_rows": encoder.least_rows_, "target": number,
                 "rounded": [c.released for c in book.columns if c.merged or c.floor.size]}),
        generator(seed, "id").bytes(16).hex(),
        {"seeded": encoder.random_state is not None, "miner": dict(_PINS)},
        seal_key=derive(seed, "seal"),
    )
    encoder.n_features_in_ = len(numeric)
    encoder.feature_names_in_ = np.array(numeric, dtype=object)
    key = book.to_key(release.fingerprint).with_seal(derive(seed, "seal"))
    encoder.key_ = with_original(key, table, list(released_names(key, release)), seed)
    return release, encoder.key_


def _features(schema: Schema, categorical: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    numeric = schema.of_kind("numeric", "ordinal")
    other = schema.of_kind("categorical", "basket")
    if other and categorical == "refuse":
        raise SchemaError(
            "PiecewiseEncoder encodes numeric columns. Got the categorical features "
            f"{list(other)[:10]}. Use categorical='relabel' to release them under random labels "
            "for learners that treat categories as sets, or 'drop' to leave them out."
        )
    other = other if categorical == "relabel" else ()
    if not numeric and not other:
        raise SchemaError("PiecewiseEncoder needs at least one feature to encode. Got none.")
    return numeric, other


def _check_target(table: Table, recipe: Recipe) -> None:
    name = table.target if recipe.needs_classes else table.schema.target
    if name is None:
        return
    missing, classes = _target_counts(table, name)
    if missing:
        raise DataError(
            f"Target '{name}' must have a value in every row. {missing} rows have none. "
            "Leave those rows out (drop_missing_target=True)."
        )
    if classes < 2:
        raise DataError(f"Target '{name}' must have at least 2 different values. Got {classes}. "
                        "There is nothing to mine.")
    if recipe.needs_classes and classes > MAX_CLASSES:
        raise DataError(
            f"Target '{name}' must have at most {MAX_CLASSES} classes for monochromatic pieces. "
            f"Got {classes}. Use mode='strict' for regression."
        )


def _target_counts(table: Table, name: str) -> tuple[int, int]:
    """Return how many rows have no target, and how many different ones there are."""
    if holds_numbers(table):
        # The same counts say whether it is a quantity.
        counted = table.counts([name])[name]
        return counted.missing, counted.values.size
    engine, frame = table.engine, table.frame
    return engine.count_missing(frame, name), engine.count_distinct(frame, name)


def _name_everything(
    encoder: PiecewiseSettings, table: Table, categorical: tuple[str, ...], seed: bytes, number: str
) -> PiecewiseBook:
    book: PiecewiseBook = encoder.book_
    target = table.schema.target
    order = derive(seed, "order") if encoder.shuffle_rows else None
    labels = {name: random_labels(table, name, seed, int(encoder.rare), encoder.even_labels)
              for name in categorical}
    kept = [n for n in table.schema.names if n in book.features or n in labels]
    book = replace(book, names=tuple(kept))
    if not encoder.neutral_names:
        return replace(book, order_seed=order, categories=_named(labels, {}),
                       target=(target, target) if target else None)
    width = len(str(len(kept)))
    neutral = {name: f"a{i + 1:0{width}d}" for i, name in enumerate(kept)}
    columns = tuple(replace(c, released=neutral[c.name]) for c in book.columns)
    return replace(book, columns=columns, order_seed=order, categories=_named(labels, neutral),
                   target=(target, "target") if target else None,
                   classes_=_neutral_classes(table) if target and not number else None)


def _named(labels: Mapping[str, Any], neutral: Mapping[str, str]) -> dict[str, Any]:
    return {name: {"released": neutral.get(name, name), "labels": map_}
            for name, map_ in labels.items()}


def _labels_of(book: PiecewiseBook) -> list[tuple[str, str]]:
    return [(name, str(entry["released"])) for name, entry in (book.categories or {}).items()]


def _neutral_classes(table: Table) -> dict[Any, Any] | None:
    """Return neutral names in the sorted order of the labels, which breaks ties."""
    if table.engine.count_distinct(table.frame, table.target) > MAX_CLASSES:
        return None
    classes = table.engine.distinct(table.frame, table.target)
    width = len(str(len(classes)))
    return {f"k{i:0{width}d}": label for i, label in enumerate(classes)}


def _released_schema(schema: Schema, book: PiecewiseBook) -> Schema:
    renamed = {c.name: c.released for c in book.columns} | dict(_labels_of(book))
    if book.target:
        renamed[book.target[0]] = book.target[1]
    kept = [c for c in schema.columns if c.name in renamed]
    return Schema(tuple(Column(renamed[c.name], c.kind, c.role) for c in kept))


def _arrow_schema(table: Table, book: PiecewiseBook) -> Any:
    known = table.engine.schema(table.frame)
    codes = {c.name: (c.released, pa.int32()) for c in book.columns}
    labels = {name: (released, pa.string()) for name, released in _labels_of(book)}
    fields = []
    for name in table.schema.names:
        if name in codes or name in labels:
            fields.append(pa.field(*(codes | labels)[name]))
        elif book.target and name == book.target[0]:
            kind = pa.string() if book.classes_ is not None else known.field(name).type
            kind = kind if book.units is None else pa.float64()
            fields.append(pa.field(book.target[1], kind))
    return pa.schema(fields)


@dataclass(frozen=True)
class RowEncoder:
    """The row map of a release: record batch in, released record batch out."""

    book: PiecewiseBook
    names: tuple[str, ...]

    def __call__(self, batch: Any, start: int) -> Any:
        """Encode one batch whose first row is row `start` of the table."""
        parts: dict[str, Any] = {}
        for column in self.book.columns:
            codes, missing = column.encode(to_numbers(batch.column(column.name)), start)
            parts[column.released] = (arrow_of(codes) if missing is None else
                                      pa.array(codes, pa.int32(), mask=missing))
        for name, entry in (self.book.categories or {}).items():
            parts[entry["released"]] = _replaced(batch.column(name), entry["labels"])
        if self.book.target:
            name, released = self.book.target
            parts[released] = self._target(batch.column(name))
        return pa.RecordBatch.from_arrays([parts[n] for n in self.names], list(self.names))

    def _target(self, column: Any) -> Any:
        if self.book.units is not None:
            return pa.array(self.book.units.encode(to_numbers(column)), pa.float64())
        if self.book.classes_ is None:
            return column
        values = pa.array(list(self.book.classes_.values()), column.type)
        return pa.array(list(self.book.classes_)).take(pc.index_in(column, values))


def _replaced(column: Any, labels: Mapping[str, str]) -> Any:
    values = pa.array(list(labels), pa.string())
    return pa.array(list(labels.values()), pa.string()).take(
        pc.index_in(category_texts(column), values)
    )


def _mechanism(recipe: Recipe, encoder: PiecewiseSettings, number: str) -> dict[str, Any]:
    """What is public: the method, never the breakpoints, families or widths that were drawn."""
    return {"name": PIECEWISE.name, "mode": recipe.mode, "pieces": recipe.pieces,
            "monochromatic": "record" if recipe.per_record else "permutation",
            "zero_kept": recipe.keep_zero,
            "rows_shuffled": bool(encoder.shuffle_rows),
            "neutral_names": bool(encoder.neutral_names), "rare": int(encoder.rare),
            "even_labels": encoder.even_labels,
            "target": number or ("classes" if encoder.book_.target else "none")}
