"""What is released from Spark is, bit by bit, what the local engine releases."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.engine_maps import in_files
from unspoken import protect
from unspoken.cli.main import main
from unspoken.numerics import shuffle
from unspoken.release.key import Key
from unspoken.release.original_records import Original
from unspoken.release.record_key import original_rows
from unspoken.release.release import Release

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]
ROWS = 2000
STREAMING = {
    "strict": lambda: protect.PiecewiseEncoder("strict", neutral_names=True, rare=40,
                                               random_state=5),
    "max-mono": lambda: protect.PiecewiseEncoder("max-mono", random_state=5),
    "per record": lambda: protect.PiecewiseEncoder("max-mono", monochromatic="record",
                                                   random_state=5),
    "anti, in order": lambda: protect.PiecewiseEncoder("anti", shuffle_rows=False,
                                                       random_state=5),
    "noise": lambda: protect.NoiseAdder(privacy=0.5, others="drop", random_state=5),
    "response": lambda: protect.RandomizedResponse(columns=["c"], others="drop", random_state=5),
    "rotation": lambda: protect.Rotation(categorical="drop", missing="mean", random_state=5),
    "projection": lambda: protect.RandomProjection(columns=2, categorical="drop", noise=0.1,
                                                   missing="mean", random_state=5),
}
IN_ORDER = {
    "width": (0, lambda: protect.Discretizer(others="drop", shuffle_rows=False)),
    "quantile": (0, lambda: protect.Discretizer(strategy="quantile", others="drop",
                                                shuffle_rows=False)),
    "mondrian": (None, lambda: protect.MondrianAnonymizer(k=50, others="drop",
                                                          shuffle_rows=False)),
    "optimal": (None, lambda: protect.OptimalRecoder(k=50, others="drop", shuffle_rows=False)),
}


def people(rows=ROWS):
    rng = np.random.default_rng(4)
    return pa.table({
        "age": rng.integers(18, 90, rows), "income": rng.normal(3000, 500, rows).round(1),
        "gap": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows).round(2)),
        "c": rng.choice(["u", "v", "w"], rows, p=[0.5, 0.49, 0.01]),
        "y": rng.choice(["no", "yes"], rows)})


@pytest.fixture(scope="module")
def arrow():
    return people()


@pytest.fixture(scope="module")
def folder(arrow, tmp_path_factory):
    return in_files(arrow, tmp_path_factory.mktemp("spark") / "people", (700, 0, 900))


@pytest.fixture(scope="module")
def on_spark(spark, folder):
    return unspoken.read(folder, target="y", quasi=["age"], engine="spark")


@pytest.fixture(scope="module")
def here(arrow):
    return unspoken.read(arrow, target="y", quasi=["age"])


@pytest.mark.parametrize("name", STREAMING)
def test_a_release_from_spark_is_the_local_one(on_spark, here, name, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", 600)
    # Nothing may ask for all rows of a column.
    monkeypatch.setattr(on_spark.engine, "most_cells", 0)
    release, key = STREAMING[name]().protect(on_spark)
    expected, expected_key = STREAMING[name]().protect(here)
    saved = release.save(tmp_path / "spark")
    assert saved.table.arrow().equals(expected.table.arrow())
    assert saved.fingerprint == expected.fingerprint
    assert key.secrets == expected_key.secrets
    assert all(np.array_equal(key.arrays[part], expected_key.arrays[part])
               for part in expected_key.arrays)


@pytest.mark.parametrize("name", IN_ORDER)
def test_what_draws_nothing_is_the_same_too(on_spark, here, name, monkeypatch):
    cells, method = IN_ORDER[name]
    monkeypatch.setattr(on_spark.engine, "most_cells", cells)
    release, expected = method().protect(on_spark)[0], method().protect(here)[0]
    monkeypatch.setattr(on_spark.engine, "most_cells", None)
    assert release.table.arrow().equals(expected.table.arrow())


def test_rows_of_a_frame_stand_in_the_order_of_a_column(spark, arrow, here):
    keyed = arrow.append_column("key", pa.array(range(ROWS), pa.int32()))
    mixed = keyed.take(pa.array(np.random.default_rng(2).permutation(ROWS)))
    frame = spark.createDataFrame(mixed).repartition(3)
    table = unspoken.read(frame, order="key", target="y", quasi=["age"], identifiers="key")
    release, key = STREAMING["per record"]().protect(table)
    expected, expected_key = STREAMING["per record"]().protect(here)
    assert release.table.arrow().equals(expected.table.arrow())
    assert key.secrets == expected_key.secrets


def test_measures_and_the_audit_see_the_same(on_spark, here):
    release, key = STREAMING["max-mono"]().protect(here)
    reports = [unspoken.risk.audit(table, release, key, trials=1, random_state=0).to_json()
               for table in (on_spark, here)]
    assert reports[0] == reports[1]
    assert unspoken.risk.anonymity.measure(on_spark, ["age"], ["c"]) == \
        unspoken.risk.anonymity.measure(here, ["age"], ["c"])


def test_the_command_writes_what_the_local_one_would(spark, folder, arrow, tmp_path):
    assert main(["protect", str(folder), "--target", "y", "--engine", "spark", "--out",
                 str(tmp_path / "out"), "--key", str(tmp_path / "k"), "--json"]) == 0
    release, key = Release.load(tmp_path / "out"), Key.load(tmp_path / "k")
    assert release.table.rows == ROWS
    original = unspoken.read(arrow, target="y")
    assert np.array_equal(Original.from_key(key).rows_in(original), np.arange(ROWS))
    assert release.table.arrow(["y"])["y"].to_pylist() == \
        arrow["y"].take(pa.array(original_rows(key, ROWS))).to_pylist()
