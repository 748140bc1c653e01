"""What says the same as a declared identifier stays with it, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.protect import NoiseAdder
from unspoken.table.identify import column_sample

ROWS = 300


def visits(people=60, rows=ROWS, seed=3):
    """Return ids that repeat, a copy, two recodings, and columns that only look alike."""
    draw = np.random.default_rng(seed)
    who = np.r_[np.arange(people), draw.integers(0, people, rows - people)]
    codes = draw.permutation(people)[who]
    return {"pid": [f"C{one:02d}" for one in who], "again": [f" c{one:02d}" for one in who],
            "code": codes, "half": codes / 2 + 0.25, "ward": who % 7, "age": 20 + who % 31,
            "dose": draw.normal(50, 9, rows), "visit": draw.integers(0, people, rows)}


def roles(columns, **options):
    table = unspoken.read(columns, show=False, **{"identifiers": "pid", **options})
    return {name for name in table.schema.names if table.schema[name].role == "identifier"}, table


def test_a_copy_and_a_recoding_of_ids_that_repeat_are_withheld_with_a_note():
    withheld, table = roles(visits())
    assert withheld == {"pid", "again", "code", "half"}
    assert "a copy of 'pid'" in table.schema["again"].note
    assert "one to one with 'pid'" in table.schema["code"].note
    assert [note.split("'")[1] for note in table.notes] == ["again", "code", "half"]


def test_what_is_kept_by_name_or_declared_is_released():
    withheld, table = roles(visits(), keep=["code"], quasi=["half"])
    assert withheld == {"pid", "again"}
    released = NoiseAdder(others="drop").protect(table)[0].schema.names
    assert {"code", "half"} <= set(released)
    assert not {"pid", "again"} & set(released)


def test_one_person_with_two_codes_or_one_code_for_two_people_is_no_recoding():
    columns = visits()
    split, merged = columns["code"].copy(), columns["code"].copy()
    split[-1], merged[merged == 1] = 1000, 2
    withheld, _ = roles({**columns, "split": split, "merged": merged})
    assert withheld == {"pid", "again", "code", "half"}


def test_gaps_hide_no_copy():
    columns = visits()
    gaps = [None if row % 9 == 0 else float(code) for row, code in enumerate(columns["code"])]
    assert "gaps" in roles({**columns, "gaps": gaps})[0]


def test_where_ids_never_repeat_a_measurement_is_no_copy():
    draw = np.random.default_rng(1)
    columns = {"pid": draw.permutation(ROWS) * 7, "dose": draw.normal(50, 9, ROWS),
               "height": draw.permutation(ROWS) + 0.5, "same": 0.0}
    columns["same"] = columns["pid"].astype(float)
    assert roles(columns)[0] == {"pid", "same"}


def test_few_values_say_little_unless_they_are_the_same():
    columns = {"pid": ["a", "b"] * 20, "sex": ["f", "m"] * 20, "copy": ["a", "b"] * 20}
    assert roles(columns)[0] == {"pid", "copy"}


def test_of_many_rows_some_are_looked_at_and_values_are_counted_in_all(monkeypatch):
    monkeypatch.setattr(column_sample, "SAMPLE", 100)
    columns = visits(people=40, rows=2000)
    assert roles(columns)[0] == {"pid", "again", "code", "half"}


@pytest.mark.slow
@pytest.mark.parametrize("keep", [(), ("--keep", "code")])
def test_the_command_line_says_what_stays(tmp_path, capsys, keep):
    import pandas as pd

    pd.DataFrame(visits()).to_csv(tmp_path / "t.csv", index=False)
    words = ["protect", str(tmp_path / "t.csv"), "--method", "noise", "--out", str(tmp_path / "r"),
             "--key", str(tmp_path / "k"), "--identifiers", "pid", *keep]
    assert main(words) == 0
    assert ("'code' is one to one with 'pid'" in capsys.readouterr().err) == (not keep)
    assert ("code" in unspoken.Release.load(tmp_path / "r").schema.names) == bool(keep)
