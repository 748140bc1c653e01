"""What goes wrong leaves nothing behind: no half release, no traceback with values of the table."""

import time

import pytest

from support.studio_calls import HOST, Calls, write_people
from unspoken.studio import survey_pages
from unspoken.studio.desk import open_dataset
from unspoken.studio.survey_laws import SurveyQuestion
from unspoken.studio.survey_store import start_survey


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path).enter()


@pytest.fixture
def drafting(calls, tmp_path, monkeypatch):
    """A draft under way whose child has written a key and goes on."""
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o700)
    monkeypatch.setattr("unspoken.studio.background_jobs.sys.executable", str(sleeper))
    calls.desk.put(open_dataset(write_people(tmp_path / "people.csv", 30)))
    calls.post("/decide/choose", method="mondrian", parameters='{"k": 5}')
    assert calls.post("/decide/drafts", passphrase="of the key", policy="")[0] == 303
    part = calls.folder.part("drafts") / f".{calls.desk.found['draft']}.abc.part"
    part.mkdir()
    (part / "release.key").write_text("key")
    yield calls, calls.desk.found["draft_job"]
    calls.desk.jobs.close()


@pytest.mark.slow
def test_a_cancelled_draft_leaves_no_release_and_no_key(drafting):
    calls, job = drafting
    assert calls.ask("POST", f"/jobs/{job.name}/cancel", Cookie=calls.cookie,
                     Origin=f"http://{HOST}", X_Csrf_Token=calls.csrf)[0] == 200
    until = time.monotonic() + 20
    while list(calls.folder.part("drafts").iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    assert list(calls.folder.part("drafts").iterdir()) == []


@pytest.mark.slow
def test_a_studio_that_ends_leaves_no_half_draft(drafting):
    calls, _ = drafting
    calls.desk.jobs.close()
    assert list(calls.folder.part("drafts").iterdir()) == []


def test_an_unforeseen_error_is_answered_and_not_raised(calls, monkeypatch, capfd):
    def fail(*_):
        raise RuntimeError("Ann Example 7")

    survey = start_survey(calls.folder.part("surveys"), "Pay",
                          [SurveyQuestion("Yes?", "response", 1.0, ("yes", "no"))])
    monkeypatch.setattr(survey_pages, "surveys_in", fail)
    monkeypatch.setattr("unspoken.studio.survey_store.Survey.add", fail)
    for status, _, text in (calls.get("/surveys"), calls.ask(
            "POST", f"/answer/{survey.name}", b"[0]", Origin=f"http://{HOST}")):
        assert status == 500
        assert "not foreseen (RuntimeError)" in text
        assert "Ann" not in text
    assert "Ann" not in "".join(capfd.readouterr())
