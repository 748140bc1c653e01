"""K, L, t and telling pairs of a file are counted in SQL: those of the same rows in memory."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unspoken import read
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.measures.telling_pairs import telling_pairs
from unspoken.table.engines.local import LocalEngine

ROLES = {"quasi": ["age", "town"], "sensitive": ["ill", "pay"]}
PEOPLE = st.lists(st.tuples(
    st.sampled_from([None, 20, 30]), st.sampled_from(["a", "b", None]),
    st.sampled_from(["flu", "none", None]), st.sampled_from([1.5, 2.5, float("nan")])),
    min_size=1, max_size=30)


def table_of(people):
    columns = list(zip(*people, strict=True))
    kinds = (pa.int64(), pa.string(), pa.string(), pa.float64())
    return pa.table({name: pa.array(values, kind) for name, values, kind in
                     zip(("age", "town", "ill", "pay"), columns, kinds, strict=True)})


@pytest.fixture
def never_collected(monkeypatch):
    def refuse(*_):
        raise AssertionError("rows were brought into memory")

    monkeypatch.setattr(LocalEngine, "collect", refuse)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6,
          deadline=None)
@given(people=PEOPLE, outside=PEOPLE)
@pytest.mark.slow
def test_what_a_file_is_measured_as_is_what_its_rows_are(people, outside, tmp_path):
    rows, others = table_of(people), table_of(people + outside)
    for name, table in (("rows", rows), ("others", others)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    here, there = (read(one, show=False, **ROLES) for one in (rows, others))
    far, farther = (read(tmp_path / f"{name}.parquet", show=False, lazy=True, **ROLES)
                    for name in ("rows", "others"))
    for population, same in ((None, None), (len(people) * 40, len(people) * 40), (there, farther)):
        assert measure(far, population=same) == measure(here, population=population)
    assert [pair.unique for pair in telling_pairs(far)] == [
        pair.unique for pair in telling_pairs(here)]


def test_no_row_of_a_file_is_brought_into_memory(tmp_path, never_collected):
    pq.write_table(table_of([(20 + i % 3, "ab"[i % 2], "flu", float(i % 5)) for i in range(600)]),
                   tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet", show=False, lazy=True, **ROLES)
    measured = measure(table)
    assert (measured.rows, measured.k, measured.classes) == (600, 100, 6)
    assert telling_pairs(table)[0].unique == 0.0
