"""Drafts and signatures: what is put in place, what is booked, and what a killed server leaves."""

import json
import os
import shutil
import signal
import stat

import psutil
import pytest

from support.studio_calls import Calls, write_people
from support.studio_server import studio
from unspoken.errors import BudgetError, InputError, UnspokenError
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import Cost
from unspoken.release.budget_entries import Draw
from unspoken.release.register import Register
from unspoken.studio.desk import open_dataset
from unspoken.studio.draft_release import make_draft, read_about
from unspoken.studio.session_folder import SessionFolder
from unspoken.studio.sign_decision import Signer, sign_decision, signed_decisions

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]
OFFICER = Signer("Olga", "of the officer")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One draft that may leave, made once and copied for every test."""
    root = tmp_path_factory.mktemp("made")
    write_people(root / "people.csv", 100)
    folder = SessionFolder(root / "studio")
    folder.prepare()
    dataset = open_dataset(root / "people.csv")
    place = folder.new("drafts")
    steps = []
    make_draft({"source": dataset.source.to_json(), "method": "mondrian",
                "parameters": {"k": 5, "others": "drop"}, "place": str(place),
                "terms": {"recipient": "institute", "purpose": "", "legal_basis": "",
                          "retention": ""}, "policy": "[people]\nmax_identified = 1.0\n",
                "passphrase": "of the key", "register": str(folder.register)},
               lambda *words: steps.append(words))
    assert [one[0] for one in steps] == sorted(one[0] for one in steps)
    return root, place


@pytest.fixture
def draft(made, tmp_path):
    root, place = made
    shutil.copytree(root / "studio", tmp_path / "studio")
    folder = SessionFolder(tmp_path / "studio")
    os.unlink(tmp_path / "studio" / "studio.lock")
    folder.prepare()
    return folder, folder.part("drafts") / place.name


def change(draft, **fields):
    file = draft / "draft.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def test_a_draft_is_whole_sealed_and_private(draft):
    _, place = draft
    names = {one.name for one in place.iterdir()}
    assert names == {"release", "release.key", "report.html", "record.html", "draft.json"}
    for name in names - {"release"}:
        assert stat.S_IMODE((place / name).stat().st_mode) == 0o600, name
    about = read_about(place)
    assert about["sealed"]
    assert b"of the key" not in b"".join(one.read_bytes() for one in place.iterdir()
                                         if one.is_file())


def test_signing_enters_the_register_and_the_hashes_hold(draft):
    folder, place = draft
    signed = sign_decision(folder, place, OFFICER, release=True)
    assert not place.exists()
    (one,) = signed_decisions(folder)
    assert one.intact
    assert one.decision["by"] == "Olga"
    (entry,) = Register.load(folder.register).entries
    assert entry.what == one.decision["fingerprint"]
    assert entry.to == "institute"
    for file in ("record.html", "decision.json", "release/data.parquet", "release.key"):
        changed = signed / file
        kept = changed.read_bytes()
        changed.write_bytes(kept + b" ")
        assert not signed_decisions(folder)[0].intact, file
        changed.write_bytes(kept)
    assert signed_decisions(folder)[0].intact


def test_what_must_not_leave_is_not_released_by_a_signature(draft):
    folder, place = draft
    change(place, may_leave=False)
    with pytest.raises(InputError, match="must not be released"):
        sign_decision(folder, place, OFFICER, release=True)
    assert signed_decisions(folder) == []
    assert not folder.register.exists()


def test_a_signed_refusal_keeps_the_record_and_nothing_that_could_leave(draft):
    folder, place = draft
    signed = sign_decision(folder, place, OFFICER, release=False)
    assert not (signed / "release").exists()
    assert not (signed / "release.key").exists()
    (one,) = signed_decisions(folder)
    assert one.intact
    assert one.decision["decision"] == "refuse"
    assert not folder.register.exists()


def test_a_wrong_passphrase_books_nothing(draft):
    folder, place = draft
    sign_decision(folder, shutil.copytree(place, place.with_name("again")), OFFICER, release=False)
    with pytest.raises(UnspokenError):
        sign_decision(folder, place, Signer("Olga", "another one"), release=True)
    assert place.exists()
    assert not folder.register.exists()


@pytest.fixture
def budget(made):
    """A budget beside the table of the draft, for one test."""
    place = made[0] / "people.csv.budget"
    yield Budget.start(place, open_dataset(made[0] / "people.csv").source.read(), epsilon=1.0)
    for one in made[0].glob("people.csv.budget*"):
        one.unlink()


def test_what_is_signed_is_booked_in_the_budget_of_its_table(draft, budget):
    sign_decision(*draft, OFFICER, release=True)
    assert [one.to for one in budget.refresh().draws] == ["institute"]


def test_a_release_that_the_budget_has_no_room_for_is_not_signed(draft, budget, monkeypatch):
    folder, place = draft
    monkeypatch.setattr("unspoken.release.budget_releases.release_draws",
                        lambda release, to, *_: (Draw(Cost(5.0), to, "release", "too much"),))
    with pytest.raises(BudgetError, match="Nothing was signed"):
        sign_decision(folder, place, OFFICER, release=True)
    assert budget.refresh().draws == ()
    assert place.exists()
    assert signed_decisions(folder) == []
    assert not folder.register.exists()


def test_a_draft_that_is_signed_again_after_a_crash_is_counted_once(draft, monkeypatch):
    folder, place = draft
    import unspoken.studio.sign_decision as module

    with monkeypatch.context() as patch:
        patch.setattr(module, "_put_in_place", lambda *_: (_ for _ in ()).throw(OSError("killed")))
        with pytest.raises(OSError, match="killed"):
            sign_decision(folder, place, OFFICER, release=True)
    assert signed_decisions(folder) == []
    sign_decision(folder, place, OFFICER, release=True)
    assert len(Register.load(folder.register).entries) == 1
    assert len(signed_decisions(folder)) == 1


def test_a_draft_can_be_taken_back_and_a_signed_one_cannot(made, tmp_path):
    _, place = made
    calls = Calls(tmp_path).enter()
    shutil.copytree(place, calls.folder.part("drafts") / place.name)
    assert "Take it back" in calls.get(f"/decide/drafts/{place.name}")[2]
    assert calls.post(f"/decide/drafts/{place.name}/undo")[0] == 303
    assert list(calls.folder.part("drafts").iterdir()) == []
    assert calls.post(f"/decide/drafts/{place.name}/undo")[0] == 400


def test_reports_are_shown_in_a_sandbox(made, tmp_path):
    _, place = made
    calls = Calls(tmp_path).enter()
    shutil.copytree(place, calls.folder.part("drafts") / place.name)
    status, headers, _ = calls.get(f"/decide/drafts/{place.name}/record.html")
    assert status == 200
    assert "sandbox" in headers["content-security-policy"]
    assert "script" not in headers["content-security-policy"]
    for file in ("release.key", "draft.json", "..%2f..%2fsigner.pem"):
        assert calls.get(f"/decide/drafts/{place.name}/{file}")[0] in (400, 404)


def test_kill_9_loses_no_signed_decision_and_leaves_no_half_release(made, tmp_path):
    _, place = made
    write_people(tmp_path / "people.csv", 300)
    SessionFolder(tmp_path / "studio").root.mkdir()
    for name in ("uploads", "drafts", "signed", "surveys", "models"):
        (tmp_path / "studio" / name).mkdir()
    shutil.copytree(place, tmp_path / "studio" / "drafts" / place.name)
    shutil.copy(place.parents[1] / "drafts.key", tmp_path / "studio")
    # The table of the draft lies there, and no other root would let it be read.
    with studio(tmp_path, tmp_path / "people.csv", "--root", place.parents[2]) as one:
        one.enter()
        status, headers, _ = one.post(f"/decide/drafts/{place.name}/sign", by="Olga",
                                      passphrase="of the officer", decision="release")
        assert (status, headers["location"]) == (303, "/history")
        one.post("/decide/choose", method="mondrian", parameters='{"k": 5, "others": "drop"}')
        one.post("/decide/drafts", passphrase="of the key", policy="")
        (child,) = psutil.Process(one.process.pid).children()
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()
        _, alive = psutil.wait_procs([child], timeout=60)
        assert not alive
    left = [one.name for one in (tmp_path / "studio" / "drafts").iterdir()]
    assert all(name.startswith(".") for name in left)
    with studio(tmp_path) as other:
        other.enter()
        text = other.get("/history")[2]
        assert "1 released, 0 refused" in text
        assert "signature holds" in text
        assert list((tmp_path / "studio" / "drafts").iterdir()) == []
