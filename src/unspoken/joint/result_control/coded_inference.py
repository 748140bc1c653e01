"""Which counts of the others follow from a logistic model whose columns are of 0 and 1.

Data of such columns are a table of counts, one for each way to combine their values. What is
opened is a function of these counts, and what a party has itself are sums of them. A count follows,
up to finitely many values, if its gradient is a combination of the gradients of everything known;
as for linear models (`moment_inference`) that is decided at a random table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.result_control.moment_inference import Complex, follows, jacobian

MOST_CODED = 4
"""Of models with more terms no counts are said to follow: steps no longer tell them apart."""
STEPS = 4
"""Newton's steps from zero; later ones change nothing that can be told apart."""


def _cells(terms: int) -> Floats:
    """Return every way to combine the values of terms and response, the response last."""
    return np.array(list(product((0.0, 1.0), repeat=terms + 1)))


def _opened(counts: Complex, terms: int, errors: bool) -> Complex:
    """Return what is opened, the coefficients after every step too, as a function of counts."""
    cells = _cells(terms)
    design, yes = np.column_stack([np.ones(len(cells)), cells[:, :-1]]), cells[:, -1]
    beta, steps = np.zeros(terms + 1, np.complex128), []
    for _ in range(STEPS):
        odds = 1 / (1 + np.exp(-design @ beta))
        inner = (design.T * (counts * odds * (1 - odds))) @ design
        beta = beta + np.linalg.solve(inner, design.T @ (counts * (yes - odds)))
        steps.append(beta)
    odds = 1 / (1 + np.exp(-design @ beta))
    inner = (design.T * (counts * odds * (1 - odds))) @ design
    likelihood = counts @ (yes * np.log(odds) + (1 - yes) * np.log(1 - odds))
    return np.concatenate([[counts.sum(), likelihood], *steps,
                           *([np.diagonal(np.linalg.inv(inner))] * errors)])


def _known(terms: int, errors: bool) -> Floats:
    table = np.random.default_rng(1).uniform(5, 60, len(_cells(terms)))
    return np.asarray(jacobian(lambda counts: _opened(counts, terms, errors), table))


@lru_cache
def pairs_follow(terms: int, errors: bool, own: tuple[int, ...] = ()) -> bool:
    """Return True if the counts of every column, and of every two together, follow.

    `own`: over columns, those that a party has itself; the response has the number `terms`.
    """
    if terms > MOST_CODED:
        return False
    cells = _cells(terms)
    wanted = [cells[:, i] * cells[:, j] for i in range(terms + 1) for j in range(i + 1)]
    known = np.vstack([_known(terms, errors), _marginal(cells, own)])
    return follows(known, np.array(wanted))


def _marginal(cells: Floats, own: Sequence[int]) -> Floats:
    """Return for each combination of one's own values which cells have it."""
    names = [tuple(cell[list(own)]) for cell in cells]
    return np.array([[float(name == each) for each in names] for name in dict.fromkeys(names)])
