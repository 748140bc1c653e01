"""Every task is one folder and one line: the list is walked, and what is forgotten fails."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import unspoken.joint.tasks
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.task import Task
from unspoken.joint.tasks.task_list import FOLDERS, all_tasks
from unspoken.joint.tasks.task_params import TaskSettings, declared

HOME = Path(unspoken.joint.tasks.__file__).parent
ALWAYS = {"params.py", "pooled.py", "task.py"}
# What no range can be taken for: values of every kind that studies can hold.
STRANGE = (-1, 0, 10**30, -0.5, 1e300, float("nan"), "", "no such word", [], [""], ["a", "a"],
           [-1, "x"], [1.0], True, {})


def test_every_folder_is_listed():
    found = {path.parent.name for path in HOME.glob("*/task.py")}
    folders = {path.name for path in HOME.iterdir()
               if path.is_dir() and path.name not in ("common", "__pycache__")}
    assert found == folders == set(FOLDERS)
    assert len(set(FOLDERS)) == len(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_the_same_files(folder):
    files = {path.name for path in (HOME / folder).glob("*.py")}
    assert files >= ALWAYS
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
        assert len(param.declared.help) > 6, param.name
        assert f"  {param.name} " in task.text()
        assert param.declared.rule.allowed() in task.text()
    assert len({param.name for param in task.params}) == len(task.params)


@pytest.mark.parametrize("name", all_tasks())
def test_a_parameter_that_no_task_has_is_refused(name):
    order = {"same_order": True} if all_tasks()[name].over_columns else {}
    with pytest.raises(StudyError):
        all_tasks()[name].check({"surely_not": 1, **order})


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_parameters_of_a_folder_stand_in_one_frozen_dataclass(folder):
    module = importlib.import_module(f"unspoken.joint.tasks.{folder}.params")
    tasks = importlib.import_module(f"unspoken.joint.tasks.{folder}.task").TASKS
    settings = [each for each in vars(module).values() if isinstance(each, type)
                and issubclass(each, TaskSettings) and each.__module__ == module.__name__]
    everything = {param for task in tasks for param in task.params}
    assert any(set(declared(each)) >= everything for each in settings)
    assert all(each.__dataclass_params__.frozen for each in settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", all_tasks())
def test_a_value_out_of_range_is_refused_by_the_name_of_its_parameter(name):
    task = all_tasks()[name]
    for param in task.params:
        wrong = [value for value in STRANGE if not param.declared.rule.admits(value)]
        assert wrong, param.name
        asked = param.name.replace("NAME", "north")
        for value in wrong:
            with pytest.raises(StudyError, match=f"^Parameter '{asked}' of task '{name}' must be"):
                task.check({asked: value})


@pytest.mark.parametrize("name", all_tasks())
def test_a_parameter_that_is_missing_is_asked_for_by_name(name):
    task = all_tasks()[name]
    required = [param.name for param in task.params if param.required and "NAME" not in param.name]
    assert required
    with pytest.raises(StudyError, match=f"needs parameter '{required[0]}'"):
        task.check({})


@pytest.mark.parametrize("name", all_tasks())
def test_every_default_is_one_that_a_study_could_say(name):
    for param in all_tasks()[name].params:
        if not param.required and param.default not in (None, (), ""):
            assert param.declared.rule.admits(param.default), param.name
