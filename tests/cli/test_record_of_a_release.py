"""A signed record belongs to one release: another one, or a changed one, is refused."""

import json
import shutil
from pathlib import Path

import pytest

import unspoken
from support.population import population
from unspoken.release.method import methods
from unspoken.release.record_signature import new_signing_key, sign_file
from unspoken.release.record_subject import Subject, digest_of, subject_in
from unspoken.report.page import Page

NAMES = ("first", "second")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two releases of the same people, a file, and a signing key."""
    folder = tmp_path_factory.mktemp("made")
    table = unspoken.read(population(80), target="ill", show=False)
    for name in NAMES:
        methods()["noise"].build({"others": "keep"}).protect(table)[0].save(folder / name)
    (folder / "table.csv").write_text("age\n1\n")
    new_signing_key(folder / "k.pem")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "all")
    return tmp_path / "all"


def signed(folder, name, record="record.html"):
    path = folder / record
    Page("Decision record").markup(Subject(name, digest_of(folder / name)).markup()).save(path)
    sign_file(path, folder / "k.pem")
    return path


def verified(command_here, record, *more, cwd=None):
    done = command_here("verify-record", record, *more, "--json", cwd=cwd or record.parent)
    return done.status, json.loads(done.out) if done.out else done.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first", "table.csv"])
def test_the_release_beside_a_record_is_compared(folder, command_here, name):
    status, said = verified(command_here, signed(folder, name))
    assert (status, said["valid"], Path(said["release"]).name) == (0, True, name)


def test_another_release_is_refused(folder, command_here):
    record = signed(folder, "first")
    status, said = verified(command_here, record, "--release", folder / "second")
    assert status == 1
    assert "another release" in said["reason"]
    assert verified(command_here, record, "--release", folder / "none")[0] == 1


def test_a_release_that_was_put_in_its_place_is_refused(folder, command_here):
    record = signed(folder, "first")
    shutil.rmtree(folder / "first")
    (folder / "second").rename(folder / "first")
    status, said = verified(command_here, record)
    assert status == 1
    assert "another release" in said["reason"]


def test_changed_data_with_a_new_digest_in_the_manifest_are_refused(folder, command_here):
    """The fingerprint of a release leaves its data out, and anybody can write a manifest."""
    record = signed(folder, "first")
    shutil.copy(folder / "second" / "data.parquet", folder / "first" / "data.parquet")
    assert verified(command_here, record)[0] == 1
    manifests = {name: json.loads((folder / name / "manifest.json").read_text()) for name in NAMES}
    manifests["first"]["data"] = manifests["second"]["data"]
    (folder / "first" / "manifest.json").write_text(json.dumps(manifests["first"]))
    assert verified(command_here, record)[0] == 1


def test_a_changed_file_is_refused(folder, command_here):
    record = signed(folder, "table.csv")
    (folder / "table.csv").write_text("age\n2\n")
    assert verified(command_here, record)[0] == 1


def test_without_a_release_it_says_so(folder, command_here, tmp_path):
    record = signed(folder, "first")
    for name in ("record.html", "record.html.sig"):
        shutil.move(folder / name, tmp_path / name)
    done = command_here("verify-record", tmp_path / record.name, cwd=tmp_path)
    assert done.status == 0
    assert "compared with no release" in done.out
    # A release in the current folder is at hand, too.
    assert verified(command_here, tmp_path / record.name, cwd=folder)[1]["release"]


def test_a_record_without_a_release_fits_none(folder, command_here):
    path = folder / "other.html"
    Page("Decision record").save(path)
    sign_file(path, folder / "k.pem")
    assert verified(command_here, path)[0] == 0
    assert verified(command_here, path, "--release", folder / "first")[0] == 1


@pytest.mark.parametrize("name", ["../first", "first/..", ""])
def test_names_that_lead_elsewhere_are_refused(folder, command_here, name):
    path = folder / "record.html"
    Page("Decision record").markup(Subject(name, "0" * 64).markup()).save(path)
    sign_file(path, folder / "k.pem")
    status, said = verified(command_here, path)
    assert status in (1, 2), said


def test_a_column_cannot_name_another_release(tmp_path):
    mine, other = Subject("first", "1" * 64), Subject("second", "2" * 64)
    Page("Decision record").markup(mine.markup()).text(other.markup()).bullets(
        [other.markup()]).save(tmp_path / "r.html")
    assert subject_in(tmp_path / "r.html") == mine


@pytest.mark.slow
def test_the_audit_writes_what_the_record_is_about(made, command_here, tmp_path):
    import pyarrow.csv

    pyarrow.csv.write_csv(population(80), tmp_path / "o.csv")
    pyarrow.csv.write_csv(population(80, seed=4), tmp_path / "t.csv")
    done = command_here("audit", "t.csv", "--against", "o.csv", "--people", "20", "--seed", "1",
                        "--out", "r.html", "--record", "record.html", cwd=tmp_path)
    assert done.status in (0, 1), done.err
    sign_file(tmp_path / "record.html", made / "k.pem")
    assert verified(command_here, tmp_path / "record.html")[1]["release"].endswith("t.csv")
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text() + "1,f,2,3,a,no\n")
    assert verified(command_here, tmp_path / "record.html")[0] == 1
