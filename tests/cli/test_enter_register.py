"""What goes out is entered into a register by itself: answers, models, baskets, studies."""

from __future__ import annotations

import hashlib
import json

import pyarrow.csv
import pytest

from support.service_people import people, service
from unspoken.cli.main import main
from unspoken.errors import QueryRefusedError, ReleaseError
from unspoken.methods.queries.service.question_text import question_of
from unspoken.protect import NoiseAdder, QueryGuard
from unspoken.release.automatic_entries import enter_once
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.risk import Register, audit

COUNT = ("query", "t.csv", "--count", "--log", "log", "--json")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNSPOKEN_REGISTER", raising=False)
    pyarrow.csv.write_csv(people().arrow(), tmp_path / "t.csv")
    (tmp_path / "b.dat").write_text("1 2 3\n1 2\n2 3\n1 2 4\n1 2\n" * 8)
    return tmp_path


def entries(path="r"):
    return [(one.kind, one.to) for one in Register.load(path).entries]


@pytest.mark.slow
def test_answers_of_a_log_are_entered_once_for_each_recipient(folder, capsys):
    for _ in range(2):
        assert main([*COUNT, "--register", "r", "--to", "ministry"]) == 0
    assert entries() == [("query", "ministry")]
    assert main([*COUNT, "--register", "r", "--to", "press"]) == 0
    assert entries() == [("query", "ministry"), ("query", "press")]
    assert Register.load("r").entries[0].guarantee == "epsilon 1"
    assert Register.load("r").known_people(people())[0] == 1.0


@pytest.mark.slow
def test_the_environment_names_the_register(folder, monkeypatch, capsys):
    monkeypatch.setenv("UNSPOKEN_REGISTER", str(folder / "r"))
    assert main([*COUNT]) == 0
    assert main(["protect", "t.csv", "--target", "ill", "--keep", "income", "--method", "noise",
                 "--option", "others=drop", "--out", "one", "--to", "clinic"]) == 0
    assert entries() == [("query", ""), ("release", "clinic")]
    capsys.readouterr()
    # The audit looks into the same register: at the log, and says so where it is not there.
    words = ["audit", "one", "--against", "t.csv", "--keep", "income", "--key", "one.key",
             "--trials", "1", "--seed", "1", "--json", "--out"]
    main([*words, "a.html"])
    assert "(register)" not in json.loads(capsys.readouterr().out)["audit"]["unscored"]
    (folder / "log").unlink()
    main([*words, "b.html"])
    assert "(register)" in json.loads(capsys.readouterr().out)["audit"]["unscored"]


@pytest.mark.slow
def test_an_answer_that_cannot_be_entered_is_not_given(folder, capsys):
    assert main([*COUNT, "--register", "r"]) == 0
    lines = (folder / "r").read_text().splitlines()
    (folder / "r").write_text("\n".join([lines[0].replace("query", "study"), *lines[1:]]) + "\n")
    capsys.readouterr()
    assert main(["query", "t.csv", "--count", "--where", "sex = 'F'", "--public", "sex", "--log",
                 "log2", "--register", "r", "--json"]) == 2
    assert "answered" not in capsys.readouterr().out


def test_a_refused_query_is_no_disclosure(folder):
    QueryGuard(people(), "log", register="r", to="x", epsilon=0.1, each=0.1).count()
    assert entries() == [("query", "x")]
    with pytest.raises(QueryRefusedError):
        QueryGuard(people(), "log", register="r2", to="x").count("age > 30", epsilon=5.0)
    assert entries("r2") == []


@pytest.mark.slow
def test_a_service_is_entered_when_it_starts_and_attacked_with_the_next_release(folder):
    table = people()
    service(folder, table, epsilon=3.0, register="r")
    opened = service(folder, table, epsilon=3.0, register="r")
    assert entries(folder / "r") == [("query", "alice")]
    opened.ask("alice", question_of("select mean(age) where sex = 'F'"))
    release, key = NoiseAdder(columns=["age"], others="drop").protect(table)
    audited = audit(table, release, key, trials=1, random_state=0, register=folder / "r")
    assert "(register)" not in audited.unscored
    assert any("'age'" in line and "query service" in line for line in audited.added)
    (folder / "log").unlink()
    audited = audit(table, release, key, trials=1, random_state=0, register=folder / "r")
    assert "query service" in audited.unscored["(register)"]


@pytest.mark.slow
def test_the_best_anonymised_release_is_entered_and_has_a_key(folder, capsys):
    assert main(["anonymize", "t.csv", "--target", "ill", "--quasi", "age,sex", "--k", "5",
                 "--others", "drop", "--out", "best", "--register", "r", "--to", "press"]) == 0
    assert entries() == [("release", "press")]
    assert Key.load("best.key").fingerprint == Register.load("r").entries[0].what
    assert (folder / "best.key").stat().st_mode & 0o777 == 0o600


RELEASES = {
    "protect": ["protect", "t.csv", "--target", "ill", "--keep", "income", "--method", "noise",
                "--option", "others=drop"],
    "baskets": ["protect", "b.dat", "--method", "baskets", "--option", "operator=mask",
                "--option", "p=0.9"],
    "anonymize": ["anonymize", "t.csv", "--target", "ill", "--quasi", "age,sex", "--k", "5",
                  "--others", "drop"],
}
EACH = ["protect", "baskets", pytest.param("anonymize", marks=pytest.mark.slow)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", EACH)
def test_a_release_that_cannot_be_entered_is_not_written(folder, listed, monkeypatch, capsys, kind):
    words = [*RELEASES[kind], "--out", "one", "--register", "r"]
    if kind != "anonymize":
        assert main([*words, "--key", "first.key"]) == 0
        words += ["--key", "second.key", "--overwrite"]
    before = listed(folder)

    def full(*_):
        raise OSError(28, "No space left on device", "r")

    monkeypatch.setattr("unspoken.release.register.append_line", full)
    assert main(words) == 2
    assert "No space left" in capsys.readouterr().err
    assert listed(folder) == before


@pytest.mark.parametrize("kind", EACH)
def test_a_register_that_cannot_be_written_is_refused_first(folder, listed, capsys, kind):
    before = listed(folder)
    assert main([*RELEASES[kind], "--out", "one", "--register", "nowhere/r"]) == 2
    assert "must lie in a folder that can be written to" in capsys.readouterr().err
    assert listed(folder) == before


@pytest.mark.slow
def test_what_is_entered_is_what_is_written(folder, capsys):
    assert main([*RELEASES["protect"], "--out", "one", "--register", "r", "--json"]) == 0
    (entry,) = Register.load("r").entries
    assert entry.what == json.loads(capsys.readouterr().out)["fingerprint"]
    assert Release.load(entry.place).fingerprint == entry.what
    assert dict(entry.mechanism) == dict(Release.load(entry.place).mechanism)


def test_mined_rules_and_changed_baskets(folder, capsys):
    assert main(["mine", "b.dat", "--learner", "rules", "--param", "min_support=0.1", "--out",
                 "rules.json", "--register", "r", "--to", "shop"]) == 0
    assert main(["hide", "b.dat", "--rule", "3 -> 2", "--min-support", "0.1", "--out", "h.dat",
                 "--register", "r", "--to", "rival"]) == 0
    assert entries() == [("model", "shop"), ("baskets", "rival")]


@pytest.mark.slow
def test_a_decoded_model_is_entered_with_its_people(copied, monkeypatch, capsys):
    monkeypatch.chdir(copied)
    words = ("decode", "tree.json", "--key", "table.key", "--register", "models", "--to", "ward")
    assert main([*words, "--out", "one.json"]) == 2
    assert not (copied / "one.json").exists()
    assert main([*words, "--data", "table.csv", "--out", "one.json"]) == 0
    assert entries("models") == [("model", "ward")]
    assert main(["mine", "release", "--out", "two.json", "--register", "models"]) == 2


@pytest.mark.slow
def test_another_model_or_other_baskets_at_the_same_place_are_entered_too(folder, capsys):
    for support, rule in (("0.1", "3 -> 2"), ("0.5", "1 -> 2"), ("0.5", "1 -> 2")):
        assert main(["mine", "b.dat", "--learner", "itemsets", "--param", f"min_support={support}",
                     "--out", "m.json", "--register", "r", "--to", "shop"]) == 0
        assert main(["hide", "b.dat", "--rule", rule, "--min-support", "0.1", "--out", "h.dat",
                     "--register", "r", "--to", "shop"]) == 0
        (folder / "m.json").unlink()
        (folder / "h.dat").unlink()
    # The third pair is the second again: the same content for the same recipient.
    assert sorted(entries()) == [("baskets", "shop")] * 2 + [("model", "shop")] * 2


@pytest.mark.slow
def test_other_decoded_models_at_the_same_place_are_entered_too(copied, monkeypatch, capsys):
    monkeypatch.chdir(copied)
    words = ("decode", "--key", "table.key", "--data", "table.csv", "--register", "models",
             "--out", "one.json")
    assert main(["mine", "release", "--param", "max_depth=1", "--out", "small.json"]) == 0
    for model, more in (("tree.json", ()), ("small.json", ()), ("tree.json", ()),
                        ("tree.json", ("--form", "rules", "--depth", "1", "--release", "release"))):
        assert main([*words, model, *more]) == 0
        content = hashlib.sha256((copied / "one.json").read_bytes()).hexdigest()
        assert any(one.what.endswith(f"sha256:{content[:16]}")
                   for one in Register.load("models").entries)
        (copied / "one.json").unlink()
    assert len(entries("models")) == 3


@pytest.mark.slow
def test_a_study_is_entered_before_it_runs(folder, monkeypatch):
    from types import SimpleNamespace

    from unspoken.cli import joint_steps

    study = SimpleNamespace(name="s", task="sum", hash=lambda: "ab" * 32,
                            having=lambda role: ("north", "south"))
    args = SimpleNamespace(register=folder / "r", to="")
    joint_steps._enter(args, study, folder / "t.csv")
    joint_steps._enter(args, study, folder / "t.csv")
    joint_steps._enter(args, study, folder / "b.dat")
    assert entries() == [("study", "north, south")] * 2


def test_another_table_is_another_entry_and_a_broken_register_stops(tmp_path):
    one, two = people(), people(seed=2)
    assert enter_once(tmp_path / "r", "query", one, "log", "x")
    assert not enter_once(tmp_path / "r", "query", one, "log", "x")
    assert enter_once(tmp_path / "r", "query", two, "log", "x")
    (tmp_path / "r").write_text("{}\n")
    with pytest.raises(ReleaseError):
        enter_once(tmp_path / "r", "query", one, "log", "y")
