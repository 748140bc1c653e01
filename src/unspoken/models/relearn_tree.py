"""Learning a published tree again, as its stopping rule says, from either side of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import ReleaseError, explain
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.sklearn_fields import class_labels, node_arrays
from unspoken.models.tree import Tree
from unspoken.models.tree_from_growth import learn
from unspoken.models.tree_growth_rule import SKLEARN, Groups, Growth, Learning, prepare
from unspoken.table.table import Table


def relearn(table: Table, rule: Mapping[str, Any], names: Sequence[str], groups: Groups
            ) -> Tree | CategoricalTree:
    """Learn one tree; `groups` holds the members of released labels, none for an original."""
    growth, steps = Growth.of_rule(rule)
    if growth.learner != SKLEARN:
        return learn(table, growth, steps, names=names, groups=groups)
    learning = prepare(table, growth, names)
    estimator = estimator_for(growth, int(rule["leaves"]), learning.rows)
    return fitted(estimator, learning, response_of(table, growth))


def response_of(table: Table, growth: Growth) -> npt.NDArray[Any]:
    """Return the target of a growth as scikit-learn takes it."""
    target = str(growth.target)
    return np.asarray(table.arrow([target])[target].to_numpy(zero_copy_only=False))


def fitted(estimator: Any, learning: Learning, response: npt.NDArray[Any]) -> Tree:
    """Fit scikit-learn's tree and take it over."""
    estimator.fit(matrix(learning), response)
    return Tree(learning.growth.task, tuple(c.name for c in learning.columns),
                class_labels(estimator), **node_arrays(estimator.tree_))


def matrix(learning: Learning) -> npt.NDArray[np.float32]:
    """Return the predictors as scikit-learn reads them."""
    out = np.empty((learning.rows, len(learning.columns)), np.float32)
    for index, column in enumerate(learning.columns):
        assert column.values is not None
        out[:, index] = np.append(column.values, np.nan)[column.codes]
    return out


def estimator_for(growth: Growth, leaves: int, rows: int) -> Any:
    """Return scikit-learn's unfitted estimator for a growth; one leaf is no split at all."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    common = {"min_samples_leaf": growth.min_leaf, "random_state": growth.random_state}
    size = {"max_leaf_nodes": leaves} if leaves > 1 else {"min_samples_split": rows + 1}
    if growth.task == "regression":
        return DecisionTreeRegressor(criterion="squared_error", **common, **size)
    return DecisionTreeClassifier(criterion=growth.criterion, **common, **size)


def groups_of(mechanism: Mapping[str, Any]) -> Groups:
    """Read the members of the released labels from a manifest."""
    groups = {}
    for name, listed in dict(mechanism.get("groups") or {}).items():
        try:
            groups[str(name)] = [(label, tuple(members)) for label, members in listed]
        except (TypeError, ValueError):
            raise ReleaseError(explain(f"The groups of '{name}'", "a list of [label, members]",
                                       listed)) from None
    return groups
