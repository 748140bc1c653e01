"""All tasks that a study can name, and the steps that the runner does for them."""

from __future__ import annotations

import importlib

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.record_order import in_one_order
from unspoken.joint.tasks.common.study_parameters import near
from unspoken.joint.tasks.task import Task

# Where the TASK of each name lives.
HOMES = {
    "sum": "unspoken.joint.tasks.column_sums.task_rows",
    "intersection": "unspoken.joint.tasks.intersection.task_rows",
    "bayes": "unspoken.joint.tasks.naive_bayes.task_rows",
    "bayes-columns": "unspoken.joint.tasks.naive_bayes.task_columns",
    "classify": "unspoken.joint.tasks.classify.task_records",
    "network": "unspoken.joint.tasks.network.task_columns",
    "mixture": "unspoken.joint.tasks.mixture.task_rows",
    "kmeans": "unspoken.joint.tasks.kmeans.task_rows",
    "kmeans-columns": "unspoken.joint.tasks.kmeans.task_columns",
    "logistic": "unspoken.joint.tasks.logistic.task_rows",
    "outliers": "unspoken.joint.tasks.outliers.task_rows",
    "outliers-columns": "unspoken.joint.tasks.outliers.task_columns",
    "logistic-columns": "unspoken.joint.tasks.logistic.task_columns",
    "regression": "unspoken.joint.tasks.regression.task_rows",
    "regression-columns": "unspoken.joint.tasks.regression.task_columns",
    "residuals": "unspoken.joint.tasks.residuals.task_rows",
    "residuals-columns": "unspoken.joint.tasks.residuals.task_columns",
    "rules": "unspoken.joint.tasks.rules.task_rows",
    "rules-columns": "unspoken.joint.tasks.rules.task_columns",
    "boosted-trees": "unspoken.joint.tasks.boosted_trees.task_rows",
    "forest": "unspoken.joint.tasks.forest.task_rows",
    "forest-columns": "unspoken.joint.tasks.forest.task_columns",
    "tree": "unspoken.joint.tasks.tree.task_rows",
    "tree-columns": "unspoken.joint.tasks.tree.task_columns",
    "classify-columns": "unspoken.joint.tasks.classify.task_columns",
}


def task_of(study: Study) -> Task:
    """Return a study's task; its parameters are checked."""
    if study.task not in HOMES:
        raise StudyError(explain("The task of a study", "one of " + ", ".join(HOMES), study.task)
                         + near(study.task, list(HOMES)))
    found: Task = importlib.import_module(HOMES[study.task]).TASK
    task = in_one_order(found) if found.over_columns else found
    task.check(study.parameters)
    return task
