"""Leaf values against labels: a tree whose leaves were exchanged is refused, not decoded.

The custodian has the labels of the training rows. In trees and forests the value of a leaf is a
function of the rows in it: shares of classes, a mean or a median, up to one weight for each class,
which is inferred and must be the same in all leaves. Leaves of trees grown with monotonic
constraints are clipped and follow from more than their rows; decode those with trust_leaves=True.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.node_replay import Replay, foreign

CLOSE = 1e-7


def check_classes(
    replay: Replay, value: Floats, total: Floats, numbers: Ints, weight: Floats
) -> None:
    """Refuse leaves whose shares of classes are not those of their rows."""
    leaf, size, classes = replay.leaf, value.shape[0], value.shape[1]
    counts = np.bincount(leaf * classes + numbers[replay.bag], weight, size * classes)
    rows = counts.reshape(size, classes)
    ends = replay.nodes.shape.leaves
    stated = value * total[:, None]
    seen = rows[ends].sum(axis=0)
    each = np.divide(stated[ends].sum(axis=0), seen, out=np.zeros(classes), where=seen > 0)
    near = CLOSE * max(float(np.abs(stated[ends]).max(initial=0.0)), 1.0)
    wrong = np.flatnonzero(ends & np.any(np.abs(stated - rows * each) > near, axis=1))
    if wrong.size or np.any(each < 0):
        raise _exchanged(replay, int(wrong[0]) if wrong.size else 0,
                         "its shares of classes are not those of the training rows in it")


def check_numbers(replay: Replay, value: Floats, y: Floats, weight: Floats) -> None:
    """Refuse leaves whose number is neither the mean nor a median of their rows, all alike."""
    response, leaf, size = y[replay.bag], replay.leaf, value.size
    sums = np.bincount(leaf, weight, size)
    ends = replay.nodes.shape.leaves & (sums > 0)
    near = CLOSE * max(float(np.abs(response).max(initial=0.0)), 1e-300)
    means = np.divide(np.bincount(leaf, weight * response, size), sums, out=np.zeros(size),
                      where=sums > 0)
    wrong = np.flatnonzero(ends & (np.abs(value - means) > near))
    if wrong.size and not _medians(value, leaf, response, weight, near):
        raise _exchanged(replay, int(wrong[0]),
                         "its number is neither the mean nor the median of the training rows in it")


def _medians(
    value: Floats, leaf: Ints, response: Floats, weight: Floats, near: float
) -> bool:
    half = np.bincount(leaf, weight, value.size) / 2 * (1 + CLOSE)
    below = np.bincount(leaf, weight * (response < value[leaf] - near), value.size)
    above = np.bincount(leaf, weight * (response > value[leaf] + near), value.size)
    return bool(np.all(below <= half) and np.all(above <= half))


def _exchanged(replay: Replay, node: int, detail: str) -> DecodeError:
    return foreign(replay.nodes.where, node, f"leaf {node}: {detail}")
