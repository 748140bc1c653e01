"""The audit of encoded columns: every adversary, and what columns disclose together.

The key only scores guesses against the truth; adversaries see the release alone. Without a key
columns whose codes keep their order are scored by aligning values and codes, and the others are
listed as not scored.
"""

from __future__ import annotations

from dataclasses import replace

from unspoken.disclosure.adversary import View, adversaries_for
from unspoken.disclosure.audit_request import AuditRequest, finished, part_of
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.column_audit import columns_result, run_columns, sample_values
from unspoken.disclosure.ground_truth import Truths
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.disclosure.measures import trials_for
from unspoken.methods.encoding.audit.code_suggestions import suggestions
from unspoken.methods.encoding.audit.column_pictures import evidence_of
from unspoken.methods.encoding.audit.encoded_truths import piecewise_truths
from unspoken.methods.encoding.audit.multi_column import (
    formula_rows,
    limits_of_pairs,
    path_rows,
    subspace_rows,
)
from unspoken.methods.encoding.audit.shown_rows import shown_rows
from unspoken.methods.encoding.audit.whole_release import by_column, whole_release
from unspoken.numerics.random import seed_from
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.read import read
from unspoken.table.table import Table

PICTURED = 3
"""How many columns, the riskiest, can be drawn on a page."""


def audit_codes(table: Table, release: Release, key: Key | None, request: AuditRequest) -> Audit:
    """Attack a release of codes column by column, columns together, then all the rest."""
    view = View.of(release)
    truths = piecewise_truths(table, view, key)
    if request.sample is not None and not isinstance(request.sample, Table):
        request = replace(request, sample=read(request.sample, show=False))
    setting = Setting(request.radius, request.trials, seed_from(request.random_state),
                      sample_values(request.sample, truths))
    return _audit(table, release, key, request, view, truths, setting)


def _audit(table: Table, release: Release, key: Key | None, request: AuditRequest, view: View,
           truths: Truths, setting: Setting) -> Audit:
    every = adversaries_for(release, request.adversaries)
    chosen = by_column(every)
    # Labels are attacked after all codes, and take less.
    share = len(truths.columns) / (1.4 * len(truths.columns) + 0.6 * len(table.schema.names))
    rows = run_columns(view, truths, chosen, setting, part_of(request.progress, 0.0, share))
    precision = request.precision
    if precision is not None and (wanted := trials_for(rows, precision)) > setting.trials:
        setting = replace(setting, trials=wanted, every_trial=True)
        rows = run_columns(view, truths, chosen, setting, part_of(request.progress, 0.0, share))
    rows += formula_rows(view, truths.columns, setting)
    rows += subspace_rows(table, view, truths.columns, rows, chosen, setting, request.subspaces)
    if request.tree is not None and key is not None:
        rows += path_rows(table, view, truths.columns, rows, chosen, setting, request.tree, key)
    if request.shown is not None and key is not None:
        rows += shown_rows(table, view, truths, every, request.shown, key, setting.radius)
    setting = replace(setting, progress=part_of(request.progress, min(1.3 * share, 0.9), 1.0))
    finished(part_of(setting.progress, 0.0, 0.0))
    whole = whole_release(table, release, view, truths, key, request.sample, every, setting)
    rows += whole.rows
    audit = columns_result(release, truths, every, setting, rows, dict(whole.unscored))
    riskiest = [row.column for row in audit.ranking() if row.column in truths.columns]
    limits = (*audit.limits, *limits_of_pairs(table.rows, setting))
    return replace(audit, limits=limits, suggestions=suggestions(audit), evidence=evidence_of(
        truths, view, key, riskiest[:PICTURED], setting, curves=1))
