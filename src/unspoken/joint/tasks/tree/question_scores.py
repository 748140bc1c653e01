"""How good a question is, and which is best: in the clear for `central`, and on shares.

ID3 takes the attribute with the least conditional entropy. With F(x) = x ln x, the number

    S(A) = sum over values and classes F(n_vc) - sum over values F(n_v)

is -|T| H(C|A), so the greatest S wins, and S of "no question" (all rows in one branch) is
-|T| H(C): a question whose gain is not above zero loses to it. "No question" is therefore the
first candidate, and pure, empty and exhausted nodes need no test of their own.

F on shares is off by at most e x, e = 3.5e-8, so S by 2 e |T|. Candidate j is set back by
5 j e |T|, here and in the clear: among equals the first wins for certain, and only questions whose
gains then differ by less than 4e may fall differently (textbook ID3: less than 6 J e, 3e-6 nats
for 14 questions).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints, Words
from unspoken.joint.mpc import rehearsal
from unspoken.joint.mpc.ops.logarithm import LOG_ERROR, plain_x_log_x, x_log_x
from unspoken.joint.mpc.ops.whole_log import serves
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.tasks.tree.first_greatest import first_greatest
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams

SCALE = 30
# Per candidate and record, in units of 2^-30.
SETBACK = math.ceil(5 * LOG_ERROR * (1 << SCALE))


def branches(layout: TreeLayout, histograms: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return counts (nodes, branches, classes) of every question's branches, the node's last.

    Works on counts and on shares of counts alike: it only adds, modulo 2^64.
    """
    parts = []
    total = histograms[:, :layout.attributes[0].cells].sum(axis=1, keepdims=True,
                                                           dtype=histograms.dtype)
    for start, attribute in zip(layout.starts.tolist(), layout.attributes, strict=True):
        cells = histograms[:, start:start + attribute.cells]
        if attribute.cuts:
            left = np.cumsum(cells, axis=1, dtype=histograms.dtype)[:, :-1]
            pairs = np.stack([left, total - left], axis=2)
            parts.append(pairs.reshape(pairs.shape[0], -1, pairs.shape[3]))
        elif attribute.cells > 1:
            parts.append(cells)
    return np.concatenate([*parts, total], axis=1)


def joined(first: Ints, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values of branches added up for "no question" and for every question."""
    if first.size < 2:
        return values[:, -1:]
    sums = np.add.reduceat(values[:, :-1], first[:-1], axis=1)
    return np.concatenate([values[:, -1:], sums], axis=1)


def plain_best(layout: TreeLayout, histograms: Ints, least: int,
               allowed: Bools | None = None) -> tuple[Ints, Ints]:
    """Return the best candidate of each node (0: none) and the counts of branches.

    `allowed` (nodes, questions) says which questions count at a node; all if it is left out.
    """
    counts = branches(layout, histograms)
    sizes = counts.sum(axis=2)
    worth = plain_x_log_x(counts.astype(np.float64)).sum(axis=2) - plain_x_log_x(
        sizes.astype(np.float64))
    scores = joined(layout.first_branch, worth)
    setback = SETBACK / (1 << SCALE) * np.arange(scores.shape[1])
    scores = scores - sizes[:, -1:] * setback
    if allowed is not None:
        scores[:, 1:][~allowed] = -np.inf
    best = scores.argmax(axis=1)
    return np.where(sizes[:, -1] < least, 0, best), counts.astype(np.int64)


async def best(party: Party, layout: TreeLayout, histograms: Shared, least: int,
               allowed: Bools | None = None, *, asked: bool = False) -> tuple[Shared, Shared]:
    """Return the same on shares: the best candidate of each node, and the counts of branches.

    `asked`: a dealer knows already what this takes, by `ask_ahead`.
    """
    counts = branch_counts(layout, histograms)
    first = layout.first_branch
    return await best_of(party, first, counts, least, allowed, asked=asked), counts


def branch_counts(layout: TreeLayout, histograms: Shared) -> Shared:
    """Return the counts of branches, given the shared counts of cells."""
    return histograms.with_share(branches(layout, histograms.share).astype(np.uint64))


async def ask_ahead(party: Party, layout: TreeLayout, nodes: int, rules: TreeParams,
                    allowed: Bools) -> None:
    """Ask a dealer for what the next step but one will take, before the counts are shared."""
    shape = nodes, int(layout.first_branch[-1]) + 1, len(layout.classes)
    counts = Shared(party, np.zeros(shape, np.uint64), 0, rules.most)
    await _ask_for_best(party, layout.first_branch, counts, rules.min_records, allowed, after=1)


async def _ask_for_best(party: Party, first: Ints, counts: Shared, least: int,
                        allowed: Bools | None, after: int = 0) -> None:
    if serves(party, counts):
        await rehearsal.ask_ahead(party, lambda alone: best_of(
            alone, first, rehearsal.blank(alone, counts), least, allowed, asked=True), after)


async def best_of(party: Party, first: Ints, counts: Shared, least: int,
                  allowed: Bools | None = None, *, asked: bool = False) -> Shared:
    """Return the best candidate, given counts of branches, of which question j has first[j] on."""
    if not asked:
        await _ask_for_best(party, first, counts, least, allowed)
    scores, size = await scored(party, first, counts, allowed)
    return await first_greatest(party, scores, size, least)


async def scored(party: Party, first: Ints, counts: Shared,
                 allowed: Bools | None = None) -> tuple[Shared, Shared]:
    """Return the scores of all candidates (nodes, candidates), and the sizes of nodes."""
    sizes = counts.sum(axis=2).within(counts.low, counts.high)
    full = concatenate([counts, sizes.reshape(*sizes.shape, 1)], 2)
    needed = needed_branches(first, counts.shape[:2], allowed)
    logs = await x_log_x(party, full[needed])
    worth = np.zeros_like(logs.share, shape=counts.shape[:2])
    worth[needed] = logs.share[:, :-1].sum(axis=1, dtype=np.uint64) - logs.share[:, -1]
    scores = _set_back(logs, joined(first, worth).astype(np.uint64), sizes[:, -1],
                       counts.shape[2])
    if allowed is not None:
        scores = only(party, scores, allowed)
    return scores, sizes[:, -1]


def needed_branches(first: Ints, shape: tuple[int, ...], allowed: Bools | None) -> Bools:
    """Return which branches must be looked at: those of questions that count, and the node's."""
    needed = np.ones(shape, np.bool_)
    if allowed is not None:
        needed[:, :-1] = np.repeat(allowed, np.diff(first), axis=1)
    return needed


def _set_back(like: Shared, scores: Words, size: Shared, classes: int) -> Shared:
    """Return scores less what puts the first of equals before the others."""
    penalty = np.arange(scores.shape[1], dtype=np.uint64) * np.uint64(SETBACK)
    share = scores - size.share[:, None] * penalty
    # -|T| ln C <= S <= 0, then the setback; errors stay below 2 e |T|, 76 units a record.
    deepest = math.ceil(size.high * (math.log(classes) * (1 << SCALE) + 100))
    low = -deepest - size.high * SETBACK * scores.shape[1]
    return replace(like, share=share, low=low, high=size.high * 100, scale=SCALE)


def only(party: Party, scores: Shared, allowed: Bools) -> Shared:
    """Put questions that do not count below all others; which they are is public."""
    out = np.zeros(scores.shape, np.int64)
    out[:, 1:][~allowed] = scores.low - scores.high - 1
    lowered = scores + public(party, out, scores.scale)
    return replace(lowered, high=scores.high)


def while_open(scores: Shared, alive: Shared) -> Shared:
    """Put all questions below "no question" where a node is closed (a shared 0); nobody sees it."""
    span = scores.high - scores.low + 1
    share = scores.share.copy()
    share[:, 1:] += ((alive - 1) * span).share[:, None]
    return replace(scores, share=share, low=scores.low - span)


def plain_classes(counts: Ints, parents: Ints) -> Ints:
    """Return the class of leaves: the most frequent; ties as in the parent, then the first."""
    return np.asarray((counts * (parents.max(initial=0) + 1) + parents).argmax(axis=1))


async def classes(party: Party, counts: Shared, parents: Shared) -> Shared:
    """Return the same on shares; a leaf without records gets its parent's class."""
    values = counts * (parents.high + 1) + parents
    await rehearsal.ask_ahead(party, lambda alone: first_greatest(
        alone, rehearsal.blank(alone, values)))
    return await first_greatest(party, values)
