"""Import lines of Python blocks in the documentation run, and `unspoken.joint` keeps its door."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import unspoken.joint

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def import_lines(path: Path) -> list[str]:
    """Return the imports of unspoken in a page's Python blocks."""
    found = []
    for code in BLOCK.findall(path.read_text(encoding="utf-8")):
        try:
            nodes = ast.walk(ast.parse(code))
        except SyntaxError:
            continue
        found += [ast.unparse(node) for node in nodes
                  if isinstance(node, ast.Import | ast.ImportFrom)
                  and "unspoken" in ast.unparse(node)]
    return found


PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
         if import_lines(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_imports_is_there(page):
    for line in import_lines(page):
        exec(compile(line, str(page), "exec"), {})


def test_joint_has_few_names_and_all_of_them():
    assert len(unspoken.joint.__all__) <= 60
    for name in unspoken.joint.__all__:
        assert getattr(unspoken.joint, name) is not None
    assert {"mine_tree_rows", "TreeParams"} <= set(dir(unspoken.joint))
    with pytest.raises(AttributeError, match="no attribute 'mine_magic'"):
        _ = unspoken.joint.mine_magic
