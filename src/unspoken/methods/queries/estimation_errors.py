"""How well noisy sums over sets of records estimate one record (partial disclosure).

Answers V x + noise, with independent noise of deviation 1. An unbiased linear estimate of x_i is
l'(answers) with V'l = e_i; the best one has the smallest |l|, its standard error. With Gaussian
noise nothing unbiased does better (Cramer and Rao). Records outside the span have none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Words
from unspoken.numerics.record_bitsets import shared

_TOLERANCE = 1e-6
_CHUNK = 4096


def smallest_error(stack: Words, at: npt.NDArray[np.int64]) -> float:
    """Return the smallest standard error of any of some records, which the sets must span.

    Where rounding hides the answer it is 0, the careful side.
    """
    if not at.size:
        return float("inf")
    gram = np.stack([shared(stack, row) for row in stack]).astype(np.float64)
    inverse = np.asarray(np.linalg.pinv(gram, rcond=1e-11, hermitian=True), np.float64)
    return min(_smallest(gram, inverse, _columns(stack, at[start : start + _CHUNK]))
               for start in range(0, at.size, _CHUNK))


def _smallest(gram: Floats, inverse: Floats, columns: Floats) -> float:
    best = inverse @ columns
    # V'l = e_i holds exactly if |V'l|^2 = l'Gl and (V'l)_i = l'V e_i are both 1.
    length = np.einsum("ij,ij->j", best, gram @ best)
    value = np.einsum("ij,ij->j", best, columns)
    off = np.maximum(np.abs(length - 1), np.abs(value - 1))
    return 0.0 if off.max() > _TOLERANCE else float(np.sqrt((best**2).sum(axis=0).min()))


def _columns(stack: Words, at: npt.NDArray[np.int64]) -> Floats:
    """Return which sets hold each of some records."""
    word, bit = at // 64, (at % 64).astype(np.uint64)
    return (stack[:, word] >> bit & np.uint64(1)).astype(np.float64)
