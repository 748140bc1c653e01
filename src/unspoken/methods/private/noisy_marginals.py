"""Marginals and histograms with a stated epsilon: counts of declared cells, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.private.declared_columns import Cells, Coded, check_size, table_of_counts
from unspoken.methods.private.loss_split import Loss

HALF_NORMAL = float(np.sqrt(2 / np.pi))


@dataclass(frozen=True, eq=False)
class Marginal:
    """One table of noisy counts: its columns, the labels along each, and the deviation."""

    columns: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    counts: Floats = field(repr=False)
    error: float

    @property
    def shares(self) -> Floats:
        """Return counts as shares, none below zero and one in sum."""
        kept = np.maximum(self.counts, 0.0)
        return np.asarray(kept / max(float(kept.sum()), 1.0))

    def to_json(self) -> dict[str, Any]:
        """Return the marginal as plain data."""
        cells = [{"cell": list(label), "count": float(count)} for label, count in
                 zip(product(*self.labels), self.counts.reshape(-1), strict=True)]
        return {"columns": list(self.columns), "error": self.error, "cells": cells}


@dataclass(frozen=True)
class Marginals:
    """Several marginals, released together."""

    parts: tuple[Marginal, ...]

    def __getitem__(self, columns: str | Sequence[str]) -> Marginal:
        """Return the marginal of a column, or of several in their order."""
        wanted = (columns,) if isinstance(columns, str) else tuple(columns)
        return next(one for one in self.parts if one.columns == wanted)

    def to_json(self) -> dict[str, Any]:
        """Return all marginals as plain data."""
        return {"format": "unspoken-marginals", "version": 1,
                "marginals": [one.to_json() for one in self.parts]}


class MarginalsPlan:
    """Which marginals are measured; each gets the same share of the loss."""

    kind = "release"

    def __init__(self, loss: Loss, cells: Sequence[Cells], rows: int,
                 marginals: Sequence[Sequence[str]] | None = None) -> None:
        known = {one.name: one for one in cells}
        chosen = [[one.name] for one in cells] if marginals is None else marginals
        self.cells = tuple(cells)
        self._sets = [tuple(known[name] for name in names) for names in chosen]
        for cells_ in self._sets:
            check_size(cells_)
        self._each, self._rows = loss.share(1 / len(self._sets)), rows

    def expected(self) -> dict[str, float]:
        """Return the errors that can be stated before anything is measured."""
        error = self._each.error()
        sizes = [int(np.prod([one.size for one in cells])) for cells in self._sets]
        far = [size * error * HALF_NORMAL / 2 / max(self._rows, 1) for size in sizes]
        return {"deviation of a count": error,
                "total variation of a marginal's shares, at most on average": max(far)}

    def measure(self, coded: Coded) -> Marginals:
        """Count with noise."""
        return Marginals(tuple(self._marginal(cells, coded) for cells in self._sets))

    def _marginal(self, cells: tuple[Cells, ...], coded: Coded) -> Marginal:
        true = table_of_counts([coded[one.name] for one in cells], [one.size for one in cells])
        return Marginal(tuple(one.name for one in cells), tuple(one.labels for one in cells),
                        self._each.counts(true), self._each.error())
