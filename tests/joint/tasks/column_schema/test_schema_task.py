"""Categories and ends of all owners, against the same in one place, and what they hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.study_cases import NAMES, study_case
from unspoken.errors import DataError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.column_schema import hashed_places
from unspoken.joint.tasks.column_schema.hashed_places import read, written
from unspoken.joint.tasks.column_schema.params import (
    BITS,
    LEAST,
    OwnSchema,
    SchemaParams,
    shown_ends,
    widened,
)
from unspoken.joint.tasks.column_schema.pooled import pooled
from unspoken.joint.tasks.column_schema.program_rows import SchemaOverRows
from unspoken.joint.tasks.task_list import all_tasks

PARAMS = SchemaParams(("town", "age", "pay"), ("age", "pay"), most=4)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


def part(words, *columns):
    ends = [widened("x", np.array(values, float), 0.1) for values in columns]
    return OwnSchema({"town": tuple(words)}, np.array(ends, np.int64))


PARTS = [part(["Aachen", "Köln"], [20, 60], [1e5, 2e5]), part(["Köln"], [], [-3, 0.25]),
         part(["Zürich"], [35, 35], [0, 1])]


@pytest.fixture
def program():
    study, _, _ = study_case("schema", "dealer", columns=["town", "age", "pay"],
                                numbers=["age", "pay"])
    return SchemaOverRows(study)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dealer", "two-party"])
def test_the_union_and_the_ends_are_those_of_all_data_in_one_place(program, mode):
    outputs = run_local(program, PARTS, mode, names=list(NAMES))
    expected = pooled(PARTS, PARAMS)
    assert outputs[0][0] == expected
    assert expected["categories"] == {"town": ["Aachen", "Köln", "Zürich"]}
    assert expected["range"] == {"age": [15.0, 65.0], "pay": [-3.5, 210000.0]}
    assert [output for output, _ in outputs[1:]] == [None, None], "north alone is a receiver"


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.sampled_from([0.01, 0.1, 0.5]))
def test_ends_lie_beyond_all_values_by_the_margin_and_not_far(low, width, margin):
    units = widened("x", np.array([low, low + width, np.nan]), margin)
    width = (low + width) - low
    width = width if width >= LEAST else 1.0
    ends = [unit / 2**BITS for unit in units]
    reach = margin * width
    assert ends[0] <= low - reach * (1 - 1e-6) + 1e-5
    assert ends[1] >= low + (width if width != 1.0 else 0.0) + reach * (1 - 1e-6) - 1e-5
    assert ends[1] - ends[0] <= width * (1 + 13 * margin) + 2e-5


@pytest.mark.parametrize("values", [[-5, 5e9], [2e9, 3e9], [1e308, -1e308], [2.0**30]])
def test_numbers_without_room_are_refused(values):
    """Their range was cut to 2^30, and did not hold them."""
    with pytest.raises(DataError, match=r"'pay' must have numbers between") as error:
        widened("pay", np.array(values), 0.1)
    assert "5000000000" not in str(error.value)
    low, high = widened("pay", np.array([2.0**30 - 1, 1 - 2.0**30]), 0.1)
    assert (low, high) == (1 - (1 << (30 + BITS)), (1 << (30 + BITS)) - 1)


def test_a_column_without_values_changes_nothing_and_none_at_all_is_refused():
    assert widened("x", np.zeros(0), 0.1) == widened("x", np.array([np.nan, np.inf]), 0.1)
    low, high = widened("x", np.zeros(0), 0.1)
    assert low > high
    with pytest.raises(StudyError, match="No owner has a value in column 'age'"):
        shown_ends(["age"], np.array([[low, high]]))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.sets(WORDS, max_size=4))
def test_categories_come_back_from_their_places(words):
    words = {word for word in words if len(word.encode()) <= 32 and word.strip("\0")}
    assert read(PARAMS, written(PARAMS, {"town": sorted(words)})) == {"town": sorted(words)}


def test_a_category_that_is_hidden_behind_another_is_noticed(program, monkeypatch):
    monkeypatch.setattr(hashed_places, "_place", lambda *_: 0)
    with pytest.raises(DataError, match="Propose the study again with another 'salt'"):
        run_local(program, [part(["a", "b"], [1], [1]), *PARTS[1:]], names=list(NAMES))


def test_places_follow_the_salt():
    tables = [written(replace(PARAMS, salt=salt), {"town": ["Köln"]}) for salt in (0, 1)]
    assert not np.array_equal(*tables)
    assert all(np.count_nonzero(table.any(axis=1)) == 4 for table in tables)


@pytest.mark.slow
@pytest.mark.parametrize(("content", "match"), [
    ("town,age,pay\n" + "".join(f"t{n},1,1\n" for n in range(5)), "more than 4 categories"),
    (f"town,age,pay\n{'x' * 33},1,1\n", "longer than 32 bytes"),
    ("town,age\na,1\n", "'pay' is there")])
def test_what_cannot_be_shared_is_refused_without_a_value(tmp_path, content, match):
    study, task, _ = study_case("schema", "dealer", columns=["town", "age", "pay"],
                                numbers=["age", "pay"])
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(StudyError, match=match) as error:
        task.load(path, study)
    assert "t4" not in str(error.value)
    assert "xxx" not in str(error.value)


@pytest.mark.slow
def test_an_owner_brings_its_categories_and_ends(tmp_path):
    study, task, _ = study_case("schema", "dealer", columns=["town", "age", "pay"],
                                numbers=["age", "pay"])
    path = tmp_path / "t.csv"
    path.write_text("town,age,pay\nb,20,1\na,60,2\n,30,\n")
    own = task.load(path, study)
    assert own.categories == {"town": ("a", "b")}
    assert (own.ends[0] / 2**BITS).tolist() == [15.0, 65.0]


def test_numbers_of_other_columns_are_refused():
    with pytest.raises(StudyError, match="'b' is none of them"):
        all_tasks()["schema"].check({"columns": ["a"], "numbers": ["b"]})
