"""The page of errata names tests that exist, for every text."""

from __future__ import annotations

import ast
import re

from support.paths import ROOT

PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def test_every_named_test_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)
    assert len(named) == PAGE.count("| `tests/") >= 20
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        written = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in written, f"{file}::{name}"


def test_every_text_is_there():
    assert set(re.findall(r"^\| (\w+\d{4}) \|", PAGE, re.M)) == {
        "bu2007", "as2000", "fu2010", "liu2006", "vcz2006"}
