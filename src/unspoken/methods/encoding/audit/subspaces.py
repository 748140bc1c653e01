"""Subspace association disclosure (bu2007 Definition 2): several columns of one record at once.

A record counts when the guesses of all columns of the subspace are within their radii. All
subspaces are counted in one pass over the records: the columns recovered in a record are the bits
of a mask, masks are counted, and sums over supersets give every subspace. A missing value is
never recovered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats
from unspoken.errors import InputError
from unspoken.methods.encoding.audit.column_subsets import (
    MAX_COLUMNS,
    row_masks,
    subsets,
    superset_counts,
)

Pairs = npt.NDArray[np.int32]
_ROWS = 1 << 16
"""Rows that are counted at once."""


def subspace_disclosure(recovered: Mapping[str, Bools], rows: Mapping[str, Pairs],
                        size: int) -> dict[tuple[str, ...], Floats]:
    """Return for every subspace the share of records recovered (bu2007 Definition 2).

    Columns with one trial, whose attack draws nothing, join every trial of the others.

    Parameters
    ----------
    recovered : mapping from column to array of shape (trials, pairs)
        Which pairs of value and code are recovered in each trial.
    rows : mapping from column to array of int
        The pair of each record, -1 where the value is missing.
    size : int
        The largest number of columns of a subspace; the smallest is 2.

    Returns
    -------
    dict
        From the columns of a subspace to its share of records, one per trial.

    Examples
    --------
    >>> hits, rows = np.array([[True, False]]), np.array([0, 1], np.int32)
    >>> subspace_disclosure({"a": hits, "b": hits}, {"a": rows, "b": rows}, 2)
    {('a', 'b'): array([0.5])}
    """
    names = list(recovered)
    if len(names) > MAX_COLUMNS:
        raise InputError(f"Subspaces are counted for at most {MAX_COLUMNS} columns. Got "
                         f"{len(names)}. Choose the columns of highest risk.")
    trials = max((part.shape[0] for part in recovered.values()), default=0)
    wanted = list(subsets(len(names), 2, size))
    shares = np.zeros((len(wanted), trials))
    padded = [_padded(recovered[name]) for name in names]
    places = [rows[name] for name in names]
    for trial in range(trials):
        counts = _pairs(padded, places, trial) if size == 2 else \
            _one_trial(padded, places, trial)[[mask for mask, _ in wanted]]
        shares[:, trial] = counts / max(places[0].size, 1)
    return {tuple(names[i] for i in members): shares[index]
            for index, (_, members) in enumerate(wanted)}


def _padded(recovered: Bools) -> Bools:
    """Add the entry of a missing value, which index -1 finds."""
    return np.pad(recovered, ((0, 0), (0, 1)))


def _pairs(recovered: Sequence[Bools], rows: Sequence[Pairs],
           trial: int) -> npt.NDArray[np.int64]:
    """Return for every pair of columns how many rows have both, in the order of `subsets`.

    Single precision counts exactly as far as a block of rows goes.
    """
    hits = [part[min(trial, part.shape[0] - 1)].astype(np.float32) for part in recovered]
    both = np.zeros((len(hits), len(hits)), np.int64)
    for start in range(0, rows[0].size, _ROWS):
        some = np.stack([hit.take(where[start:start + _ROWS])
                         for hit, where in zip(hits, rows, strict=True)])
        both += np.rint(some @ some.T).astype(np.int64)
    return np.asarray(both[np.triu_indices(len(hits), 1)])


def _one_trial(recovered: Sequence[Bools], rows: Sequence[Pairs],
               trial: int) -> npt.NDArray[np.int64]:
    hits = [part[min(trial, part.shape[0] - 1)] for part in recovered]
    return superset_counts(row_masks(hits, rows), len(hits))
