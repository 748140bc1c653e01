"""All tasks that a study can name, and the steps that the runner does for them."""

from __future__ import annotations

import importlib
from functools import cache

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.controlled_results import controlled
from unspoken.joint.tasks.common.ordered_study import in_one_order
from unspoken.joint.tasks.task import Task
from unspoken.joint.tasks.task_params import near

# A new task is a folder with a `task.py` that has TASKS, and one line here.
FOLDERS = ("column_sums", "column_schema", "column_summary", "column_quantiles", "column_bins",
           "intersection", "influence", "naive_bayes", "classify", "network",
           "mixture", "kmeans", "logistic", "neighbours", "outliers", "regression",
           "residuals", "robust_regression", "rules",
           "boosted_trees", "forest", "tree",
           "percentile",
           "segments",
           "series_forecast",
           "set_members",
           "votes")


@cache
def all_tasks() -> dict[str, Task]:
    """Return every task by its name."""
    tasks = (task for folder in FOLDERS for task in importlib.import_module(
        f"unspoken.joint.tasks.{folder}.task").TASKS)
    return {task.name: controlled(in_one_order(task) if task.over_columns else task)
            for task in tasks}


def task_of(study: Study) -> Task:
    """Return a study's task; its parameters are checked."""
    tasks = all_tasks()
    if study.task not in tasks:
        raise StudyError(explain("The task of a study", "one of " + ", ".join(tasks), study.task)
                         + near(study.task, list(tasks)))
    task = tasks[study.task]
    task.check(study.parameters)
    return task
