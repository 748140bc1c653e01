"""One module for formats: what it tells from a file, what it refuses, and what it notes."""

from __future__ import annotations

import gzip
import unicodedata

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken import protect
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.party_files import id_column, load_with, party_table, reading_as
from unspoken.joint.tasks.rules.baskets_with_ids import read_with_ids
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.table.formats.compressed_files import COMPRESSIONS, compressed
from unspoken.table.formats.file_formats import FORMATS, format_of, write_rows
from unspoken.table.formats.header_names import plain_name
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.formats.text_files import HEAD_BYTES


def text_file(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(compressed(path, content if isinstance(content, bytes) else content.encode()))
    return path


def read(path, **options):
    return unspoken.read(path, show=False, **options)


def column(table, name):
    return table.arrow([name])[name].to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.csv.zst", "T.CSV.GZ"])
def test_every_delimiter_is_told_from_the_file(tmp_path, mark, name):
    content = f'age{mark}"job{mark} paid"\n1{mark}nurse\n2{mark}"a{mark}b"\n'
    table = read(text_file(tmp_path, content, name))
    assert table.schema.names == ("age", f"job{mark} paid".strip())
    assert column(table, "age") == [1, 2]
    assert column(table, table.schema.names[1]) == ["nurse", f"a{mark}b"]


@pytest.mark.slow
def test_commas_inside_the_fields_of_a_semicolon_file_do_not_mislead(tmp_path):
    path = text_file(tmp_path, "name, first;size, big\nx, y;1\nz, u, v;2\n")
    assert read(path).schema.names == ("name, first", "size, big")


@pytest.mark.slow
def test_a_decimal_comma_is_an_option(tmp_path):
    path = text_file(tmp_path, "x;n\n1,5;?\n-2,25;3,5\n")
    assert read(path).schema["x"].kind == "categorical"
    table = read(path, decimal=",")
    assert column(table, "x") == [1.5, -2.25]
    assert column(table, "n") == [None, 3.5]


# Names that are refused, whatever holds them.
REPEATED = {"repeated": ("patient", "patient"), "by case": ("patient", "Patient"),
            "by blanks": ("patient", " patient "), "empty": ("patient", ""),
            "zero width": ("patient", "pati\u200bent"), "soft hyphen": ("patient", "patient\u00ad"),
            "full width": ("patient", "patie\uff4et")}


def arrow_of(names):
    return pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"])], list(names))


def as_text(names, folder, name, mark=","):
    return text_file(folder, f"{mark.join(names)}\n1{mark}x\n2{mark}y\n", name)


def as_parquet(names, folder):
    pq.write_table(arrow_of(names), folder / "t.parquet")
    return folder / "t.parquet"


def as_arrow(names, folder, name="t.arrow"):
    with pa.OSFile(str(folder / name), "wb") as sink, \
            pa.ipc.new_file(sink, arrow_of(names).schema) as writer:
        writer.write_table(arrow_of(names))
    return folder / name


def as_relation(names, folder):
    rows = arrow_of(names)  # noqa: F841 - DuckDB finds it by its name
    first, second = (name.replace('"', '""') for name in names)
    return duckdb.sql(f'SELECT 1 AS "{first or " "}", 2 AS "{second or " "}"')


def as_structured(names, folder):
    return np.array([(1, 2.5)], dtype=[(names[0], int), (names[1] or " ", float)])


HOLDERS = {
    "csv": lambda names, folder: as_text(names, folder, "t.csv"),
    "semicolons": lambda names, folder: as_text(names, folder, "t.csv", ";"),
    "csv.gz": lambda names, folder: as_text(names, folder, "t.csv.gz"),
    "csv.zst": lambda names, folder: as_text(names, folder, "t.csv.zst"),
    "tsv": lambda names, folder: as_text(names, folder, "t.tsv", "\t"),
    "parquet": as_parquet, "arrow": as_arrow,
    "feather": lambda names, folder: as_arrow(names, folder, "t.feather"),
    "arrow table": lambda names, folder: arrow_of(names),
    "list columns": lambda names, folder: pa.Table.from_arrays(
        [pa.array([[1], [2]]), pa.array([[3], []])], list(names)),
    "pandas": lambda names, folder: pd.DataFrame([[1, 2]], columns=list(names)),
    "polars": lambda names, folder: pl.DataFrame({names[0]: [1], names[1]: [2]}),
    "mapping": lambda names, folder: {names[0]: [1], names[1]: [2]},
    "relation": as_relation,
    "structured": as_structured,
    "array": lambda names, folder: np.ones((2, 2)),
}
CANNOT_REPEAT = ("polars", "mapping", "structured")


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPEATED)
@pytest.mark.parametrize("holder", HOLDERS)
def test_names_that_could_be_taken_for_each_other_are_refused_everywhere(tmp_path, holder, kind):
    names = REPEATED[kind]
    if kind == "repeated" and holder in CANNOT_REPEAT:
        return
    source = HOLDERS[holder](names, tmp_path)
    with pytest.raises(SchemaError) as refused:
        read(source, identifiers="patient",
             **({"columns": list(names)} if holder == "array" else {}))
    assert ("must have a name" if kind == "empty" else "'patient'") in str(refused.value)


def test_numbers_and_texts_as_names_of_a_mapping_do_not_swallow_each_other():
    with pytest.raises(SchemaError, match="more than once"):
        read({1: [1.0], "1": [2.0]})


@pytest.mark.slow
def test_a_role_for_a_column_that_is_not_there_names_the_near_ones(tmp_path):
    path = text_file(tmp_path, "Patient,patience,age\n1,2,3\n")
    with pytest.raises(SchemaError, match=r"'patient'.*Did you mean 'Patient'"):
        read(path, identifiers="patient")
    with pytest.raises(SchemaError, match="The columns are"):
        read(path, target="zzzzzz")


PEOPLE = {"patient": [f"secret-{i}" for i in range(40)],
          "age": [float(20 + i % 17) for i in range(40)],
          "weight": [50.5 + (i * 7) % 23 for i in range(40)],
          "ill": [i % 2 for i in range(40)]}


def people(folder, holder):
    if holder == "pandas":
        return pd.DataFrame(PEOPLE)
    write_rows(pa.table(PEOPLE), folder / f"people.{holder}")
    return folder / f"people.{holder}"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["PiecewiseEncoder", "Rotation", "NoiseAdder", "SampleReleaser",
                                    "MondrianAnonymizer"])
@pytest.mark.parametrize("holder", ["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow",
                                    "pandas"])
def test_a_declared_identifier_never_comes_out(tmp_path, holder, method):
    table = read(people(tmp_path, holder), identifiers="patient", target="ill",
                 quasi=["age", "weight"])
    kind = getattr(protect, method)
    release, _ = kind().protect(table)
    release.save(tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "data.parquet")
    assert not [name for name in rows.column_names if "patient" in name.lower()]
    for path in (tmp_path / "out").iterdir():
        assert b"secret-" not in path.read_bytes()
    for name in rows.column_names:
        assert not set(map(str, rows[name].to_pylist())) & set(PEOPLE["patient"])


@pytest.mark.slow
def test_bytes_that_are_not_utf8_are_refused_with_the_name_of_the_option(tmp_path):
    path = text_file(tmp_path, "city,n\nKöln,1\n".encode("latin-1"))
    for lazy in (True, False):
        with pytest.raises(DataError, match="encoding='windows-1252'"):
            read(path, lazy=lazy)
    table = read(path, encoding="windows-1252")
    assert column(table, "city") == ["Köln"]
    assert "'t.csv' was decoded from cp1252" in table.notes
    assert "decoded" in repr(table)


@pytest.mark.slow
def test_a_bad_byte_behind_the_head_is_refused_too(tmp_path):
    path = text_file(tmp_path, b"a,b\n" + b"x,1\n" * HEAD_BYTES + "ä,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="encoding="):
        read(path)
    assert column(read(path, encoding="latin-1"), "a")[-1] == "ä"


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_marked_encoding_is_told_from_the_file(tmp_path, codec, name):
    table = read(text_file(tmp_path, "größe;n\nä€;1\n".encode(codec), name))
    assert table.schema.names == ("größe", "n")
    assert column(table, "größe") == ["ä€"]


def test_encodings_that_cannot_be_used_are_refused(tmp_path):
    path = text_file(tmp_path, "a,b\n1,2\n")
    for name in ("klingon", "rot13", "zlib"):
        with pytest.raises(InputError, match="'encoding' must be"):
            read(path, encoding=name)
    with pytest.raises(DataError, match="utf-16-le"):
        read(text_file(tmp_path, "a,b\n1,2\n".encode("utf-16-le"), "u.csv"))
    with pytest.raises(DataError, match="ascii"):
        read(text_file(tmp_path, "ä,b\n1,2\n", "v.csv"), encoding="ascii")


@pytest.mark.slow
def test_words_for_missing_values_are_told(tmp_path):
    path = text_file(tmp_path, "age,job,code\n1,NA,?\n?,,b\nNaN,null,c\n4,clerk,d\n")
    for lazy in (True, False):
        table = read(path, lazy=lazy)
        assert column(table, "age") == [1, None, None, 4]
        assert column(table, "job") == [None, None, None, "clerk"]
        assert column(table, "code") == ["?", "b", "c", "d"]
        assert table.schema["age"].note == ("2 missing ('?' 1, 'NaN' 1); "
                                            "age by name: could be quasi")
        assert table.schema["job"].note == "3 missing (empty 1, 'NA' 1, 'null' 1)"
        assert table.schema["code"].note == ""
        assert table.notes == ("taken as missing: age '?' 1, 'NaN' 1; job 'NA' 1, 'null' 1 "
                               "(missing= says otherwise)",)


@pytest.mark.slow
def test_missing_words_are_an_option_in_every_format(tmp_path):
    path = text_file(tmp_path, "age,job\n1,NA\n-9,?\n")
    assert column(read(path, missing=[]), "job") == ["NA", "?"]
    table = read(path, missing=["-9", "?"])
    assert column(table, "age") == [1, None]
    assert column(table, "job") == ["NA", None]
    rows = pa.table({"age": [1, 2], "job": ["NA", "x"]})
    write_rows(rows, tmp_path / "t.parquet")
    for source in (rows, rows.to_pandas(), tmp_path / "t.parquet"):
        assert column(read(source), "job") == ["NA", "x"]
        assert column(read(source, missing="NA"), "job") == [None, "x"]
    lazily = read(tmp_path / "t.parquet", missing="NA", lazy=True)
    assert column(lazily, "job") == [None, "x"]
    assert lazily.schema["job"].note == "1 missing ('NA' 1)"


@pytest.mark.parametrize(("content", "says"), [
    ("1.5,2\n3,4\n", "nothing but numbers"), ("a,b\n1,2\n1,2,3\n", "as many entries"),
    ("a,b\n1,2\n1\n", "as many entries"), ("", "empty"), ("\n\n", "empty")])
def test_text_that_is_no_table_is_refused_and_not_quoted(tmp_path, content, says):
    with pytest.raises(DataError, match=says):
        read(text_file(tmp_path, content))


@pytest.mark.slow
def test_a_value_of_another_type_far_behind_is_refused_without_being_shown(tmp_path):
    path = text_file(tmp_path, "a,b\n" + "1,2\n" * 250_000 + "hush,2\n")
    with pytest.raises(DataError, match="one type") as refused:
        read(path).arrow()
    assert "hush" not in str(refused.value)


def test_options_that_a_file_has_no_use_for_are_refused(tmp_path):
    write_rows(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="'delimiter' is for text files"):
        read(tmp_path / "t.parquet", delimiter=";")
    path = text_file(tmp_path, "a\n1\n")
    for options in ({"delimiter": ";;"}, {"decimal": "x"}, {"delimiter": ",", "decimal": ","}):
        with pytest.raises(InputError):
            read(path, **options)
    with pytest.raises(InputError, match="is split at commas"):
        read(text_file(tmp_path, "a,b\n1,2\n"), decimal=",")
    with pytest.raises(DataError, match="must be of one format"):
        read(tmp_path)
    with pytest.raises(DataError, match="Read it by read_baskets"):
        read(text_file(tmp_path, "1 2\n", "x.dat"))
    with pytest.raises(DataError, match=r"must be a \.parquet, \.csv"):
        read(text_file(tmp_path, b"PAR1", "x.parquet.gz"))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "txt"])
def test_semicolon_baskets_are_read_wherever_comma_baskets_are(tmp_path, ending):
    path = text_file(tmp_path, "milk;bread, fresh\n\nmilk;tea\n", f"b.{ending}")
    assert unspoken.read_baskets(path).lists() == [["bread, fresh", "milk"], [],
                                                  ["milk", "tea"]]
    named = text_file(tmp_path, "card\n7;a;b\n8;b\n", f"ids.{ending}")
    baskets, ids = read_with_ids(named, "card")
    assert (baskets.lists(), ids) == ([["a", "b"], ["b"]], ["7", "8"])
    long = text_file(tmp_path, "who;what\n07;a\n7;b\n07;c\n", f"long.{ending}")
    found = unspoken.read_baskets(long, transaction="who", item="what")
    assert found.lists() == [["a", "c"], ["b"]]


def test_baskets_take_the_options_of_files(tmp_path):
    path = text_file(tmp_path, "Käse|Brot\n".encode("cp1252"))
    with pytest.raises(DataError, match="encoding="):
        unspoken.read_baskets(path)
    assert unspoken.read_baskets(path, encoding="cp1252").items == ("Brot", "Käse")
    one = unspoken.read_baskets(path, encoding="cp1252", delimiter=",")
    assert one.items == ("Käse|Brot",)
    arrow = tmp_path / "b.arrow"
    one.save(arrow)
    assert unspoken.read_baskets(arrow).same_as(one)


def test_names_with_another_delimiter_survive_a_text_file(tmp_path):
    baskets = unspoken.Baskets.of([["a;b"], ["c;d", "e|f"]])
    baskets.save(tmp_path / "b.csv")
    assert unspoken.read_baskets(tmp_path / "b.csv").same_as(baskets)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_hierarchies_go_through_the_same_reader(tmp_path, mark):
    lines = ["Köln", "Bonn"]
    content = "".join(f"{city}{mark}NRW{mark}*\n" for city in lines)
    rows = (("Köln", "NRW", "*"), ("Bonn", "NRW", "*"))
    assert Hierarchy.from_csv(text_file(tmp_path, content)).rows == rows
    assert Hierarchy.from_csv(text_file(tmp_path, content, "h.csv.gz")).rows == rows
    marked = text_file(tmp_path, content.encode("utf-16"), "u.csv")
    assert Hierarchy.from_csv(marked).rows == rows
    other = text_file(tmp_path, content.encode("cp1252"), "w.csv")
    with pytest.raises(DataError, match="encoding="):
        Hierarchy.from_csv(other)
    assert Hierarchy.from_csv(other, encoding="cp1252").rows == rows


@pytest.mark.slow
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst"])
def test_ids_of_a_party_are_as_written_in_every_text_file(tmp_path, mark, name):
    path = text_file(tmp_path, f"id{mark}x\n007{mark}1\n7{mark}2\n", name)
    assert id_column(path, "id") == ["007", "7"]
    assert column(party_table(path, "id"), "x") == [1, 2]
    with pytest.raises(StudyError, match="Parameter 'ids' must be one of"):
        id_column(path, "ID")


@pytest.mark.slow
def test_how_a_party_reads_is_its_own_affair(tmp_path):
    path = text_file(tmp_path, "id;größe\nä;1,5\n".encode("cp1252"))
    options = {"encoding": "cp1252", "decimal": ","}
    assert load_with(lambda file, study: column(party_table(file), "größe"), path, None,
                     **options) == [1.5]
    with reading_as(ReadOptions.of(**options)):
        assert id_column(path, "id") == ["ä"]
    with pytest.raises(DataError, match="encoding="):
        id_column(path, "id")


def test_every_format_has_its_own_endings():
    suffixes = [suffix for kind in FORMATS for suffix in kind.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    for kind in FORMATS:
        for suffix in kind.suffixes:
            assert format_of(f"x{suffix}") is kind
            for ending in COMPRESSIONS if kind.text else ():
                assert format_of(f"x{suffix}{ending}") is kind


def test_a_damaged_compressed_file_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        read(path)


@pytest.mark.parametrize("pair", [
    ("né", "ne\u0301"), ("1", "\uff11"), ("age", "\ufeffage"), ("age", "a\u200bge"),
    ("age", "age\u00ad"), ("age", "age\ufe0f"), ("age", "age\u00a0"), ("\u00b5", "\u03bc"),
    ("first name", "first\u2003name"), ("K", "\u212a"), ("ﬁ", "fi")])
def test_names_that_look_the_same_are_refused_and_a_typed_twin_is_explained(pair):
    with pytest.raises(SchemaError, match="must differ by more than case"):
        read({pair[0]: [1, 2], pair[1]: [3, 4]})
    for typed, header in (pair, pair[::-1]):
        with pytest.raises(SchemaError, match=r"looks the same, but .*U\+[0-9A-F]{4} \("):
            read({header: [1, 2], "other": [3, 4]}, identifiers=typed)


@given(st.text(max_size=6))
def test_a_plain_name_is_the_plain_name_of_every_form_of_it(name):
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    forms += [f"\ufeff{name}\u200b", f" {name}\u00a0", plain_name(name)]
    assert {plain_name(form) for form in forms} == {plain_name(name)}


def test_names_that_look_different_are_read():
    names = ["a b", "ab", "a-b", "ä", "a", "а", "日本", "日木", "x1", "x2"]
    assert list(read({name: [1, 2] for name in names}).schema.names) == names


def test_a_table_is_named_only_where_there_are_several(tmp_path):
    path = text_file(tmp_path, "a,b\n1,2\n")
    write_rows(arrow_of("ab"), tmp_path / "t.parquet")
    for source in (path, tmp_path / "t.parquet", tmp_path / "*.parquet", arrow_of("ab")):
        with pytest.raises(InputError, match="'table' names a table of a database"):
            read(source, table="people")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [49, 120])
def test_words_for_missing_values_are_counted_in_tables_of_any_width(tmp_path, columns):
    cells = [["NA", "?", "", "1", "x"][(row * 7 + column) % (3 + column % 3)]
             for row in range(12) for column in range(columns)]
    rows = [cells[at:at + columns] for at in range(0, len(cells), columns)]
    text = "\n".join(",".join(row) for row in [[f"c{i}" for i in range(columns)], *rows])
    (tmp_path / "wide.csv").write_text(text + "\n")
    table = unspoken.read(tmp_path / "wide.csv", show=False)
    for place, name in enumerate(table.schema.names):
        column = [row[place] for row in rows]
        blank = ("NA", "", "?") if set(column) <= {"NA", "?", "", "1"} and "1" in column \
            else ("NA", "")
        wanted = sum(word in blank for word in column)
        assert table.arrow([name])[name].null_count == wanted, (name, column)
