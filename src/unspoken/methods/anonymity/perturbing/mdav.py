"""Groups of at least k alike records: MDAV, and the optimum for one column.

MDAV (Domingo-Ferrer and Torra 2005): the record farthest from the mean and its k - 1 nearest make a
group, the record farthest from that one and its nearest make another, and so on with the rest.
About n / 2k rounds of three passes over what is left: coordinates stand one after the other, so
that a pass is a product, and records that leave are overwritten by the last ones.

For one column the optimum is known (Hansen and Mukherjee 2003): in the order of the values, groups
are runs of k to 2k - 1 records, and the cheapest runs are a shortest path. Other columns may be
looked at beside it, such as the classes of a target: the squared errors within runs are then added
up over all of them. Cutting a run never adds to any of these errors, so that runs of k to 2k - 1
records still hold the optimum of all runs.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints


def mdav(data: Floats, k: int) -> Ints:
    """Return the group of every record, from 0; each has at least k, if there are as many."""
    rest = _Rest(data)
    owner, number = np.zeros(data.shape[0], np.int64), 0
    while rest.size >= 3 * k:
        apart = rest.distances(rest.point(rest.farthest()))
        first = _nearest(apart, k)
        apart[first] = -np.inf
        second = rest.distances(rest.point(int(np.argmax(apart))))
        second[first] = np.inf
        other = _nearest(second, k)
        owner[rest.ids[first]], owner[rest.ids[other]] = number, number + 1
        number += 2
        rest.leave(np.concatenate([first, other]))
    if rest.size >= 2 * k:
        near = _nearest(rest.distances(rest.point(rest.farthest())), k)
        owner[rest.ids[near]] = number
        number += 1
        rest.leave(near)
    owner[rest.ids[:rest.size]] = number
    return owner


_BLOCK = 64


def _nearest(apart: Floats, k: int) -> Ints:
    """Return the k least; they stand in blocks whose own least is among the k least of blocks."""
    blocks = apart.size // _BLOCK
    if blocks < 4 * k:
        return np.argpartition(apart, k - 1)[:k]
    least = apart[:blocks * _BLOCK].reshape(blocks, _BLOCK).min(axis=1)
    near = np.flatnonzero(apart <= np.partition(least, k - 1)[k - 1])
    return near[np.argpartition(apart[near], k - 1)[:k]]


class _Rest:
    """The records that are in no group yet."""

    def __init__(self, data: Floats) -> None:
        self._points = np.array(data.T, np.float64, order="C")
        self._squares = np.einsum("ij,ij->j", self._points, self._points)
        self.ids, self.size = np.arange(data.shape[0]), data.shape[0]
        self._sum = self._points.sum(axis=1)

    def point(self, at: int) -> Floats:
        """Return the coordinates of one record."""
        return np.asarray(self._points[:, at])

    def distances(self, point: Floats) -> Floats:
        """Return squared distances, but for a constant."""
        out = (-2.0 * point) @ self._points[:, :self.size]
        out += self._squares[:self.size]
        return np.asarray(out)

    def farthest(self) -> int:
        """Return the record farthest from the mean of all."""
        return int(np.argmax(self.distances(self._sum / self.size)))

    def leave(self, gone: Ints) -> None:
        """Overwrite records by the last ones."""
        self._sum = self._sum - self._points[:, gone].sum(axis=1)
        size = self.size - gone.size
        holes = gone[gone < size]
        tail = np.ones(gone.size, np.bool_)
        tail[gone[gone >= size] - size] = False
        movers = size + np.flatnonzero(tail)
        for array in (self._points, self._squares, self.ids):
            array[..., holes] = array[..., movers]
        self.size = size


def optimal_runs(values: Floats, k: int, beside: Floats | None = None) -> Ints:
    """Return the group of every value so that squared errors within groups are least.

    `beside`: (records, columns) whose squared errors within groups are added.
    """
    order = np.argsort(values, kind="stable")
    data = values[:, None] if beside is None else np.column_stack([values, beside])
    ranked = data[order] - data.mean(axis=0)
    sums = np.vstack([np.zeros(ranked.shape[1]), np.cumsum(ranked, axis=0)])
    squares = np.r_[0.0, np.cumsum((ranked * ranked).sum(axis=1))]
    size = values.size
    cost, start = np.full(size + 1, np.inf), np.zeros(size + 1, np.int64)
    cost[0] = 0.0
    for stop in range(min(k, size), size + 1):
        first = np.arange(max(stop - 2 * k + 1, 0), stop - k + 1) if stop >= k else np.array([0])
        inside = ((sums[stop] - sums[first]) ** 2).sum(axis=1) / (stop - first)
        spread = squares[stop] - squares[first] - inside
        total = cost[first] + spread
        best = int(np.argmin(total))
        cost[stop], start[stop] = total[best], first[best]
    return _runs(start, order)


def _runs(start: Ints, order: Ints) -> Ints:
    owner, stop, number = np.zeros(order.size, np.int64), order.size, 0
    while stop > 0:
        owner[order[start[stop]:stop]] = number
        stop, number = int(start[stop]), number + 1
    return owner
