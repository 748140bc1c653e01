"""What a release carries so that anybody grows its trees again: a script, and its cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.methods.anonymity.measures.equivalence_classes import classes, sizes
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_labels, to_numbers
from unspoken.table.integer_columns import code_column, small

SCRIPT, CELLS = "grow_tree.py", "cells.json"


def carried(release: Release, predictors: Sequence[str], targets: Sequence[str],
            numbers: Sequence[str]) -> dict[str, str]:
    """Return the files: the script, and every combination of values with its count.

    `numbers`: the targets that are predicted as numbers.
    """
    source = Path(__file__).with_name(SCRIPT).read_text(encoding="utf-8")
    return {SCRIPT: source, CELLS: _cells(release, predictors, targets, numbers)}


def _cells(release: Release, predictors: Sequence[str], targets: Sequence[str],
           numbers: Sequence[str]) -> str:
    table, codes, shown = release.table, [], {}
    numeric = []
    for name in predictors:
        column = code_column(table.schema[name], table.arrow([name])[name], "two-way")
        numeric += [name] if column.values is not None else []
        values: list[Any] = [*column.labels] if column.values is None \
            else [*column.values.tolist(), None]
        codes.append(small(column.codes, len(values)))
        shown[name] = values
    for name in targets:
        data = table.arrow([name])[name]
        known = np.unique(np.asarray(to_numbers(data), np.float64), return_inverse=True) \
            if name in numbers else to_labels(data)
        shown[name] = [_plain(value) for value in known[0]]
        codes.append(small(np.asarray(known[1], np.int64).reshape(-1), len(known[0])))
    owner = classes(codes)
    first = np.empty(int(owner.max(initial=-1)) + 1, np.int64)
    first[owner[::-1]] = np.arange(owner.size)[::-1]
    columns = {name: [shown[name][code] for code in column[first].tolist()]
               for name, column in zip(shown, codes, strict=True)}
    return json.dumps({"numeric": numeric, "counts": sizes(owner).tolist(), "columns": columns},
                      allow_nan=False)


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) else str(value)
