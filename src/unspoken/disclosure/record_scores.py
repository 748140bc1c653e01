"""How close guesses of whole records come, record by record and column by column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats

Scores = dict[tuple[str, str], float]
"""(column, measure) -> share or error."""

_ALL = "(all)"


def scores(guess: Floats, truth: Floats, names: tuple[str, ...], radius: float,
           epsilon: float) -> Scores:
    """Return shares of recovered values and records, the breach share and the relative error.

    A value is recovered within `radius` of the column's range; "domain" counts distinct
    values alike, "records" records. "breach" counts records whose guess lies within `epsilon` of
    their length (liu2006 section 3), "relative error" is the mean of liu2006's footnote 4.
    """
    out: Scores = {}
    reach = radius * np.ptp(truth, axis=0)
    # Rounding must not decide about a value that was found exactly.
    slack = 1e-9 * np.abs(truth).max(axis=0, initial=0.0)
    for index, name in enumerate(names):
        hit = np.abs(guess[:, index] - truth[:, index]) <= reach[index] + slack[index]
        out[name, "domain"] = by_value(hit, truth[:, index])
        out[name, "records"] = float(hit.mean())
    errors = relative_errors(guess, truth)
    out[_ALL, "breach"] = float((errors <= epsilon).mean())
    out[_ALL, "relative error"] = float(errors.mean())
    return out


def relative_errors(guess: Floats, truth: Floats) -> Floats:
    """Return the distance of each guess from its record, in lengths of the record."""
    length = np.linalg.norm(truth, axis=1)
    lengths = np.linalg.norm(guess - truth, axis=1)
    return np.asarray(lengths / np.where(length > 0, length, 1.0))


def by_value(hit: npt.NDArray[np.bool_], values: Floats) -> float:
    """Return the share of hits when distinct values count alike."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return float((np.bincount(where.reshape(-1), hit, counts.size) / counts).mean())


def aligned(guess: Floats, truth: Floats) -> Floats:
    """Give found columns the order, sign, place and unit of the originals that they fit best.

    For scoring only: how much of the columns is there once their names are known.
    """
    from scipy.optimize import linear_sum_assignment

    one, two = _standard(guess), _standard(truth)
    match = one.T @ two / max(truth.shape[0], 1)
    rows, columns = linear_sum_assignment(-np.abs(match))
    out = np.empty_like(truth)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        sign = 1.0 if match[row, column] >= 0 else -1.0
        out[:, column] = sign * one[:, row] * truth[:, column].std() + truth[:, column].mean()
    return out


def _standard(data: Floats) -> Floats:
    spread = data.std(axis=0)
    return np.asarray((data - data.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
