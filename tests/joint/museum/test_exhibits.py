"""The museum played: what each protocol's messages give away, by the numbers of the book."""

from __future__ import annotations

import json

import pytest

from unspoken.cli.main import main
from unspoken.errors import InputError
from unspoken.joint.museum.exhibits import EXHIBITS, exhibits


@pytest.mark.slow
@pytest.mark.parametrize(("name", "recovered", "values"), [
    ("ring-sum", 12, 12), ("cycle-sum", 0, 12), ("masked-sum", 0, 12), ("protocol-1", 0, 24),
    ("protocol-1-twice", 24, 24), ("protocol-2", 0, 24), ("polynomial", 0, 4),
    ("published-means", 3, 3)])
def test_what_the_messages_give_away(name, recovered, values):
    [one] = exhibits(name, 12, seed=3)
    assert (one.recovered, one.values) == (recovered, values)


def test_half_of_the_equations_leave_half_of_the_bits():
    assert exhibits("protocol-1", 40)[0].note.startswith("50%")


@pytest.mark.slow
def test_the_command_line_plays_all_or_one(capsys):
    assert main(["joint", "museum", "ring-sum", "--values", "8", "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)["exhibits"]
    assert one["recovered"] == one["values"] == 8
    assert main(["joint", "museum", "--values", "6"]) == 0
    printed = capsys.readouterr().out
    assert all(name.split("-twice")[0] in printed for name in EXHIBITS)


def test_unknown_exhibits_and_sizes_are_refused():
    with pytest.raises(InputError, match="ring-sum"):
        exhibits("ring")
    with pytest.raises(InputError, match="from 4"):
        exhibits(values=2)
