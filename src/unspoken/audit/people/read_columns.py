"""A released table as an adversary reads it, in the terms of the original.

A column whose released values lie as the original's do is read as it is; intervals and joined
labels stand for what they name. Where values lie elsewhere (codes), a number is read as the value
of the same rank among similar people, and a label as the category of the same place by frequency.
Similar people are the control group, or without one the original itself: then the adversary knows
the distribution exactly, and what it gets is an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.people.comparable import (
    Labels,
    Numbers,
    People,
    Scale,
    Values,
    agreeing,
    people_of,
    standing_for,
    values_of,
)
from unspoken.audit.people.match_columns import match_columns
from unspoken.errors import SchemaError
from unspoken.table.table import Table

AS_IS, INTERVALS, RANK, FREQUENCY = "as it is", "as intervals or groups", "by rank", "by frequency"
FAR = 0.25
"""Largest difference of two distributions at which values still mean the same."""
MOST_PAIRS = 4_000_000
"""Pairs of original and released labels up to which groups of labels are told apart."""


@dataclass(frozen=True)
class Reading:
    """Original, release and control in the same terms, and how far apart values are."""

    original: People
    release: People
    control: People | None
    scales: Mapping[str, Scale]
    how: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns that all of them have."""
        return tuple(self.scales)


def read_tables(original: Table, release: Table, control: Table | None) -> Reading:
    """Read a release beside the original; columns are matched by name, then by content."""
    wanted = [c.name for c in original.schema.columns
              if c.kind != "basket" and (control is None or c.name in control.schema.names)]
    matched = match_columns(original, release, wanted)
    if not matched:
        raise SchemaError("No released column could be matched with one of the original, neither "
                          f"by name nor by content. The release has "
                          f"{', '.join(release.schema.names[:10])}; rename them like the "
                          "original's.")
    here = people_of(original, list(matched))
    if control is None:
        return _read(here, release, None, here, matched)
    outside = _like(control, here)
    half = np.arange(outside.rows)
    reading = _read(here, release, outside, outside.take(half[::2]), matched)
    if not any(way.startswith((RANK, FREQUENCY)) for way in reading.how.values()):
        return reading
    # Codes were read with the values of one half, so only the other half are still outsiders.
    return replace(reading, control=outside.take(half[1::2]))


def _like(table: Table, here: People) -> People:
    """Return another table of people with the kinds and the labels of the original."""
    rows = table.arrow(list(here.columns))
    return People({n: _same_terms(values_of(rows[n], isinstance(c, Numbers)), c)
                   for n, c in here.columns.items()}, rows.num_rows)


def _same_terms(found: Values, mine: Values) -> Values:
    """Number the labels of another table like the original's, new ones after them."""
    if isinstance(found, Numbers) or isinstance(mine, Numbers):
        return found
    place = {name: i for i, name in enumerate(mine.names)}
    extra = [name for name in found.names if name not in place]
    place |= {name: len(mine.names) + i for i, name in enumerate(extra)}
    codes = np.array([place[name] for name in found.names] + [-1], np.int64)[found.codes]
    return Labels(codes, (*mine.names, *extra))


def _read(here: People, release: Table, outside: People | None, similar: People,
          matched: Mapping[str, tuple[str, str]]) -> Reading:
    rows = release.arrow([there for there, _ in matched.values()])
    columns: dict[str, Values] = {}
    scales, how = {}, {}
    for name, (there, found_by) in matched.items():
        mine = here.columns[name]
        read, scale, way = _column(values_of(rows[there], isinstance(mine, Numbers)), mine,
                                   similar.columns[name])
        columns[name], scales[name] = read, scale
        how[name] = way if found_by == "name" else f"{way}, matched by {found_by} ({there})"
    released = People(columns, rows.num_rows)
    return Reading(here, released, outside, scales, how)


def _column(found: Values, mine: Values, similar: Values) -> tuple[Values, Scale, str]:
    if isinstance(found, Numbers) and isinstance(mine, Numbers) and isinstance(similar, Numbers):
        return _number_column(found, mine, similar)
    assert isinstance(found, Labels)
    assert isinstance(mine, Labels)
    assert isinstance(similar, Labels)
    return _label_column(found, mine, similar)


def _number_column(found: Numbers, mine: Numbers,
                   similar: Numbers) -> tuple[Values, Scale, str]:
    if not found.plain:
        return found, Scale(_width(mine.middle, found.middle)), INTERVALS
    if _difference(found.low, similar.middle) > FAR:
        read = by_rank(found.low, similar.middle)
        return Numbers(read, read), Scale(_width(mine.middle, read)), RANK
    return found, Scale(_width(mine.middle, found.low)), AS_IS


def _width(one: Floats, other: Floats) -> float:
    both = np.concatenate([one, other])
    both = both[np.isfinite(both)]
    return float(np.ptp(both)) or 1.0 if both.size else 1.0


def _difference(one: Floats, other: Floats) -> float:
    """Return the largest difference of two distribution functions."""
    one, other = np.sort(one[np.isfinite(one)]), np.sort(other[np.isfinite(other)])
    if not one.size or not other.size:
        return 0.0
    at = np.concatenate([one, other])
    low = np.searchsorted(one, at, side="right") / one.size
    return float(np.abs(low - np.searchsorted(other, at, side="right") / other.size).max())


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


def _label_column(found: Labels, mine: Labels, similar: Labels) -> tuple[Values, Scale, str]:
    if found.names == mine.names:
        return found, Scale(), AS_IS
    held = standing_for(mine.names, found.names)
    known = np.array([bool(some) for some in held] + [True], np.bool_)
    if known[found.codes].mean() < 1 - FAR:
        return (*by_frequency(found, similar), FREQUENCY)
    names = max(len(similar.names), len(mine.names))
    if any(len(some) > 1 for some in held) and names * len(held) <= MOST_PAIRS:
        return found, Scale(agree=agreeing(held, names)), INTERVALS
    place = np.array([some[0] if some else -2 for some in held] + [-1], np.int64)
    return Labels(place[found.codes], mine.names), Scale(), AS_IS


def by_frequency(found: Labels, similar: Labels) -> tuple[Labels, Scale]:
    """Take every released label for the category of the same place by frequency.

    Where other categories are about as frequent, the label may stand for them too: an adversary who
    insisted on one of them would look for people under a wrong label.
    """
    released = _by_count(found.codes, len(found.names))
    known = _by_count(similar.codes, len(similar.names))
    place = np.full(len(found.names) + 1, -1, np.int64)
    size = min(released.size, known.size)
    place[released[:size]] = known[:size]
    if len(found.names) * len(similar.names) > MOST_PAIRS:
        return Labels(place[found.codes], similar.names), Scale()
    agree = _alike(similar, found)
    agree[place[released[:size]], released[:size]] = True
    return found, Scale(agree=agree, reads=place[:-1])


def _alike(known: Labels, found: Labels) -> Bools:
    """Return (known, released): which shares could be those of one category."""
    counts = [np.bincount(c.codes[c.codes >= 0], minlength=len(c.names)) for c in (known, found)]
    sizes = [max(int(count.sum()), 1) for count in counts]
    one, other = counts[0][:, None] / sizes[0], counts[1][None, :] / sizes[1]
    middle = (counts[0][:, None] + counts[1][None, :]) / sum(sizes)
    error = np.sqrt(middle * (1 - middle) * (1 / sizes[0] + 1 / sizes[1]))
    return np.asarray(np.abs(one - other) <= 2 * error)


def _by_count(codes: Ints, size: int) -> Ints:
    return np.argsort(-np.bincount(codes[codes >= 0], minlength=size), kind="stable")
