"""Regression from sums of products with noise: how far one row moves them, and the coefficients.

Columns are scaled to lie between -1 and 1. For k of them the numbers are k sums and k (k + 1) / 2
sums of products. With u = (z - z') / 2 and v = (z + z') / 2, so that |u_i| + |v_i| <= 1, one row
that changes moves them by

- in all (root of squares) at most k + 1: the square is |z|^2 + |z'|^2 - 2t + (|z|^4 + |z'|^4) / 2
  - t^2 + sum (z_i^2 - z'_i^2)^2 / 2 with t = z z', where -2t - t^2 <= 1, and what remains is convex
  in the squares of the entries and greatest where all of them are 1;
- in sum at most k (k + 2)^2 / (2 (k + 1)): the sum is at most 2A + 2AB + 2 sum |u_i v_i| with
  A = sum |u_i| and B = sum |v_i|, which is concave and greatest where all |u_i| are equal.

A row that comes or goes moves these numbers and the count of rows by no more than k + 1 in all.
"""

from __future__ import annotations

import math

import numpy as np

from unspoken.arrays import Floats


def most_in_all(columns: int) -> int:
    """Return the root of squares of all moves when one row changes, comes or goes."""
    return columns + 1


def most_in_sum(columns: int, square: int) -> int:
    """Return the sum of all moves when one row changes, in units of which `square` are 1."""
    return -(-square * columns * (columns + 2) ** 2 // (2 * (columns + 1)))


def scaled_slopes(means: Floats, products: Floats, deviation: float,
                  penalties: Floats | None = None) -> Floats:
    """Return the coefficients of the last scaled column on the others.

    `products` are means of products and `deviation` that of the noise of one of them. Noise can
    make their matrix singular: small eigenvalues are raised to what the noise itself is worth.
    """
    spread = products - np.outer(means, means)
    normal = spread[:-1, :-1]
    if penalties is not None:
        normal = normal + np.diag(penalties)
    values, vectors = np.linalg.eigh(normal)
    least = deviation * math.sqrt(means.size)
    inverse = (vectors / np.maximum(values, max(least, 1e-12))) @ vectors.T
    return np.asarray(inverse @ spread[:-1, -1])


def symmetric(upper: Floats, size: int) -> Floats:
    """Return the symmetric matrix whose upper triangle is listed row by row."""
    out = np.zeros((size, size))
    out[np.triu_indices(size)] = upper
    return np.asarray(out + np.triu(out, 1).T)
