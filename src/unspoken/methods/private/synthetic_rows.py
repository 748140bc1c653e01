"""PrivateSynthesizer: a table of people who do not exist, with a stated epsilon.

Marginals are chosen and measured with noise (`measured_tree`, after McKenna, Miklau and Sheldon,
"Winning the NIST contest" 2021, and AIM 2022), a distribution is estimated that agrees with them
(`mbi`), and rows are drawn from it. Who learns what: whoever gets the table learns the measured
marginals with their noise and nothing more about anybody. What lies beyond pairs of columns, and
pairs that were not chosen, is not in the table: it must not be used to answer them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.errors import DataError, InputError
from unspoken.methods.private.declared_columns import (
    Cells,
    Coded,
    cells_of,
    refuse_names,
    unseen_cells,
    without_guesses,
)
from unspoken.methods.private.fitted_tree_model import drawn, fitted
from unspoken.methods.private.guarantee import promise
from unspoken.methods.private.loss_split import Loss
from unspoken.methods.private.measured_tree import Measurer
from unspoken.methods.private.method import SYNTHETIC
from unspoken.numerics.random import fresh_seed, generator
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table


class PrivateSynthesizer(BaseEstimator):  # type: ignore[misc]
    """Release synthetic rows with a stated epsilon.

    Parameters
    ----------
    epsilon : float, default 1
        What the release costs.
    delta : float, default 1e-6
        With 0 every step has its own epsilon, and the noise is larger.
    edges : mapping, optional
        The limits of the intervals of numeric columns, from public knowledge. Whole numbers are
        drawn where all are written as such ([0, 50, 100]), others where one is not ([0.0, 1.0]).
    values : mapping, optional
        The categories of the others. Where either is silent the data's are taken, and no epsilon
        is stated.
    bins : int, default 16
        Intervals of a numeric column that `edges` does not name.
    complete : list of str, optional
        Columns that are publicly known to miss no value: they get no cell for missing ones.
    columns : list of str, optional
        The columns to release; all but identifiers by default.
    rows : int, optional
        Rows to draw; as many as the table has by default.

    Attributes
    ----------
    measured_ : the marginals that were measured, by names of columns.

    Examples
    --------
    >>> method = PrivateSynthesizer(1.0, edges={"age": [17, 30, 45, 60, 90]})
    >>> release, _ = method.protect(table)  # doctest: +SKIP
    """

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-6, *, edges: Any = None,
                 values: Any = None, bins: int = 16, complete: Any = None, columns: Any = None,
                 rows: int | None = None) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.edges = edges
        self.values = values
        self.bins = bins
        self.complete = complete
        self.columns = columns
        self.rows = rows

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and a key that seals it: no row is anybody's."""
        SYNTHETIC.check(self, table)
        original, table = table, without_guesses(table, self.edges, self.values)
        names = _released(table, self.columns)
        refuse_names(original, unseen_cells(table, names, self.edges, self.values, self.bins))
        cells = cells_of(table, names, self.edges, self.values, self.bins,
                         self.complete or ())
        if table.rows < 2:
            raise DataError(f"A synthetic table needs at least 2 rows. Got {table.rows}.")
        coded = Coded(table, cells)
        target = next((k for k, name in enumerate(names)
                       if table.schema[name].role == "target"), None)
        codes = [coded[one.name] for one in cells]
        plan = Measurer(codes, cells, target).plan(Loss.whole(self.epsilon, self.delta))
        self.measured_ = tuple(tuple(names[k] for k in one.columns) for one in plan.measured)
        model = fitted(plan, [one.size for one in cells], table.rows)
        release = self._release(table, cells, drawn(model, plan, len(cells),
                                                    self.rows or table.rows, _rng()))
        return keyed(release, original, fresh_seed())

    def _release(self, table: Table, cells: tuple[Cells, ...], codes: list[Any]) -> Release:
        rng = _rng()
        arrays = [one.draw(column, rng) for one, column in zip(cells, codes, strict=True)]
        frame = pa.table({one.name: array for one, array in zip(cells, arrays, strict=True)})
        schema = Schema(tuple(Column(one.name, "numeric" if one.edges else "categorical",
                                     table.schema[one.name].role) for one in cells))
        public = {"name": SYNTHETIC.name, "epsilon": self.epsilon, "delta": self.delta,
                  "columns": {one.name: one.to_json() for one in cells},
                  "measured": [list(one) for one in self.measured_]}
        words = "Rows were drawn from a distribution that was estimated from noisy marginals."
        return Release(Table(schema, MemoryFrame(frame), LocalEngine()), public,
                       promise(cells, self.epsilon, self.delta, words),
                       generator(fresh_seed(), "id").bytes(16).hex(), {"seeded": False})


def _rng() -> np.random.Generator:
    return generator(fresh_seed(), "rows")


def _released(table: Table, columns: Any) -> tuple[str, ...]:
    kept = [c.name for c in table.schema.columns if c.role != "identifier"]
    if columns is not None:
        for name in columns:
            if name not in kept:
                raise InputError(f"PrivateSynthesizer: 'columns' names '{name}', which is not "
                                 "there or is an identifier. Identifiers are never released.")
        kept = [name for name in kept if name in columns or table.schema[name].role == "target"]
    if len(kept) < 2:
        raise InputError("PrivateSynthesizer: 'columns' must leave at least two columns.")
    return tuple(kept)

