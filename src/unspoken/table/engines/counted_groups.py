"""From what SQL counts, one line a value and class, to a table of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.engines.protocol import Counts


def pivot(counted: Any, classes: tuple[Any, ...], labelled: bool) -> Counts:
    """Return the counts of groups with a value `v`, a class `y` and a number of rows `n`."""
    # Adding zero makes one value of the two zeros, as `tally` does.
    values = to_numbers(counted["v"].cast(pa.float64())) + 0.0
    rows = counted["n"].to_numpy()
    label = np.zeros(values.size, np.intp)
    if labelled:
        place = {label: index for index, label in enumerate(classes)}
        label = np.array([place[y] for y in counted["y"].to_pylist()], np.intp)
    known = ~np.isnan(values)
    distinct, where = np.unique(values[known], return_inverse=True)
    table = np.zeros((distinct.size, len(classes)), np.int64)
    np.add.at(table, (where.reshape(-1), label[known]), rows[known])
    return Counts(distinct, table, classes, int(rows[~known].sum()))


def split_groups(counted: Any, columns: Sequence[str]) -> tuple[Any, Ints]:
    """Return groups under their names, and the numbers of rows that stand in the last column."""
    rows = counted.column(len(columns)).to_numpy().astype(np.int64)
    return counted.select(list(range(len(columns)))).rename_columns(list(columns)), rows
