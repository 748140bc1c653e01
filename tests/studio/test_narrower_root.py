"""A studio that is started with a narrower --root reads nothing outside it, whatever was kept."""

import json
import os

import pytest

from support.studio_calls import Calls, write_people
from support.studio_users import SECRET, User

COLUMNS = "age = { bounds = [0, 100], step = 1 }"


@pytest.fixture
def people(tmp_path):
    return write_people(tmp_path / "people.csv", 60)


@pytest.fixture
def wide(tmp_path, people):
    calls = Calls(tmp_path).enter()
    assert calls.post("/data/open", path="people.csv")[0] == 303
    return calls


def ended(calls):
    os.close(calls.folder._lock)


def narrower(tmp_path, **options):
    (tmp_path / "allowed").mkdir(exist_ok=True)
    calls = Calls(tmp_path, **options)
    calls.desk.data_root = tmp_path / "allowed"
    return calls


def started(wide):
    assert wide.post("/history/budget", epsilon="1")[0] == 303
    assert wide.post("/queries/start", columns=COLUMNS, each="0.1")[0] == 303
    assert wide.post("/queries", question="select count()")[0] == 200


def test_the_query_service_is_not_put_back_over_a_table_outside(wide, tmp_path):
    started(wide)
    ended(wide)
    calls = narrower(tmp_path).enter()
    for status, _, text in (calls.get("/queries"), calls.post("/queries",
                                                              question="select count()")):
        assert (status, "must lie under" in text) == (400, True)
    assert calls.desk.common.queries is None
    ended(calls)
    again = Calls(tmp_path).enter()
    assert "of an epsilon of 1 is left" in again.get("/queries")[2]


def test_analysts_learn_nothing_of_a_table_outside(wide, tmp_path):
    started(wide)
    ended(wide)
    ann = User.__new__(User)
    ann.calls, ann.csrf = narrower(tmp_path, proxy_secret=SECRET), ""
    ann.headers = {"X_Unspoken_Proxy": SECRET, "X_Unspoken_User": "ann",
                   "X_Unspoken_Role": "analyst"}
    status, _, text = ann.get("/queries")
    assert (status, "60 rows" in text, "people.csv" in text) == (400, False, False)


@pytest.mark.parametrize("link", ["file", "folder"])
def test_a_table_that_became_a_link_is_not_followed(wide, tmp_path, people, link):
    started(wide)
    ended(wide)
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    kept = wide.folder.root / "queries.toml"
    text = kept.read_text()
    if link == "file":
        (allowed / "people.csv").symlink_to(people)
        kept.write_text(text.replace(str(people), str(allowed / "people.csv")))
    else:
        (allowed / "here").symlink_to(tmp_path)
        kept.write_text(text.replace(str(people), str(allowed / "here" / "people.csv")))
    assert kept.read_text() != text
    assert narrower(tmp_path).enter().get("/queries")[0] == 400


@pytest.mark.parametrize("text", ["", "not toml", "[policy]\n", "source = 3\npolicy = 4\n",
                                  "[source]\npath = 3\n[policy]\n"])
def test_a_damaged_policy_of_questions_is_named(wide, text):
    (wide.folder.root / "queries.toml").write_text(text)
    status, _, page = wide.get("/queries")
    assert (status, "queries.toml" in page) == (400, True)


def described(place, people):
    place.mkdir()
    about = {"source": {"path": str(people), "sha256": "0" * 64, "table": None, "roles": {},
                        "kinds": {}, "keep": []},
             "verdict": {}, "method": "mondrian", "may_leave": True, "terms": {}}
    (place / "draft.json").write_text(json.dumps(about))
    (place / "release.key").write_text("sealed")


def test_neither_a_signature_nor_a_model_reads_a_table_outside(wide, tmp_path, people):
    described(wide.folder.part("signed") / "one", people)
    described(wide.folder.part("drafts") / "d1", people)
    (wide.folder.part("models") / "m1").mkdir()
    ended(wide)
    calls = narrower(tmp_path).enter()
    for place, fields in (("/models/m1/decode", {"release": "one", "passphrase": "x"}),
                          ("/decide/drafts/d1/sign", {"by": "Olga", "decision": "release",
                                                      "passphrase": "of the officer"})):
        status, _, text = calls.post(place, **fields)
        assert (status, "must lie under" in text) == (400, True), place
    assert calls.desk.jobs.running() == []
