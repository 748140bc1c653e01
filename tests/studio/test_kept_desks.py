"""A desk outlives its studio: what was loaded, tried and chosen is there after a restart."""

import json
import os
import stat

import pytest

from support.studio_calls import HOST, Calls, write_people
from support.studio_users import SECRET, User
from unspoken.studio.desk import Common, open_dataset
from unspoken.studio.kept_desks import desk_file

LOOK = {"method": "mondrian", "card": "0", "more": "attack", "p.k": "7", "p.others": "drop",
        "p.diversity": "distinct", "p.c": "3"}


def ended(calls):
    """End a studio as kill -9 would: nothing is asked of it any more."""
    os.close(calls.folder._lock)


@pytest.fixture
def people(tmp_path):
    return write_people(tmp_path / "people.csv", 60)


@pytest.fixture
def used(tmp_path, people):
    """A studio in which somebody loaded, declared, tried and chose, and which was killed."""
    calls = Calls(tmp_path).enter()
    assert calls.post("/data/open", path="people.csv")[0] == 303
    names = calls.desk.dataset.table.schema.names
    calls.post("/data/roles", **{f"role.{names.index('diagnosis')}": "sensitive",
                                 f"role.{names.index('sex')}": "target"})
    calls.desk.found["tried"] = {"0": ["mondrian", {"k": 7, "others": "drop"}]}
    assert calls.post("/decide/choose", **LOOK)[0] == 303
    ended(calls)
    return calls


def again(tmp_path, **options):
    return Calls(tmp_path, **options).enter()


@pytest.mark.slow
def test_table_roles_tries_and_choice_are_there_after_a_restart(used, tmp_path):
    calls = again(tmp_path)
    assert "60 rows, 7 columns" in calls.get("/")[2]
    schema = calls.desk.dataset.table.schema
    assert (schema["diagnosis"].role, schema["sex"].role) == ("sensitive", "target")
    page = calls.get("/try")[2]
    assert page.count('class="card"') == 1
    assert 'name="p.k" value="7"' in page
    assert "mondrian (k = 7, others = drop)" in calls.get("/decide")[2]


@pytest.mark.slow
def test_where_sliders_were_left_is_written_down_when_somebody_pauses(tmp_path, people):
    calls = Calls(tmp_path, begin=open_dataset(people)).enter()
    assert calls.post("/try/look", **{**LOOK, "more": ""})[0] == 200
    assert "tried" not in calls.desk.found
    assert calls.post("/try/look", **LOOK)[0] == 200
    kept = json.loads(desk_file(calls.folder, "").read_text())
    assert kept["found"]["tried"] == {"0": ["mondrian", {"k": 7, "others": "drop"}]}
    assert 'name="p.k" value="7"' in calls.get("/try")[2]
    assert 'name="p.k" value="7"' not in calls.get("/try?m=optimal-recoding&m=&m=")[2]
    assert calls.desk.found["tried"] == {}


@pytest.mark.slow
def test_a_desk_holds_no_rows_and_is_for_its_owner_alone(used):
    file = desk_file(used.folder, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "Ann Example" not in file.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_table_that_was_changed_meanwhile_is_not_put_back(used, tmp_path, people, change):
    if change == "edit":
        write_people(people, 60, seed=9)
    else:
        people.unlink()
    calls = again(tmp_path)
    page = calls.get("/")[2]
    assert "Your table could not be put back on the desk" in page
    assert ("was changed after it was loaded" if change == "edit" else "There is no file") in page
    assert not calls.desk.loaded
    assert calls.post("/try/look", **LOOK)[0] == 400


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "[]", '{"user": "", "source": {"path": 3}, "found": []}',
                                  '{"user": "", "source": [], "found": {}}', "[" * 100_000],
                         ids=["empty", "list", "path of a number", "source of a list", "deep"])
def test_a_damaged_desk_is_said_and_can_be_used_again(used, tmp_path, text):
    desk_file(used.folder, "").write_text(text)
    calls = again(tmp_path)
    status, _, page = calls.get("/")
    assert (status, "could not be put back" in page) == (200, True)
    assert calls.post("/data/open", path="people.csv")[0] == 303
    assert "could not be put back" not in calls.get("/")[2]


@pytest.mark.slow
def test_a_narrower_root_takes_tables_outside_off_the_desks(used, tmp_path):
    (tmp_path / "allowed").mkdir()
    calls = Calls(tmp_path)
    calls.desk.data_root = tmp_path / "allowed"
    page = calls.enter().get("/")[2]
    assert "must lie under" in page
    assert not calls.desk.loaded


@pytest.mark.slow
def test_a_cleared_desk_is_forgotten_on_disk_too(used, tmp_path):
    calls = again(tmp_path)
    assert calls.post("/data/clear")[0] == 303
    assert not desk_file(calls.folder, "").exists()
    assert "no table loaded" in calls.get("/")[2]


@pytest.mark.slow
def test_the_table_of_the_command_line_comes_before_another_one(used, tmp_path, people):
    other = write_people(tmp_path / "others.csv", 70, seed=2)
    for place, rows, role in ((other, "70 rows", "quasi"), (people, "60 rows", "target")):
        calls = Calls(tmp_path, begin=open_dataset(place), common=Common(data=place)).enter()
        assert rows in calls.get("/")[2]
        assert calls.desk.dataset.table.schema["sex"].role == role
        ended(calls)


@pytest.mark.slow
def test_work_that_a_killed_studio_had_begun_is_said(used, tmp_path):
    file = desk_file(used.folder, "")
    kept = json.loads(file.read_text())
    kept["found"]["begun"] = ["draft", "frontier"]
    file.write_text(json.dumps(kept))
    calls = again(tmp_path)
    for place in ("/frontier", "/decide"):
        assert "It did not come to its end" in calls.get(place)[2]


@pytest.mark.slow
def test_behind_a_proxy_every_user_finds_their_own_desk_and_officers_see_all(tmp_path, people):
    write_people(tmp_path / "others.csv", 70, seed=2)
    calls = Calls(tmp_path, proxy_secret=SECRET)
    for name, file in (("ann", "people.csv"), ("bob/../ann", "others.csv")):
        assert User(calls, name).post("/data/open", path=file)[0] == 303
    User(calls, "ann").post("/data/roles", **{"role.1": "plain"})
    ended(calls)
    calls = Calls(tmp_path, proxy_secret=SECRET)
    officer = User(calls, "olga", "officer")
    assert "people.csv, on the desk of ann" in officer.get("/")[2]
    assert officer.post("/data/look", user="ann")[0] == 303
    assert "60 rows" in officer.get("/")[2]
    assert "70 rows" in User(calls, "bob/../ann").get("/")[2]
    assert "no table loaded" in User(calls, "carl").get("/")[2]
    ann = User(calls, "ann")
    assert "60 rows" in ann.get("/")[2]
    desk = calls.app._app.state.desks._named["ann"]
    assert desk.dataset.table.schema["age"].role == "plain"
    assert not calls.desk.loaded


@pytest.mark.slow
def test_the_desk_of_one_s_own_machine_is_nobody_s_behind_a_proxy(used, tmp_path):
    calls = Calls(tmp_path, proxy_secret=SECRET)
    assert "no table loaded" in User(calls, "carl").get("/")[2]
    assert "on the desk of" not in User(calls, "olga", "officer").get("/")[2]
    status, _, text = calls.ask("POST", "/data/clear", b"", Origin=f"http://{HOST}")
    assert (status, "people.csv" in text) == (403, False)
