"""Awkward files through commands: statuses as stated, plain words, flags and no Python.

`bench/awkward_matrix.py --commands` takes every file through every method; here are some.
"""

from __future__ import annotations

import pytest

from support.awkward_commands import Ended, walk_commands, wrong_with
from support.awkward_frames import FRAMES

BY_NAME = {frame.name: frame for frame in FRAMES}
SOME = {
    "int64 beyond 2**53": "swap", "nullable integers": "piecewise",
    "infinities": "randomized-response", "tiny numbers": "mondrian", "huge numbers": "sample",
    "booleans": "piecewise", "all missing": "rotation", "dates with gaps": "piecewise",
    "dates of other countries": "mondrian", "categories": "randomized-response",
    "leading zeros": "swap", "thousands": "rotation", "decimal commas": "piecewise",
    "words for missing": "sample", "question marks": "rotation", "Latin letters": "mondrian",
    "quotes and line ends": "piecewise", "lists": "sample", "one row": "piecewise",
    "no rows": "piecewise", "the same name twice": "sample", "strange names": "piecewise",
    "only a target": "sample", "one class": "piecewise", "targets that are missing": "piecewise",
    "targets that are dates": "piecewise",
}
"""One file of every kind of awkwardness, and a method that it goes through; some in Parquet too."""
CELLS = [*((name, "csv") for name in SOME), *((name, "parquet") for name in list(SOME)[::3])]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), CELLS)
def test_commands_end_as_stated(name, kind, tmp_path, monkeypatch):
    # Pictures take longer than all the rest; the test below draws them.
    monkeypatch.setattr("unspoken.report.page.svg_of", lambda *_args: "<svg></svg>")
    cells = list(walk_commands(BY_NAME[name], kind, tmp_path, [SOME[name]]))
    assert [cell for cell in cells if cell[3]] == []
    verbs = {verb: status for _, verb, status, _ in cells}
    assert set(verbs) == ({"protect", "audit", "mine"} if verbs["protect"] == 0 else {"protect"})
    if kind in BY_NAME[name].refused:
        assert verbs == {"protect": 2}


@pytest.mark.slow
def test_plain_files_are_released_audited_and_mined(tmp_path):
    cells = list(walk_commands(BY_NAME["categories"], "csv", tmp_path, ("piecewise",)))
    statuses = {verb: status for _, verb, status, _ in cells}
    assert statuses["protect"] == statuses["mine"] == 0
    assert statuses["audit"] in (0, 1)


@pytest.mark.parametrize(("done", "said"), [
    (Ended("raw KeyError: 'x'", "", ""), "ended with raw KeyError"),
    (Ended(1, "{}", ""), "ended with 1"),
    (Ended(0, "not json", ""), "no JSON"),
    (Ended(2, "", "Traceback\nunspoken: no."), "other lines"),
    (Ended(2, "{}", "unspoken: It is not there."), "stdout holds"),
    (Ended(2, "", ""), "status 2 beside"),
    (Ended(0, "{}", "unspoken: It is not there."), "status 0 beside"),
    (Ended(2, "", "unspoken: unexpected KeyError: x (UNSPOKEN_DEBUG=1 shows where)"), "Python"),
    (Ended(2, "", "unspoken: Read it with unspoken.read(source)."), "Python"),
    (Ended(2, "", "unspoken: Use overwrite=True."), "Python"),
    (Ended(2, "", "unspoken: It must be None or a number."), "Python"),
])
def test_the_check_can_fail(done, said):
    assert said in wrong_with(done, (0, 2))


@pytest.mark.parametrize("text", [
    "unspoken: note: taken as missing: x 'NA' 8 (--missing says otherwise)\nunspoken: Use --option "
    "missing=blank.", "unspoken: Column 'age=True' is not there. Did you mean 'age'?"])
def test_the_check_lets_flags_and_columns_pass(text):
    assert wrong_with(Ended(2, "", text), (0, 2)) == ""
