"""Label runs, monochromatic values and pieces (bu2007 sections 4, 5.1 and 5.2).

An attribute is given as its distinct values in increasing order and a matrix of counts, one row per
value and one column per class. A piece is a run of consecutive distinct values; numeric gaps do not
break it. Definition 9 as printed lost its "not": a value is monochromatic if NO two records with it
differ in label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints


@dataclass(frozen=True)
class Pieces:
    """Where pieces start (positions among the distinct values) and which are monochromatic."""

    starts: Ints
    mono: Bools
    size: int

    @property
    def lengths(self) -> Ints:
        """Return the number of distinct values of each piece."""
        return np.asarray(np.diff(self.starts, append=self.size))

    def owner(self) -> Ints:
        """Return for every distinct value the piece it lies in."""
        return np.repeat(np.arange(self.starts.size), self.lengths)


def colours(counts: npt.NDArray[np.integer]) -> Ints:
    """Return the one class of each monochromatic value, and -1 for the mixed values."""
    present = counts > 0
    return np.where(present.sum(axis=1) == 1, present.argmax(axis=1), -1).astype(np.int64)


def label_runs(counts: npt.NDArray[np.integer]) -> Pieces:
    """Return the maximal runs of values that share a colour; mixed values join mixed runs."""
    colour = colours(counts)
    if colour.size == 0:
        return Pieces(np.zeros(0, np.int64), np.zeros(0, np.bool_), 0)
    starts = np.flatnonzero(np.r_[True, colour[1:] != colour[:-1]])
    return Pieces(starts, colour[starts] >= 0, colour.size)


def monochromatic_runs(counts: npt.NDArray[np.integer], min_width: int = 1) -> Pieces:
    """Return the pieces of ChooseMaxMP before extra breakpoints are drawn (bu2007 Figure 6).

    Monochromatic runs of fewer than `min_width` distinct values join the mixed piece beside
    them (section 5.2: "may impose a minimum width threshold").
    """
    runs = label_runs(counts)
    mono = runs.mono & (runs.lengths >= min_width)
    if mono.size == 0:
        return runs
    keep = np.r_[True, mono[1:] | mono[:-1]]
    return Pieces(runs.starts[keep], mono[keep], runs.size)


def random_pieces(size: int, wanted: int, rng: np.random.Generator) -> Ints:
    """Return the starts of `wanted` pieces at random values: ChooseBP (bu2007 Figure 5)."""
    extra = min(wanted - 1, size - 1)
    if size == 0:
        return np.zeros(0, np.int64)
    drawn = np.sort(rng.choice(size - 1, extra, replace=False) + 1)
    return np.asarray(np.r_[0, drawn], np.int64)


def choose_bp(
    counts: npt.NDArray[np.integer] | None, size: int, wanted: int, rng: np.random.Generator
) -> Pieces:
    """Cut the values into `wanted` pieces at random values (bu2007 section 5.1)."""
    starts = random_pieces(size, wanted, rng)
    return Pieces(starts, _one_colour(counts, starts), size)


def choose_max_mp(
    counts: npt.NDArray[np.integer], wanted: int, min_width: int, rng: np.random.Generator
) -> Pieces:
    """Cut at every monochromatic piece, then at random mixed values (bu2007 section 5.2)."""
    return cut_mixed(monochromatic_runs(counts, min_width), wanted, rng)


def cut_mixed(runs: Pieces, wanted: int, rng: np.random.Generator) -> Pieces:
    """Cut monochromatic runs at random mixed values until there are `wanted` pieces."""
    missing = wanted - runs.starts.size
    mixed = np.repeat(~runs.mono, runs.lengths)
    mixed[runs.starts] = False
    free = np.flatnonzero(mixed)
    if missing <= 0 or free.size == 0:
        return runs
    extra = rng.choice(free, min(missing, free.size), replace=False)
    starts = np.sort(np.r_[runs.starts, extra])
    mono = np.isin(starts, runs.starts[runs.mono])
    return Pieces(starts, mono, runs.size)


def _one_colour(counts: npt.NDArray[np.integer] | None, starts: Ints) -> Bools:
    if counts is None or starts.size == 0:
        return np.zeros(starts.size, np.bool_)
    colour = colours(counts)
    low = np.minimum.reduceat(colour, starts)
    high = np.maximum.reduceat(colour, starts)
    return np.asarray((low == high) & (low >= 0))


@dataclass(frozen=True)
class AttributeFacts:
    """The statistics of one attribute as in bu2007 Figure 8."""

    width: float
    distinct: int
    discontinuities: int | None
    pieces: int
    average_length: float
    mono_values: int

    @property
    def mono_share(self) -> float:
        """Return the share of distinct values inside monochromatic pieces."""
        return self.mono_values / self.distinct if self.distinct else 0.0


def attribute_facts(
    values: npt.NDArray[np.float64], counts: npt.NDArray[np.integer], min_width: int = 2
) -> AttributeFacts:
    """Return the statistics of bu2007 Figure 8 for one attribute.

    Range width is max - min + 1 and discontinuities are counted for whole numbers only; for
    other attributes the width is max - min and the number of discontinuities is None.
    """
    if values.size == 0:
        return AttributeFacts(0.0, 0, None, 0, 0.0, 0)
    runs = monochromatic_runs(counts, min_width)
    lengths = runs.lengths[runs.mono]
    whole = bool(np.all(values == np.rint(values)))
    width = float(values[-1] - values[0]) + (1.0 if whole else 0.0)
    gaps = int(width) - values.size if whole else None
    average = float(lengths.mean()) if lengths.size else 0.0
    return AttributeFacts(width, values.size, gaps, lengths.size, average, int(lengths.sum()))
