"""The notebooks of the site run from top to bottom, and show what their text says."""

from __future__ import annotations

import ast
import re

import matplotlib as mpl
import pytest

from support.paths import ROOT

FOLDER = ROOT / "docs" / "notebooks"
PAGES = ("custodian", "miner", "officer", "operator")
CELL = re.compile(r"^```\{code-cell\} python3\n(.*?)^```$", re.M | re.S)


def cells(page):
    return CELL.findall((FOLDER / f"{page}.md").read_text(encoding="utf-8"))


def shown(cell, names):
    """Run a cell as a notebook does; return the value of its last line, if it is one."""
    body = ast.parse(cell).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_there_are_four_notebooks_without_outputs():
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(PAGES)
    for page in PAGES:
        text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
        assert text.count("```{code-cell}") == len(cells(page)) > 2
        assert "file_format: mystnb" in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("page", PAGES)
def test_the_notebook_runs(page):
    mpl.use("Agg")
    names: dict = {}
    values = [shown(cell, names) for cell in cells(page)]
    for value in values:
        if type(value).__module__.startswith("unspoken.") and hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith("<pre")
    if page == "miner":
        table = names["table"]
        assert (names["decoded"].predict(table) == table.labels()).mean() > 0.9
    if page == "operator":
        assert "10" in repr(values[0])
