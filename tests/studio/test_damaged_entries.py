"""One damaged file is named, and takes nothing else away."""

import json

import pytest

from support.studio_calls import HOST, Calls
from unspoken.studio.survey_laws import SurveyQuestion
from unspoken.studio.survey_store import start_survey

YES_NO = SurveyQuestion("Yes?", "response", 1.0, ("yes", "no"))


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path).enter()


def decision(calls, name, text=None):
    place = calls.folder.part("signed") / name
    place.mkdir()
    whole = {"decision": "refuse", "table": {"name": "people.csv"}, "fingerprint": "f",
             "by": "Olga", "at": "today", "method": "mondrian", "verdict": "High",
             "terms": {"recipient": "institute"}, "sha256": {"other": "0"}}
    (place / "decision.json").write_text(json.dumps(whole) if text is None else text)


@pytest.mark.parametrize("text", ['{"decision": "rel', "", "[]", "{}", "[" * 100_000])
def test_history_names_a_damaged_decision_and_shows_the_others(calls, text):
    decision(calls, "2026-01-01-aa")
    decision(calls, "2026-01-02-bb", text)
    status, _, page = calls.get("/history")
    assert status == 200
    assert "Damaged: 2026-01-02-bb" in page
    assert "Refused: people.csv" in page
    assert "2 of 2 were changed after signing" in page


def test_a_cut_answer_is_left_out_and_the_next_one_kept(calls):
    survey = start_survey(calls.folder.part("surveys"), "Pay", [YES_NO])
    (survey.place / "answers.jsonl").write_bytes(b'[0]\n[1, [2]\n\xff]\n[7]\n[0')
    assert calls.ask("POST", f"/answer/{survey.name}", b"[1]", Origin=f"http://{HOST}")[0] == 200
    assert survey.reports() == [[0], [1]]
    page = calls.get(f"/surveys/{survey.name}")[2]
    assert "2 answers" in page
    assert "4 damaged line(s)" in page


@pytest.mark.parametrize("text", ['{"title": "Pa',
                                  '{"title": "P", "open": true, "questions": [1]}'])
def test_a_damaged_survey_is_named_and_the_others_shown(calls, text):
    start_survey(calls.folder.part("surveys"), "Whole one", [YES_NO])
    survey = start_survey(calls.folder.part("surveys"), "Pay", [YES_NO])
    (survey.place / "survey.json").write_text(text)
    status, _, page = calls.get("/surveys")
    assert status == 200
    assert "Whole one" in page
    assert survey.name in page
    assert "Some surveys are damaged" in page
    assert calls.get(f"/surveys/{survey.name}")[0] == 400


def test_a_model_without_a_description_is_named_and_can_be_removed(calls):
    for name, about in (("a1", '{"name": "tree.json", "kind": "tree"}'), ("b2", None)):
        (calls.folder.part("models") / name).mkdir()
        if about:
            (calls.folder.part("models") / name / "about.json").write_text(about)
    status, _, page = calls.get("/models")
    assert status == 200
    assert "tree.json" in page
    assert "b2/about.json" in page
    assert calls.post("/models/b2/remove")[0] == 303
    assert "b2/about.json" not in calls.get("/models")[2]


def test_a_damaged_draft_is_named_and_can_be_taken_back(calls):
    place = calls.folder.part("drafts") / "0123456789abcdef"
    place.mkdir()
    (place / "draft.json").write_text('{"source": ')
    status, _, page = calls.get("/decide")
    assert status == 200
    assert "0123456789abcdef/draft.json" in page
    assert calls.post(f"/decide/drafts/{place.name}/sign", by="Olga", passphrase="of the officer",
                      decision="release")[0] == 400
    assert calls.post(f"/decide/drafts/{place.name}/undo")[0] == 303
    assert not place.exists()
