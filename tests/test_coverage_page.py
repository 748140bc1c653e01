"""The page that says where each section of the five texts lives names only what exists."""

from __future__ import annotations

import importlib
import re

import pytest

from support.paths import ROOT
from unspoken.cli.main import parser

PAGE = (ROOT / "docs" / "coverage.md").read_text()
TEXTS = ("bu2007", "as2000", "fu2010", "liu2006", "vcz2006")
ROWS = [[cell.strip() for cell in line[1:-1].split("|")]
        for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line
        and not line.startswith("| section")]


def names():
    return sorted(set(re.findall(r"`((?:unspoken|experiments)\.[\w.]+)`", PAGE)))


def resolved(name):
    """Return a module or a name of one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            thing = getattr(thing, part)
        return thing
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", names())
def test_every_name_exists(name):
    assert resolved(name) is not None


def test_a_name_that_does_not_exist_is_noticed():
    with pytest.raises(AttributeError):
        resolved("unspoken.protect.NothingOfThatName")


def test_every_row_has_a_state_and_what_is_full_has_a_place():
    for row in ROWS:
        assert len(row) == 5, row
        state, library = row[2], row[3]
        assert re.match(r"(full|part|no)\b", state), row
        assert library or state.startswith("no"), row
        assert state in ("full", "no") or len(state) > 5, f"say what is left out: {row}"


def test_all_five_texts_have_a_table():
    assert tuple(re.findall(r"^## (\w+)$", PAGE, re.M)) == TEXTS
    assert len(ROWS) > 80


@pytest.mark.slow
def test_every_verb_exists():
    verbs = sorted(set(re.findall(r"`unspoken ([a-z -]+)`", PAGE)))
    assert verbs
    for verb in verbs:
        with pytest.raises(SystemExit) as stop:
            parser().parse_args([*verb.split(), "--help"])
        assert stop.value.code == 0, verb
