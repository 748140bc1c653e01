"""PostgreSQL in and out, against a real server."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.postgres_server import PASSWORD
from unspoken import read
from unspoken.cli.main import main
from unspoken.errors import DataError, ReleaseError, SchemaError
from unspoken.protect import PiecewiseEncoder
from unspoken.release.key import Key
from unspoken.table.engines import held_rows
from unspoken.table.engines.postgres_tables import ServerTable, postgres_batches

NASTY = """pe"ople; DROP TABLE safe; --'.x"""
COLUMN = """in"come' ; SELECT"""

pytestmark = pytest.mark.slow


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def people(postgres):
    """A table with hostile names and many types."""
    postgres.run(
        "CREATE TABLE safe (x int)", "CREATE TYPE mood AS ENUM ('low', 'high')",
        "CREATE DOMAIN zip AS text",
        f"""CREATE TABLE {quoted(NASTY)} (id int8, {quoted(COLUMN)} numeric(8,2), "SELECT" text,
        born date, seen timestamptz, ok bool, feeling mood, place zip, lasted interval,
        short char(4), class text)""",
        f"""INSERT INTO {quoted(NASTY)} SELECT (i * 37) % 401, i / 4.0, 'w' || i % 5,
        date '1970-01-01' + i, timestamptz '2001-01-01 UTC', i % 2 = 0, 'low', '007', '1 hour',
        'ab', CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 400) i""",
        f"INSERT INTO {quoted(NASTY)} (id, class) VALUES (-1, 'no')")
    return postgres


def test_types_of_the_server_become_those_of_a_table(people):
    rows = read(people.url(NASTY, order="id"), show=False).arrow()
    assert [str(kind) for kind in rows.schema.types] == [
        "int64", "double", "string", "date32[day]", "timestamp[us, tz=UTC]", "bool", "string",
        "string", "double", "string", "string"]
    first = rows.slice(1, 1).to_pylist()[0]
    assert (first["id"], first["lasted"], first["place"], first["short"]) == (1, 3600.0, "007",
                                                                              "ab")
    assert rows.slice(0, 1).to_pylist()[0][COLUMN] is None
    assert all(entry.metadata is None for entry in rows.schema)


def test_order_gives_the_same_rows_whatever_the_server_sends_first(people):
    before = read(people.url(NASTY, order="id"), show=False).arrow()
    people.run(f"UPDATE {quoted(NASTY)} SET ok = ok WHERE id % 2 = 0")
    after = read(people.url(NASTY, order="id"), show=False).arrow()
    assert after.equals(before)
    assert before["id"].to_pylist() == sorted(before["id"].to_pylist())
    assert "order" in read(people.url(NASTY), show=False).notes[0]


def test_an_order_with_ties_and_unknown_names_are_refused(people):
    with pytest.raises(DataError, match="differ in every row"):
        read(people.url(NASTY, order="SELECT"), show=False)
    with pytest.raises(SchemaError, match="Did you mean 'id'"):
        read(people.url(NASTY, order="idd"), show=False)
    with pytest.raises(DataError, match="There is none"):
        read(people.url("People"), show=False)
    assert people.run("SELECT count(*) FROM safe") == [(0,)]


def test_infinite_dates_are_refused_by_name(people):
    people.run("DROP TABLE IF EXISTS far",
               "CREATE TABLE far AS SELECT date 'infinity' AS due UNION ALL SELECT null")
    with pytest.raises(DataError, match=r"'due'.*finite"):
        read(people.url("far"), show=False)


def test_a_wrong_password_is_refused_and_never_repeated(people, monkeypatch, capsys, tmp_path):
    url = people.url(NASTY, user="clerk")
    monkeypatch.setenv("PGPASSWORD", "wrong-Geheim")
    with pytest.raises(DataError, match="PGPASSWORD") as refused:
        read(url, show=False)
    assert "Geheim" not in str(refused.value)
    assert main(["inspect", url]) == 2
    assert "Geheim" not in "".join(capsys.readouterr())
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert read(url, show=False).rows == 401
    code = main(["protect", url, "--target", "class", "--out", str(tmp_path / "out"), "--key",
                 str(tmp_path / "key")])
    assert code == 0
    texts = "".join(capsys.readouterr()) + (tmp_path / "out" / "manifest.json").read_text()
    assert PASSWORD not in texts
    assert str(people.folder) not in (tmp_path / "out" / "manifest.json").read_text()


def test_one_snapshot_sees_no_change_of_others(people):
    people.run("DROP TABLE IF EXISTS moving",
               "CREATE TABLE moving AS SELECT i, repeat('x', 100) AS filler "
               "FROM generate_series(1, 200000) i")
    with postgres_batches(ServerTable(people.url(), "moving", None, ("i",))) as (_, batches):
        first = next(batches)
        people.run("DELETE FROM moving WHERE i % 2 = 0", "UPDATE moving SET i = -i")
        seen = np.concatenate([first["i"].to_numpy(), *(one["i"].to_numpy() for one in batches)])
    assert np.array_equal(seen, np.arange(1, 200_001))


def test_rows_changed_between_counting_and_mapping_change_nothing(people, monkeypatch, tmp_path):
    people.run("DROP TABLE IF EXISTS counted",
               "CREATE TABLE counted AS SELECT i % 50 AS age, (i * 7) % 90 AS pay, "
               "CASE WHEN i % 4 = 0 THEN 'a' ELSE 'b' END AS class "
               "FROM generate_series(1, 5000) i")
    monkeypatch.setattr(held_rows, "MEMORY_BYTES", 0)
    table = read(people.url("counted"), target="class", show=False, lazy=True)
    assert "/proc/self/fd" in table.frame.sql
    before = table.arrow()
    release, key = PiecewiseEncoder().protect(table)
    people.run("UPDATE counted SET age = 1000 + age", "DELETE FROM counted WHERE pay < 40")
    saved = release.save(tmp_path / "out")
    assert saved.table.rows == 5000
    assert table.arrow().equals(before)
    assert key.fingerprint == saved.fingerprint


def test_a_connection_that_is_lost_ends_in_a_sentence(people):
    people.run("DROP TABLE IF EXISTS long",
               "CREATE TABLE long AS SELECT i, repeat('y', 400) AS filler "
               "FROM generate_series(1, 150000) i")

    def read_and_lose():
        with postgres_batches(ServerTable(people.url(), "long")) as (_, batches):
            next(batches)
            people.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                       "WHERE query LIKE '%long%' AND pid <> pg_backend_pid()")
            list(batches)

    with pytest.raises(DataError, match="connection to the database was lost"):
        read_and_lose()


@pytest.fixture
def release(people):
    table = read(people.url(NASTY, order="id"), target="class", identifiers=["place"], show=False)
    return PiecewiseEncoder().protect(table)[0]


def test_a_release_goes_into_tables_at_once(people, release):
    saved = release.save(people.url(NASTY + "2"))
    names = [row[0] for row in people.run(
        f"SELECT attname::text FROM pg_attribute WHERE attrelid = "
        f"""'{quoted(NASTY + "2").replace("'", "''")}'::regclass AND attnum > 0 ORDER BY attnum""")]
    assert names == list(saved.schema.names)
    assert "place" not in names
    text = people.run(f"SELECT manifest FROM {quoted(NASTY + '2_manifest')}")[0][0]
    assert json.loads(text)["fingerprint"] == release.fingerprint
    assert people.run(f"SELECT count(*) FROM {quoted(NASTY + '2')}") == [(401,)]
    back = read(people.url(NASTY + "2"), show=False, keep=names)
    assert back.rows == 401
    with pytest.raises(ReleaseError, match="must not exist"):
        release.save(people.url(NASTY + "2"))
    release.save(people.url(NASTY + "2"), overwrite=True)
    with pytest.raises(ReleaseError, match="must not exist"):
        release.save(people.url("safe"), overwrite=True)


def test_a_register_that_fails_leaves_no_table(people, release):
    def fails():
        raise OSError("the register is full")

    with pytest.raises(OSError, match="register is full"):
        release.save(people.url("half"), enter=fails)
    assert people.run("SELECT to_regclass('half'), to_regclass('half_manifest')") == [(None, None)]


def test_the_command_goes_from_table_to_table(people, tmp_path, capsys):
    out = people.url("sent", schema="public")
    words = ["protect", people.url(NASTY, order="id"), "--target", "class", "--identifiers",
             "place", "--out", out, "--key", str(tmp_path / "key")]
    assert main([*words, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"] == 401
    assert "id" in printed["not_released"]
    assert "place" in printed["not_released"]
    assert Key.load(tmp_path / "key").fingerprint == printed["fingerprint"]
    assert main(words) == 2
    assert "must not exist" in capsys.readouterr().err


def test_a_release_of_a_database_needs_a_key_file(people, capsys):
    assert main(["protect", people.url(NASTY), "--method", "noise", "--out",
                 people.url("nokey")]) == 2
    assert "--key FILE" in capsys.readouterr().err
