"""Behind a proxy every user has a desk: own table, own tries, own drafts; officers see all."""

import json
from types import SimpleNamespace

import pytest

from support.studio_calls import Calls, write_people
from support.studio_users import SECRET, User
from unspoken.errors import InputError
from unspoken.studio import background_jobs, desks
from unspoken.studio.background_jobs import Job
from unspoken.studio.desks import Desks
from unspoken.studio.draft_release import ABOUT, RECORD
from unspoken.studio.visitor import Visitor


@pytest.fixture
def calls(tmp_path):
    write_people(tmp_path / "people.csv", 60)
    write_people(tmp_path / "others.csv", 70, seed=2)
    return Calls(tmp_path, proxy_secret=SECRET)


@pytest.fixture
def ann(calls):
    user = User(calls, "ann")
    assert user.post("/data/open", path="people.csv")[0] == 303
    return user


def draft(calls, owner):
    """Write what a finished draft says about itself, as far as the pages look at it."""
    place = calls.folder.new("drafts")
    place.mkdir()
    about = {"source": {"path": "people.csv"}, "method": "mondrian", "may_leave": True,
             "verdict": {"word": "low"}, "terms": {}, "owner": owner}
    (place / ABOUT).write_text(json.dumps(about))
    (place / RECORD).write_text("the record")
    return place


@pytest.mark.slow
def test_every_user_has_a_table_of_their_own(calls, ann):
    bob = User(calls, "bob")
    assert "no table loaded" in bob.get("/")[2]
    assert bob.post("/data/open", path="others.csv")[0] == 303
    assert "60 rows" in ann.get("/")[2]
    assert "70 rows" in bob.get("/")[2]
    assert not calls.desk.loaded


@pytest.mark.slow
def test_roles_and_choices_of_one_are_not_those_of_another(calls, ann):
    bob = User(calls, "bob")
    bob.post("/data/open", path="people.csv")
    ann.post("/data/roles", **{"role.1": "plain"})
    assert ann.post("/decide/choose", method="mondrian", **{"p.k": "7", "p.others": "drop"})[0] \
        == 303
    found = calls.app._app.state.desks
    desk, other = (found.of(Visitor("", name=name)) for name in ("ann", "bob"))
    assert desk.dataset.table.schema["age"].role == "plain"
    assert other.dataset.table.schema["age"].role == "quasi"
    assert "chosen" in desk.found
    assert "Nothing is chosen yet" in bob.get("/decide")[2]


@pytest.mark.slow
def test_a_draft_is_seen_by_its_author_and_by_officers_alone(calls, ann):
    own, foreign = draft(calls, "ann"), draft(calls, "bob")
    listed = ann.get("/decide")[2]
    assert own.name[:8] in listed
    assert foreign.name[:8] not in listed
    assert ann.get(f"/decide/drafts/{own.name}/{RECORD}")[2] == "the record"
    for place in (f"/decide/drafts/{foreign.name}", f"/decide/drafts/{foreign.name}/{RECORD}"):
        assert ann.get(place)[0] == 400
    assert ann.post(f"/decide/drafts/{foreign.name}/undo")[0] == 400
    assert foreign.is_dir()
    officer = User(calls, "olga", "officer")
    assert all(one.name[:8] in officer.get("/decide")[2] for one in (own, foreign))
    assert officer.get(f"/decide/drafts/{foreign.name}/{RECORD}")[2] == "the record"
    assert ann.post(f"/decide/drafts/{own.name}/undo")[0] == 303
    assert not own.exists()


@pytest.mark.slow
def test_a_draft_without_an_owner_or_damaged_is_for_officers(calls, ann):
    nobodys, damaged = draft(calls, ""), draft(calls, "ann")
    (damaged / ABOUT).write_text("{")
    text = ann.get("/decide")[2]
    assert nobodys.name[:8] not in text
    assert damaged.name[:8] not in text
    assert damaged.name[:8] in User(calls, "olga", "officer").get("/decide")[2]


@pytest.mark.slow
def test_an_officer_looks_at_the_tables_of_others_and_nobody_else_does(calls, ann):
    officer, bob = User(calls, "olga", "officer"), User(calls, "bob")
    assert "people.csv, on the desk of ann" in officer.get("/")[2]
    assert "on the desk of" not in bob.get("/")[2]
    assert bob.post("/data/look", user="ann")[0] == 403
    assert officer.post("/data/look", user="nobody")[0] == 400
    assert officer.post("/data/look", user="ann")[0] == 303
    assert "60 rows" in officer.get("/")[2]


@pytest.mark.slow
def test_an_upload_of_one_is_not_opened_by_another(calls, ann):
    (calls.folder.part("uploads") / "secret.csv").write_bytes(
        (calls.folder.root.parent / "people.csv").read_bytes())
    for path in ("studio/uploads/secret.csv", "studio/uploads", "studio", "."):
        status, _, text = ann.post("/data/open", path=path)
        assert (status, "on its own pages only" in text) == (400, True), path


@pytest.mark.slow
def test_work_of_one_is_neither_seen_nor_ended_by_another(calls, ann):
    found = calls.app._app.state.desks
    job = Job("a" * 16, "work", process=SimpleNamespace(kill=lambda: pytest.fail("ended")))
    found.of(Visitor("", name="ann")).jobs._jobs[job.name] = job
    bob = User(calls, "bob")
    assert ann.get(f"/jobs/{job.name}")[0] == 200
    assert bob.get(f"/jobs/{job.name}")[0] == 400
    assert calls.ask("POST", f"/jobs/{job.name}/cancel", X_CSRF_Token=bob.csrf,
                     **bob.headers)[0] == 400
    assert job.state == "running"


def test_desks_together_do_not_start_more_than_the_machine_bears(calls):
    found = Desks(calls.desk)
    for user in range(background_jobs.MOST_TOGETHER):
        jobs = found.of(Visitor("", name=f"u{user}")).jobs
        jobs._jobs["x"] = Job("x", "work")
    with pytest.raises(InputError, match="Too much is under way"):
        found.of(Visitor("", name="last")).jobs.start("risks", {}, "work")


def test_the_desk_that_was_left_longest_ago_is_cleared_unless_it_works(calls, monkeypatch):
    monkeypatch.setattr(desks, "MOST_DESKS", 2)
    found = Desks(calls.desk)
    works, idle = (found.of(Visitor("", name=name)) for name in ("works", "idle"))
    works.jobs._jobs["x"] = Job("x", "work")
    new = found.of(Visitor("", name="new"))
    assert found.of(Visitor("", name="new")) is new
    assert found.of(Visitor("", name="works")) is works
    assert found.of(Visitor("", name="idle")) is not idle


def test_on_ones_own_machine_there_is_one_desk(calls):
    found = Desks(calls.desk)
    assert found.of(Visitor("")) is found.of(None) is calls.desk
