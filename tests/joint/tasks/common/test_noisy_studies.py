"""Studies with noise from the command line: every owner books, and who has no room stops them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.joint_commands import free_ports, joint_command
from support.study_cases import NAMES
from unspoken.joint.joint_errors import StudyError
from unspoken.release.budget import Budget
from unspoken.table.read import read

TASKS = {
    "bayes": ("--task", "bayes", "--columns", "age,sex", "--set", "target=ill", "--set",
              'classes=["no", "yes"]', "--set", "range.age=[0, 100]", "--set",
              'categories.sex=["f", "m"]', "--set", "reveal=sums"),
    "regression": ("--task", "regression", "--columns", "age", "--set", "response=cost", "--set",
                   "range.age=[0, 100]", "--set", "range.cost=[0, 100]", "--set",
                   "inference=false")}


@pytest.fixture
def owners(tmp_path):
    rng = np.random.default_rng(1)
    for name in NAMES:
        assert joint_command("identity", name, "--folder", tmp_path) == 0
        ages = rng.integers(0, 120, 400)
        rows = "".join(f"{age},{'fm'[age % 2]},{'yes' if age > 60 else 'no'},{age / 2 + 9}\n"
                       for age in ages)
        (tmp_path / f"{name}.csv").write_text("age,sex,ill,cost\n" + rows)
        path = tmp_path / f"{name}.csv"
        Budget.start(f"{path}.budget", read(path, show=False), delta=1e-5,
                     epsilon=1.0 if name == "south" else 3.0)
    return tmp_path


def started(folder, task, *more):
    words = [w for name, port in zip(NAMES, free_ports(3), strict=True)
             for w in ("--party", f"{folder / name}.crt=127.0.0.1:{port}")]
    study = folder / "study.toml"
    study.unlink(missing_ok=True)
    assert joint_command("new", study, "--name", "try", *words, *TASKS[task], "--set",
                         "epsilon=0.7", *more) == 0
    return study, [w for name in NAMES for w in ("--data", f"{name}={folder / name}.csv")]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_every_owner_books_and_one_without_room_stops_the_study(task, owners, capsys, monkeypatch):
    study, files = started(owners, task)
    capsys.readouterr()
    assert joint_command("plan", study) == 0
    text = capsys.readouterr().out
    assert "epsilon 0.7 at delta 1e-06 for what one row says, also against any 1 owners" in text
    assert "standard deviation of the noise" in text
    assert joint_command("local", study, *files, "--json") == 0
    assert json.loads(capsys.readouterr().out)
    for name in NAMES:
        draw = Budget(owners / f"{name}.csv.budget").draws[-1]
        assert (draw.kind, draw.cost.epsilon, draw.cost.delta) == ("study", 0.7, 1e-6)
    study, files = started(owners, task, "--author", "under another name")
    monkeypatch.setattr("unspoken.joint.session.processes.run_processes", None)
    with pytest.raises(StudyError, match="Nothing was shared"):
        joint_command("local", study, *files)
    assert len(Budget(owners / "south.csv.budget").draws) == 1
