"""`unspoken predict`: what a model says about new records, column by name."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from unspoken.cli.common import (
    ROWS_IN,
    Adder,
    add_reading,
    emit,
    listed,
    must_be_new,
    read_table,
    verb,
    write_rows,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.errors import InputError, explain

SOME = 20
"""Records from which on a model that knows none of their categories is not theirs."""


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "predict", run,
                  "Apply a model to records: a decoded one to original records, a mined one to "
                  "released records. Columns are found by name, in any order.")
    parser.add_argument("model", type=Path, metavar="MODEL",
                        help="JSON of unspoken or XGBoost, or LightGBM's text")
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("--probabilities", action="store_true",
                        help="also write the probability of every class")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE",
                        help="where the predictions go, one row per record in the order of DATA: "
                             ".csv or .parquet, readable by you alone")
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Predict and write."""
    from unspoken.models.load_model import load_model
    from unspoken.models.model import Predictor

    must_be_new(args.out, "The predictions")
    if args.out.suffix.lower() not in ROWS_IN:
        raise InputError(explain("'--out'", f"a file that ends in {' or '.join(ROWS_IN)}",
                                 str(args.out)))
    model = load_model(args.model)
    if not isinstance(model, Predictor):
        raise InputError(f"A {model.kind} does not predict for single records.")
    table = read_table(args, args.data, None)
    _say_what_does_not_fit(args, model, table)
    columns: dict[str, Any] = {"prediction": model.predict(table)}
    if args.probabilities:
        columns |= _probabilities(model, table)
    _write(args.out, columns)
    counts = _counted(columns["prediction"])
    emit(args, {"predictions": str(args.out), "rows": table.rows, "counts": counts},
         "\n".join([f"{table.rows:,} records predicted by a {model.kind}: {args.out}",
                    *(f"  {name}: {count:,}" for name, count in counts.items())]))
    return 0


def _say_what_does_not_fit(args: argparse.Namespace, model: Any, table: Any) -> None:
    """A model that was not decoded answers for original records, too, and answers wrongly."""
    from unspoken.methods.encoding.learners.mine_trees import recipe_path

    strange = _strange_columns(model, table)
    if strange and strange == _of_categories(model) and table.rows >= SOME:
        raise InputError(f"'{args.model.name}' must be a model of these records. It knows no value "
                         f"of {listed(strange)}. A model that was mined from a release predicts "
                         "for original records once it is decoded ('unspoken decode').")
    notes = [f"no value of '{name}' is known to the model: all count as missing"
             for name in strange]
    if recipe_path(args.model).exists() and not _is_released(args.data):
        notes.append(f"'{args.model.name}' was mined, and is not decoded: it predicts for released "
                     "records alone")
    for note in notes:
        print(f"unspoken: note: {note}", file=sys.stderr)


def _is_released(place: Any) -> bool:
    """Return whether records lie in a release directory."""
    return isinstance(place, Path) and any(
        (folder / "manifest.json").exists() for folder in (place, place.parent))


def _of_categories(model: Any) -> list[str]:
    """Return the columns of the data that a model takes as categories."""
    from unspoken.models.category_groups import column_of

    groups = getattr(model, "categories", None) or {}
    return list(dict.fromkeys(column_of(name, groups[name]) for name in groups))


def _strange_columns(model: Any, table: Any) -> list[str]:
    """Return the columns that have values, and none that the model knows."""
    from unspoken.models.category_groups import category_texts, column_of

    known: dict[str, set[str]] = {}
    for name, groups in (getattr(model, "categories", None) or {}).items():
        known.setdefault(column_of(name, groups), set()).update(*groups)
    there = table.arrow([name for name in known if name in table.schema.names])
    values = {name: set(category_texts(there[name]).unique().to_pylist()) - {None}
              for name in there.column_names}
    return [name for name, held in values.items() if held and not held & known[name]]


def _probabilities(model: Any, table: Any) -> dict[str, Any]:
    if not hasattr(model, "predict_proba") or not getattr(model, "classes", ()):
        raise InputError(f"A {model.kind} gives no probabilities. Leave --probabilities out.")
    shares = model.predict_proba(table)
    return {f"probability of {label}": shares[:, place]
            for place, label in enumerate(model.classes)}


def _counted(predictions: Any) -> dict[str, int]:
    """Return how often every class is predicted; nothing for numbers."""
    import numpy as np

    if predictions.dtype.kind == "f":
        return {}
    labels, counts = np.unique(predictions.astype(str), return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True)) if labels.size <= 20 else {}


def _write(path: Path, columns: dict[str, Any]) -> None:
    import pyarrow as pa

    write_rows(path, pa.table({name: pa.array(values.tolist())
                               for name, values in columns.items()}))
