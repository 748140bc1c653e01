"""What K leaves over is spent on columns: more blocks, where every class stays large enough.

A tree asks little, and all that it does not ask would be suppressed. Any cut of a column that is
made for all records alike only brings back a candidate that the original had, and lost: the tree is
chosen again. So blocks are cut further, one at a time, where the target gains most within the
classes so far (top-down specialisation, Fung, Wang and Yu 2005), as long as K, L and t hold. Where
records may move inside their leaf (leaf-merge), a stated share of them may stand in classes that
have become too small, and moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.anonymity.masking.mondrian_cuts import Target
from unspoken.methods.anonymity.measures.equivalence_classes import dense
from unspoken.methods.anonymity.method import LEAF_MERGE
from unspoken.methods.anonymity.tree_preserving.cells import classes_of, make_cells
from unspoken.methods.anonymity.tree_preserving.recoding_loop import Candidate, Search
from unspoken.methods.anonymity.tree_preserving.recoding_rules import (
    Recoding,
    name_groups,
    narrowed,
)
from unspoken.methods.anonymity.tree_preserving.threshold_blocks import refined
from unspoken.numerics.splitting import NUMERIC

MOVING = 0.05
"""The share of records that may move so that more columns are kept."""
POSITIONS, WAYS, BLOCKS, LOOKS = 32, 4, 40, 600
LEAST_GAIN, ATTEMPTS = 1e-5, 12


@dataclass(frozen=True)
class Cut:
    """Codes of one block of a column that leave it for a block of their own."""

    column: str
    block: int
    codes: tuple[int, ...]


@dataclass
class _Column:
    """The block of every code, the classes' target sums by code, and how codes are ordered."""

    owner: Ints
    codes: Ints
    sums: Floats
    ordered: bool

    def cuts(self, name: str, target: Target, block: int) -> list[tuple[float, Cut]]:
        """Return the best ways to cut a block, with what the target gains by each."""
        inside = np.flatnonzero(self.owner[:self.known] == block)
        if inside.size < 2 or int(self.owner.max()) + 1 >= BLOCKS:
            return []
        if not self.ordered:
            inside = inside[np.argsort(target.rates(self.sums[inside]), kind="stable")]
        held = self.sums[inside]
        left, whole = np.cumsum(held, axis=0)[:-1], held.sum(axis=0)
        places = _places(target.counts(left))
        gains = target.mixed(whole) - target.mixed(left[places]) - target.mixed(
            whole - left[places])
        best = np.argsort(-gains, kind="stable")[:WAYS]
        return [(float(gains[at]), Cut(name, block, tuple(inside[places[at] + 1:].tolist())))
                for at in best]

    def after(self, cut: Cut) -> Ints:
        """Return the blocks after a cut; a missing number never shares one with values."""
        owner, new = self.owner.copy(), int(self.owner.max()) + 1
        owner[list(cut.codes)] = new
        if self.known < owner.size and self.owner[-1] in self.owner[:-1]:
            owner[-1] = new + 1
        return owner

    @property
    def known(self) -> int:
        """Return the number of values, a missing number left out."""
        return self.owner.size - self.ordered


def _places(below: Floats) -> Ints:
    """Return where a block may be cut: everywhere, or at quantiles where there are many codes."""
    if below.size <= POSITIONS:
        return np.arange(below.size)
    steps = np.linspace(below[0], below[-1], POSITIONS)
    return np.unique(np.searchsorted(below, steps).clip(0, below.size - 1))


class SpareColumns:
    """Cuts the columns of a candidate further, as far as K, L and t allow."""

    def __init__(self, search: Search, candidate: Candidate, target: Target) -> None:
        self.search, self.candidate, self.target = search, candidate, target
        self.asked = [q for tree, step in zip(search.trees, candidate.steps, strict=True)
                      for q in tree.questions(step)]
        self.columns = {name: self._column(name) for name in search.columns
                        if name in search.quasi}
        self.classes = self._classes()
        small = int((~self._fine(self.classes)[self.classes]).sum())
        self.spare = small + int(MOVING * search.rows) if search.rule == LEAF_MERGE else 0

    def _column(self, name: str) -> _Column:
        column = self.search.columns[name]
        numeric = column.kind == NUMERIC
        size = column.size + numeric
        known = self.candidate.recodings.get(name)
        owner = np.zeros(size, np.int64) if known is None else known.owner.astype(np.int64)
        codes = column.codes.astype(np.int64)
        return _Column(owner, codes, _summed(self.target, codes, size), numeric)

    def _classes(self) -> Ints:
        """Return the classes of all records before any cut."""
        parts = [column.owner[column.codes] for column in self.columns.values()]
        owner = dense(np.zeros(self.search.rows, np.int64))
        for part in parts:
            owner = dense(owner * (int(part.max()) + 1) + part)
        for answer in self.search.response:
            owner = dense(owner * (int(answer.max()) + 1) + answer.astype(np.int64))
        return owner

    def run(self) -> Iterator[Candidate]:
        """Yield candidates that keep more, those with most first; each meets the needs."""
        cuts = self._chosen()
        for _ in range(ATTEMPTS):
            if not cuts:
                return
            self.search.culprit = None
            candidate = self._candidate(cuts)
            if candidate is not None:
                yield candidate
            cuts = self._fewer(cuts)

    def _fewer(self, cuts: Sequence[Cut]) -> list[Cut]:
        """Give up the column that let another split in, or the later half of all cuts."""
        rest = [cut for cut in cuts if cut.column != self.search.culprit]
        return rest if len(rest) < len(cuts) else list(cuts[:len(cuts) // 2])

    def _chosen(self) -> list[Cut]:
        """Take the cut that gains most, again and again, until none is allowed."""
        open_ = [(gain, cut) for name, column in self.columns.items()
                 for block in range(int(column.owner.max()) + 1)
                 for gain, cut in column.cuts(name, self.target, block)]
        chosen: list[Cut] = []
        for _ in range(LOOKS):
            open_ = [one for one in open_ if one[0] > LEAST_GAIN * self.search.rows]
            if not open_:
                break
            at = max(range(len(open_)), key=lambda i: open_[i][0])
            _, cut = open_.pop(at)
            gain, after = self._tried(cut)
            if after is None:
                continue
            if open_ and gain < max(one[0] for one in open_):
                open_.append((gain, cut))
                continue
            open_ = [one for one in open_ if (one[1].column, one[1].block) !=
                     (cut.column, cut.block)]
            self._take(cut, after)
            chosen.append(cut)
            column = self.columns[cut.column]
            for block in (cut.block, int(column.owner[cut.codes[0]])):
                open_ += column.cuts(cut.column, self.target, block)
        return chosen

    def _tried(self, cut: Cut) -> tuple[float, Ints | None]:
        """Return what a cut gains within the classes, and the classes; None if too small."""
        column = self.columns[cut.column]
        owner = column.after(cut)
        after = dense(self.classes * (int(owner.max()) + 1) + owner[column.codes])
        fine = self._fine(after)
        if int((~fine[after]).sum()) > self.spare or not self._keeps_sums(cut):
            return 0.0, None
        return self._mixed(self.classes) - self._mixed(after), after

    def _fine(self, owner: Ints) -> Bools:
        if not self.search.needs.sensitive:
            return np.asarray(np.bincount(owner) >= self.search.needs.k)
        return self.search.needs.measure(owner).ok

    def _mixed(self, owner: Ints) -> float:
        return float(self.target.mixed(_summed(self.target, owner)).sum())

    def _take(self, cut: Cut, after: Ints) -> None:
        column = self.columns[cut.column]
        column.owner = column.after(cut)
        self.classes = after

    def _keeps_sums(self, cut: Cut) -> bool:
        """Return True if the blocks after a cut can keep every threshold."""
        pairs = self._pairs(cut.column)
        if not pairs or not self.columns[cut.column].ordered:
            return True
        values = self.search.columns[cut.column].values
        assert values is not None
        owner = _in_order(self.columns[cut.column].after(cut)[:-1])
        return refined(values, pairs, owner) is not None

    def _pairs(self, name: str) -> tuple[tuple[int, int], ...]:
        return self.search.recoder.pairs(name, self.asked)

    def _candidate(self, cuts: Sequence[Cut]) -> Candidate | None:
        """Return the table after some cuts, records moved where they may be."""
        recodings = {}
        for name in self.search.columns:
            mine = [cut for cut in cuts if cut.column == name]
            known = self.candidate.recodings.get(name)
            recoding = self._recoding(name, mine) if mine else known
            if recoding is not None:
                recodings[name] = recoding
        cells = make_cells(self.search.columns, recodings, self.search.rows)
        reached = self.search.needs.measure(classes_of(cells, self.search.quasi,
                                                       self.search.response))
        after = replace(self.candidate, recodings=recodings, cells=cells, reached=reached, moved=0)
        if reached.met:
            return after
        return self.search.merged(after, (True,)) if self.search.rule == LEAF_MERGE else None

    def _recoding(self, name: str, cuts: Sequence[Cut]) -> Recoding:
        column, mine = self.search.columns[name], self._column(name)
        for cut in cuts:
            mine.owner = mine.after(cut)
        owner = mine.owner
        if not mine.ordered:
            members: list[tuple[str | None, ...]] = [() for _ in range(int(owner.max()) + 1)]
            for label, group in zip(column.labels, owner.tolist(), strict=True):
                members[group] += (label,)
            return Recoding(narrowed(owner), len(members), groups=name_groups(name, members))
        assert column.values is not None
        known = _in_order(owner[:-1])
        shown = refined(column.values, self._pairs(name), known)
        assert shown is not None
        missing = int((column.codes == column.size).any())
        return Recoding(narrowed(np.append(known, shown.size)), shown.size + missing, shown)


def _summed(target: Target, owner: Ints, size: int = 0) -> Floats:
    """Return the target's sums of every class."""
    return np.stack([np.bincount(owner, part, size).astype(np.float64)
                     for part in target.columns.T], axis=1)


def _in_order(owner: Ints) -> Ints:
    """Number runs of equal blocks from 0."""
    return np.asarray(np.cumsum(np.diff(owner, prepend=owner[:1]) != 0))
