"""Results over data that differ in few records are refused, whatever else changed in the file."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from support.brute_force import World, study_in
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.tasks.task_list import task_of
from unspoken.table.formats.data_urls import as_place


def study_of(task="sum", name="one", mode="dealer", **parameters):
    world = World(task, parameters, (), (), lambda a, b: None, {}, ("north", "south", "east"),
                  mode)
    return replace(study_in(world), name=name)


def loaded(path, study, columns):
    """Write columns to a file, and load it for a study."""
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    return task_of(study).load(path, study)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "north.csv"


STUDY = study_of(columns=["x"], least_changes=3)
TEN = {"x": list(range(10)), "day": [1] * 10}


@pytest.mark.parametrize("changed", [
    {"x": range(9), "day": [2] * 9}, {"day": [1] * 9, "x": range(9)},
    {"x": range(9), "day": [1] * 9, "sex": ["f"] * 9}, {"x": [f"{x}.0" for x in range(9)]},
    {"x": [*range(1, 10), 99], "day": [5] * 10}],
    ids=["another day", "another order of columns", "one more column", "as fractions", "one other"])
def test_few_records_are_found_whatever_changes_beside_them(path, changed):
    loaded(path, STUDY, TEN)
    for study in (STUDY, replace(STUDY, name="two"),
                  study_of("kmeans", columns=["x"], k=1, least_changes=3)):
        with pytest.raises(RefusedError, match="in 3 or in none"):
            loaded(path, study, {name: list(values) for name, values in changed.items()})


def test_the_same_records_and_quite_other_ones_pass(path):
    loaded(path, STUDY, TEN)
    loaded(path, STUDY, {**TEN, "day": [2] * 10})
    loaded(path, STUDY, {"x": list(range(7))})
    loaded(path, study_of(columns=["y"], least_changes=3), {"y": list(range(10))})
    kept = path.with_name("north.csv.results")
    assert os.stat(kept).st_mode & 0o777 == 0o600
    assert len(json.loads(kept.read_text())["runs"]) == 4


def test_equal_records_are_counted(path):
    loaded(path, STUDY, {"x": [4] * 10})
    with pytest.raises(RefusedError):
        loaded(path, STUDY, {"x": [4] * 9})


def test_a_record_that_is_none_is_refused(path):
    path.with_name("north.csv.results").write_text('{"format": "unspoken-queries", "version": 1}')
    with pytest.raises(StudyError, match="no record of earlier results"):
        loaded(path, STUDY, TEN)


@pytest.fixture
def database(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(tmp_path / "clinic.db") as connection:
        connection.execute("create table people as select range as id, range % 3 as x "
                           "from range(30)")
    return as_place(f"duckdb:///{tmp_path / 'clinic.db'}?table=people")


@pytest.mark.parametrize(("study", "parameter"), [
    (STUDY, "least_changes"),
    (study_of("intersection", mode="sums", column="id", queries=2), "queries")])
def test_what_is_kept_beside_a_file_needs_one(study, parameter, database):
    with pytest.raises(StudyError, match=f"'{parameter}' keeps a record beside"):
        task_of(study).load(database, study)


def test_tables_in_databases_are_taken_where_nothing_is_kept(database):
    study = study_of("intersection", mode="sums", column="id")
    ids, budget = task_of(study).load(database, study)
    assert len(ids) == 30
    assert budget is None
    parts = study_of("classify-columns", class_site="north", same_order=True)
    with pytest.raises(StudyError, match="beside the table"):
        task_of(parts).load(database, parts)
