"""The audit: every adversary that applies, and what it gets out of a release.

The key only scores guesses against the truth; adversaries see the release alone. Without a key
columns whose codes keep their order are scored by aligning values and codes, and the others are
listed as not scored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.attack.contract import Adversary, View, adversaries_for
from tacit.core import registry
from tacit.core.basket_tables import as_table
from tacit.core.baskets import Baskets
from tacit.core.key import Key
from tacit.core.params import Real, Rule, Whole, check
from tacit.core.read import read
from tacit.core.release import Release
from tacit.core.table import Table
from tacit.core.tree import Tree
from tacit.engines.arrow import to_numbers
from tacit.errors import DataError, InputError, SchemaError, explain
from tacit.risk.grants import Setting
from tacit.risk.measures import trials_for
from tacit.risk.policy import Policy
from tacit.risk.result import Audit, Row
from tacit.risk.running import cases, column_rows
from tacit.risk.several import formula_rows, path_rows, subspace_rows
from tacit.risk.truth import Truths, row_count, truths_of
from tacit.risk.words import suggestions
from tacit.stats.random import seed_from

Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Called with the number of finished steps and of all steps."""

_RULES: Mapping[str, tuple[Rule, str]] = {
    "trials": (Whole(1), "Use 100, or 500 as in the paper."),
    "radius": (Real(0.0, 1.0), "Use 0.01, 0.02 or 0.05, a share of the range."),
    "precision": (Real(0.0, 1.0), "Use 0.01 for medians within one percentage point."),
    "subspaces": (Whole(1), "Use 1 for none, 2 for all pairs of columns."),
}
_LIMITS = (
    "only the listed adversaries were tried; a better one may exist",
    "samples are drawn from the table itself, column by column: no similar data can be better",
    "known records are taken as found in the release; how they were found is not modelled",
    "the target goes out as it is, or renamed in its order, and is not attacked",
    "what is known about how values come about (a grid, a unit, a formula) can crack more",
)


def audit(  # noqa: PLR0913
    table: Table | Baskets,
    release: Release,
    key: Key | None = None,
    sample: Any = None,
    trials: int = 100,
    random_state: Any = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    adversaries: Iterable[str | Adversary] | None = None,
    *,
    radius: float | None = None,
    subspaces: int = 2,
    tree: Tree | None = None,
    precision: float | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Attack a release in every known way and say how much each way gets.

    `table`: the original, or original baskets. `key`: the key of the release, for scoring only.
    `sample`: similar data that an adversary may have (a Table or anything that `read` takes);
    without it samples of 1% and 0.1% are drawn from the table. `policy`: judged at the end,
    `Audit.judgement`. `adversaries`: names or objects, by default all that apply. `radius`: what
    counts as a crack, a share of the range; 0.02 or the policy's. `subspaces`: the most columns
    of a subspace.
    `tree`: a tree mined on the release, whose paths are then attacked too; this needs the key.
    `precision`: how far the medians may be off, with 95% confidence; more trials than `trials`
    are made where that needs them, up to `MAX_TRIALS`.
    `random_state`: the same seed gives the same audit.
    """
    rules = Policy.load(policy) if isinstance(policy, str | os.PathLike) else policy
    table = as_table(table, release.mechanism)
    size = radius if radius is not None else rules.radius if rules else 0.02
    check("audit", _RULES, {"trials": trials, "radius": size, "subspaces": subspaces,
                            "precision": 0.01 if precision is None else precision})
    _check_parts(table, release, key, tree)
    whole = registry.find("audit", str(release.mechanism.get("name")))
    if whole is not None:
        made: Audit = whole(table, release, key, sample=sample, trials=int(trials),
                            random_state=random_state, adversaries=adversaries,
                            radius=float(size), progress=progress)
        return made if rules is None else replace(made, judgement=rules.judge(made))
    view = View.of(release)
    truths = truths_of(table, release, view, key)
    setting = Setting(float(size), int(trials), seed_from(random_state),
                      _sample_values(sample, truths))
    chosen = adversaries_for(view, adversaries)
    rows = _run(view, truths, chosen, setting, progress)
    if precision is not None and (wanted := trials_for(rows, precision)) > setting.trials:
        setting = replace(setting, trials=wanted)
        rows = _run(view, truths, chosen, setting, progress)
    rows += subspace_rows(table, view, truths.columns, rows, chosen, setting, subspaces)
    if tree is not None and key is not None:
        rows += path_rows(table, view, truths.columns, rows, chosen, setting, tree, key)
    return _result(release, truths, chosen, setting, rows, rules)


def _check_parts(table: Table, release: Release, key: Key | None, tree: Tree | None) -> None:
    row_count(table, release)
    if key is not None:
        key.fits(release)
    elif tree is not None:
        raise InputError(explain("'tree'", "given with the key, which decodes it", "no key"))


def _sample_values(sample: Any, truths: Truths) -> dict[str, Floats] | None:
    """Return the values of a given sample; it must have every column that is scored."""
    if sample is None:
        return None
    found = sample if isinstance(sample, Table) else read(sample, show=False)
    missing = [name for name in truths.columns if name not in found.schema.names]
    if missing:
        raise SchemaError(
            explain("The sample", f"a table with the columns {list(truths.columns)[:10]}",
                    f"none of the name {missing[0]!r}", "Rename its columns like the original's."))
    return {name: _known(name, found) for name in truths.columns}


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


def _run(view: View, truths: Truths, chosen: tuple[Adversary, ...], setting: Setting,
         progress: Progress | None) -> list[Row]:
    todo = [(truth, case) for truth in truths.columns.values() if truth.values.size
            for case in cases(chosen, setting)]
    rows: list[Row] = []
    for done, (truth, case) in enumerate(todo, 1):
        rows += column_rows(view, truth, case, setting)
        if progress is not None:
            progress(done, len(todo))
    return rows + formula_rows(view, truths.columns, setting)


def _result(release: Release, truths: Truths, chosen: tuple[Adversary, ...], setting: Setting,
            rows: list[Row], policy: Policy | None) -> Audit:
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256,
             "columns": {t.name: t.released for t in truths.columns.values()}}
    empty = {t.name: "the column holds no values" for t in truths.columns.values()
             if t.values.size == 0}
    empty |= dict.fromkeys(release.schema.of_kind("categorical", "basket"),
                           "categories under random labels are not attacked")
    if not chosen:
        empty["(all)"] = "no registered adversary attacks this mechanism"
    found = Audit(tuple(rows), setting.radius, setting.trials, about,
                  {one.name: one.gets for one in chosen}, {**truths.unscored, **empty},
                  limits=_LIMITS)
    found = replace(found, suggestions=suggestions(found))
    return found if policy is None else replace(found, judgement=policy.judge(found))
