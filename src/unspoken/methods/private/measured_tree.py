"""Which marginals are measured, in the manner of MST and AIM, and what they say with noise.

First every column alone, then every column with the target, where there is one. Then a tree over
the columns grows edge by edge: the edge is chosen, with noise, whose pair of columns (given the
target) is explained worst by what was measured, less the noise that measuring it would bring. One
row moves such a score by at most two, because it moves two cells of one table of counts by one
each. What was measured decides what is chosen; the choice itself is paid for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.private.declared_columns import Cells, table_of_counts
from unspoken.methods.private.loss_split import Loss

ALONE, TARGET, CHOICE, EDGES = 0.1, 0.2, 0.1, 0.6
REACH = 2
MOST_CELLS = 20_000


@dataclass(frozen=True)
class Measured:
    """A marginal with noise: which columns, the counts, and the deviation of each."""

    columns: tuple[int, ...]
    counts: Floats = field(repr=False)
    error: float


@dataclass(frozen=True)
class Plan:
    """The measured marginals and the tree: (parent, child) pairs, parents first."""

    measured: tuple[Measured, ...]
    edges: tuple[tuple[int, int], ...]
    root: int
    target: int | None


class Measurer:
    """The records as codes; everything that looks at them pays."""

    def __init__(self, codes: Sequence[Ints], cells: Sequence[Cells], target: int | None) -> None:
        self._codes, self._target = codes, target
        self._sizes = [one.size for one in cells]

    def plan(self, loss: Loss) -> Plan:
        """Measure, choose and measure, within one loss."""
        count, target = len(self._sizes), self._target
        features = [k for k in range(count) if k != target]
        split = (ALONE, TARGET, CHOICE, EDGES) if target is not None else \
            (ALONE + TARGET, 0.0, CHOICE, EDGES)
        measured: dict[tuple[int, ...], Measured] = {
            (k,): self._measure((k,), loss.share(split[0] / count)) for k in range(count)}
        if target is not None:
            for k in features:
                measured[(k, target)] = self._measure((k, target),
                                                      loss.share(split[1] / len(features)))
        edges = len(features) - 1
        if edges < 1:
            return Plan(tuple(measured.values()), (), features[0], target)
        each = loss.share(split[3] / edges)
        tree = self._grow(features, measured, loss.share(split[2] / edges), each)
        for pair, with_target in tree.items():
            columns = (*pair, target) if with_target and target is not None else pair
            measured[columns] = self._measure(columns, each)
        return Plan(tuple(measured.values()), _rooted(features[0], list(tree)), features[0], target)

    def _true(self, columns: Sequence[int]) -> Ints:
        return table_of_counts([self._codes[k] for k in columns], [self._sizes[k] for k in columns])

    def _measure(self, columns: tuple[int, ...], loss: Loss) -> Measured:
        return Measured(columns, loss.counts(self._true(columns)), loss.error())

    def _grow(self, features: list[int], measured: dict[tuple[int, ...], Measured], choice: Loss,
              each: Loss) -> dict[tuple[int, int], bool]:
        """Choose edges until all columns are connected (Kruskal's algorithm with noisy scores)."""
        options = self._scores(features, measured, each.error())
        group = {k: k for k in features}
        chosen: dict[tuple[int, int], bool] = {}
        while len(chosen) < len(features) - 1:
            open_now = [key for key in options if group[key[0]] != group[key[1]]]
            pick = open_now[choice.choose([options[key] for key in open_now], REACH)]
            chosen[pick[:2]] = bool(pick[2])
            old, new = group[pick[0]], group[pick[1]]
            group = {k: new if one == old else one for k, one in group.items()}
        return chosen

    def _scores(self, features: list[int], measured: dict[tuple[int, ...], Measured],
                error: float) -> dict[tuple[int, int, int], float]:
        """Score every pair of columns, alone and with the target: worst explained, less noise."""
        noise = math.sqrt(2 / math.pi) * error
        found: dict[tuple[int, int, int], float] = {}
        for a in features:
            for b in features:
                if a >= b:
                    continue
                given = self._given(a, b, measured)
                pair = given.sum(axis=2)
                found[a, b, 0] = float(np.abs(self._true((a, b)) - pair).sum()) - noise * pair.size
                if self._target is not None and given.size <= MOST_CELLS:
                    true = self._true((a, b, self._target))
                    found[a, b, 1] = float(np.abs(true - given).sum()) - noise * given.size
        return found

    def _given(self, a: int, b: int, measured: dict[tuple[int, ...], Measured]) -> Floats:
        """Return what independence given the target expects, from what was measured."""
        rows = self._codes[0].size
        if self._target is None:
            left, right = (_shares(measured[k,].counts) for k in (a, b))
            return np.asarray(np.outer(left, right)[:, :, None] * rows)
        target = _shares(measured[self._target,].counts)
        left = _columns(measured[a, self._target].counts)
        right = _columns(measured[b, self._target].counts)
        return np.asarray(np.einsum("t,it,jt->ijt", target, left, right) * rows)


def _shares(counts: Floats) -> Floats:
    kept = np.maximum(counts, 0.0) + 1e-9
    return np.asarray(kept / kept.sum())


def _columns(counts: Floats) -> Floats:
    kept = np.maximum(counts, 0.0) + 1e-9
    return np.asarray(kept / kept.sum(axis=0, keepdims=True))


def _rooted(root: int, edges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the edges as (parent, child), every parent before its children."""
    reached, ordered, left = {root}, [], list(edges)
    while left:
        at = next(edge for edge in left if edge[0] in reached or edge[1] in reached)
        left.remove(at)
        parent, child = at if at[0] in reached else (at[1], at[0])
        reached.add(child)
        ordered.append((parent, child))
    return tuple(ordered)
