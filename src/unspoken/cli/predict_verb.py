"""`unspoken predict`: what a model says about new records, column by name."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from unspoken.cli.common import (
    ROWS_IN,
    Adder,
    add_reading,
    emit,
    must_be_new,
    read_table,
    verb,
    write_rows,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.errors import InputError, explain


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
    columns: dict[str, Any] = {"prediction": model.predict(table)}
    if args.probabilities:
        columns |= _probabilities(model, table)
    _write(args.out, columns)
    counts = _counted(columns["prediction"])
    emit(args, {"predictions": str(args.out), "rows": table.rows, "counts": counts},
         "\n".join([f"{table.rows:,} records predicted by a {model.kind}: {args.out}",
                    *(f"  {name}: {count:,}" for name, count in counts.items())]))
    return 0


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
