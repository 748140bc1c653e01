"""Every task is one folder and one line: the list is walked, and what is forgotten fails."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import unspoken.joint.tasks
from unspoken.joint.tasks.task import Task
from unspoken.joint.tasks.task_list import FOLDERS, all_tasks

HOME = Path(unspoken.joint.tasks.__file__).parent
ALWAYS = {"params.py", "pooled.py", "task.py"}
# What classifies has no parameters beyond those of its model, and forests those of trees.
BORROWED = {"classify", "forest", "boosted_trees", "logistic", "residuals"}


def test_every_folder_is_listed():
    found = {path.parent.name for path in HOME.glob("*/task.py")}
    folders = {path.name for path in HOME.iterdir()
               if path.is_dir() and path.name not in ("common", "__pycache__")}
    assert found == folders == set(FOLDERS)
    assert len(set(FOLDERS)) == len(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_the_same_files(folder):
    files = {path.name for path in (HOME / folder).glob("*.py")}
    assert (ALWAYS - {"params.py"} if folder in BORROWED else ALWAYS) <= files
    tasks = importlib.import_module(f"unspoken.joint.tasks.{folder}.task").TASKS
    for task in tasks:
        kind = "program_columns.py" if task.over_columns else "program_rows.py"
        assert kind in files or folder in ("classify", "forest", "tree"), task.name
    assert not files & {"task_rows.py", "task_columns.py", "costs.py", "read_params.py"}


@pytest.mark.parametrize("name", all_tasks())
def test_every_task_is_explained_and_has_a_reference(name):
    task = all_tasks()[name]
    assert isinstance(task, Task)
    assert len(task.help.splitlines()[0]) > 20
    assert task.pooled.__doc__
    assert task.params
    for param in task.params:
        assert len(param.help) > 6, param.name
        assert f"  {param.name} " in task.text()
    assert len({param.name for param in task.params}) == len(task.params)


@pytest.mark.parametrize("name", all_tasks())
def test_a_parameter_that_no_task_has_is_refused(name):
    from unspoken.joint.joint_errors import StudyError

    order = {"same_order": True} if all_tasks()[name].over_columns else {}
    with pytest.raises(StudyError):
        all_tasks()[name].check({"surely_not": 1, **order})
