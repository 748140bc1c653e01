"""Whether a release of classes can have been made from a table, as far as it shows without its key.

Columns that pass as they are must hold the records of the table, no others and none more often.
Every published band and set must hold somebody, and where nobody was left out everybody must stand
in one; means over all people are those of the table. What this cannot tell apart, the key can:
which record is whose is checked with it, one by one. Points that guard against isolation are moved
at random and say nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import InputError
from unspoken.methods.anonymity.adversaries.released_meaning import Meaning, described, meaning
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.method import MICROAGGREGATION
from unspoken.release.method import name_in
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

MOST_PAIRS = 4_000_000
"""Values and labels of a category are compared one by one up to so many pairs."""
MOVED = ("mean", "point")
"""Forms in which a released number need not be anybody's."""


def joined(name: str, original: Table, released: Table) -> Any:
    """Return a column of the original and below it that of the release, to number them alike."""
    if name not in original.schema.names:
        raise InputError(f"The original must have the column '{name}', which the release has. It "
                         "has not. Name the table that was protected.")
    own, shown = original.arrow([name])[name], released.arrow([name])[name]
    try:
        own = own.cast(shown.type)
    except pa.ArrowException:
        raise InputError(f"The values of '{name}' must be of one kind in the original and in the "
                         f"release. They are {own.type} and {shown.type}. Name the table that was "
                         "protected.") from None
    return pa.chunked_array([*own.chunks, *shown.chunks], shown.type)


def not_made_from(facts: Mapping[str, Any], release: Release, table: Table) -> Iterator[str]:
    """Yield why a release was not made from a table."""
    left_out = int(facts.get("left_out") or 0)
    if release.table.rows + left_out != table.rows:
        yield (f"it is not made from this table: {release.table.rows:,} records are released and "
               f"{left_out:,} left out, and the table has {table.rows:,}")
        return
    about = described(release.mechanism)
    yield from _strangers([n for n in release.schema.names if n not in about], release, table)
    for name in (n for n in about if n in release.schema.names and n in table.schema.names):
        if not _can_stand_for(name, about[name], release, table, left_out):
            yield (f"it is not made from this table: the released values of '{name}' do not "
                   "stand for those of the table")


def _strangers(names: Sequence[str], release: Release, table: Table) -> Iterator[str]:
    """Yield that columns which pass as they are hold records that the table does not hold."""
    if not names:
        return
    codes = stats.classes(coded(joined(name, table, release.table)).codes for name in names)
    size = int(codes.max(initial=0)) + 1
    own, shown = (np.bincount(part, minlength=size) for part in np.split(codes, [table.rows]))
    strange = int(np.maximum(shown - own, 0).sum())
    if strange:
        yield (f"it is not made from this table: in {strange:,} records the columns that pass as "
               f"they are ({', '.join(names[:5])}) hold what no record of the table holds")


def _can_stand_for(name: str, about: Mapping[str, Any], release: Release, table: Table,
                   left_out: int) -> bool:
    own, column = table.arrow([name])[name], release.table.arrow([name])[name]
    if about.get("form") in MOVED:
        return about["form"] == "point" or left_out > 0 or _same_mean(own, column)
    shown = meaning(column, about)
    used = np.unique(shown.found.codes)
    labels, people = _held(own, shown, used)
    # The commonest category of a group is shown for those who have another one.
    replaced = left_out > 0 or name_in(release.mechanism) == MICROAGGREGATION.name
    return bool(labels[used != shown.found.missing].all() and (replaced or people.all()))


def _same_mean(own: Any, shown: Any) -> bool:
    """Return whether two columns have one mean; where values are missing nobody can say."""
    if not (is_number(own.type) and is_number(shown.type)):
        return is_number(own.type) == is_number(shown.type)
    first, second = (np.asarray(to_numbers(one), np.float64) for one in (own, shown))
    if np.isnan(first).any() or np.isnan(second).any():
        return True
    room = 0.5 if pa.types.is_temporal(own.type) else 0.0
    wide = 1e-6 * (abs(float(first.mean())) + float(first.std()))
    return abs(float(first.mean() - second.mean())) <= room + wide


def _held(own: Any, shown: Meaning, used: Ints) -> tuple[Bools, Bools]:
    """Return which labels hold somebody's value, and which values stand in some label."""
    known = coded(own).labels
    if shown.low is not None and shown.high is not None:
        return _inside(known, shown.low[used], shown.high[used])
    if len(known) * used.size > MOST_PAIRS:
        return np.ones(used.size, np.bool_), np.ones(len(known), np.bool_)
    apart = shown.distance(known, used)
    return (apart == 0).any(axis=0), (apart == 0).any(axis=1)


def _inside(known: Any, low: Floats, high: Floats) -> tuple[Bools, Bools]:
    values = np.sort(np.asarray(to_numbers(known), np.float64)) if is_number(known.type) else \
        np.zeros(0)
    filled = np.searchsorted(values, high, side="right") > np.searchsorted(values, low)
    order = np.argsort(low, kind="stable")
    reach = np.maximum.accumulate(high[order])
    before = np.searchsorted(low[order], values, side="right") - 1
    return filled, np.asarray((before >= 0) & (reach[np.maximum(before, 0)] >= values))
