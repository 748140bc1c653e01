"""What distorted reports really stand for: rows of the original beside rows of the release.

Distorting methods have no key and keep the order of rows, so each report is scored against the
value in the same row. Where people could choose, adversaries know the choices: shares are of those
who distorted, and an adversary of its own counts the true reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import ColumnView, View, adversaries_for
from unspoken.disclosure.audit_request import AuditRequest
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.column_audit import columns_result, run_columns, sample_values
from unspoken.disclosure.ground_truth import Truth, Truths
from unspoken.disclosure.knowledge import fullest_window
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.methods.distortion.adversaries.known_choices import (
    distorted_only,
    distorted_rows,
    markers,
)
from unspoken.numerics.random import seed_from
from unspoken.numerics.rank_attack_bounds import range_width
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

_CHOSEN = "where people chose, shares are of those who distorted; true reports are known"


def audit_distorted(table: Table, release: Release, key: Key | None,
                    request: AuditRequest) -> Audit:
    """Attack a release of distorted values in every known way; filters need its rows."""
    view = distorted_only(View.of(release, rows=True))
    truths = row_truths(table, view, key)
    setting = Setting(request.radius, request.trials, seed_from(request.random_state),
                      sample_values(request.sample, truths))
    chosen = adversaries_for(view, request.adversaries)
    rows = run_columns(view, truths, chosen, setting, request.progress)
    result = columns_result(release, truths, chosen, setting, rows)
    if not markers(view.mechanism):
        return result
    return _with_truthful(result, table, view, request.radius)


def _with_truthful(result: Audit, table: Table, view: View, radius: float) -> Audit:
    """Add what is simply known where people chose."""
    chosen = markers(view.mechanism)
    reported = [row for name in chosen if name in table.schema.names
                for row in _truthful_rows(table, view, name, radius)]
    why = dict.fromkeys(chosen.values(), "it holds choices, which are released as they are")
    return replace(result, rows=(*result.rows, *reported), limits=(*result.limits, _CHOSEN),
                   words={**result.words, "truthful": "reads values that were reported truthfully"},
                   unscored={**result.unscored, **why})


def row_truths(table: Table, view: View, key: Key | None) -> Truths:
    """Return the truths of a release whose rows stand in the original order."""
    truths, unscored = {}, {}
    for name, seen in view.columns.items():
        if name not in table.schema.names or view.table is None:
            unscored[name] = "the table has no column of this name"
        elif name not in view.mechanism.get("columns", {}):
            unscored[name] = "the column was released as it is"
        elif not seen.codes.size:
            unscored[name] = "nobody chose to distort it"
        else:
            truths[name] = _truth(name, seen, to_numbers(table.arrow([name])[name]),
                                  np.where(distorted_rows(view, name),
                                           to_numbers(view.table[name]), np.nan))
    return Truths(truths, unscored)


def _truthful_rows(table: Table, view: View, name: str, radius: float) -> Iterator[Row]:
    """Yield the share of people who reported a column truthfully, beside the best guess."""
    assert view.table is not None
    truth = np.asarray(to_numbers(table.arrow([name])[name]), np.float64)
    sent = ~np.isnan(np.asarray(to_numbers(view.table[name]), np.float64))
    true = sent & ~distorted_rows(view, name)
    if not true.any():
        return
    values, owner = np.unique(truth[sent], return_inverse=True)
    counts = np.bincount(owner.reshape(-1))
    near = radius * range_width(values)
    middle = fullest_window(values, counts, near)
    hit = np.abs(values - middle) <= near
    each = np.bincount(owner.reshape(-1), weights=true[sent]) / counts
    for measure, share, blind in (("domain", each.mean(), hit.mean()),
                                  ("records", true.sum() / sent.sum(),
                                   counts[hit].sum() / counts.sum())):
        yield Row("truthful", "ignorant", name, measure, float(share), float(share), float(share),
                  float(blind), 1)


def _truth(name: str, seen: ColumnView, original: Floats, released: Floats) -> Truth:
    known = ~(np.isnan(np.asarray(original, np.float64)) | np.isnan(np.asarray(released,
                                                                              np.float64)))
    values, owner = np.unique(np.asarray(original, np.float64)[known], return_inverse=True)
    where = np.searchsorted(seen.codes, np.asarray(released, np.float64)[known])
    size = max(seen.codes.size, 1)
    pairs, inverse, counts = np.unique(owner.reshape(-1) * size + where, return_inverse=True,
                                       return_counts=True)
    rows = np.full(original.size, -1, np.int32)
    rows[known] = inverse.reshape(-1)
    return Truth(name, name, values, pairs // size, pairs % size, counts, rows)
