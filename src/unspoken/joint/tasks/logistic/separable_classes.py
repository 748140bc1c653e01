"""Classes that the columns tell apart: a logistic model then has no best coefficients.

They grow by about as much with every step, and the weights of records vanish, so that the matrix of
a later step cannot be inverted although that of the first could: columns that depend on each other
show at once. What is told apart is known from the opened steps; nothing more is opened for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.regression.disclosure_guards import refuse_more_steps

SHRINKS = 0.25
"""Newton's steps shrink faster than this, the longer the more, where they lead anywhere."""
SMALL = 0.05
"""Smaller steps, in units of the columns' spreads, are near their end, or rounding errors."""


def grows(steps: Sequence[float]) -> bool:
    """Return True if opened steps do not become small; one step says nothing."""
    return len(steps) > 1 and steps[-1] > max(SMALL, SHRINKS * steps[-2])


@contextmanager
def explained(steps: Sequence[float]) -> Iterator[None]:
    """Explain a matrix that could be inverted in the first step, and no longer can be."""
    try:
        yield
    except RefusedError:
        if not steps:
            raise
        refuse_separable(len(steps))


def refuse_next_step(steps: Sequence[float], most: int, owner: str) -> None:
    """Refuse one step more than an owner has records for; say so if none would ever be enough."""
    if len(steps) >= most and grows(steps):
        refuse_separable(len(steps))
    refuse_more_steps(len(steps), most, owner)


def refuse_separable(steps: int) -> NoReturn:
    """Refuse classes that columns separate, in these words."""
    raise RefusedError(
        "The columns tell the two classes apart without error, or almost (the classes are "
        "separable): no coefficients fit best, because greater ones always fit better. They did "
        f"not settle in {steps} step(s), which were opened. Use a ridge (--set ridge=1), or leave "
        "out the column that tells the classes apart.") from None
