"""kill -9 at every change of the disk while a decision is signed: nothing signed is lost."""

import json
import os
import shutil
from pathlib import Path

import pytest

from support.studio_calls import Calls, write_people
from support.studio_kills import moments, put_back
from unspoken.release.budget import Budget
from unspoken.release.register import Register
from unspoken.studio.desk import open_dataset
from unspoken.studio.draft_release import make_draft
from unspoken.studio.session_folder import SessionFolder
from unspoken.studio.sign_decision import Signer, finish_signed, sign_decision, signed_decisions

pytestmark = pytest.mark.slow
OFFICER = Signer("Olga", "of the officer")
SIGNED = {"draft.json", "record.html", "record.html.sig", "report.html", "decision.json",
          "decision.json.sig"}
RELEASED = {"release", "data.parquet", "manifest.json", "release.key"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A studio with one draft of a table that has a budget."""
    root = tmp_path_factory.mktemp("killed")
    people = write_people(root / "people.csv", 40)
    folder = SessionFolder(root / "studio")
    folder.prepare()
    dataset = open_dataset(people)
    Budget.start(root / "people.csv.budget", dataset.source.read(), epsilon=1.0)
    make_draft({"source": dataset.source.to_json(), "method": "mondrian",
                "parameters": {"k": 5, "others": "drop"}, "place": str(folder.new("drafts")),
                "terms": {"recipient": "institute", "purpose": "", "legal_basis": "",
                          "retention": ""}, "policy": "[people]\nmax_identified = 1.0\n",
                "passphrase": "of the key", "register": str(folder.register)}, lambda *_: None)
    os.close(folder._lock)
    return root


def begun(root):
    """Start the studio of a folder, as after a kill."""
    folder = SessionFolder(root / "studio")
    folder.prepare()
    return folder, len(finish_signed(folder))


def sign(folder, release):
    (draft,) = folder.part("drafts").iterdir()
    sign_decision(folder, draft, OFFICER, release)


def seen(folder, finished=0):
    """Return what there is: decisions, drafts, files, what was entered and what was booked."""
    return {"finished": finished,
            "half": [one.name for one in folder.root.rglob(".*")],
            "signed": [(one.intact, one.decision["decision"]) for one in signed_decisions(folder)],
            "drafts": len(list(folder.part("drafts").iterdir())),
            "files": {file.name for part in ("drafts", "signed")
                      for one in folder.part(part).iterdir() for file in one.rglob("*")},
            "entries": len(Register.load(folder.register).entries),
            "booked": len(Budget(folder.root.with_name("people.csv.budget")).draws)}


def killed(made, tmp_path, release):
    """Return for every moment of signing what the next start finds, and what signing makes of it.

    From a state that was found before the way on is the same, and is not gone again.
    """
    first = Path(shutil.copytree(made, tmp_path / "first"))
    folder, _ = begun(made)
    steps = []
    try:
        for place in moments(made, tmp_path, lambda: sign(folder, release)):
            put_back(place, made)
            here, finished = begun(made)
            found = seen(here, finished)
            again = next((end for left, end in steps if left == found), None)
            if again is None:
                if found["drafts"]:
                    sign(here, release)
                again = seen(here)
            steps.append((found, again))
            os.close(here._lock)
    finally:
        os.close(folder._lock)
        put_back(first, made)
    return steps


def held(steps, decision, files):
    """Hold for every moment what users are promised; return at which of them it was finished."""
    for number, (left, again) in enumerate(steps):
        assert left["half"] == again["half"] == [], number
        assert left["signed"] in ([], [(True, decision)]), number
        assert len(left["signed"]) + left["drafts"] == 1, number
        assert (again["signed"], again["drafts"]) == ([(True, decision)], 0), number
        assert again["files"] == files, number
    return [number for number, (left, _) in enumerate(steps) if left["finished"]]


def test_a_release_is_signed_once_or_not_at_all_whenever_the_studio_is_killed(made, tmp_path):
    steps = killed(made, tmp_path, release=True)
    assert len(steps) > 20
    # Right before the move: what was signed by then is finished at the next start.
    assert len(steps) - 1 in held(steps, "release", SIGNED | RELEASED)
    for left, again in steps:
        assert left["entries"] <= left["booked"] <= 1
        assert len(left["signed"]) <= left["entries"]
        assert (again["entries"], again["booked"]) == (1, 1)
    assert {left["booked"] for left, _ in steps} == {0, 1}


def test_a_refusal_is_signed_once_or_not_at_all_whenever_the_studio_is_killed(made, tmp_path):
    steps = killed(made, tmp_path, release=False)
    assert len(steps) > 10
    assert len(steps) - 1 in held(steps, "refuse", SIGNED)
    assert {one["booked"] + one["entries"] for step in steps for one in step} == {0}


@pytest.fixture
def draft(made, tmp_path):
    shutil.copytree(made / "studio", tmp_path / "studio")
    folder = SessionFolder(tmp_path / "studio")
    folder.prepare()
    return folder, next(folder.part("drafts").iterdir())


def test_a_signed_decision_that_was_not_yet_in_its_place_is_in_the_history(made, draft, tmp_path,
                                                                           monkeypatch):
    folder, place = draft
    with monkeypatch.context() as patch:
        patch.setattr("unspoken.studio.sign_decision._put_in_place",
                      lambda *_: (_ for _ in ()).throw(OSError("killed")))
        with pytest.raises(OSError, match="killed"):
            sign_decision(folder, place, OFFICER, release=True)
    os.close(folder._lock)
    calls = Calls(tmp_path).enter()
    page = calls.get("/history")[2]
    assert "1 released, 0 refused" in page
    assert "signature holds" in page
    assert calls.get(f"/decide/drafts/{place.name}")[0] == 400


@pytest.mark.parametrize("what", ["decision.json", "decision.json.sig", "release/data.parquet",
                                  "draft.json"])
def test_a_decision_that_was_meddled_with_is_not_put_in_its_place(draft, monkeypatch, what):
    folder, place = draft
    with monkeypatch.context() as patch:
        patch.setattr("unspoken.studio.sign_decision._put_in_place", lambda *_: None)
        sign_decision(folder, place, OFFICER, release=True)
    text = (place / what).read_bytes()
    (place / what).write_bytes(text.replace(b'"', b' "', 1) if what != "decision.json.sig"
                               else b"{}")
    if (place / what).read_bytes() == text:
        (place / what).write_bytes(text + b" ")
    if what == "draft.json":
        (place / what).write_text(json.dumps({**json.loads(text), "may_leave": "yes"}))
    assert finish_signed(folder) == []
    assert signed_decisions(folder) == []
    assert place.exists()


def test_a_file_that_was_put_into_a_signed_release_is_noticed(draft):
    folder, place = draft
    signed = sign_decision(folder, place, OFFICER, release=True)
    (signed / "release" / "names.csv").write_text("who,is\n")
    (one,) = signed_decisions(folder)
    assert not one.intact
    assert one.changed == ("release/names.csv (added)",)


def test_two_refusals_in_one_second_have_two_places(draft, monkeypatch):
    folder, place = draft
    other = Path(shutil.copytree(place, place.with_name("f" * 16)))
    for one in (place, other):
        sign_decision(folder, one, OFFICER, release=False)
    assert len(signed_decisions(folder)) == 2
