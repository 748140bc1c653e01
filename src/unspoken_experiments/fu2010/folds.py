"""Ten-fold cross-validation in two ways: as the paper does it, and without what that gives away.

Inside: the table is released once, and learners are cross-validated in the released table. The
release was made with the answers of the held-out rows in view. Outside: in every fold the other
nine parts are released; held-out people come with the values they have, are put into the class
of the release that fits them best, and nothing was made with their answers in view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.release.release import Release
from unspoken_experiments.fu2010.data import Study
from unspoken_experiments.fu2010.learners import Pair
from unspoken_experiments.fu2010.releases import cut, few, kept, measured

METHODS = ("original", "tree-preserving", "gain", "median", "gain, few")
FOLDS = 10
_AT_ONCE = 500


def fold_of(rows: int, folds: int = FOLDS, seed: int = 2010) -> npt.NDArray[np.int64]:
    """Return the fold of every row."""
    return np.random.default_rng(seed).permutation(np.arange(rows) % folds)


def k_for(study: Study, method: str, leaves: int) -> int:
    """Return the k asked of Mondrian: that of the kept tree, or one that leaves few classes."""
    if method == "gain, few":
        return few(study, leaves)
    return measured(study, kept(study, leaves).table).k


def made(study: Study, method: str, leaves: int, k: int, publish: str = "mean") -> Release:
    """Release a study by a method."""
    if method == "tree-preserving":
        return kept(study, leaves)
    return cut(study, k, method.split(",")[0], publish)


def inside(study: Study, method: str, leaves: int) -> list[Pair]:
    """Release once and divide the released rows."""
    rows = study.table.arrow()
    if method != "original":
        rows = made(study, method, leaves, k_for(study, method, leaves)).table.arrow()
    fold = fold_of(rows.num_rows)
    return [Pair(rows.take(np.flatnonzero(fold != one)), rows.take(np.flatnonzero(fold == one)))
            for one in range(FOLDS)]


def outside(study: Study, method: str, leaves: int) -> list[Pair]:
    """Release nine parts of ten, at nine tenths of K, and place the people of the tenth."""
    if method == "original":
        return inside(study, method, leaves)
    fold, rows = fold_of(study.table.rows), study.table.arrow()
    k = max(1, round(k_for(study, method, leaves) * (FOLDS - 1) / FOLDS))
    out = []
    for one in range(FOLDS):
        part = study.some(np.flatnonzero(fold != one))
        release = made(part, method, leaves, k)
        view = TableView.of(made(part, method, leaves, k, "interval"))
        held = rows.take(np.flatnonzero(fold == one))
        out.append(Pair(release.table.arrow(), placed(release, view, held, study.table.target)))
    return out


def placed(release: Release, view: TableView, people: Any, target: str) -> Any:
    """Return people with the released values of the class that fits them best."""
    shown = release.table.arrow()
    parts = [people.slice(start, _AT_ONCE) for start in range(0, people.num_rows, _AT_ONCE)]
    larger = 1e-9 * view.sizes / view.sizes.max()
    best = np.concatenate([(view.distances(part) - larger).argmin(axis=1) for part in parts])
    found = shown.take(view.first[best])
    place = found.column_names.index(target)
    return found.set_column(place, found.schema.field(target), people[target])


Way = Callable[[Study, str, int], list[Pair]]
WAYS: dict[str, Way] = {"inside": inside, "outside": outside}
