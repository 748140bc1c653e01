"""What a start loads: `import unspoken` and `--help` nothing heavy, a verb its own file only."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unspoken
from unspoken.cli.main import main, parser
from unspoken.cli.verb_list import VERBS

LOADED = ("import json, sys; before = set(sys.modules)\n{code}\n"
          "print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)")
COMMAND = ("from unspoken.cli.main import main\n"
           "try: main({words})\n"
           "except SystemExit: pass")
SHARED = {"unspoken.cli.common", "unspoken.cli.data_places", "unspoken.cli.endings",
          "unspoken.cli.flag_words", "unspoken.cli.main", "unspoken.cli.verb_list"}
"""What every command loads of the command line."""


def loaded(code: str) -> set[str]:
    """Return the modules that a fresh interpreter loads for some lines of code."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(code=code)], capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1])})
    return set(json.loads(done.stderr.splitlines()[-1]))


def from_elsewhere(modules: set[str]) -> set[str]:
    """Return the packages that come neither with Python nor with unspoken."""
    roots = {name.partition(".")[0] for name in modules}
    return roots - set(sys.stdlib_module_names) - {"unspoken"}


@pytest.mark.slow
def test_the_package_loads_its_version_and_nothing_else():
    modules = loaded("import unspoken")
    assert {name for name in modules if name.startswith("unspoken")} == {
        "unspoken", "unspoken._version"}
    assert from_elsewhere(modules) == set()
    assert modules.isdisjoint({"dataclasses", "inspect", "pathlib", "re", "argparse"})


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["--version"], [], ["protext"]])
def test_help_loads_no_verb(words):
    modules = loaded(COMMAND.format(words=words))
    assert {name for name in modules if name.startswith("unspoken.cli.")} == SHARED
    assert from_elsewhere(modules) == set()
    assert modules.isdisjoint({"dataclasses", "inspect", "asyncio", "unspoken.release.method"})


@pytest.mark.slow
def test_a_verb_loads_its_own_file_and_no_library():
    modules = loaded(COMMAND.format(words=["summary", "--help"]))
    assert {name for name in modules if name.startswith("unspoken.cli.")} == {
        *SHARED, "unspoken.cli.summary_verb"}
    assert from_elsewhere(modules) == set()


@pytest.mark.parametrize("file", sorted({line.file for line in VERBS}))
def test_the_lines_of_help_are_those_of_the_verbs(file):
    verbs = argparse.ArgumentParser().add_subparsers()
    importlib.import_module(f"unspoken.cli.{file}").add(verbs)
    told = [(one.dest, one.help) for one in verbs._choices_actions]
    assert told == [(line.name, line.text) for line in VERBS if line.file == file]


def test_every_file_with_a_verb_is_listed():
    folder = Path(importlib.import_module("unspoken.cli").__file__).parent
    named = {path.stem for path in folder.glob("*_verb*.py")}
    beside = {"basket_verbs"}
    assert named - {line.file for line in VERBS} == beside


def test_help_is_the_same_whatever_is_loaded():
    whole = parser().format_help()
    assert parser([]).format_help() == parser(["summary"]).format_help() == whole
    assert all(f"    {line.name} " in whole or f"    {line.name}\n" in whole for line in VERBS)


@pytest.mark.parametrize(("words", "told"), [
    (["protext"], "Did you mean 'protect'? See 'unspoken --help'."),
    (["joint", "pln"], "Did you mean 'plan'? See 'unspoken joint --help'."),
    (["mine", "r", "--learner", "foerst", "--out", "o"], "Did you mean 'forest'?"),
    (["inspect", "t.csv", "--targt", "x"],
     "--targt x. Did you mean '--target'? See 'unspoken inspect --help'."),
    (["joint", "tasks", "--jsn"], "Did you mean '--json'? See 'unspoken joint tasks --help'."),
    (["hierarchy", "t.csv", "age", "--column"], "--column. See 'unspoken hierarchy --help'."),
    (["inspect", "t.csv", "--colour"], "--colour. See 'unspoken inspect --help'."),
])
def test_a_misspelt_word_is_answered_with_the_nearest(words, told, capsys):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert told in capsys.readouterr().err
