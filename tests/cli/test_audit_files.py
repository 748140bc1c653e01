"""audit of files: tables of other tools, models, documents, and a signed record."""

import json

import pyarrow.csv
import pytest

from support.population import noised, population

ARGS = ("--control", "control.csv", "--people", "60", "--seed", "1", "--json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    original = population(300)
    for name, table in (("original", original), ("control", population(300, seed=1)),
                        ("noisy", noised(original, 0.02))):
        pyarrow.csv.write_csv(table, path / f"{name}.csv")
    (path / "harsh.toml").write_text('[columns]\nmax_recovered = 0.1\nagainst = "anybody"\n')
    return path


@pytest.mark.slow
def test_a_table_of_another_tool_with_all_documents(folder, command_here, tmp_path):
    done = command_here(
        "audit", "noisy.csv", "--against", "original.csv", *ARGS, "--quasi", "age,zip",
        "--sensitive", "ill", "--policy", "harsh.toml", "--out", tmp_path / "r.html",
        "--record", tmp_path / "record.html", "--exposed", tmp_path / "who.csv",
        "--expert-determination", tmp_path / "e.md", "--impact-assessment", tmp_path / "i.html",
        "--purpose", "Teaching", "--recipient", "Northtown", cwd=folder)
    assert done.status == 1, done.err
    answer = json.loads(done.out)
    assert answer["verdict"]["level"] == "policy"
    assert answer["audit"]["people"]["persons"]["known"] == ["age", "zip"]
    assert "Teaching" in (tmp_path / "record.html").read_text()
    assert (tmp_path / "who.csv").read_text().startswith("row,prosecutor,journalist\n")
    for name in ("record.html", "who.csv", "e.md", "i.html"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name
    signed = command_here("sign", tmp_path / "record.html", "--key", tmp_path / "k.pem",
                          "--new-key", "--json", cwd=folder)
    mark = json.loads(signed.out)["fingerprint"]
    assert command_here("verify-record", tmp_path / "record.html", "--fingerprint", mark,
                        cwd=folder).status == 0
    text = (tmp_path / "record.html").read_text()
    (tmp_path / "record.html").write_text(text.replace("do not release", "may be released"))
    done = command_here("verify-record", tmp_path / "record.html", cwd=folder)
    assert done.status == 1
    assert "Refused" in done.out


@pytest.mark.slow
def test_a_model_file(folder, command_here, tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    from unspoken.models.tree import Tree

    frame = population(300).to_pandas()
    fitted = DecisionTreeClassifier(random_state=0).fit(frame[["age", "zip"]], frame["ill"])
    Tree.from_sklearn(fitted).save(tmp_path / "tree.json")
    done = command_here("audit", tmp_path / "tree.json", "--against", "original.csv", "--target",
                        "ill", *ARGS, "--out", tmp_path / "r.html", cwd=folder)
    assert done.status == 1, done.err
    answer = json.loads(done.out)
    assert answer["verdict"]["level"] == "high"
    assert {risk["kind"] for risk in answer["audit"]["people"]["risks"]} == {"membership",
                                                                            "inferring"}


def test_documents_are_not_replaced_and_pickles_refused(folder, command_here, tmp_path):
    (tmp_path / "record.html").write_text("mine")
    done = command_here("audit", "noisy.csv", "--against", "original.csv", "--out",
                        tmp_path / "r.html", "--record", tmp_path / "record.html", cwd=folder)
    assert done.status == 2
    assert "must not exist yet" in done.err
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04K\x01.")
    done = command_here("audit", tmp_path / "m.pkl", "--against", "original.csv", "--target", "ill",
                        "--out", tmp_path / "r.html", cwd=folder)
    assert done.status == 2
    assert "Pickles are never read" in done.err
