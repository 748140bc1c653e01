"""An empty path is refused: pathlib would take it for the current folder."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import unspoken
from unspoken import Key, Release
from unspoken.cli.data_places import data_place
from unspoken.cli.main import main, parser
from unspoken.errors import InputError
from unspoken.joint import load_identity
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.release.budget import Budget
from unspoken.release.register import Register


def paths_of(one, name="unspoken"):
    """Yield every parser with each of its arguments that is a path."""
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb, below in action.choices.items():
                yield from paths_of(below, f"{name} {verb}")
        elif action.type in (Path, data_place):
            yield one, action


def test_every_path_of_the_command_line_refuses_an_empty_one():
    asked = list(paths_of(parser()))
    assert len(asked) > 100
    for one, action in asked:
        for empty in ("", "  "):
            with pytest.raises(argparse.ArgumentError, match="must name a file or a folder"):
                one._get_value(action, empty)


def test_the_current_folder_is_not_read_for_an_empty_path(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit):
        main(["inspect", ""])
    assert "must name a file or a folder" in capsys.readouterr().err


@pytest.mark.parametrize("take", [
    unspoken.read, Release.load, Key.load, Register.load, Budget, Hierarchy.from_csv,
    lambda path: load_identity("north", path)])
def test_the_library_refuses_an_empty_path(take):
    with pytest.raises(InputError, match="must name a file or a folder"):
        take("")
