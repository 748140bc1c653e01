"""Tables in databases: in files by their path, on a server by an address without a password."""

import json
import sqlite3
from contextlib import closing

import pytest

from support.studio_calls import HOSTILE, Calls, write_database
from support.studio_users import SECRET, User
from unspoken.errors import InputError
from unspoken.release.budget import Budget
from unspoken.studio.desk import Common, open_dataset
from unspoken.studio.kept_desks import desk_file
from unspoken.studio.table_source import Source
from unspoken.table.formats.data_urls import as_place

PEOPLE = [(20 + k % 40, "FM"[k % 2], f"1011{k % 5}") for k in range(50)]


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path).enter()


def test_the_only_table_of_a_database_needs_no_name(calls, tmp_path):
    write_database(tmp_path / "clinic.db", "people")
    assert calls.post("/data/open", path="clinic.db")[0] == 303
    assert "50 rows, 3 columns" in calls.get("/")[2]
    assert calls.desk.dataset.name == "clinic.db · people"
    assert Source.from_json(calls.desk.dataset.source.to_json()).read().rows == 50


def test_of_several_tables_one_is_named_and_all_are_shown_as_text(calls, tmp_path):
    write_database(tmp_path / "clinic.db", "people", HOSTILE)
    status, _, text = calls.post("/data/open", path="clinic.db")
    assert status == 400
    assert "holds 2 tables" in text
    assert "people" in text
    assert "<img" not in text
    assert calls.post("/data/open", path="clinic.db", table=HOSTILE)[0] == 303
    assert "<img" not in calls.get("/")[2]
    assert calls.post("/data/open", path="clinic.db", table="nobody")[0] == 400


@pytest.mark.parametrize("address", ["sqlite:////etc/x.db?table=t", "duckdb:///../x.db?table=t"])
def test_an_address_does_not_lead_out_of_the_chosen_folder(calls, address):
    status, _, text = calls.post("/data/open", path=address)
    assert (status, "is named by its path" in text) == (400, True)


def test_a_password_in_an_address_is_refused_and_not_repeated(calls):
    status, _, text = calls.post("/data/open", path="postgresql://ann:hunter2@db/clinic?table=t")
    assert (status, "must hold no password" in text, "hunter2" in text) == (400, True, False)


def test_behind_a_proxy_only_the_address_of_the_command_line_is_opened(tmp_path):
    place = as_place("postgresql://ann@db.example/clinic?table=people")
    common = Common(data=place, addresses=False)
    calls = Calls(tmp_path, common=common, proxy_secret=SECRET)
    calls.desk.check_place(place)
    for address in ("postgresql://ann@db.example/clinic?table=staff", "s3://bucket/x.csv"):
        status, _, text = User(calls, "ann").post("/data/open", path=address)
        assert (status, "no addresses are opened" in text) == (400, True)


def changed_in_sqlite(path):
    # It stays open: the last connection that is closed writes its log into the file.
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield
        connection.execute("INSERT INTO people VALUES (99, 'F', '10110')")
        connection.commit()
        yield


def changed_in_duckdb(path):
    import duckdb

    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS age FROM range(50)")
    yield
    with duckdb.connect(str(path)) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("INSERT INTO people VALUES (99)")
    yield


@pytest.mark.slow
@pytest.mark.parametrize("changed", [changed_in_sqlite, changed_in_duckdb])
def test_rows_in_the_log_beside_a_database_file_are_a_change(tmp_path, changed):
    file = write_database(tmp_path / "clinic.db", "people")
    steps = changed(file)
    next(steps)
    source = open_dataset(file).source
    assert source.read().rows == 50
    before = file.read_bytes()
    next(steps)
    assert file.read_bytes() == before
    with pytest.raises(InputError, match="was changed after it was loaded"):
        source.read()
    assert open_dataset(file).source.read().rows == 51
    steps.close()


@pytest.mark.parametrize("address", ["postgresql://ann@db/clinic?p%61ssword=hunter2&table=t",
                                     "abfs://box@store/x.csv?client_secret=hunter2"])
def test_a_password_under_another_name_is_refused_too(calls, address):
    status, _, text = calls.post("/data/open", path=address)
    assert (status, "must hold no password" in text, "hunter2" in text) == (400, True, False)


@pytest.fixture
def served(postgres):
    postgres.run("DROP TABLE IF EXISTS studio_people",
                 "CREATE TABLE studio_people (age integer, sex text, zip text)",
                 *(f"INSERT INTO studio_people VALUES ({a}, '{s}', '{z}')" for a, s, z in PEOPLE))
    yield postgres.url("studio_people")
    postgres.run("DROP TABLE studio_people")


@pytest.mark.slow
def test_a_table_on_a_server_is_loaded_counted_and_kept(calls, served, tmp_path):
    assert calls.post("/data/open", path=served)[0] == 303
    assert "50 rows, 3 columns" in calls.get("/")[2]
    assert calls.post("/history/budget", epsilon="1")[0] == 303
    assert "Nothing was booked yet" in calls.get("/history")[2]
    (budget,) = calls.folder.part("budgets").glob("*.budget")
    assert Budget(budget).terms.epsilon == 1.0
    kept = json.loads(desk_file(calls.folder, "").read_text())
    assert kept["source"]["path"] == served
    assert "unspoken protect" in calls.post("/try/look", method="mondrian", card="0",
                                            **{"p.k": "3", "p.others": "drop"})[2]


@pytest.mark.slow
def test_rows_that_others_change_on_the_server_are_noticed_and_their_order_is_not(postgres, served):
    source = open_dataset(as_place(served)).source
    postgres.run("UPDATE studio_people SET age = age WHERE age = 20")
    assert source.read().rows == 50
    postgres.run("UPDATE studio_people SET zip = '99999' WHERE age = 21")
    with pytest.raises(InputError, match="was changed after it was loaded"):
        source.read()
