"""docs/scale.md says what every joint task sends: the figures are those of the dry runs."""

import sys
from pathlib import Path

import pytest

from support.study_cases import CASES
from unspoken.joint.tasks.task_list import all_tasks

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def forecasts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import joint_forecasts

    yield joint_forecasts
    sys.modules.pop("joint_forecasts")


def test_every_task_is_on_the_page(forecasts):
    page = (ROOT / "docs" / "scale.md").read_text()
    part = page.split(forecasts.MARKS[0])[1].split(forecasts.MARKS[1])[0]
    listed = {tuple(line.split(" | ")[:2]) for line in part.splitlines() if " | " in line}
    wanted = {(f"| {task}", mode) for task in CASES for mode in forecasts.modes_on_the_page(task)}
    assert listed == wanted | {("| task", "mode"), ("| ---", "---")}
    assert set(CASES) == set(all_tasks())


@pytest.mark.parametrize(("task", "mode"), [("sum", "dealer"), ("classify-columns", "dealer")])
def test_a_line_of_the_page_is_what_the_dry_run_counts(forecasts, task, mode):
    assert forecasts.forecast(task, mode).line() in (ROOT / "docs" / "scale.md").read_text()


def test_what_compares_all_pairs_grows_with_their_number(forecasts):
    made = forecasts.Forecast("x", "dealer", (10, 20, 40),
                              tuple(7 * n * (n - 1) // 2 for n in forecasts.SIZES))
    assert made.squared
    assert made.bytes_at(1_000_000) == pytest.approx(7 * 1e12 / 2, rel=0.01)
    flat = forecasts.Forecast("x", "dealer", (10, 10, 10), (900, 905, 899))
    assert (flat.each, flat.bytes_at(1_000_000)) == (0.0, 899)
