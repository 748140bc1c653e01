"""Leaf values against labels: a tree whose leaves were exchanged is refused, not decoded.

The custodian has the labels of the training rows. In trees and forests the value of a leaf is a
function of the rows in it: shares of classes, a mean or a median, up to one weight for each class,
which is inferred and must be the same in all leaves. Leaves of trees grown with monotonic
constraints are clipped: which constraints there were is inferred, too (`constrained_leaves`).
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.constrained_leaves import Constrained, summed_upwards
from unspoken.methods.encoding.decode.node_replay import Replay, foreign

CLOSE = 1e-7


def check_classes(
    replay: Replay, value: Floats, total: Floats, numbers: Ints, weight: Floats
) -> None:
    """Refuse leaves whose shares of classes are not those of their rows."""
    leaf, size, classes = replay.leaf, value.shape[0], value.shape[1]
    counts = np.bincount(leaf * classes + numbers[replay.bag], weight, size * classes)
    rows: Floats = counts.reshape(size, classes).astype(np.float64)
    ends = replay.nodes.shape.leaves
    stated = value * total[:, None]
    seen = rows[ends].sum(axis=0)
    each = np.divide(stated[ends].sum(axis=0), seen, out=np.zeros(classes), where=seen > 0)
    near = CLOSE * max(float(np.abs(stated[ends]).max(initial=0.0)), 1.0)
    wrong = np.flatnonzero(ends & np.any(np.abs(stated - rows * each) > near, axis=1))
    if wrong.size:
        wrong = _constrained_shares(replay, value, total, rows, wrong)
    elif np.any(each < 0):
        wrong = np.zeros(1, np.int64)
    if wrong.size:
        raise _exchanged(replay, int(wrong[0]),
                         "its shares of classes are not those of the training rows in it")


def check_numbers(replay: Replay, value: Floats, y: Floats, weight: Floats) -> None:
    """Refuse leaves whose number is neither the mean nor a median of their rows, all alike."""
    response, leaf, size = y[replay.bag], replay.leaf, value.size
    sums: Floats = np.bincount(leaf, weight, size).astype(np.float64)
    totals: Floats = np.bincount(leaf, weight * response, size).astype(np.float64)
    ends = replay.nodes.shape.leaves & (sums > 0)
    near = CLOSE * max(float(np.abs(response).max(initial=0.0)), 1e-300)
    means = np.divide(totals, sums, out=np.zeros(size), where=sums > 0)
    wrong = np.flatnonzero(ends & (np.abs(value - means) > near))
    if not wrong.size or _medians(value, leaf, response, weight, near):
        return
    wrong = _unexplained(replay, value, totals, sums, near)
    if wrong.size:
        raise _exchanged(replay, int(wrong[0]),
                         "its number is neither the mean nor the median of the training rows in it")


def _constrained_shares(
    replay: Replay, value: Floats, total: Floats, rows: Floats, wrong: Ints
) -> Ints:
    """Return the leaves whose shares of two classes no monotonic constraints explain."""
    seen = rows.sum(axis=0)
    shares = np.all(value >= 0) and np.allclose(value.sum(axis=1), 1.0, rtol=0.0, atol=CLOSE)
    if value.shape[1] != 2 or not shares:
        return wrong
    # The root is never clipped, so its shares give the weight of each class.
    each = np.divide(value[0] * total[0], seen, out=np.zeros(2), where=seen > 0)
    return _unexplained(replay, value[:, 0], (rows * each)[:, 0], (rows * each).sum(axis=1), CLOSE)


def _unexplained(
    replay: Replay, stated: Floats, totals: Floats, weights: Floats, near: float
) -> Ints:
    """Return the leaves that no monotonic constraints explain."""
    shape = replay.nodes.shape
    sums, held = summed_upwards(shape, totals), summed_upwards(shape, weights)
    own = np.divide(sums, held, out=np.zeros(held.size), where=held > 0)
    return np.flatnonzero(~Constrained(
        shape, replay.nodes.feature, own, stated, near).explained())


def _medians(
    value: Floats, leaf: Ints, response: Floats, weight: Floats, near: float
) -> bool:
    half = np.bincount(leaf, weight, value.size) / 2 * (1 + CLOSE)
    below = np.bincount(leaf, weight * (response < value[leaf] - near), value.size)
    above = np.bincount(leaf, weight * (response > value[leaf] + near), value.size)
    return bool(np.all(below <= half) and np.all(above <= half))


def _exchanged(replay: Replay, node: int, detail: str) -> DecodeError:
    return foreign(replay.nodes.where, node, f"leaf {node}: {detail}")
