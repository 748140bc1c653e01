"""The audit of columns whose values are guessed one by one: running, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_request import Progress
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.column_runner import WORKERS, cases, column_rows
from unspoken.disclosure.ground_truth import Truths
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.errors import DataError, SchemaError, explain
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.read import read
from unspoken.table.table import Table

_LIMITS = (
    "only the listed adversaries were tried; a better one may exist",
    "samples are drawn from the table itself, column by column: no similar data can be better",
    "known records are taken as found in the release; how they were found is not modelled",
    "adversaries know which released column is which: neutral names keep the order of the table "
    "and hide nothing from an adversary who knows its layout",
    "an attacker who knows how the values were produced (a formula, another register) may recover "
    "more",
)


def sample_values(sample: Any, truths: Truths) -> dict[str, Floats] | None:
    """Return the values of a given sample; it must have every column that is scored."""
    if sample is None:
        return None
    outsiders = sample if isinstance(sample, Table) else read(sample, show=False)
    missing = [name for name in truths.columns if name not in outsiders.schema.names]
    if missing:
        raise SchemaError(
            f"The sample has no column '{missing[0]}'. Its columns must include "
            f"{', '.join(list(truths.columns)[:10])}. Rename them like the original's.")
    return {name: _known(name, outsiders) for name in truths.columns}


def _known(name: str, sample: Table) -> Floats:
    if sample.schema[name].kind not in ("numeric", "ordinal"):
        raise SchemaError(explain(f"Column '{name}' of the sample", "numeric",
                                  sample.schema[name].kind))
    values = np.asarray(to_numbers(sample.arrow([name])[name]), np.float64)
    values = values[np.isfinite(values)]
    if values.size == 0:
        raise DataError(f"Column '{name}' of the sample must hold values. Got none. Leave the "
                        "sample out, or pass one with values.")
    return values


def run_columns(view: View, truths: Truths, chosen: tuple[Adversary, ...], setting: Setting,
                progress: Progress | None) -> list[Row]:
    """Return the rows of every column, adversary by adversary and level by level."""
    todo = [(truth, case) for truth in truths.columns.values() if truth.values.size
            for case in cases(chosen, setting)]
    rows: list[Row] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = pool.map(lambda one: list(column_rows(view, one[0], one[1], setting)), todo)
        for done, part in enumerate(parts, 1):
            rows += part
            if progress is not None:
                progress(done, len(todo))
    return rows


def columns_result(release: Release, truths: Truths, chosen: tuple[Adversary, ...],
                   setting: Setting, rows: list[Row],
                   unscored: Mapping[str, str] | None = None) -> Audit:
    """Return the audit of columns.

    `unscored`: why other columns have no numbers; without it categories leave as they are.
    """
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256,
             "columns": {t.name: t.released for t in truths.columns.values()}}
    empty = {t.name: "the column holds no values" for t in truths.columns.values()
             if t.values.size == 0}
    empty |= unscored if unscored is not None else dict.fromkeys(
        release.schema.of_kind("categorical", "basket"),
        "the column was released as it is")
    if not chosen:
        empty["(all)"] = "no adversary attacks this release"
    return Audit(tuple(rows), setting.radius, setting.trials, about,
                 {one.name: one.gets for one in chosen}, {**truths.unscored, **empty},
                 limits=(*_LIMITS, *_fewer_trials(truths, setting)))


def _fewer_trials(truths: Truths, setting: Setting) -> list[str]:
    """Say that columns of very many values were attacked in fewer trials."""
    trials = {truth.name: setting.bounded(truth.where.size).trials
              for truth in truths.columns.values() if truth.values.size}
    fewer = [name for name, count in trials.items() if count < setting.trials]
    return [] if not fewer else [
        f"{', '.join(fewer[:5])}{' and others' * (len(fewer) > 5)} have very many values and were "
        f"attacked in {min(trials[name] for name in fewer)} trials or more instead of "
        f"{setting.trials}; every row says in how many, and '--precision' makes more"]
