"""The seal is made while rows are written; it is the one that reading them again gives."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unspoken import read
from unspoken.errors import ReleaseError
from unspoken.protect import PiecewiseEncoder
from unspoken.release import release as release_module
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.release.release_seal import ColumnSeals, column_digests, stays_as_written
from unspoken.table.atomic_files import sha256_of

RNG = np.random.default_rng(2)
ROWS = 500
TABLE = pa.table({
    "age": pa.array(RNG.integers(18, 90, ROWS), mask=RNG.random(ROWS) < 0.1),
    "pay": RNG.normal(size=ROWS), "town": RNG.choice(["a", "bb", "ä"], ROWS),
    "class": RNG.integers(0, 2, ROWS)})


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
def test_the_seal_is_that_of_the_written_file(tmp_path, monkeypatch, lazy):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet", target="class", lazy=lazy, show=False)
    release, key = PiecewiseEncoder(random_state=3).protect(table)
    seals = []
    for number, written in enumerate((True, False)):
        monkeypatch.setattr(release_module, "stays_as_written", lambda _, answer=written: answer)
        seals.append(release.save(tmp_path / str(number)).seal)
    assert seals[0] == seals[1]
    key.fits(Release.load(tmp_path / "0"))


def test_a_changed_value_is_found_by_that_seal(tmp_path):
    release, key = PiecewiseEncoder().protect(read(TABLE, target="class", show=False))
    release.save(tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "data.parquet")
    changed = rows["pay"].to_numpy().copy()
    changed[7] += 1
    place = rows.column_names.index("pay")
    pq.write_table(rows.set_column(place, rows.schema.field("pay"), pa.array(changed)),
                   tmp_path / "out" / "data.parquet")
    manifest = tmp_path / "out" / "manifest.json"
    text = manifest.read_text()
    begin = text.index('"sha256": "') + len('"sha256": "')
    manifest.write_text(text[:begin] + sha256_of(tmp_path / "out" / "data.parquet")
                        + text[begin + 64:])
    with pytest.raises(ReleaseError, match="'pay'"):
        key.fits(Release.load(tmp_path / "out"))


def test_batches_do_not_matter():
    with ColumnSeals(b"k" * 32, TABLE.column_names) as seals:
        for batch in TABLE.to_batches(max_chunksize=37):
            seals.add(batch)
        assert seals.digests("id") == column_digests(b"k" * 32, "id", TABLE.column_names,
                                                     TABLE.to_batches())


def test_only_types_that_a_file_keeps_are_sealed_while_they_are_written():
    assert stays_as_written(TABLE.schema)
    assert not stays_as_written(pa.table({"t": [datetime.datetime(2020, 1, 1)]}).schema)
    assert not stays_as_written(pa.schema([("d", pa.dictionary(pa.int32(), pa.string()))]))


@pytest.mark.slow
@pytest.mark.parametrize("passphrase", [None, "long enough"])
def test_a_key_written_in_parts_is_read_back(tmp_path, passphrase):
    arrays = {"empty": np.zeros(0), "two": np.arange(6.0).reshape(2, 3), "codes": np.arange(5),
              "flags": np.array([1, 0], np.uint8)}
    Key("m", "f", {"a": 1}, arrays).save(tmp_path / "key", passphrase)
    back = Key.load(tmp_path / "key", passphrase)
    assert back.secrets == {"a": 1}
    assert all(np.array_equal(back.arrays[name], array) for name, array in arrays.items())
