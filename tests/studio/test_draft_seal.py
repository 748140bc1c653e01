"""What is signed is what was audited, once, by one officer, and the register says where it is."""

import json
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.studio_calls import write_people
from unspoken.errors import InputError
from unspoken.release.register import Register
from unspoken.release.release import Release
from unspoken.studio.desk import open_dataset
from unspoken.studio.draft_release import make_draft
from unspoken.studio.session_folder import SessionFolder
from unspoken.studio.sign_decision import Signer, sign_decision, signed_decisions, take_back

OFFICER = Signer("Olga", "of the officer")


@pytest.fixture(scope="module")
def drafted(tmp_path_factory):
    """One draft that may leave, made once and copied for every test."""
    root = tmp_path_factory.mktemp("drafted")
    write_people(root / "people.csv", 60)
    folder = SessionFolder(root / "studio")
    folder.prepare()
    place = folder.new("drafts")
    make_draft({"source": open_dataset(root / "people.csv").source.to_json(),
                "method": "mondrian", "parameters": {"k": 5, "others": "drop"},
                "terms": {"recipient": "institute", "purpose": "", "legal_basis": "",
                          "retention": ""}, "policy": "[people]\nmax_identified = 1.0\n",
                "place": str(place), "passphrase": "of the key",
                "register": str(folder.register)}, lambda *_: None)
    return root, place


@pytest.fixture
def draft(drafted, tmp_path):
    root, place = drafted
    shutil.copytree(root / "studio", tmp_path / "studio")
    os.unlink(tmp_path / "studio" / "studio.lock")
    folder = SessionFolder(tmp_path / "studio")
    folder.prepare()
    return folder, folder.part("drafts") / place.name


def edit_about(place, **fields):
    file = place / "draft.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def assert_nothing_left(folder):
    assert signed_decisions(folder) == []
    assert not folder.register.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["release/data.parquet", "release/manifest.json", "release.key",
                                  "report.html", "record.html"])
def test_a_file_that_was_changed_after_the_audit_is_not_signed(draft, name):
    folder, place = draft
    (place / name).write_bytes((place / name).read_bytes() + b" ")
    with pytest.raises(InputError, match=f"'{name}' of this draft was changed after the audit"):
        sign_decision(folder, place, OFFICER, release=True)
    assert_nothing_left(folder)


@pytest.mark.slow
def test_a_file_that_was_put_beside_the_release_does_not_leave_with_it(draft):
    folder, place = draft
    (place / "release" / "people.csv").write_text("name\nAnn\n")
    with pytest.raises(InputError, match=r"'release/people\.csv' was put into this draft"):
        sign_decision(folder, place, OFFICER, release=True)
    assert_nothing_left(folder)


@pytest.mark.slow
@pytest.mark.parametrize("release", [True, False])
def test_an_edited_draft_is_neither_released_nor_refused(draft, release):
    folder, place = draft
    edit_about(place, may_leave=True, promise="everything is safe")
    with pytest.raises(InputError, match="says about itself was changed"):
        sign_decision(folder, place, OFFICER, release=release)
    assert_nothing_left(folder)


@pytest.mark.slow
def test_a_seal_of_another_studio_is_none(draft):
    folder, place = draft
    (folder.root / "drafts.key").unlink()
    with pytest.raises(InputError, match="says about itself was changed"):
        sign_decision(folder, place, OFFICER, release=True)


@pytest.mark.slow
def test_what_left_since_the_audit_stops_the_signature(draft, drafted):
    folder, place = draft
    table = open_dataset(drafted[0] / "people.csv").source.read()
    Register.load(folder.register).add_release(table, Release.load(place / "release"), "rival")
    line = json.loads((place / "draft.json").read_text())["fingerprint"]
    Register.load(folder.register).add_other("query", table, "mean of age", "rival")
    with pytest.raises(InputError, match=r"A query \(mean of age, to rival, .* has left since"):
        sign_decision(folder, place, OFFICER, release=True)
    assert [one.what for one in Register.load(folder.register).entries] == [line, "mean of age"]
    assert signed_decisions(folder) == []


@pytest.mark.slow
def test_what_left_of_other_people_does_not_stop_it(draft, tmp_path):
    folder, place = draft
    (tmp_path / "weather.csv").write_text("rain,wind\n" + "\n".join(f"{k},{-k}" for k in range(90)))
    other = open_dataset(tmp_path / "weather.csv").source.read()
    Register.load(folder.register).add_other("query", other, "mean of rain", "rival")
    assert sign_decision(folder, place, OFFICER, release=True).is_dir()


@pytest.mark.slow
def test_the_register_points_to_the_release(draft):
    folder, place = draft
    signed = sign_decision(folder, place, OFFICER, release=True)
    (entry,) = Register.load(folder.register).entries
    assert Path(entry.place) == signed / "release"
    assert Release.load(entry.place).fingerprint == entry.what


@pytest.mark.slow
def test_after_a_crash_the_register_still_points_to_the_release(draft, monkeypatch):
    folder, place = draft
    with monkeypatch.context() as patch:
        patch.setattr("unspoken.studio.sign_decision._put_in_place",
                      lambda *_: (_ for _ in ()).throw(OSError("killed")))
        with pytest.raises(OSError, match="killed"):
            sign_decision(folder, place, OFFICER, release=True)
    monkeypatch.setattr("unspoken.studio.sign_decision.datetime", _later())
    signed = sign_decision(folder, place, OFFICER, release=True)
    (entry,) = Register.load(folder.register).entries
    assert Path(entry.place) == signed / "release"


def _later():
    from datetime import datetime, timedelta

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=1)

    return Later


@pytest.mark.slow
def test_of_officers_who_sign_at_once_one_wins(draft):
    folder, place = draft
    names = [f"officer {k}" for k in range(6)]

    def attempt(name):
        try:
            sign_decision(folder, place, Signer(name, "of the officer"), release=True)
        except InputError as error:
            return str(error)
        return name

    def taking_back(_):
        try:
            take_back(folder, place)
        except InputError as error:
            return str(error)
        return "taken back"

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(attempt, names), *pool.map(taking_back, range(2))]
    winners = [one for one in answers if one in names]
    (decision,) = signed_decisions(folder)
    assert [decision.decision["by"]] == winners
    assert decision.intact
    assert len(Register.load(folder.register).entries) == 1
    assert sum("meanwhile" in one for one in answers) == 7


@pytest.mark.slow
def test_a_release_is_for_its_owner_only_once_signed(draft):
    folder, place = draft
    signed = sign_decision(folder, place, OFFICER, release=True)
    for one in (signed, *signed.rglob("*")):
        wanted = 0o700 if one.is_dir() else 0o600
        assert stat.S_IMODE(one.stat().st_mode) == wanted, one.name
