"""Whether a published table is what it says: K, limits, shares, values that fit their people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.promise_checks import equal, missing, passes, same_missing, wrong
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.methods.anonymity.method import (
    ANATOMY,
    SAMPLE,
    SUPPRESS_CELLS,
    SWAP,
    TREE_PRESERVING,
)
from unspoken.methods.anonymity.named_values import MEMBERS, hidden_in, rare_names
from unspoken.methods.anonymity.perturbed_promise import PERTURBED
from unspoken.release.key import Key
from unspoken.release.method import name_in
from unspoken.release.record_key import taken
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

NEAR = 0.1
"""Partners of a swap lie a third of the ranks apart on average; below this they are neighbours."""


def broken_table(table: Table, release: Release, key: Key, rows: Ints) -> Iterator[str]:
    """Yield what is not as the release says."""
    own, kind = taken(table, rows), name_in(release.mechanism)
    view = TableView.of(release, members=hidden_in(key, MEMBERS))
    yield from rare_names(table, release)
    if release.mechanism.get("groups") != "univariate":
        yield from _classes(view, release)
    changed = {*view.quasi, *release.mechanism.get("columns", ()), *_hidden(release),
               *_merged(release)}
    yield from passes(own, release.table, [n for n in release.schema.names if n not in changed])
    if kind == SAMPLE.name:
        yield from _size(table, release)
    if kind == SWAP.name:
        for name in release.mechanism["columns"]:
            yield from _swapped(name, own, release)
    elif kind in PERTURBED:
        yield from PERTURBED[kind](own, view, release)
    elif kind != TREE_PRESERVING.name:
        for name in view.quasi:
            yield from _fits(name, own, view, release)


def _hidden(release: Release) -> tuple[str, ...]:
    """Return the columns that are not what they were: left blank, or mixed within groups."""
    if name_in(release.mechanism) == ANATOMY.name:
        return (str(release.guarantee.facts["sensitive"]),)
    return tuple(release.mechanism.get("suppressed", ()))


def _merged(release: Release) -> tuple[str, ...]:
    """Return the columns whose values were merged, quasi-identifiers or not: trees ask about all.

    Elsewhere `groups` is the word for how records are grouped, and no mapping.
    """
    parts = (release.mechanism.get(name) for name in ("blocks", "groups"))
    return tuple(column for part in parts if isinstance(part, Mapping) for column in part)


def _classes(view: TableView, release: Release) -> Iterator[str]:
    promised = release.guarantee.facts.get("k")
    least = int(view.sizes.min())
    if isinstance(promised, int) and least < promised:
        yield (f"K of {promised} is promised, and the smallest class holds {least}: "
               f"{int((view.sizes < promised).sum())} classes are too small")


def _size(table: Table, release: Release) -> Iterator[str]:
    expected = round(float(release.mechanism["share"]) * table.rows)
    if abs(release.table.rows - expected) > 1:
        yield (f"a sample of {expected:,} records is promised, and {release.table.rows:,} of "
               f"{table.rows:,} are released")


def _fits(name: str, own: Table, view: TableView, release: Release) -> Iterator[str]:
    """Yield that released values do not stand for those of their own people."""
    about: Mapping[str, Any] = release.mechanism.get("columns", {}).get(name, {})
    true, shown = own.arrow([name])[name], release.table.arrow([name])[name]
    form = about.get("form")
    if form in ("value", "coded") and name_in(release.mechanism) != SUPPRESS_CELLS.name:
        yield from same_missing(name, true, shown)
    if form == "interval" and is_number(shown.type):
        yield wrong(1.0, name, "bands are promised, and a plain number is released")
    if form == "coded":
        yield from _limits(name, shown, about)
    if form == "mean":
        return
    known = ~(missing(true) | missing(shown))
    distance = _own_distance(view, name, true)
    away = known & (distance > 0)
    if away.any():
        yield wrong(away.mean(), name, "the released value does not stand for the own one")


def _own_distance(view: TableView, name: str, true: Any) -> Floats:
    """Return how far everybody's own value is from what is released in its place."""
    meaning, own = view.columns[name], coded(true)
    pairs, where = np.unique(np.stack([own.codes, meaning.found.codes]), axis=1,
                             return_inverse=True)
    first = np.unique(own.codes, return_index=True)[1]
    place = np.searchsorted(np.unique(own.codes), pairs[0])
    labels = np.unique(pairs[1])
    table = meaning.distance(true.take(first), labels)
    return np.asarray(table[place, np.searchsorted(labels, pairs[1])][where.reshape(-1)])


def _limits(name: str, shown: Any, about: Mapping[str, Any]) -> Iterator[str]:
    from unspoken.disclosure.promise_checks import numbers

    values = numbers(shown)
    beyond = (values < about.get("low", -np.inf)) | (values > about.get("high", np.inf))
    if beyond.any():
        yield wrong(beyond.mean(), name, "the value lies beyond the promised limits")


def _swapped(name: str, own: Table, release: Release) -> Iterator[str]:
    """Yield that too few values were swapped, or only among neighbours."""
    true, shown = own.arrow([name])[name], release.table.arrow([name])[name]
    if missing(true).sum() != missing(shown).sum():
        yield wrong(1.0, name, "other values are missing than in the original")
    found = coded(true)
    shares = np.bincount(found.codes) / max(found.codes.size, 1)
    within, moved = release.mechanism.get("within"), ~equal(true, shown)
    expected = float(release.mechanism["share"]) * (1.0 - float((shares**2).sum()))
    stated = release.mechanism["columns"][name].get("changed")
    if within is not None and stated is not None:
        few = moved.mean() < float(stated) - 1.5 / moved.size
    else:
        few = expected * moved.size >= 5 and moved.mean() < expected / 3 and (
            within is None or not moved.any())
    if few:
        yield wrong(moved.mean(), name, "values were swapped less often than promised, only")
    apart = _ranks_apart(true, shown)[moved]
    if within is None and apart.size >= 20 and shares.max() < NEAR and apart.mean() < NEAR:
        yield wrong(moved.mean(), name, "values were swapped among neighbours only")


def _ranks_apart(true: Any, shown: Any) -> Floats:
    """Return how far the released value lies from the own one, as a share of the ranks."""
    import pyarrow as pa

    both = coded(pa.concat_arrays([_one(true), _one(shown)])).codes
    ranks = np.searchsorted(np.sort(both[:len(true)]), both) / max(len(true), 1)
    return np.abs(ranks[:len(true)] - ranks[len(true):])


def _one(column: Any) -> Any:
    whole = column.combine_chunks()
    return whole.chunk(0) if hasattr(whole, "num_chunks") else whole
