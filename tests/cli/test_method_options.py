"""Every release method can be had on the command line, and audited."""

import json

import pytest

from support.audit_gate import gate_status

pytestmark = pytest.mark.slow

CASES = {
    "rotation": ["--option", "translation=true", "--option", "standardise=true"],
    "pairwise-rotation": ["--option", "thresholds=0.2"],
    "random-projection": ["--option", "columns=3"],
    "noise": ["--option", "privacy=0.5", "--option", "family=uniform"],
    "multiplicative-noise": [],
    "discretize": ["--option", "classes=5"],
}
KEYED = ("rotation", "pairwise-rotation", "random-projection")
REAL = ("rotation", "noise")
"""With a key and without: these run in processes of their own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, write):
    path = tmp_path_factory.mktemp("methods")
    write(path / "t.csv")
    return path


@pytest.mark.parametrize("method", CASES)
def test_protect_and_audit(command_in, command_here, folder, method):
    run = command_in if method in REAL else command_here
    key = ["--key", f"{method}.key"] if method in KEYED else []
    done = run("protect", "t.csv", "--target", "outcome", "--method", method, *CASES[method],
               "--out", method, *key, "--json", cwd=folder)
    assert done.status == 0, done.err
    said = json.loads(done.out)
    assert said["mechanism"]["name"]
    assert said["key"] == f"{method}.key"
    released = (folder / method / "data.parquet").read_bytes()
    assert released
    found = run("audit", method, "--against", "t.csv", "--key", f"{method}.key", "--trials", "2",
                "--seed", "1", "--out", f"{method}.html", "--json", cwd=folder)
    answer = json.loads(found.out)
    assert found.status == gate_status(answer), found.err
    assert answer["audit"]["rows"]
    assert (folder / f"{method}.html").stat().st_size > 1000


@pytest.mark.parametrize(("words", "complaint"), [
    (["--method", "rotation"], "makes a key. Use --key FILE to choose where"),
    (["--method", "noise", "--key", "never/n.key"], "must lie in an existing folder"),
    (["--method", "noise", "--mode", "strict"], "has no option '--mode'"),
    (["--method", "rotation", "--key", "r.key", "--option", "angle=3"], "'--option angle'"),
    (["--method", "noise", "--option", "random_state=1"], "'--option random_state'"),
    (["--method", "noise", "--option", "privacy"], "NAME=VALUE"),
    (["--method", "noise", "--option", "privacy=lots"], "privacy"),
    (["--method", "spell"], "A release method must be one of"),
])
def test_what_is_refused_leaves_nothing(command_here, folder, listed, words, complaint):
    before = listed(folder)
    done = command_here("protect", "t.csv", "--target", "outcome", "--out", "never", *words,
                      cwd=folder)
    assert done.status == 2
    assert complaint in done.err
    assert done.out == ""
    assert listed(folder) == before
