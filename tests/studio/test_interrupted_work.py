"""What a kill, a damaged file or an odd name leaves: said in a sentence, and nothing else lost."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from support.studio_calls import HOST, Calls
from support.studio_kills import moments
from support.studio_users import SECRET
from unspoken.errors import InputError
from unspoken.studio import background_jobs
from unspoken.studio.background_jobs import Jobs
from unspoken.studio.joint_desk import identities, make_own_identity
from unspoken.studio.session_folder import SessionFolder


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path).enter()


def test_an_identity_is_whole_or_not_there_whenever_the_studio_is_killed(tmp_path):
    home = SessionFolder(tmp_path / "studio")
    home.prepare()
    places = moments(tmp_path / "studio", tmp_path,
                     lambda: make_own_identity("north", home.part("joint")))
    assert len(places) > 8
    found = []
    for place in places:
        here = SessionFolder(place)
        here.prepare()
        folder = here.part("joint")
        assert list(folder.glob(".*")) == []
        assert {one + ".crt" for one in identities(folder)} <= {
            one.name for one in folder.glob("*.crt")}
        found.append(identities(folder))
        os.close(here._lock)
    assert (found[0], found[-1]) == ([], ["north"])


def test_an_identity_is_never_replaced(calls):
    assert calls.post("/joint/identity", name="north")[0] == 303
    before = (calls.folder.part("joint") / "north.key").read_bytes()
    status, _, text = calls.post("/joint/identity", name="north")
    assert (status, "Choose another name" in text) == (400, True)
    assert (calls.folder.part("joint") / "north.key").read_bytes() == before
    assert list(calls.folder.part("joint").glob(".*")) == []


def test_a_damaged_identity_certificate_or_run_is_named_and_takes_nothing_else_away(calls):
    assert calls.post("/joint/identity", name="north")[0] == 303
    folder = calls.folder.part("joint")
    (folder / "south.key").write_text("half")
    (folder / "east.crt").write_text("half")
    run = calls.folder.part("runs") / "0123456789abcdef"
    run.mkdir()
    (run / "agreed.json").write_text('{"stu')
    status, _, page = calls.get("/joint")
    assert status == 200
    assert "read this to the others" in page
    assert "cannot be used" in page
    assert "east.crt" in page
    assert "0123456789abcdef/agreed.json" in page
    assert calls.get("/joint/runs/0123456789abcdef")[0] == 400


def test_what_was_half_written_inside_an_entry_is_removed_at_the_next_start(calls):
    root = calls.folder.root
    (root / "drafts" / "d1").mkdir()
    (root / "surveys" / "s1").mkdir()
    left = [root / ".register.jsonl.abc.part", root / "drafts" / "d1" / ".decision.json.abc.part",
            root / "surveys" / "s1" / ".survey.json.abc.part"]
    kept = [root / "drafts" / "d1" / "draft.json", root / "register.jsonl"]
    for file in (*left, *kept):
        file.write_text("x")
    os.close(calls.folder._lock)
    calls.folder.prepare()
    assert not any(file.exists() for file in left)
    assert all(file.exists() for file in kept)


def who(calls, name):
    return calls.ask("GET", "/joint", X_Unspoken_Proxy=SECRET, X_Unspoken_Role="custodian",
                     X_Unspoken_User=name)


def test_a_name_beyond_ascii_is_the_user_s_own(tmp_path):
    calls = Calls(tmp_path, proxy_secret=SECRET)
    assert who(calls, "José Ñandú")[0] == 200
    assert list(calls.app._app.state.desks._named) == ["José Ñandú"]


def test_a_name_that_could_be_read_in_two_ways_is_nobody_s(tmp_path):
    calls = Calls(tmp_path, proxy_secret=SECRET)
    odd = SimpleNamespace(encode=lambda: "José".encode("latin-1"))
    assert who(calls, odd)[0] == 403
    assert calls.app._app.state.desks._named == {}


def test_work_that_cannot_be_begun_takes_no_place(monkeypatch):
    jobs = Jobs()
    with monkeypatch.context() as patch:
        patch.setattr(background_jobs.subprocess, "Popen",
                      lambda *_, **__: (_ for _ in ()).throw(OSError("no memory")))
        for _ in range(background_jobs.MOST_RUNNING + 1):
            with pytest.raises(InputError, match="cannot begin more work"):
                jobs.start("risks", {}, "work")
    assert jobs.running() == []
    jobs.close()


def test_work_whose_process_ended_at_once_has_failed_and_takes_no_place(monkeypatch):
    jobs, real = Jobs(), subprocess.Popen

    def ended(_, **options):
        child = real(["true"], **options)
        child.wait()
        return child

    monkeypatch.setattr(background_jobs.subprocess, "Popen", ended)
    job = jobs.start("risks", {"source": "x" * 100_000}, "work")
    for _ in iter(lambda: job.state == "running", False):
        os.sched_yield()
    assert job.state == "failed"
    assert "ended without a result" in job.error


def test_a_header_of_a_proxy_in_the_answer_path_gives_nothing_more(tmp_path):
    calls = Calls(tmp_path, proxy_secret=SECRET)
    for place in ("/answer/../history", "/answer//history", "/answer/%2e%2e/history", "//history",
                  "/answer/assets/../../history"):
        assert calls.ask("GET", place, Host=HOST)[0] in (400, 403, 404)
