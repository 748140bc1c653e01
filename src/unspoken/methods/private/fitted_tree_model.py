"""The distribution that agrees best with noisy marginals, by mbi, and rows drawn from it.

Everything here works on what was measured with noise, so it costs nothing more.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import MissingExtraError
from unspoken.methods.private.measured_tree import Plan

ITERATIONS = 1500


def _mbi() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import mbi
    except ImportError:
        raise MissingExtraError("Synthetic tables need mbi. Type: pip install 'unspoken[private]'."
                                ) from None
    return mbi


def fitted(plan: Plan, sizes: Sequence[int], rows: int, iterations: int = ITERATIONS) -> Any:
    """Return the graphical model that agrees best with what was measured."""
    mbi = _mbi()
    names = [str(k) for k in range(len(sizes))]
    domain = mbi.Domain(names, list(sizes))
    measured = [mbi.LinearMeasurement(one.counts.reshape(-1), tuple(names[k] for k in one.columns),
                                      one.error) for one in plan.measured]
    return mbi.estimation.MirrorDescent().estimate(domain, measured, known_total=float(rows),
                                                   iters=iterations)


def drawn(model: Any, plan: Plan, columns: int, rows: int,
          rng: np.random.Generator) -> list[Ints]:
    """Draw rows: the target, the root of the tree, then every column given its parent."""
    out: list[Ints] = [np.zeros(0, np.int64)] * columns
    given: tuple[int, ...] = ()
    if plan.target is not None:
        out[plan.target] = _drawn(_project(model, (plan.target,)), [], rows, rng)
        given = (plan.target,)
    out[plan.root] = _drawn(_project(model, (*given, plan.root)), [out[k] for k in given], rows,
                            rng)
    for parent, child in plan.edges:
        before = (*given, parent)
        out[child] = _drawn(_project(model, (*before, child)), [out[k] for k in before], rows, rng)
    return out


def _project(model: Any, columns: tuple[int, ...]) -> Floats:
    names = tuple(str(k) for k in columns)
    factor = model.project(names)
    counts = np.asarray(factor.datavector(flatten=False), np.float64)
    order = [list(factor.domain.attributes).index(name) for name in names]
    return np.maximum(np.transpose(counts, order), 0.0)


def _drawn(counts: Floats, before: list[Ints], rows: int, rng: np.random.Generator) -> Ints:
    """Draw the last column given the others, by whole numbers as near to the counts as possible."""
    size = counts.shape[-1]
    flat = counts.reshape(-1, size) + 1e-12
    where: Ints = np.zeros(rows, np.int64)
    if before:
        where = np.asarray(np.ravel_multi_index(before, counts.shape[:-1]), np.int64)
    ends = np.cumsum(flat / flat.sum(axis=1, keepdims=True), axis=1)
    out = np.empty(rows, np.int64)
    order = np.argsort(where, kind="stable")
    # Rows of one group get evenly spread quantiles, so that drawing adds almost no error.
    starts = np.searchsorted(where[order], where[order], side="left")
    sizes = np.bincount(where, minlength=flat.shape[0])[where[order]]
    offsets: Floats = np.asarray(rng.random(flat.shape[0]))
    offset = offsets[where[order]]
    quantile = ((np.arange(rows) - starts) + offset) / sizes
    for group in np.unique(where):
        at = where[order] == group
        chosen = np.searchsorted(ends[group], quantile[at], side="right")
        out[order[at]] = rng.permutation(np.minimum(chosen, size - 1))
    return out
