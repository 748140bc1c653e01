"""`unspoken start` and `advise`: from an awkward CSV to a verdict, by a newcomer."""

from __future__ import annotations

import io
import json
import shlex
import sys
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

from unspoken import Key, Release
from unspoken.cli import advise_verb
from unspoken.cli.main import main

ANSWERS = ["--recipient", "miner", "--purpose", "model", "--knowledge", "nothing"]

PRIVATE = ["--recipient", "miner", "--purpose", "model", "--knowledge", "anything"]


def people(folder, rows=150):
    """Write a table with names, text, dates and missing values."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, rows)
    frame = pd.DataFrame({
        "name": [f"Ann{i} Bee{i % 97}" for i in range(rows)], "age": age,
        "postcode": rng.choice(["1010", "1020", "2040"], rows), "sex": rng.choice(["f", "m"], rows),
        "joined": pd.date_range("2015-01-01", periods=rows).strftime("%Y-%m-%d"),
        "income": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(900, 90_000, rows)),
        "ill": np.where(age > 60, "yes", "no")})
    frame.to_csv(folder / "people.csv", index=False)
    return str(folder / "people.csv")


def started(capsys, folder, *words):
    """Run `start --json` and return its status and what it printed."""
    status = main(["start", people(folder), "--json", *words])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_one_command_protects_audits_and_writes_a_page(tmp_path, capsys):
    status, result = started(capsys, tmp_path, "--target", "ill", *ANSWERS)
    folder = tmp_path / "people-unspoken"
    assert sorted(path.name for path in folder.iterdir()) == ["release", "release.key",
                                                              "report.html"]
    assert (folder.stat().st_mode & 0o777) == 0o700
    release = Release.load(folder / "release")
    assert "name" not in release.schema.names
    assert release.schema.with_role("quasi") == ("age", "postcode", "sex")
    assert result["advice"]["recommended"]["way"] == release.mechanism["name"] == "piecewise"
    assert Key.load(folder / "release.key") is not None
    assert status == (0 if result["may_leave"] else 1)
    assert result["may_leave"] == result["audit"]["passed"]
    assert result["audit"]["verdict"]["word"] in (folder / "report.html").read_text()


@pytest.mark.slow
def test_a_published_table_takes_the_quasi_identifiers_that_were_noticed(tmp_path, capsys):
    _, result = started(capsys, tmp_path, "--recipient", "public", "--purpose", "statistics",
                        "--knowledge", "facts", "--out", str(tmp_path / "out"))
    release = Release.load(tmp_path / "out" / "release")
    assert release.mechanism["name"] == "mondrian"
    assert set(result["release"]["not_released"]) >= {"name", "income"}


@pytest.mark.slow
def test_where_nothing_serves_nothing_is_written(tmp_path, capsys):
    status = main(["start", people(tmp_path), "--recipient", "miner", "--purpose", "clusters",
                   "--knowledge", "records"])
    assert status == 1
    assert "Do not release" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.slow
def test_a_way_without_a_release_says_what_to_type(tmp_path, capsys):
    assert main(["start", people(tmp_path), "--recipient", "analysts", "--purpose", "statistics",
                 "--knowledge", "anything"]) == 0
    out = capsys.readouterr().out
    assert f"unspoken serve {tmp_path / 'people.csv'}" in out
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.slow
def test_nothing_of_a_private_result_is_taken_from_the_table(tmp_path, capsys):
    """What is missing is named flag by flag, and the command that is printed looks at no value."""
    assert main(["start", people(tmp_path), "--target", "ill", *PRIVATE, "--values", "ill=no,yes",
                 "--kind", "postcode=ordinal:1010<1020<2040"]) == 0
    told = capsys.readouterr().out.split("What to type next:\n")[1].splitlines()
    assert told[0].split()[:2] == ["unspoken", "private"]
    assert "--quasi" not in told[0]
    assert [line.strip() for line in told[3:]] == [
        "--edges age=LOWEST..HIGHEST", "--values sex=A,B", "--values joined=A,B",
        "--edges income=LOWEST..HIGHEST"]
    assert main(shlex.split(told[0])[1:]) == 0
    assert "Nothing was measured" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.slow
def test_a_private_result_is_measured_where_everything_was_stated(tmp_path, capsys):
    status, result = started(capsys, tmp_path, "--target", "ill", *PRIVATE, "--epsilon", "0.5",
                             "--edges", "age=0..120", "--values", "sex=f,m", "--values",
                             "ill=no,yes", "--columns", "age,sex")
    assert (status, result["measured"]["cost"]["epsilon"]) == (0, 0.5)
    assert [path.name for path in (tmp_path / "people-unspoken").iterdir()] == ["result.json"]
    assert main(["advise", people(tmp_path), "--target", "ill", *PRIVATE, "--edges", "age=0..120",
                 "--values", "ill=no,yes", "--columns", "age"]) == 0
    line = capsys.readouterr().out.split("What to type next:\n")[1].strip()
    assert line.endswith("--out result.json")


def test_advice_without_data_names_the_flags_that_a_private_result_asks_for(capsys):
    assert main(["advise", *PRIVATE]) == 0
    told = capsys.readouterr().out
    for flag in ("--target COLUMN", "--edges COLUMN=LOWEST..HIGHEST", "--values COLUMN=A,B"):
        assert f"  {flag}\n" in told


def test_an_epsilon_that_would_promise_nothing_is_refused(capsys):
    assert main(["advise", *ANSWERS, "--epsilon", "1"]) == 2
    assert "'--epsilon' belongs to a result with a stated epsilon" in capsys.readouterr().err


@pytest.mark.slow
def test_a_failing_step_leaves_no_folder(tmp_path, capsys):
    pd.DataFrame({"sex": ["f", "m"] * 4, "ill": ["yes", "no"] * 4}).to_csv(
        tmp_path / "few.csv", index=False)
    words = ["start", str(tmp_path / "few.csv"), "--target", "ill", "--recipient", "public",
             "--purpose", "statistics", "--knowledge", "facts"]
    assert main(words) == 2
    assert "10" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["few.csv"]


def test_an_existing_folder_is_refused_before_any_question(tmp_path, capsys):
    (tmp_path / "people-unspoken").mkdir()
    assert main(["start", people(tmp_path)]) == 2
    assert "must not exist yet" in capsys.readouterr().err


def test_without_a_terminal_the_missing_answer_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["advise", "--recipient", "miner"]) == 2
    assert "'--purpose' is not answered" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_questions_are_answered_by_number_or_word(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("1\nclusters\n3\n"))
    assert main(["advise", "--json"]) == 1
    captured = capsys.readouterr()
    advice = json.loads(captured.out)
    assert (advice["recipient"], advice["purpose"], advice["knowledge"]) == \
        ("miner", "clusters", "records")
    assert advice["release"] is False
    assert all(question in captured.err for _, question, _ in advise_verb.QUESTIONS)


def test_a_wrong_answer_is_refused_with_the_right_ones(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("7\n"))
    assert main(["advise"]) == 2
    assert "miner, public, analysts, owners, collector" in capsys.readouterr().err


@pytest.mark.slow
def test_the_commands_that_are_printed_declare_what_was_declared(tmp_path, capsys):
    words = ["--identifiers", "sex", "--quasi", "age", "--delimiter", ","]
    assert main(["advise", people(tmp_path), "--target", "ill", *words, "--recipient", "public",
                 "--purpose", "statistics", "--knowledge", "facts"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "unspoken protect" in line)
    assert "--identifiers=sex" in line
    assert "--quasi=age" in line
    assert "--delimiter=," in line


@pytest.mark.slow
def test_advice_sees_the_quasi_identifiers_that_start_sees(tmp_path, capsys):
    assert main(["advise", people(tmp_path), "--recipient", "public", "--purpose", "statistics",
                 "--knowledge", "facts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"]["way"] == "mondrian"


@pytest.mark.slow
def test_a_column_with_a_comma_in_its_name_is_one_column(tmp_path, capsys):
    frame = pd.read_csv(people(tmp_path)).rename(columns={"postcode": "post, code"})
    frame.to_csv(tmp_path / "comma.csv", index=False)
    assert main(["inspect", str(tmp_path / "comma.csv"), "--quasi", 'age,"post, code"',
                 "--json"]) == 0
    roles = {one["name"]: one["role"] for one in json.loads(capsys.readouterr().out)["schema"]}
    assert roles["post, code"] == roles["age"] == "quasi"


@pytest.mark.slow
def test_stopped_in_the_audit_nothing_is_left_that_could_be_sent(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("unspoken.risk.audit", lambda *args, **options: 1 / 0)
    assert main(["start", people(tmp_path), "--target", "ill", *ANSWERS]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.slow
def test_a_way_to_release_blank_records_is_named_as_it_is_typed(tmp_path, capsys):
    assert main(["protect", people(tmp_path), "--method", "rotation", "--categorical", "drop",
                 "--out", str(tmp_path / "r"), "--key", str(tmp_path / "r.key")]) == 2
    assert "--option missing=blank" in capsys.readouterr().err


def test_the_verdict_is_given_with_its_reasons_and_what_to_declare():
    from unspoken.cli import start_verb
    from unspoken.table.identify import Finding

    verdict = {"naming": {"words": "9% are linked"}, "inferring": None,
               "reasons": ["'(sensitive)' was not scored: no sensitive column is in the release"]}
    assert start_verb._why(verdict)[0] == "9% are linked"
    found = [Finding(name, "data concerning health", "sensitive", "by name", 1, 1, "",
                     gdpr=special) for name, special in (("my illness", "data concerning health"),
                                                         ("age", "personal data"))]
    assert start_verb._hint(verdict, found)[0].endswith("such as --sensitive 'my illness'.")
    assert start_verb._hint(verdict, [])[0].endswith("with --sensitive.")
    assert start_verb._hint(verdict | {"reasons": []}, found) == []


def test_what_was_guessed_is_said(tmp_path, capsys):
    assert main(["start", people(tmp_path), "--recipient", "analysts", "--purpose", "statistics",
                 "--knowledge", "anything"]) == 0
    told = capsys.readouterr().out
    assert "Taken as quasi-identifiers: age, postcode, sex. Name others with --quasi." in told


def test_a_postcode_that_nobody_shares_stays_at_home(tmp_path, capsys):
    """It names people, so that it is no quasi-identifier, and nobody has named it."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"postcode": [f"{at:05d}" for at in rng.permutation(90_000)[:150]],
                          "sex": rng.choice(["f", "m"], 150), "x": rng.random(150)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    args = Namespace(data=tmp_path / "t.csv", target=None, table=None, kind=[], identifiers=(),
                     sensitive=(), quasi=(), keep=[], drop_missing_target=False, engine=None,
                     worded=str)
    table, _ = advise_verb.look(args)
    assert (table.schema["postcode"].role, args.quasi) == ("identifier", ("sex",))


def test_a_target_with_gaps_is_refused_before_any_question(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,b\n3,\n" * 9)
    assert main(["start", str(tmp_path / "t.csv"), "--target", "y"]) == 2
    assert capsys.readouterr() == ("", (
        "unspoken: Target 'y' must have a value in every row. 9 rows have none. Leave those rows "
        "out with --drop-missing-target.\n"))


@pytest.mark.parametrize("verb", ["start", "inspect"])
def test_notes_are_said_once_and_in_flags(verb, tmp_path, capsys, monkeypatch):
    (tmp_path / "t.csv").write_text("x;y\n" + "1,5;a\n2,5;b\n" * 9)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    main([verb, str(tmp_path / "t.csv"), "--target", "y"])
    printed = "".join(capsys.readouterr())
    assert printed.count("looks like numbers with a decimal comma (--decimal , says so)") == 1
    assert printed.count("was split at ';'") == 1
    assert "decimal=" not in printed
