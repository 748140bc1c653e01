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
    return sorted(set(re.findall(r"`(unspoken(?:_experiments)?\.[\w.]+)`", PAGE)))


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


@pytest.mark.slow
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
        assert state == "full" or len(state) > 5, f"say what is left out, or why: {row}"


# Reached from Python alone, with the reason.
NO_VERB = {"Powell, the book's Boston case": "weak, and refused for two owners; in the museum",
           "building blocks and proofs for users' own programs": "programs are written in Python"}
# Tests call these by other names: that of an attack, its knowledge, the miners it is about.
CALLED = {"KnownOrder": "known-order", "PRESETS": "expert", "distance_rules": "SVC"}


def test_what_is_full_is_reached_from_the_command_line_too():
    missing = {row[1] for row in ROWS if row[2].startswith("full") and not row[4]}
    assert missing == set(NO_VERB)


@pytest.mark.slow
def test_every_name_stands_in_a_test():
    here = ROOT / "tests"
    words = set(re.findall(r"[\w-]+", "\n".join(
        path.read_text() for path in here.rglob("*.py") if path.name != "test_coverage_page.py")))
    asked = {name.rpartition(".")[2] for name in names()}
    assert {CALLED.get(name, name) for name in asked} <= words
    assert "NothingOfThatName" not in words


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
