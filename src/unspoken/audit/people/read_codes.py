"""Codes of tables that other tools made, read by whoever has data of similar people.

Numbers are lined up with the values of similar people, rising or falling. Which of both it is shows
in how often codes occur, and in how columns go together: a column whose codes fall correlates with
all others the wrong way round. Labels are matched by frequency and then by what they occur together
with, column by column (`CategoryPairs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.people.comparable import Labels, Numbers, People, Values
from unspoken.methods.encoding.adversaries.category_pairs import CategoryPairs, likely
from unspoken.methods.encoding.adversaries.release_adversary import Labelled, Rows
from unspoken.methods.encoding.audit.similar_records import BINS, bins
from unspoken.numerics.monotone_likelihood import Places, align
from unspoken.numerics.value_grid import grid_of

MOST_VALUES = 1024
"""With more distinct codes ranks alone say nearly all."""
SAMPLED = 20_000
"""Records whose ranks are compared."""
RISING, AS_THEY_ARE = 2.0, 20.0
"""How much likelier, as a logarithm, it is that codes rise, and that plain values are meant."""
STRONG = 5.0
"""Agreement, as a logarithm, from which on two columns decide about each other's direction."""
REPEATED = 4
"""Records of a code from which on its frequency says more than its rank."""


def by_rank(codes: Floats, similar: Floats) -> Floats:
    """Return for every code the value of the same rank among similar people."""
    out = np.full(codes.size, np.nan)
    held = np.isfinite(codes)
    known = np.sort(similar[np.isfinite(similar)])
    if not held.any() or not known.size:
        return out
    _, where, counts = np.unique(codes[held], return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    place = np.minimum((middle * known.size).astype(np.int64), known.size - 1)
    out[held] = known[place][where.reshape(-1)]
    return out


def lined_up(codes: Floats, similar: Floats) -> Floats:
    """Return the value of every code by maximum likelihood, where values lie on a grid."""
    held, known = np.isfinite(codes), similar[np.isfinite(similar)]
    distinct, where, counts = np.unique(codes[held], return_inverse=True, return_counts=True)
    few = 1 < distinct.size <= min(MOST_VALUES, codes.size // REPEATED) and known.size > 0
    grid = grid_of(known, distinct.size) if few else None
    if grid is None or grid.values.size < distinct.size:
        return by_rank(codes, similar)
    places = Places.of([grid])
    out = np.full(codes.size, np.nan)
    out[held] = places.values[0][align(counts, places)[0]][where.reshape(-1)]
    return out


def falling(codes: Mapping[str, Floats], plain: Mapping[str, Floats],
            similar: Mapping[str, Floats]) -> set[str]:
    """Return the columns whose codes fall as values rise, as far as similar people show it.

    The signs are chosen under which frequencies and rank correlations agree best.
    """
    names = [*codes, *plain]
    shown = {**codes, **plain}
    size = min(len(next(iter(shown.values()))), len(similar[names[0]]))
    agreement = _ranks([shown[n] for n in names]) * _ranks([similar[n] for n in names])
    np.fill_diagonal(agreement, 0.0)
    alone = np.array([RISING + size * _profile(codes[n], similar[n]) for n in codes]
                     + [AS_THEY_ARE] * len(plain))
    best = max((_climbed(start, size * agreement, alone) for start in
                (np.ones(len(names)), np.where(alone < 0, -1.0, 1.0))), key=lambda one: one[1])[0]
    return {name for name, sign in zip(names, best, strict=True) if sign < 0}


def _ranks(columns: Sequence[Floats]) -> Floats:
    """Return the rank correlations of columns; a missing value has the middle rank."""
    step = max(1, len(columns[0]) // SAMPLED)
    if len(columns[0]) < 2:
        return np.zeros((len(columns), len(columns)))
    ranked = [_middle_ranks(np.asarray(one[::step], np.float64)) for one in columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.atleast_2d(np.corrcoef(np.array(ranked))))


def _middle_ranks(values: Floats) -> Floats:
    _, where, counts = np.unique(np.nan_to_num(values, nan=float(np.nanmedian(values))
                                               if np.isfinite(values).any() else 0.0),
                                 return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2)[where.reshape(-1)])


def _profile(codes: Floats, similar: Floats) -> float:
    """Return how much better the frequencies of rising codes fit than those of falling ones."""
    known = np.sort(similar[np.isfinite(similar)])
    off = []
    for sign in (1.0, -1.0):
        read = np.sort(by_rank(sign * codes, similar))
        read = read[np.isfinite(read)]
        at = np.unique(known)
        off.append(float(np.mean((np.searchsorted(read, at, side="right") / max(read.size, 1)
                                  - np.searchsorted(known, at, side="right")
                                  / max(known.size, 1)) ** 2)))
    return off[1] - off[0]


def _climbed(signs: Floats, pairs: Floats, alone: Floats) -> tuple[Floats, float]:
    """Return the signs after flipping one after the other as long as that fits better."""
    signs = signs.copy()
    for _ in range(4 * signs.size):
        gain = -2 * signs * (pairs @ signs + alone)
        at = int(np.argmax(gain))
        if gain[at] <= 1e-9:
            break
        signs[at] = -signs[at]
    for some in _groups(np.abs(pairs) > STRONG):
        if alone[some] @ signs[some] < 0:
            signs[some] = -signs[some]
    return signs, float(signs @ pairs @ signs / 2 + alone @ signs)


def _groups(tied: Bools) -> list[Ints]:
    """Return the columns that hang together: all of a group can be turned at once."""
    from scipy.sparse.csgraph import connected_components

    count, owner = connected_components(tied, directed=False)
    return [np.flatnonzero(owner == group) for group in range(count)]


def match_labels(released: Mapping[str, Values], similar: People,
                 coded: Sequence[str]) -> dict[str, tuple[Ints, Bools]]:
    """Return for every relabelled column the category of each label, and those it may stand for.

    The second part is (categories of the similar people, released labels).
    """
    names = [n for n, c in released.items() if isinstance(c, Labels) or c.plain]
    seen = Labelled(tuple(names), *_shown([released[n] for n in names]))
    known, held = _known([similar.columns[n] for n in names],
                         [n in coded for n in names], seen)
    places = tuple(i for i, n in enumerate(names) if n in coded)
    matched = CategoryPairs().match(seen, known, places)
    out = {}
    for place, fits in likely(seen, known, places, matched).items():
        column = similar.columns[names[place]]
        assert isinstance(column, Labels)
        agree = np.zeros((len(column.names), fits.shape[0]), np.bool_)
        agree[held[place]] = fits.T
        reads = np.append(held[place], -1)[matched[place]]
        agree[reads[reads >= 0], np.flatnonzero(reads >= 0)] = True
        out[names[place]] = (reads, agree)
    return out


def better_reads(released: Labels, reads: Ints, similar: Values, original: Values) -> Ints:
    """Return the categories of labels, as matched or by frequency alone: what reads more rightly.

    What labels stand for shows in the original, whose categories have their exact frequencies.
    """
    often, known, true = _counts(released), _counts(similar), _counts(original)
    truth = _by_frequency(often, true)
    held = np.append(true, np.zeros(known.size, np.int64))

    def right(reading: Ints) -> tuple[int, int]:
        """Return how many records are read as what is as frequent, and as what ranks alike."""
        same = (reading >= 0) & (held[np.maximum(reading, 0)] == often)
        return int(often[same].sum()), int(often[(reading == truth) & (truth >= 0)].sum())

    return max((reads, _by_frequency(often, known)), key=right)


def _counts(column: Values) -> Ints:
    assert isinstance(column, Labels)
    return np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))


def _by_frequency(often: Ints, known: Ints) -> Ints:
    """Return the category of every label: the most frequent is the most frequent, and so on."""
    held = np.argsort(-known, kind="stable")[:int(np.count_nonzero(known))]
    order = np.argsort(-often, kind="stable")[:held.size]
    ranked = np.full(often.size, -1, np.int64)
    ranked[order] = held[:order.size]
    return ranked


def _shown(columns: Sequence[Values]) -> tuple[tuple[Rows, ...], tuple[int, ...], tuple[bool, ...]]:
    rows = tuple(bins(c.low) if isinstance(c, Numbers) else _places(c.codes) for c in columns)
    sizes = tuple(BINS if isinstance(c, Numbers) else len(c.names) for c in columns)
    return rows, sizes, tuple(isinstance(c, Numbers) for c in columns)


def _places(codes: Ints) -> Rows:
    return np.maximum(codes, -1).astype(np.int32)


def _known(columns: Sequence[Values], coded: Sequence[bool],
           seen: Labelled) -> tuple[Labelled, dict[int, Ints]]:
    """Return similar people beside the release; of relabelled columns only what they hold."""
    shown, widths, _ = _shown(columns)
    rows, sizes = list(shown), list(widths)
    held: dict[int, Ints] = {}
    for at, column in enumerate(columns):
        if coded[at] and isinstance(column, Labels):
            held[at], where = np.unique(column.codes[column.codes >= 0], return_inverse=True)
            rows[at] = np.full(column.codes.size, -1, np.int32)
            rows[at][column.codes >= 0] = where.reshape(-1)
            sizes[at] = int(held[at].size)
    return Labelled(seen.names, tuple(rows), tuple(sizes), seen.ordered), held
