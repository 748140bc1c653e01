"""audit: a page for the officer, numbers for a pipeline, and a gate."""

import json

import pytest

from unspoken.cli.audit_verb import fails
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Judgement
from unspoken.disclosure.release_verdict import Verdict

AUDIT = ("audit", "release", "--against", "table.csv", "--key", "table.key", "--trials", "3",
         "--seed", "1", "--json")


@pytest.fixture(scope="module")
def audited(walk, command_in, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "report.html"
    done = command_in(*AUDIT, "--out", out, "--policy", "lenient.toml", "--tree", "tree.json",
                    cwd=walk)
    assert done.status == 0, done.err
    return json.loads(done.out), out


@pytest.mark.slow
def test_the_report_is_one_whole_page(audited):
    answer, out = audited
    page = out.read_text()
    assert answer["report"] == str(out)
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert "m3" in page


@pytest.mark.slow
def test_the_numbers(audited):
    audit = audited[0]["audit"]
    assert audit["trials"] == 3
    assert {row["column"] for row in audit["rows"]} >= {f"m{i}" for i in range(5)}
    assert audit["judgement"]["passed"] is True
    assert any(row["measure"] == "paths" or "path" in row["measure"] for row in audit["rows"])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers(audited, walk, command_in, tmp_path):
    again = command_in(*AUDIT, "--out", tmp_path / "r.html", "--policy", "lenient.toml", "--tree",
                     "tree.json", cwd=walk)
    assert json.loads(again.out)["audit"] == audited[0]["audit"]


@pytest.mark.slow
def test_a_policy_is_a_gate(walk, command_here, tmp_path):
    done = command_here(*AUDIT[:-1], "--out", tmp_path / "r.html", "--policy", "harsh.toml",
                        cwd=walk)
    assert done.status == 1
    assert "at most 0.0% allowed" in done.out
    assert (tmp_path / "r.html").exists()


@pytest.mark.slow
def test_earlier_releases_are_counted(walk, command_here, tmp_path):
    done = command_here(*AUDIT, "--out", tmp_path / "r.html", "--register", "register", cwd=walk)
    assert done.status == 1, done.err
    added = json.loads(done.out)["added"]
    assert len(added) == 5
    assert all("a friend" in words for words in added)
    assert "Together with earlier releases" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_without_a_key_and_with_a_sample(walk, command_in, command_here, tmp_path):
    done = command_in("audit", "release", "--against", "table.csv", "--trials", "2", "--sample",
                    "table.csv", "--out", tmp_path / "r.html", "--json", cwd=walk)
    assert done.status == 1, done.err
    assert json.loads(done.out)["verdict"]["level"] == "high"
    known = {row["knowledge"] for row in json.loads(done.out)["audit"]["rows"]}
    assert "sample given" in known
    again = command_here("audit", "release", "--against", "table.csv", "--trials", "2", "--out",
                       tmp_path / "r.html", cwd=walk)
    assert again.status == 2
    assert command_here("audit", "release", "--against", "table.csv", "--trials", "2",
                        "--overwrite",
                      "--out", tmp_path / "r.html", cwd=walk).status == 1


def test_without_a_policy_the_verdict_is_the_gate():
    def ended(level, judgement=None, faults=()):
        audit = Audit((), 0.02, 1, {}, judgement=judgement, faults=faults)
        return fails(audit, Verdict(level, None, None, (), False))

    holds, broken = Judgement(True), Judgement(False, ("age: too much",))
    assert [ended(level) for level in ("low", "raised", "high", "unknown")] == [
        False, False, True, True]
    assert ended("low", faults=("the order was kept",))
    # A policy is the organisation's own decision; the first line still says what was measured.
    assert not ended("high", holds)
    assert ended("policy", broken)


@pytest.mark.slow
def test_the_exit_status_follows_the_verdict_and_the_first_line_says_so(walk, command_here,
                                                                         tmp_path):
    words = [word for word in AUDIT if word != "--json"]
    done = command_here(*words, "--out", tmp_path / "a.html", cwd=walk)
    assert done.status == 1
    assert done.out.startswith("High risk: do not release.")
    allowed = command_here(*words, "--out", tmp_path / "b.html", "--policy", "lenient.toml",
                           cwd=walk)
    assert allowed.status == 0
    assert "The policy allows what was measured" in allowed.out.splitlines()[0]
