"""Releases by methods with a fault: they do nothing, keep the order, leave something out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from unspoken.release.record_key import KEPT, ORDER, original_rows
from unspoken.release.release import Release
from unspoken.table.basket_tables import to_table
from unspoken.table.baskets import Baskets
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table


def _again(release, rows, schema):
    """Return the release with other rows, sealed by the same key, as a faulty method makes it."""
    return Release(Table(schema, MemoryFrame(rows), LocalEngine()), release.mechanism,
                   release.guarantee, release.release_id, release.details,
                   seal_key=release.seal_key)


def _mapped(release, key, rows):
    """Return the key that says which record is which after the rows were moved."""
    secrets = {**key.secrets, ORDER: None}
    return replace(key, secrets=secrets, fingerprint=release.fingerprint,
                   arrays={**key.arrays, KEPT: np.asarray(rows, np.int64)})


def _own(table, release, key):
    return table.arrow().take(pa.array(original_rows(key, release.table.rows)))


def _pairs(table, release):
    """Return (released column, original column) of what is protected."""
    target = release.schema.target
    if release.mechanism["name"] == "anatomy":
        return [(name, name) for name in release.schema.with_role("sensitive")]
    shown = [n for n in release.schema.names if n != target]
    if all(name in table.schema.names for name in shown):
        changed = release.mechanism.get("columns") or release.mechanism.get("quasi") or shown
        return [(name, name) for name in shown if name in changed]
    return list(zip(shown, table.schema.of_kind("numeric", "ordinal"), strict=False))


def _with(table, release, key, pairs):
    """Put original columns into a release, under the released names."""
    own, rows = _own(table, release, key), release.table.arrow()
    columns = {name: rows[name] for name in rows.column_names}
    kinds = {c.name: c for c in release.schema.columns}
    for shown, name in pairs:
        columns[shown] = own[name]
        kinds[shown] = Column(shown, table.schema[name].kind, kinds[shown].role)
    mutant = _again(release, pa.table(columns), Schema(tuple(kinds.values())))
    return mutant, replace(key, fingerprint=mutant.fingerprint)


def _baskets(table, release, key, change):
    """Return a release of baskets in which some were changed: (true, shown) -> lists."""
    true = table.take(original_rows(key, release.table.rows)).lists()
    lists = change(true, release.baskets.lists())
    rows = to_table(Baskets.of(lists, list(release.mechanism["items"]))).arrow()
    mutant = _again(release, rows, release.schema)
    return mutant, replace(key, fingerprint=mutant.fingerprint)


def does_nothing(table, release, key):
    """Release the original values."""
    if isinstance(table, Baskets):
        return _baskets(table, release, key, lambda true, shown: true)
    if release.mechanism["name"] == "sample":
        order = np.random.default_rng(0).permutation(table.rows)
        rows = table.arrow(list(release.schema.names)).take(pa.array(order))
        mutant = _again(release, rows, release.schema)
        return mutant, _mapped(mutant, key, order)
    return _with(table, release, key, _pairs(table, release))


def leaves_one_column_out(table, release, key):
    """Release one protected column, or one item, as it is."""
    if isinstance(table, Baskets):
        return _baskets(table, release, key, lambda true, shown: [
            sorted((set(b) - {"b"}) | (set(a) & {"b"})) for a, b in zip(true, shown, strict=True)])
    pairs = _pairs(table, release)
    return _with(table, release, key, [pair for pair in pairs if pair[1] == "pay"] or pairs[:1])


def keeps_the_order(table, release, key):
    """Release the rows in the order of the original; the key knows."""
    order = np.argsort(original_rows(key, release.table.rows), kind="stable")
    return _moved(release, key, order)


def lies_about_the_order(table, release, key):
    """Release the rows in the order of the original; the key says that they were shuffled."""
    mutant, _ = keeps_the_order(table, release, key)
    return mutant, replace(key, fingerprint=mutant.fingerprint)


def shuffles_within_a_small_window(table, release, key):
    """Move rows by a few places only."""
    order = np.argsort(original_rows(key, release.table.rows), kind="stable")
    near = np.argsort(np.arange(order.size) + np.random.default_rng(0).uniform(0, 8, order.size))
    return _moved(release, key, order[near])


def _moved(release, key, order):
    rows = original_rows(key, release.table.rows)[order]
    mutant = _again(release, release.table.arrow().take(pa.array(order)), release.schema)
    return mutant, _mapped(mutant, key, rows)


def keeps_an_identifier(table, release, key):
    """Release the number that names people, under another name."""
    if isinstance(table, Baskets):
        rows = release.table.arrow().append_column(
            "size", pa.array(original_rows(key, len(table)).astype(np.int32)))
        schema = Schema((*release.schema.columns, Column("size", "numeric")))
        mutant = _again(release, rows, schema)
    else:
        rows = release.table.arrow().append_column("extra", _own(table, release, key)["number"])
        schema = Schema((*release.schema.columns, Column("extra", "categorical")))
        mutant = _again(release, rows, schema)
    return mutant, replace(key, fingerprint=mutant.fingerprint)


def leaks_by_missing_values(table, release, key):
    """Blank a value of everybody of one class: who is blank has it."""
    if isinstance(table, Baskets):
        return _baskets(table, release, key, lambda true, shown: [
            [] if "b" in a else b for a, b in zip(true, shown, strict=True)])
    blank = pa.array([value == "yes" for value in _own(table, release, key)["outcome"].to_pylist()])
    rows = release.table.arrow()
    name = _pairs(table, release)[0][0]
    at = rows.column_names.index(name)
    column = pa.array([None if gone else value for value, gone in
                       zip(rows[name].to_pylist(), blank.to_pylist(), strict=True)],
                      rows[name].type)
    mutant = _again(release, rows.set_column(at, name, column), release.schema)
    return mutant, replace(key, fingerprint=mutant.fingerprint)


def swaps_among_neighbours(table, release, key):
    """Give everybody the value of somebody with nearly the same one, column by column."""
    if isinstance(table, Baskets):
        return _baskets(table, release, key, lambda true, shown: [
            true[min(place ^ 1, len(true) - 1)] for place in range(len(true))])
    own, rows = _own(table, release, key), release.table.arrow()
    rng, columns = np.random.default_rng(0), {n: rows[n] for n in rows.column_names}
    for shown, name in _pairs(table, release):
        codes = np.argsort(np.argsort(np.array([str(v).zfill(9) for v in own[name].to_pylist()])))
        near = np.argsort(codes + rng.uniform(0, 4, codes.size), kind="stable")
        source = np.empty(codes.size, np.int64)
        source[np.argsort(codes, kind="stable")] = near
        columns[shown] = own[name].take(pa.array(source))
    kinds = {c.name: c for c in release.schema.columns}
    kinds |= {shown: Column(shown, table.schema[name].kind, kinds[shown].role)
              for shown, name in _pairs(table, release)}
    mutant = _again(release, pa.table(columns), Schema(tuple(kinds.values())))
    return mutant, replace(key, fingerprint=mutant.fingerprint)


MUTANTS = {one.__name__: one for one in (
    does_nothing, leaves_one_column_out, keeps_the_order, lies_about_the_order,
    shuffles_within_a_small_window, keeps_an_identifier, leaks_by_missing_values,
    swaps_among_neighbours)}
