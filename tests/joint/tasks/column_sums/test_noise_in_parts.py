"""Noise in parts: nobody knows it, colluders do not know enough, and every owner counts it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from support.epsilon_distinguisher import least_epsilon
from support.joint_commands import free_ports, joint_command
from support.study_cases import NAMES, study_case
from unspoken.errors import InputError
from unspoken.joint import run_local
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.column_sums import params as sum_params
from unspoken.joint.tasks.column_sums.params import SumParams
from unspoken.joint.tasks.column_sums.pooled import pooled
from unspoken.joint.tasks.common import noise_in_parts
from unspoken.joint.tasks.task_list import all_tasks
from unspoken.numerics.concentrated_loss import delta_of, part_scale, rho_of
from unspoken.release.budget import Budget
from unspoken.table.read import read

PRIVATE = {"epsilon": 2.0, "range.a": [0, 10], "range.b": [-1, 1], "scale": 6}


@pytest.mark.parametrize(("honest", "rho"), [(1, 0.05), (2, 0.5), (9, 0.001), (3, 50.0)])
def test_the_honest_parts_alone_keep_the_loss(honest, rho):
    scale = part_scale(100.0, rho, honest)
    assert 100.0 / (math.sqrt(honest) * scale) <= math.sqrt(2 * rho)
    assert part_scale(100.0, rho, honest) <= max(100.0 / math.sqrt(2 * rho * honest) * 1.01, 2.01)


def test_noise_is_for_those_who_do_not_collude():
    one, two = (SumParams.of({"columns": ["a"], "epsilon": 1.0, "range.a": [0, 1], "scale": 8,
                              "colluding": c}) for c in (1, 2))
    assert two.parts(3)["a"] == pytest.approx(one.parts(3)["a"] * math.sqrt(2), rel=0.01)
    assert one.deviations(3)["a"] == pytest.approx(one.parts(3)["a"] * math.sqrt(3) / 256)
    with pytest.raises(StudyError, match="below the number of owners"):
        two.parts(2)


@pytest.mark.parametrize("mode", ["sums", "dealer"])
def test_a_study_with_noise_gives_sums_with_the_stated_deviation(mode):
    study, task, _ = study_case("sum", mode, **PRIVATE)
    data = [np.array([10.0 * k, 1.0]) for k in range(3)]
    outcomes = run_local(task.program(study), data, mode, names=NAMES,
                         **({"holders": NAMES[:2]} if mode == "dealer" else {}))
    result = next(one for one, _ in outcomes if one is not None)
    stated = SumParams.of(study.parameters).deviations(3)
    assert abs(result["a"] - 30) < 8 * stated["a"]
    assert abs(result["b"] - 3) < 8 * stated["b"]
    assert result["a"] != 30
    notes = " ".join(task.plan(study).notes)
    assert f"{stated['a']:.4g} (a)" in notes
    assert "also against any 1 owners" in notes


def test_values_are_clamped_and_counted_row_by_row():
    rules = SumParams.of({"columns": ["a", "b"], "range.a": [0, 10], "edges.b": [0, 1, 2, 3]})
    part = {"a": [5.0, 1e9, -7.0], "b": [-4.0, 1.5, 99.0]}
    assert pooled([part, part], ["a", "b"], rules) == {"a": 30.0, "b 0 .. 1": 2.0, "b 1 .. 2": 2.0,
                                                       "b 2 .. 3": 2.0}


@pytest.mark.parametrize("wrong", [
    {"range.a": [0, 1e30]}, {"range.a": [-1e308, 1e308]}, {"range.a": [0, 1e9], "scale": 40},
    {"range.a": [0, 1], "epsilon": 1e-9}])
def test_noise_without_room_is_refused(wrong):
    rules = SumParams.of({"columns": ["a"], "epsilon": 1.0, **wrong})
    with pytest.raises((StudyError, InputError), match=r"room in 62 bits|both are too small"):
        rules.parts(3)


def test_sums_beyond_what_floats_hold_are_exact():
    rules = SumParams.of({"columns": ["a"], "epsilon": 1.0, "range.a": [0, 2**30], "scale": 16})
    values = np.full(1000, 2.0**30 - 2.0**-16)
    assert int(rules.units("a", values)[0]) == 1000 * (2**46 - 1)


def totals(rules, value, times, known=1):
    """Return results as owners who collude see them: without their own parts of the noise."""
    own = rules.sums("a", np.array([value, 1.0])) * 2.0**rules.scale
    parts = sum(np.array([rules.noise(3) for _ in range(times)]) for _ in range(3 - known))
    return (own + parts)[:, 0]


@pytest.mark.slow
def test_colluding_owners_prove_no_more_than_was_stated(monkeypatch):
    rules = SumParams.of({"columns": ["a"], "epsilon": 2.0, "delta": 0.1, "range.a": [0, 10],
                          "scale": 4})
    seen = [totals(rules, value, 2000) for value in (0.0, 1e6)]
    assert least_epsilon(*seen, delta=0.1) <= 2.0
    monkeypatch.setattr(noise_in_parts, "part_scale", lambda *a: part_scale(*a) / 2)
    assert least_epsilon(*(totals(rules, value, 2000) for value in (0.0, 1e6)), delta=0.1) > 2.0


@pytest.mark.slow
def test_a_row_that_is_not_clamped_is_caught(monkeypatch):
    rules = SumParams.of({"columns": ["a"], "epsilon": 1.0, "range.a": [0, 10], "scale": 4})
    monkeypatch.setattr(sum_params.np, "clip", lambda values, low, high: values)
    assert least_epsilon(*(totals(rules, value, 2000) for value in (0.0, 1e6))) > 1.0


@pytest.mark.parametrize("wrong", [
    {"epsilon": 0}, {"epsilon": True, "range.a": [0, 1]}, {"epsilon": 1.0}, {"delta": 1e-6},
    {"epsilon": 1.0, "range.a": [1, 0]}, {"range.z": [0, 1]}, {"edges.a": [0]},
    {"epsilon": 1.0, "range.a": [0, 1], "colluding": 0},
    {"epsilon": 1.0, "range.a": [0, 1], "delta": 0.5}])
def test_wrong_parameters(wrong):
    parameters = {"columns": ["a"], **wrong}
    with pytest.raises(StudyError):
        all_tasks()["sum"].check(parameters)


def test_conversion_is_shared_by_all_families():
    assert delta_of(rho_of(1.0, 1e-6), 1.0) <= 1e-6


@pytest.fixture
def owners(tmp_path):
    ports = free_ports(3)
    for place, name in enumerate(NAMES):
        assert joint_command("identity", name, "--folder", tmp_path) == 0
        rows = "".join(f"{place + k},{k}.5\n" for k in range(9))
        (tmp_path / f"{name}.csv").write_text("a,b\n" + rows)
    words = [w for name, port in zip(NAMES, ports, strict=True)
             for w in ("--party", f"{tmp_path / name}.crt=127.0.0.1:{port}")]

    def new(*more):
        study = tmp_path / "study.toml"
        study.unlink(missing_ok=True)
        assert joint_command("new", study, "--name", "try", "--columns", "a", *words, *more) == 0
        files = [w for name in NAMES for w in ("--data", f"{name}={tmp_path / name}.csv")]
        return ["local", study, *files]

    return tmp_path, new


PAID = ("--set", "epsilon=0.6", "--set", "range.a=[0, 20]")


@pytest.mark.slow
def test_every_owner_counts_and_one_without_room_stops_the_study(owners, capsys):
    folder, new = owners
    run = new(*PAID)
    with pytest.raises(StudyError, match="Start a budget"):
        joint_command(*run)
    for name, epsilon in zip(NAMES, (2, 1, 2), strict=True):
        path = folder / f"{name}.csv"
        Budget.start(f"{path}.budget", read(path, show=False), epsilon=epsilon, delta=1e-5)
    capsys.readouterr()
    assert joint_command(*run, "--json") == 0
    assert json.loads(capsys.readouterr().out)
    south = Budget(folder / "south.csv.budget")
    assert [one.kind for one in south.draws] == ["study"]
    assert south.draws[0].to == ", ".join(NAMES)
    again = new(*PAID, "--author", "under another name")
    with pytest.raises(StudyError, match="Nothing was shared"):
        joint_command(*again)
    assert len(Budget(folder / "south.csv.budget").draws) == 1
    bare = new()
    assert joint_command(*bare) == 0
    assert Budget(folder / "south.csv.budget").draws[-1].cost.epsilon is None
