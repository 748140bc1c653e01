"""Powell's search in the clear, one search after the other: the steps that shares must give."""

from __future__ import annotations

import numpy as np


def orthogonal(block):
    """Return centred columns made orthogonal from left to right, each as long as all ones."""
    done = []
    for column in (block - block.mean(axis=0)).T:
        rest = column.copy()
        for other in 2 * done:
            rest -= other * (other @ rest) / (other @ other)
        done.append(rest * np.sqrt(rest.size) / np.linalg.norm(rest))
    return np.column_stack(done)


def scaled(y):
    """Return a response without its mean, in units of a power of two."""
    centred = y - y.mean()
    return centred / 2.0 ** np.frexp(centred.std())[1]


def searched(x, y, directions, most=10_000):
    """Return every step of a search over the columns of x, and the coefficients."""
    p = x.shape[1]
    beta, steps, directions = np.zeros(p), [], list(directions)

    def along(d):
        nonlocal beta
        w = x @ d
        steps.append(float((y - x @ beta) @ w / (w @ w)))
        beta = beta + steps[-1] * d
        return steps[-1]

    old, before = p, np.inf
    while len(steps) < most:
        moved = np.array([along(d) for d in directions])
        longest = np.abs(moved).max()
        if longest < 1e-9:
            break
        place = int(np.abs(moved[:old]).argmax()) if old else 0
        if old and abs(moved[place]) > 1e-3 * longest:
            way = moved @ np.array(directions) / np.linalg.norm(moved)
            del directions[place]
            directions.append(way)
            along(way)
            old -= 1
        elif longest > before / 16:
            old = p
        before = longest
    return steps, beta
