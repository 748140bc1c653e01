"""A file is published as a whole: what it holds besides its rows is not assessed."""

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from support.population import population
from unspoken.audit.file_extras import file_extras
from unspoken.audit.people.audit_people import audit_table
from unspoken.disclosure.release_verdict import verdict_of

PEOPLE = population(60)
WRITERS = {".parquet": pyarrow.parquet.write_table, ".feather": pyarrow.feather.write_feather}


def listed(unused):
    names = ["a", *unused]
    codes = pa.array([0] * PEOPLE.num_rows, pa.int32())
    return PEOPLE.set_column(4, "school", pa.DictionaryArray.from_arrays(codes, pa.array(names)))


def remarked():
    field = PEOPLE.schema.field("age").with_metadata({"note": "Anna"})
    return PEOPLE.cast(PEOPLE.schema.set(0, field))


EXTRAS = {
    "remark": (PEOPLE.replace_schema_metadata({"note": "Anna"}), "the remark 'note'"),
    "column": (remarked(), "the remark 'note' on 'age'"),
    "categories": (listed(["Anna", "Ben"]), "categories of 'school' that nobody has"),
}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", EXTRAS)
def test_what_a_file_holds_besides_its_rows_is_named(tmp_path, suffix, name):
    rows, words = EXTRAS[name]
    WRITERS[suffix](rows, str(tmp_path / f"t{suffix}"))
    assert words in file_extras(tmp_path / f"t{suffix}")["(file)"]


def test_plain_files_hold_nothing_else(tmp_path):
    for suffix, write in WRITERS.items():
        for rows in (PEOPLE, listed([])):
            write(rows, str(tmp_path / f"t{suffix}"))
            assert file_extras(tmp_path / f"t{suffix}") == {}
    frame = PEOPLE.to_pandas().astype({"school": "category"})
    frame.to_parquet(tmp_path / "p.parquet")
    assert file_extras(tmp_path / "p.parquet") == {}
    frame.attrs["note"] = "Anna"
    frame.to_parquet(tmp_path / "p.parquet")
    assert "'pandas'" in file_extras(tmp_path / "p.parquet")["(file)"]
    pd.DataFrame({"age": [1]}).to_csv(tmp_path / "t.csv")
    assert file_extras(tmp_path / "t.csv") == {}
    assert file_extras(tmp_path / "t.sqlite") != {}


@pytest.mark.slow
def test_such_a_file_may_not_leave(tmp_path):
    rows = population(60, seed=3)
    for name, one in (("plain", rows), ("more", rows.replace_schema_metadata({"note": "Anna"}))):
        pyarrow.parquet.write_table(one, tmp_path / f"{name}.parquet")
    audits = {name: audit_table(tmp_path / f"{name}.parquet", PEOPLE, people=20, random_state=0)
              for name in ("plain", "more")}
    assert audits["plain"].assessed
    assert not audits["more"].assessed
    assert not verdict_of(audits["more"]).release
