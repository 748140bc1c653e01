"""One owner's own part of a line search: columns, coefficients, and its part of every direction.

Before a search every owner makes its own columns orthogonal and equally long, by itself:
X T with T = sqrt(n) R^-1, where X = Q R (a ridge counted in). How much the columns of one owner go
together then no longer matters; only how much those of different owners do. Coefficients are
turned back by T in the end.
  discloses: nothing; nothing is sent.
  refuses: columns of one owner that depend on each other, before anything is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.joint_errors import RefusedError


@dataclass
class Walker:
    """One owner's columns as they are searched, its coefficients and its part of every direction.

    `penalties` is a ridge as a matrix in these columns; `turn` brings coefficients back to the
    owner's scaled columns.
    """

    x: Floats
    y: Floats
    beta: Floats
    directions: Floats
    penalties: Floats
    turn: Floats

    def move(self, steps: Floats, directions: Floats) -> None:
        """Go some steps, each along a direction."""
        self.beta = self.beta + steps @ directions

    @property
    def coefficients(self) -> Floats:
        """Return the coefficients of the scaled columns."""
        return np.asarray(self.turn @ self.beta)


def orthogonal_turn(x: Floats, penalties: Floats, condition: float) -> Floats:
    """Return T: the columns of X T are orthogonal, and as long as all ones; with a ridge added."""
    rows, columns = x.shape
    if not columns:
        return np.zeros((0, 0))
    triangle = np.linalg.qr(np.vstack([x, np.diag(np.sqrt(penalties))]), mode="r")
    spreads = np.linalg.svd(triangle, compute_uv=False)
    if spreads[-1] ** 2 * condition < rows:
        raise RefusedError("The columns of one owner must not depend on each other. Those of this "
                           "owner do. Leave some out. Nothing was opened.")
    # A sign in every row is free: with these, one column alone keeps its own.
    triangle = triangle * np.sign(np.diag(triangle))[:, None]
    return np.asarray(np.linalg.solve(triangle, sqrt(rows) * np.eye(columns)), np.float64)
