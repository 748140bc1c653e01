"""What a party's file holds never shows in an error: neither in its words nor behind them."""

from __future__ import annotations

import traceback

import pytest

from support.study_cases import CASES, modes_of, study_case
from unspoken.errors import UnspokenError
from unspoken.joint.tasks.task_list import all_tasks

MARK = "97 ylva"
FILES = {
    "sum": ["a", "b"], "intersection": ["id"], "schema": ["town", "age"],
    "summary": ["age", "stay"], "quantiles": ["age"], "bins": ["age", "sex", "stay", "class"],
    "bayes": ["age", "sex", "class"],
    "bayes-columns": ["n1", "n2", "class"], "classify": ["age", "sex"],
    "classify-columns": ["age"], "network": ["a"], "mixture": ["x", "y"], "kmeans": ["x", "y"],
    "kmeans-columns": ["age"], "logistic": ["age", "cost"], "logistic-columns": ["age"],
    "neighbours": ["x", "y", "class"], "outliers": ["x", "y"], "outliers-columns": ["age"],
    "regression": ["age", "cost"],
    "regression-columns": ["age"], "residuals": ["age", "cost"], "residuals-columns": ["age"],
    "rules": ["item"], "rules-columns": ["item"], "boosted-trees": ["age", "sex", "class"],
    "boosted-trees-columns": ["age", "class"],
    "forest": ["age", "sex", "class"], "forest-columns": ["age", "class"],
    "tree": ["age", "sex", "class"], "tree-columns": ["age", "class"],
    "robust": ["age", "cost"], "influence": ["age", "cost"], "forecast": ["orders"],
    "percentile": ["wage", "days"], "segments": ["town", "rent"],
    "intersection-members": ["id"], "union": ["id"],
    "vote": ["age", "sex", "class"]}
# What a column may hold beside the mark: a text makes text of it, a number leaves it mixed.
KINDS = {"text": lambda row: f"{MARK} {row}", "mixed": lambda row: MARK if row == 7 else str(row),
         "twice": lambda row: MARK, "missing": lambda row: "" if row == 3 else MARK}


def shown(error):
    """Return everything that a traceback of an error says."""
    lines = traceback.TracebackException.from_exception(error).format_exception_only()
    around = [error.__cause__, None if error.__suppress_context__ else error.__context__]
    return "".join(lines) + "".join(shown(each) for each in around if each is not None)


def tried(load, *args):
    """Return the error of a call, if it has one."""
    try:
        load(*args)
    except Exception as error:
        return error
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_does_not_fit_is_refused_without_its_values(name, kind, tmp_path):
    study, task, _ = study_case(name, modes_of(name)[0])
    rows = [",".join(KINDS[kind](row) for _ in FILES[name]) for row in range(12)]
    path = tmp_path / "north.csv"
    path.write_text("\n".join([",".join(FILES[name]), *rows]) + "\n")
    error = tried(task.load, path, study)
    assert error is None or isinstance(error, UnspokenError), repr(error)
    if error is not None:
        assert MARK not in shown(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree-columns", "forest-columns", "boosted-trees-columns"])
def test_a_column_of_days_is_named(name, tmp_path):
    """Its values are no numbers and no words; the error was that of a library."""
    study, task, _ = study_case(name, modes_of(name)[0])
    path = tmp_path / "north.csv"
    rows = [",".join([f"2026-01-{row + 1:02d}"] * len(FILES[name])) for row in range(12)]
    path.write_text("\n".join([",".join(FILES[name]), *rows]) + "\n")
    error = tried(task.load, path, study)
    assert error is None or "must hold numbers" in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, (p, _) in CASES.items() if n.endswith("-columns")])
def test_ids_do_not_show_either(name, tmp_path):
    study, task, _ = study_case(name, "dealer", ids="patient")
    path = tmp_path / "north.csv"
    path.write_text("\n".join([",".join(["patient", *FILES[name]]),
                               *(",".join([MARK, *(str(row) for _ in FILES[name])])
                                 for row in range(4))]) + "\n")
    error = tried(task.load, path, study)
    assert error is None or (isinstance(error, UnspokenError) and MARK not in shown(error))


def test_every_task_is_tried():
    assert set(FILES) == set(all_tasks())
