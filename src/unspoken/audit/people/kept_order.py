"""Does the order of the original show in a table of another tool? Then a place names a person.

Two tables in one order agree along a path through all pairs of a record and a person: a diagonal,
or pieces of diagonals where rows were put in front, parts exchanged or some left out. How much a
pair agrees is counted beyond its neighbours along the original, so that two tables sorted alike,
which put similar people side by side, are no kept order. A diagonal counts where its sum is beyond
that of all others; a path that may skip rows (the alignment of Smith and Waterman 1981) where it
is beyond that of records shuffled among their neighbours. Noise on the values hides no order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import Numbers, Values
from unspoken.audit.people.read_columns import Reading

FEWEST = 15
BLOCK = 400
"""Records that stand one after the other and are compared with people."""
CELLS = 40_000_000
SIGMAS = 3.0
"""Standard errors beyond the largest of as many diagonals by chance."""
SHORTEST = 15
STEPS = (1, 2, 3)
BESIDE = 8
LAGS, FOLLOWS = 40, 4.0
"""Rows apart at which a column is compared with itself, and from how many standard errors on it
follows them."""
ALONE = 2.0
SHUFFLES = 12
NEIGHBOURS = 16
"""Records that are shuffled among each other."""
SKIPPING = 6.0
"""Standard errors by which the best path must be beyond those of shuffled records."""
EXPECTED, SKIP = 0.5, 1.5
"""What a pair must agree in to lengthen a path, and what a row left out costs, in standard errors.
"""
WIDEST = 1200
"""People among whom a path that skips rows is looked for."""
MOST = 3.0
"""The most that one column of one pair counts, in standard deviations."""

Grid = npt.NDArray[np.float32]


def kept_order(reading: Reading, rng: np.random.Generator) -> tuple[str, ...]:
    """Return that the order of rows was kept, as a fault, where it was."""
    if min(reading.original.rows, reading.release.rows) < FEWEST:
        return ()
    free = [name for name in reading.names if not _follows_rows(reading, name)]
    for start in _starts(reading):
        rows = np.arange(start, min(start + BLOCK, reading.release.rows))
        grid = _agreement(reading, rows, free or reading.names)
        for words, turned in (("the order", grid), ("the reverse order", grid[::-1])):
            sharp = _beyond_neighbours(turned)
            near = _near_place(sharp, reading, rows, turned is grid)
            if any(_diagonal(part, not free) for part in _thinned(sharp)) or (
                    free and _path(near, rng)):
                return (f"the records stand close to {words} of the original: a person's place "
                        "tells which record it is",)
    return ()


def _follows_rows(reading: Reading, name: str) -> bool:
    """Return True if a column follows the rows of the original: sorted, by the day, in groups.

    Two tables agree in it at the same place whoever stands there.
    """
    values = _standard(reading.original.take(np.arange(min(reading.original.rows, WIDEST))
                                             ).columns[name])
    rows = values.shape[0]
    alike = [abs(float((values[lag:] * values[:-lag]).sum())) / np.sqrt(rows - lag)
             for lag in range(1, min(LAGS, rows // 2) + 1)]
    return bool(alike[0] > FOLLOWS - 1 or max(alike) > FOLLOWS)


def _standard(column: Values) -> Floats:
    """Return rows whose products, of two at random, have mean 0 and standard deviation 1."""
    if isinstance(column, Numbers):
        return _scores(column.middle)[:, None]
    _, codes = np.unique(column.codes, return_inverse=True)
    each = np.eye(int(codes.max()) + 1)[codes]
    share = each.mean(axis=0)
    return np.asarray((each - share) / np.sqrt(share) / max(share.size - 1, 1) ** 0.25)


def _starts(reading: Reading) -> list[int]:
    """Return where blocks of records begin: at the top, in the middle and at the bottom."""
    last = max(reading.release.rows - BLOCK, 0)
    return sorted({0, last // 2, last})


def _agreement(reading: Reading, rows: Ints, names: Sequence[str]) -> Grid:
    """Return (records, people): how much both agree, each column in its standard deviations."""
    people = reading.original
    keep = max(FEWEST, min(people.rows, CELLS // rows.size))
    total = np.zeros((rows.size, keep), np.float32)
    for name in names:
        total += _alike(reading, name, rows)[:, :keep]
    return total


def _alike(reading: Reading, name: str, rows: Ints) -> Grid:
    here, there = reading.original.columns[name], reading.release.columns[name]
    if isinstance(here, Numbers) and isinstance(there, Numbers):
        both = np.outer(_scores(there.middle)[rows], _scores(here.middle)).astype(np.float32)
    else:
        away = reading.scales[name].apart(here, slice(None), there.take(rows)).T
        both = (1.0 - away) - (1.0 - away).mean(axis=1, keepdims=True)
    both = both - both.mean(axis=0, keepdims=True)
    spread = float(both.std())
    return np.clip(both / spread, -MOST, MOST) if spread > 0 else np.zeros_like(both)


def _scores(values: Floats) -> Floats:
    """Return numbers as the normal distribution would have them at their ranks; missing as 0."""
    known = np.flatnonzero(np.isfinite(values))
    out = np.zeros(values.size)
    ordered = np.sort(values[known])
    middle = (np.searchsorted(ordered, values[known], side="left")
              + np.searchsorted(ordered, values[known], side="right")) / 2
    grid = np.array([NormalDist().inv_cdf(p) for p in np.linspace(0.002, 0.998, 499)])
    out[known] = np.interp((middle + 0.0) / max(known.size, 1), np.linspace(0.002, 0.998, 499),
                           grid)
    return out


def _beyond_neighbours(grid: Grid) -> Grid:
    """Return how much pairs agree beyond the people who stand beside them in the original."""
    reach = min(BESIDE, (grid.shape[1] - 1) // 2)
    padded = np.pad(grid, ((0, 0), (reach, reach)), mode="reflect")
    sums = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), axis=1, dtype=np.float64)
    around = (sums[:, 2 * reach + 1:] - sums[:, :-2 * reach - 1]) - grid
    return np.asarray(grid - around / (2 * reach), np.float32)


def _thinned(sharp: Grid) -> Iterator[Grid]:
    """Yield all pairs, and those of every second or third record or person."""
    for step in STEPS:
        for start in range(step):
            for part in (sharp[start::step], sharp[:, start::step])[:step]:
                if min(part.shape) >= FEWEST:
                    yield part


def _diagonal(sharp: Grid, alone: bool = False) -> bool:
    """Return True if one diagonal agrees far beyond chance; `alone`: also beyond the next one."""
    sums, sizes = _diagonals(sharp)
    long = sizes >= min(SHORTEST, *sharp.shape)
    score = sums[long] / np.sqrt(sizes[long])
    usual = 1.4826 * float(np.median(np.abs(score - np.median(score))))
    score = (score - np.median(score)) / max(usual, float(sharp.std()), 1e-9)
    second, first = np.sort(score)[-2:]
    return bool(first > SIGMAS + np.sqrt(2 * np.log(score.size))
                and (not alone or first > ALONE * second))


def _diagonals(sharp: Grid) -> tuple[Floats, Ints]:
    """Return the sum and the length of every diagonal."""
    rows, people = sharp.shape
    sums = np.zeros(rows + people - 1)
    sizes = np.zeros(rows + people - 1, np.int64)
    for row in range(rows):
        at = slice(rows - 1 - row, rows - 1 - row + people)
        sums[at] += sharp[row]
        sizes[at] += 1
    return sums, sizes


def _near_place(sharp: Grid, reading: Reading, rows: Ints, forward: bool) -> Grid:
    """Return the people about as far down as the records, where there are many."""
    people = sharp.shape[1]
    if people <= WIDEST:
        return sharp
    share = (rows.mean() + 0.5) / reading.release.rows
    middle = int((share if forward else 1 - share) * reading.original.rows)
    start = min(max(middle - WIDEST // 2, 0), people - WIDEST)
    return sharp[:, start:start + WIDEST]


def _path(sharp: Grid, rng: np.random.Generator) -> bool:
    """Return True if records in order agree with people in order, some of either left out."""
    gain = sharp / max(float(sharp.std()), 1e-9) - EXPECTED
    best = _best_path(gain)
    usual = [_best_path(gain[_shuffled(gain.shape[0], rng)]) for _ in range(SHUFFLES)]
    error = max(float(np.std(usual)), 0.05 * float(np.mean(usual)), 1e-9)
    return bool((best - np.mean(usual)) / error > SKIPPING and best > max(usual))


def _shuffled(rows: int, rng: np.random.Generator) -> Ints:
    """Return records in an order in which each stays among its neighbours."""
    blocks = np.arange(rows) // NEIGHBOURS
    return np.lexsort((rng.random(rows), blocks))


def _best_path(gain: Grid) -> float:
    """Return the largest sum along a path on which records and people rise together."""
    steps = SKIP * np.arange(gain.shape[1] + 1)
    best, largest = np.zeros(gain.shape[1] + 1), 0.0
    for row in gain:
        ahead = np.maximum(best - SKIP, 0.0)
        ahead[1:] = np.maximum(ahead[1:], best[:-1] + row)
        # Whoever of the original was left out costs a step, too.
        best = np.maximum.accumulate(ahead + steps) - steps
        largest = max(largest, float(best.max()))
    return largest
