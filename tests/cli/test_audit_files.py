"""audit of files: tables of other tools, models, documents, and a signed record."""

import json

import pyarrow.csv
import pytest
from sklearn.tree import DecisionTreeClassifier

import unspoken
from support.population import noised, population
from unspoken.models.tree import Tree
from unspoken.release.automatic_entries import file_words
from unspoken.risk import Register

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


def test_without_a_report_the_result_is_printed_alone(folder, command_here):
    before = sorted(path.name for path in folder.iterdir())
    done = command_here("audit", "noisy.csv", "--against", "original.csv", *ARGS, cwd=folder)
    assert done.status in (0, 1), done.err
    answer = json.loads(done.out)
    assert answer["report"] is None
    assert answer["audit"]["rows"]
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.slow
def test_a_policy_decides_how_near_a_guess_must_be_and_which_columns_are_inferred(folder, tmp_path,
                                                                                  command_here):
    """A limit on a column that nobody declared to be sensitive used to be passed over."""
    policy = tmp_path / "p.toml"
    policy.write_text("radius = 0.05\n[column.age]\nmax_recovered = 0.1\n")
    words = ("audit", "noisy.csv", "--against", "original.csv", *ARGS, "--sensitive", "ill",
             "--policy", policy)
    done = command_here(*words, cwd=folder)
    assert done.status == 1, done.err
    answer = json.loads(done.out)
    assert answer["audit"]["radius"] == 0.05
    assert any(reason.startswith("'age'") for reason in answer["verdict"]["reasons"])
    policy.write_text("[colunms]\n")
    done = command_here(*words, cwd=folder)
    assert done.status == 2
    assert "Did you mean 'columns'" in done.err


def test_an_original_without_values_cannot_be_audited(command_here, tmp_path):
    (tmp_path / "blank.csv").write_text("a,b\n" + ",\n" * 50)
    done = command_here("audit", "blank.csv", "--against", "blank.csv", cwd=tmp_path)
    assert done.status == 2
    assert "no value in any released column" in done.err


@pytest.mark.slow
def test_a_model_file(folder, command_here, tmp_path):
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


def audited(command_here, folder, tmp_path, file, *more):
    done = command_here("audit", file, "--against", "original.csv", "--target", "ill", *ARGS,
                        "--people", "20", "--out", tmp_path / "r.html", "--overwrite", *more,
                        cwd=folder)
    assert done.status in (0, 1), done.err
    return json.loads(done.out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["release", "query"])
def test_what_went_out_before_counts_for_a_table_of_another_tool(folder, command_here, tmp_path,
                                                                 monkeypatch, kind):
    original = unspoken.read(population(300), target="ill", show=False)
    Register.load(tmp_path / "r").add_other(kind, original, "what it was", "ministry")
    answer = audited(command_here, folder, tmp_path, "noisy.csv", "--register", tmp_path / "r")
    assert f"{kind} 'what it was' to ministry" in answer["audit"]["unscored"]["(register)"]
    assert answer["verdict"]["level"] in ("unknown", "high")
    monkeypatch.setenv("UNSPOKEN_REGISTER", str(tmp_path / "r"))
    assert audited(command_here, folder, tmp_path, "noisy.csv")["audit"] == answer["audit"]
    others = unspoken.read(population(300, seed=5), target="ill", show=False)
    Register.load(tmp_path / "s").add_other(kind, others, "other people", "ministry")
    more = audited(command_here, folder, tmp_path, "noisy.csv", "--register", tmp_path / "s")
    assert "(register)" not in more["audit"]["unscored"]


@pytest.mark.slow
def test_what_went_out_before_counts_for_a_model_but_not_the_model_itself(folder, command_here,
                                                                           tmp_path):
    frame = population(300).to_pandas()
    fitted = DecisionTreeClassifier(max_depth=2).fit(frame[["age", "zip"]], frame["ill"])
    Tree.from_sklearn(fitted).save(tmp_path / "tree.json")
    original = unspoken.read(population(300), target="ill", show=False)
    data = (tmp_path / "tree.json").read_bytes()
    register = Register.load(tmp_path / "r")
    register.add_other("model", original, file_words("Tree", tmp_path / "elsewhere", data), "ward")
    words = (command_here, folder, tmp_path, tmp_path / "tree.json", "--register", tmp_path / "r")
    assert "(register)" not in audited(*words)["audit"]["unscored"]
    register.add_other("model", original, file_words("Tree", tmp_path / "x", b"another"), "ward")
    answer = audited(*words)
    assert "(register)" in answer["audit"]["unscored"]
    assert answer["verdict"]["level"] in ("unknown", "high")


def test_a_register_that_cannot_be_read_is_refused_for_files_too(folder, command_here, tmp_path):
    (tmp_path / "broken").write_text("nonsense\n")
    for register, complaint in (("none", "must be there to be read"), ("broken", "broken")):
        done = command_here("audit", "noisy.csv", "--against", "original.csv", *ARGS, "--register",
                            tmp_path / register, "--out", tmp_path / "r.html", cwd=folder)
        assert done.status == 2
        assert complaint in done.err
        assert not (tmp_path / "r.html").exists()


@pytest.mark.slow
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
