"""Adding a format touches one file: an entry in FORMATS is read everywhere."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.errors import SchemaError
from unspoken.joint.tasks.common.party_files import id_column, party_table
from unspoken.table.engines.local import MemoryFrame
from unspoken.table.formats import file_formats
from unspoken.table.formats.file_formats import FileFormat, write_rows
from unspoken.table.formats.opened_file import OpenedFile

ROWS = {"patient": ["007", "008"], "age": [41, 52], "what": ["a", "b"]}


def open_toy(path, options, engine, as_text=()):
    names, *rows = json.loads(path.read_text())
    columns = [pa.array(values) for values in zip(*rows, strict=True)]
    table = pa.Table.from_arrays(columns, names)
    return OpenedFile(MemoryFrame(table), table.nbytes)


def write_toy(table, options):
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return json.dumps([table.column_names, *map(list, rows)]).encode()


@pytest.fixture
def toy(monkeypatch, tmp_path):
    formats = [*file_formats.FORMATS, FileFormat("toy", (".toy",), open_toy, write_toy)]
    monkeypatch.setattr(file_formats, "FORMATS", formats)
    write_rows(pa.table(ROWS), tmp_path / "t.toy")
    return tmp_path / "t.toy"


def test_read(toy):
    table = unspoken.read(toy, identifiers="patient", target="age", show=False)
    assert table.arrow().to_pydict() == ROWS


def test_names_are_checked_in_a_new_format_too(toy):
    toy.write_text(json.dumps([["patient", "Patient"], ["a", "b"]]))
    with pytest.raises(SchemaError, match="'patient' and 'Patient'"):
        unspoken.read(toy, identifiers="patient", show=False)


def test_joint_parties(toy):
    assert id_column(toy, "patient") == ["007", "008"]
    assert party_table(toy).arrow(["age"])["age"].to_pylist() == [41, 52]


def test_baskets(toy, tmp_path):
    baskets = unspoken.read_baskets(toy, transaction="patient", item="what")
    assert baskets.lists() == [["a"], ["b"]]
    baskets.save(tmp_path / "b.toy")
    assert unspoken.read_baskets(tmp_path / "b.toy").same_as(baskets)


def test_the_command_line(toy, capsys):
    assert main(["inspect", str(toy), "--identifiers", "patient", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in found["schema"]] == list(ROWS)
