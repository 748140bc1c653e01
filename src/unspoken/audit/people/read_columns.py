"""A released table as an adversary reads it, in the terms of the original.

A column whose released values lie as the original's do is read as it is; intervals and joined
labels stand for what they name. Where values lie elsewhere (codes), numbers are lined up with those
of similar people, rising or falling, and labels matched by their frequencies and what they occur
together with (`read_codes`).
Similar people are the control group, or without one the original itself: then the adversary knows
the distribution exactly, and what it gets is an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.audit.people.comparable import (
    Labels,
    Numbers,
    People,
    Scale,
    Values,
    agreeing,
    people_of,
    scale_of,
    standing_for,
    values_of,
)
from unspoken.audit.people.match_columns import match_columns
from unspoken.audit.people.plain_release import plain_release
from unspoken.audit.people.read_codes import (
    REPEATED,
    better_reads,
    falling,
    lined_up,
    match_labels,
)
from unspoken.audit.people.relabelled import out_of_order, readable, strange_cells
from unspoken.audit.people.turned_codes import ranks_of, settled
from unspoken.audit.turned_values import TurnedColumns
from unspoken.errors import SchemaError
from unspoken.table.table import Table

AS_IS, INTERVALS, RANK, FREQUENCY = "as it is", "as intervals or groups", "by rank", "by frequency"
FALLING = f"{RANK}, falling"
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
    wider: tuple[Reading, ...] = ()
    """Codes lined up with the whole control group, by likelihood and by rank: more exact, and its
    members no outsiders."""
    by_owners: Reading | None = None
    """Codes lined up with the original itself, to tell whose record is whose: never an adversary's.
    """
    strange: Mapping[str, int] = field(default_factory=dict)
    """Cells of columns read as they are that say what no cell of the original does."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns that all of them have."""
        return tuple(self.scales)

    def exactly(self) -> Reading:
        """Return the same reading for whoever takes numbers that are as they were at their word."""
        plain = {name for name, column in self.release.columns.items()
                 if isinstance(column, Numbers) and column.plain
                 and self.how[name].startswith(AS_IS)}
        return replace(self, scales={name: replace(scale, exact=name in plain)
                                     for name, scale in self.scales.items()})


def read_tables(original: Table, release: Table, control: Table | None,
                turned: TurnedColumns | None = None) -> Reading:
    """Read a release beside the original; columns are matched by name, then by content."""
    wanted = [c.name for c in original.schema.columns
              if c.kind != "basket" and (control is None or c.name in control.schema.names)]
    release = plain_release(original, release, turned)
    matched = match_columns(original, release, wanted)
    here = people_of(original, list(matched))
    here, matched = readable(original, here, release, matched)
    if not matched:
        raise SchemaError("No released column could be matched with one of the original, neither "
                          f"by name nor by content, and read. The release has "
                          f"{', '.join(release.schema.names[:10])}; rename them like the "
                          "original's, and write numbers and dates as it does.")
    if here.blank:
        raise SchemaError("The original has no value in any released column, so there is nothing "
                          "that an attack could recover: no risk can be measured.")
    if control is None:
        return _read(here, release, None, here, matched)
    outside = _like(control, here)
    half = np.arange(outside.rows)
    reading = _read(here, release, outside, outside.take(half[::2]), matched)
    if not any(way.startswith((RANK, FREQUENCY)) for way in reading.how.values()):
        return reading
    # Codes were read with the values of one half, so only the other half are still outsiders.
    reading = replace(reading, control=outside.take(half[1::2]))
    wider = tuple(_lined_up_with(outside, reading, release, matched, ranks)
                  for ranks in (False, True))
    by_owners = _lined_up_with(here, reading, release, matched, always_ranks=True)
    clear = {n: scale for n, scale in by_owners.scales.items()
             if not reading.how[n].startswith(FREQUENCY)}
    return replace(reading, wider=wider, by_owners=replace(by_owners, scales=clear))


def _lined_up_with(outside: People, reading: Reading, release: Table,
                   matched: Mapping[str, tuple[str, str]], always_ranks: bool = False) -> Reading:
    """Return the reading with numbers lined up with these people, by rank where codes are many."""
    coded = [name for name, way in reading.how.items() if way.startswith(RANK)]
    if not coded:
        return reading
    rows = release.arrow([matched[name][0] for name in coded])
    columns, scales = dict(reading.release.columns), dict(reading.scales)
    for name in coded:
        found = values_of(rows[matched[name][0]], True)
        codes = -_middle(found) if reading.how[name].startswith(FALLING) else _middle(found)
        mine, theirs = reading.original.columns[name], outside.columns[name]
        if always_ranks or np.unique(codes).size * REPEATED > codes.size:
            ranks = ranks_of(codes)
            columns[name] = Numbers(ranks, ranks)
            scales[name] = Scale(known=_sorted(_middle(theirs)), ranked=True)
        else:
            columns[name], scales[name] = _by_rank(codes, mine, theirs)
    return replace(reading, release=People(columns, reading.release.rows), scales=scales)


def _by_rank(codes: Floats, mine: Values, similar: Values) -> tuple[Numbers, Scale]:
    """Return codes as values of similar people, compared by rank."""
    known = _middle(similar)
    read = lined_up(codes, known)
    return Numbers(read, read), replace(scale_of(_middle(mine)), known=_sorted(known))


def _sorted(values: Floats) -> Floats:
    return np.sort(values[np.isfinite(values)])


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
    scales: dict[str, Scale] = {}
    ways: dict[str, str] = {}
    strange = {}
    for name, (there, _) in matched.items():
        mine = here.columns[name]
        found = values_of(rows[there], isinstance(mine, Numbers))
        columns[name], scales[name], ways[name] = _column(found, mine, similar.columns[name])
        if ways[name] in (AS_IS, INTERVALS):
            strange[name] = strange_cells(rows[there], found, mine)
    _read_numbers(columns, scales, ways, here, similar)
    _read_labels(columns, scales, ways, (here, outside, similar))
    how = {name: ways[name] if found_by == "name" else f"{ways[name]}, matched by {found_by} "
           f"({there})" for name, (there, found_by) in matched.items()}
    return Reading(here, People(columns, rows.num_rows), outside, scales, how, strange=strange)


def _read_numbers(columns: dict[str, Values], scales: dict[str, Scale], ways: dict[str, str],
                  here: People, similar: People) -> None:
    """Read codes of numbers by rank, rising or falling; plain numbers may fall as well.

    Values are lined up with similar people; whether codes fall is tried on people who are known.
    """
    plain = {n: c.low for n, c in columns.items() if isinstance(c, Numbers) and c.plain}
    if not plain:
        return
    coded = {n: low for n, low in plain.items() if ways[n] == RANK}
    known = {n: _middle(similar.columns[n]) for n in plain}
    down = falling(coded, {n: low for n, low in plain.items() if n not in coded}, known)
    down = settled(down, coded, plain, {n: _middle(here.columns[n]) for n in plain})
    for name in dict.fromkeys((*coded, *down)):
        codes = -plain[name] if name in down else plain[name]
        columns[name], scales[name] = _by_rank(codes, here.columns[name], similar.columns[name])
        ways[name] = FALLING if name in down else RANK


def _middle(column: Values) -> Floats:
    assert isinstance(column, Numbers)
    return column.middle


def _read_labels(columns: dict[str, Values], scales: dict[str, Scale], ways: dict[str, str],
                 known_people: tuple[People, People | None, People]) -> None:
    """Read labels by their frequencies alone, and by what they occur together with.

    Which of both tells more is decided by the original: the better adversary counts.
    """
    here, everybody, similar = known_people
    coded = [n for n, way in ways.items() if way == FREQUENCY]
    if not coded:
        return
    usable = {n: c for n, c in columns.items() if n in coded or (
        scales[n].agree is None and (isinstance(c, Labels) or c.plain))}
    for name, (reads, agree) in match_labels(usable, similar, coded).items():
        column = columns[name]
        assert isinstance(column, Labels)
        if everybody is not None:
            reads = better_reads(column, reads, everybody.columns[name], here.columns[name])
            agree[reads[reads >= 0], np.flatnonzero(reads >= 0)] = True
        if agree.size > MOST_PAIRS:
            known = similar.columns[name]
            assert isinstance(known, Labels)
            columns[name] = Labels(np.append(reads, -1)[column.codes], known.names)
        else:
            scales[name] = Scale(agree=agree, reads=reads)


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
        return found, scale_of(mine.middle), INTERVALS
    if _difference(found.low, similar.middle) > max(FAR, _by_chance(found.low, similar.middle)):
        return found, Scale(), RANK
    return found, scale_of(mine.middle), AS_IS


def _by_chance(one: Floats, other: Floats) -> float:
    """Return how far two small samples of the same values may lie apart, once in a thousand."""
    sizes = [max(int(np.isfinite(part).sum()), 1) for part in (one, other)]
    return 1.95 * float(np.sqrt(sum(1 / size for size in sizes)))


def _difference(one: Floats, other: Floats) -> float:
    """Return the largest difference of two distribution functions."""
    one, other = np.sort(one[np.isfinite(one)]), np.sort(other[np.isfinite(other)])
    if not one.size or not other.size:
        return 0.0
    at = np.concatenate([one, other])
    low = np.searchsorted(one, at, side="right") / one.size
    return float(np.abs(low - np.searchsorted(other, at, side="right") / other.size).max())


def _label_column(found: Labels, mine: Labels, similar: Labels) -> tuple[Values, Scale, str]:
    if out_of_order(found, mine):
        return found, Scale(), FREQUENCY
    if found.names == mine.names:
        return found, Scale(), AS_IS
    held = standing_for(mine.names, found.names)
    known = np.array([bool(some) for some in held] + [True], np.bool_)
    if known[found.codes].mean() < 1 - FAR:
        return found, Scale(), FREQUENCY
    names = max(len(similar.names), len(mine.names))
    if any(len(some) > 1 for some in held) and names * len(held) <= MOST_PAIRS:
        return found, Scale(agree=agreeing(held, names)), INTERVALS
    place = np.array([some[0] if some else -2 for some in held] + [-1], np.int64)
    return Labels(place[found.codes], mine.names), Scale(), AS_IS
