"""Random studies of every task, and references that share no code with what they check.

A file `plain_*.py` of this folder draws studies of some tasks: `DRAWS` has a function for each that
takes a random generator and returns a `Trial`. Tables have values at cut points, ties, near-ties,
constants, wide categories and tiny classes; references are plain loops over fractions and float64,
statsmodels or scikit-learn. A new task needs one line in such a file, or a file of its own.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import numpy as np

from support.random_studies.trials import Trial

Draw = Callable[[np.random.Generator], Trial]


def all_draws() -> dict[str, Draw]:
    """Return how a random study of each task is drawn."""
    found = [name for _, name, _ in pkgutil.iter_modules(__path__) if name.startswith("plain_")]
    return {task: draw for name in found
            for task, draw in importlib.import_module(f"{__name__}.{name}").DRAWS.items()}


def trial_of(task: str, number: int) -> Trial:
    """Return one of the random studies of a task, always the same one for a number."""
    return all_draws()[task](np.random.default_rng([number, *task.encode()]))
