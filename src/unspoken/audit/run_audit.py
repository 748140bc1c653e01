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

from unspoken.disclosure.adversary import Adversary, View, adversaries_for
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.column_audit import columns_result, run_columns, sample_values
from unspoken.disclosure.ground_truth import row_count, truths_of
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.disclosure.measures import trials_for
from unspoken.disclosure.policy import Policy
from unspoken.errors import InputError, explain
from unspoken.methods.encoding.audit.multi_column import formula_rows, path_rows, subspace_rows
from unspoken.methods.encoding.audit.whole_release import by_column, whole_release
from unspoken.models.tree import Tree
from unspoken.numerics.random import seed_from
from unspoken.release import registry
from unspoken.release.key import Key
from unspoken.release.parameters import Real, Rule, Whole, check
from unspoken.release.release import Release
from unspoken.table.basket_tables import as_table
from unspoken.table.baskets import Baskets
from unspoken.table.read import read
from unspoken.table.table import Table

Progress = Callable[[int, int], None]
"""Called with the number of finished steps and of all steps."""

_RULES: Mapping[str, tuple[Rule, str]] = {
    "trials": (Whole(1), "Use 100, or 500 as in the paper."),
    "radius": (Real(0.0, 1.0), "Use 0.01, 0.02 or 0.05, a share of the range."),
    "precision": (Real(0.0, 1.0), "Use 0.01 for medians within one percentage point."),
    "subspaces": (Whole(1), "Use 1 for none, 2 for all pairs of columns."),
}
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
    own = registry.find("audit", str(release.mechanism.get("name")))
    if own is not None:
        made: Audit = own(table, release, key, sample=sample, trials=int(trials),
                          random_state=random_state, adversaries=adversaries,
                          radius=float(size), progress=progress)
        return made if rules is None else replace(made, judgement=rules.judge(made))
    view = View.of(release)
    truths = truths_of(table, release, view, key)
    similar = sample if sample is None or isinstance(sample, Table) else read(sample, show=False)
    setting = Setting(float(size), int(trials), seed_from(random_state),
                      sample_values(similar, truths))
    every = adversaries_for(view, adversaries)
    chosen = by_column(every)
    rows = run_columns(view, truths, chosen, setting, progress)
    if precision is not None and (wanted := trials_for(rows, precision)) > setting.trials:
        setting = replace(setting, trials=wanted)
        rows = run_columns(view, truths, chosen, setting, progress)
    rows += formula_rows(view, truths.columns, setting)
    rows += subspace_rows(table, view, truths.columns, rows, chosen, setting, subspaces)
    if tree is not None and key is not None:
        rows += path_rows(table, view, truths.columns, rows, chosen, setting, tree, key)
    whole = whole_release(table, release, view, truths, key, similar, every, setting)
    rows += whole.rows
    return columns_result(release, truths, every, setting, rows, rules, dict(whole.unscored))


def _check_parts(table: Table, release: Release, key: Key | None, tree: Tree | None) -> None:
    row_count(table, release)
    if key is not None:
        key.fits(release)
    elif tree is not None:
        raise InputError(explain("'tree'", "given with the key, which decodes it", "no key"))
