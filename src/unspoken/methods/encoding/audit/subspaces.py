"""Subspace association disclosure (bu2007 Definition 2): several columns of one record at once.

A record counts when the guesses of all columns of the subspace are within their radii. All
subspaces are counted in one pass over the records: the columns cracked in a record are the bits
of a mask, masks are counted, and sums over supersets give every subspace. A missing value is
never cracked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats
from unspoken.errors import InputError, explain
from unspoken.methods.encoding.audit.column_subsets import (
    MAX_COLUMNS,
    row_masks,
    subsets,
    superset_counts,
)

Pairs = npt.NDArray[np.int32]


def subspace_disclosure(cracked: Mapping[str, Bools], rows: Mapping[str, Pairs],
                        size: int) -> dict[tuple[str, ...], Floats]:
    """Return for every subspace of 2 to `size` columns the share of records cracked by trial.

    `cracked` has (trials, pairs) for each column, `rows` the pair of each record (-1: missing).
    Columns with one trial, whose attack draws nothing, join every trial of the others.
    """
    names = list(cracked)
    if len(names) > MAX_COLUMNS:
        raise InputError(explain("Subspaces", f"of at most {MAX_COLUMNS} columns", len(names),
                                 "Choose the columns of highest risk."))
    trials = max((part.shape[0] for part in cracked.values()), default=0)
    wanted = list(subsets(len(names), 2, size))
    found = np.zeros((len(wanted), trials))
    padded = [_padded(cracked[name]) for name in names]
    places = [rows[name] for name in names]
    for trial in range(trials):
        counts = _one_trial(padded, places, trial)
        found[:, trial] = counts[[mask for mask, _ in wanted]] / max(places[0].size, 1)
    return {tuple(names[i] for i in members): found[index]
            for index, (_, members) in enumerate(wanted)}


def _padded(cracked: Bools) -> Bools:
    """Add the entry of a missing value, which index -1 finds."""
    return np.pad(cracked, ((0, 0), (0, 1)))


def _one_trial(cracked: Sequence[Bools], rows: Sequence[Pairs],
               trial: int) -> npt.NDArray[np.int64]:
    hits = [part[min(trial, part.shape[0] - 1)] for part in cracked]
    return superset_counts(row_masks(hits, rows), len(hits))
