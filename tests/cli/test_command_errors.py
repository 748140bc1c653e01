"""What cannot be done: one line on stderr, status 2, nothing on stdout, nothing written."""

import json

import pytest

from unspoken.cli.main import main

pytestmark = pytest.mark.slow

PROTECT = ("protect", "table.csv", "--target", "outcome")
OUT = ("--out", "new", "--key", "new.key")
DECODE = ("--key", "table.key", "--data", "table.csv", "--out", "new.json")
AUDIT = ("audit", "release", "--against", "table.csv", "--trials", "2", "--out", "new.html")
VERIFY = ("--release", "release", "--key", "table.key", "--data", "table.csv")

CASES = {
    "no verb": ((), "required: VERB"),
    "unknown verb": (("protext",), "invalid choice"),
    "unknown option": (("inspect", "table.csv", "--colour"), "unrecognized"),
    "missing option": (PROTECT, "--out"),
    "missing file": (("protect", "nothing.csv", *OUT), "nothing.csv"),
    "not a table": (("inspect", "release/manifest.json"), "ending"),
    "bad column": (("protect", "table.csv", "--target", "outcom", *OUT), "'outcome'"),
    "bad identifier": ((*PROTECT, *OUT, "--identifiers", "m9"), "m9"),
    "two roles": ((*PROTECT, *OUT, "--identifiers", "m1", "--sensitive", "m1"), "one role"),
    "bad kind": ((*PROTECT, *OUT, "--kind", "m1"), "NAME=VALUE"),
    "unknown kind": ((*PROTECT, *OUT, "--kind", "m1=blue"), "numeric, ordinal"),
    "bad number": ((*PROTECT, *OUT, "--breakpoints", "0"), ">= 1"),
    "no number": ((*PROTECT, *OUT, "--breakpoints", "many"), "must be an int >= 1. Got many"),
    "bad mode": ((*PROTECT, *OUT, "--mode", "safe"), "max-mono"),
    "text refused": ((*PROTECT, *OUT, "--kind", "m1=categorical", "--categorical", "refuse"),
                     "relabel"),
    "max-mono without target": (("protect", "table.csv", "--mode", "max-mono", "--categorical",
                                 "drop", *OUT), "target"),
    "existing release": ((*PROTECT, "--out", "release", "--key", "new.key"), "--overwrite"),
    "foreign folder": ((*PROTECT, "--out", ".", "--key", "../new.key", "--overwrite"),
                       "nothing but a release"),
    "existing key": ((*PROTECT, "--out", "new", "--key", "table.key"), "must not exist"),
    "key inside release": ((*PROTECT, "--out", "new", "--key", "new/table.key"),
                           "folder"),
    "key in release": ((*PROTECT, "--out", "release", "--overwrite", "--key", "release/a.key"),
                       "outside"),
    "key without folder": ((*PROTECT, "--out", "new", "--key", "no/where.key"), "no/where.key"),
    "not a release": (("mine", "table.csv", "--out", "new.json"), "release directory"),
    "missing release": (("mine", "nothing", "--out", "new.json"), "nothing"),
    "existing model": (("mine", "release", "--out", "tree.json"), "must not exist"),
    "bad learner": (("mine", "release", "--learner", "svm", "--out", "new.json"), "xgboost"),
    "bad param name": (("mine", "release", "--param", "depth=3", "--out", "new.json"), "depth"),
    "bad param value": (("mine", "release", "--param", "max_depth=-2", "--out", "new.json"),
                        "max_depth"),
    "param list": (("mine", "release", "--param", "max_depth=[1]", "--out", "new.json"),
                   "max_depth"),
    "param NaN": (("mine", "release", "--param", "ccp_alpha=NaN", "--out", "new.json"),
                  "ccp_alpha"),
    "param twice": (("mine", "release", "--param", "max_depth=1", "--param", "max_depth=2",
                     "--out", "new.json"), "once"),
    "param alone": (("mine", "release", "--param", "max_depth", "--out", "new.json"), "NAME=VALUE"),
    "model missing": (("decode", "nothing.json", *DECODE), "nothing.json"),
    "model is a key": (("decode", "table.key", *DECODE), "model file"),
    "model is a recipe": (("decode", "tree.json.recipe", *DECODE), "format"),
    "key is a model": (("decode", "tree.json", "--key", "tree.json", "--data", "table.csv",
                        "--out", "new.json"), "key file"),
    "no data": (("decode", "tree.json", "--key", "table.key", "--out", "new.json"),
                "training data"),
    "decoded exists": (("decode", "tree.json", "--key", "table.key", "--data", "table.csv",
                        "--out", "tree.json"), "must not exist"),
    "verify one model": (("verify", "tree.json"), "--release"),
    "verify too much": (("verify", "tree.json", "tree.json", *VERIFY), "both"),
    "verify no recipe": (("verify", "decoded.json", *VERIFY), "recipe"),
    "summary of nothing": (("summary", "nothing"), "nothing"),
    "summary of a table": (("summary", "table.csv"), "model file"),
    "audit of nothing": (("audit", "nothing", "--against", "table.csv", "--out", "new.html"),
                         "nothing"),
    "audit without data": (("audit", "release", "--against", "nothing.csv", "--out", "new.html"),
                           "nothing.csv"),
    "audit against another table": (("audit", "release", "--against", "other.csv", "--out",
                                     "new.html"), "rows"),
    "audit with a foreign key": ((*AUDIT, "--key", "second.key"), "belong to this release"),
    "audit with another sample": ((*AUDIT, "--sample", "other.csv"), "sample"),
    "policy with an unknown name": ((*AUDIT, "--policy", "strange.toml"), "wizard"),
    "policy that is no TOML": ((*AUDIT, "--policy", "broken.toml"), "broken.toml"),
    "missing policy": ((*AUDIT, "--policy", "nothing.toml"), "nothing.toml"),
    "missing register": ((*AUDIT, "--register", "nothing"), "register"),
    "register that is none": ((*AUDIT, "--register", "table.csv"), "register"),
    "no trials": ((*AUDIT[:-2], "--trials", "0", "--out", "new.html"), "trials"),
    "tree without key": ((*AUDIT, "--tree", "tree.json"), "key"),
    "report exists": (("audit", "release", "--against", "table.csv", "--out", "decoded.json"),
                      "must not exist"),
    "protect with a bad register": ((*PROTECT, *OUT, "--register", "table.csv"), "register"),
    "demo over other files": (("demo", "--out", "."), "something else"),
    "demo over a file": (("demo", "--out", "table.csv"), "new folder"),
    "min width": (("inspect", "table.csv", "--target", "outcome", "--min-width", "0"), "min-width"),
}


REAL = ("no verb", "unknown option", "missing file", "bad column", "bad number", "existing release",
        "existing key", "bad param value", "key is a model", "no data", "decoded exists",
        "verify no recipe", "audit with a foreign key", "demo over other files")
"""The cases that are tried in a process of their own too."""


def _check(status, out, err, words):
    assert status == 2, (out, err)
    assert out == ""
    assert err.startswith("unspoken: ")
    assert err.count("\n") == 1, err
    assert words in err
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_refused(walk, command_in, listed, name):
    args, words = CASES[name]
    before = listed(walk)
    done = command_in(*args, *(["--json"] if args else []), cwd=walk)
    _check(done.status, done.out, done.err, words)
    assert listed(walk) == before


@pytest.mark.parametrize("name", CASES)
def test_refused_without_a_new_process(walk, capsys, monkeypatch, listed, name):
    args, words = CASES[name]
    monkeypatch.chdir(walk)
    monkeypatch.delenv("UNSPOKEN_DEBUG", raising=False)
    before = listed(walk)
    status = _status(list(args))
    _check(status, *capsys.readouterr(), words)
    assert listed(walk) == before


def _status(args):
    try:
        return main(args)
    except SystemExit as left:
        return left.code


def test_debug_shows_where(walk, command_in):
    done = command_in("mine", "nothing", "--out", "new.json", cwd=walk, UNSPOKEN_DEBUG="1")
    assert done.status == 1
    assert "Traceback" in done.err


def _hostile(tree):
    size = tree["nodes"]
    inner = next(i for i, left in enumerate(tree["left"]) if left >= 0)
    yield "cycle", {"left": [0 if left >= 0 else left for left in tree["left"]]}
    yield "feature", {"feature": [99 if f >= 0 else f for f in tree["feature"]]}
    yield "short", {"threshold": tree["threshold"][:-1]}
    yield "types", {"threshold": ["one"] * size}
    yield "size", {"nodes": 10**9}
    yield "classes", {"classes": ["benign", "benign", "other"]}
    yield "format", {"format": "pickle"}
    yield "counts", {"n_samples": [n + (i == inner) for i, n in enumerate(tree["n_samples"])]}


@pytest.mark.parametrize("which", ["cycle", "feature", "short", "types", "size", "classes",
                                   "format", "counts"])
def test_hostile_models_are_refused(copied, monkeypatch, capsys, listed, which):
    tree = json.loads((copied / "tree.json").read_text())
    changed = dict(_hostile(tree))[which]
    (copied / "hostile.json").write_text(json.dumps(tree | changed))
    before = listed(copied)
    monkeypatch.chdir(copied)
    _check(main(["decode", "hostile.json", *DECODE]), *capsys.readouterr(), "")
    assert listed(copied) == before


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"a": NaN}', "\x80\x04K\x01.", "[" * 100_000])
def test_files_that_are_no_models(copied, monkeypatch, capsys, text):
    (copied / "strange").write_text(text)
    monkeypatch.chdir(copied)
    _check(main(["decode", "strange", *DECODE]), *capsys.readouterr(), "")
    assert not (copied / "new.json").exists()


@pytest.mark.slow
def test_a_hostile_model_in_a_process_of_its_own(copied, command_in, listed):
    tree = json.loads((copied / "tree.json").read_text())
    (copied / "hostile.json").write_text(json.dumps(tree | dict(_hostile(tree))["cycle"]))
    before = listed(copied)
    done = command_in("decode", "hostile.json", *DECODE, cwd=copied)
    _check(done.status, done.out, done.err, "binary tree")
    assert listed(copied) == before


@pytest.mark.slow
def test_a_foreign_key_is_refused(copied, command_in, listed):
    before = listed(copied)
    done = command_in("verify", "tree.json", "--release", "release", "--key", "second.key",
                      "--data",
                    "table.csv", cwd=copied)
    assert done.status == 2
    assert "belong to this release" in done.err
    assert listed(copied) == before


def test_a_damaged_key_is_refused(copied, command_in):
    data = bytearray((copied / "table.key").read_bytes())
    data[len(data) // 2] ^= 1
    (copied / "table.key").write_bytes(data)
    done = command_in("decode", "tree.json", *DECODE, cwd=copied)
    assert done.status == 2
    assert "checksum" in done.err


def test_a_register_that_cannot_be_written_leaves_nothing(copied, monkeypatch, capsys, listed):
    from unspoken.risk import Register

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device", "reg")

    before = listed(copied)
    monkeypatch.chdir(copied)
    monkeypatch.setattr(Register, "add", fail)
    assert main([*PROTECT, *OUT, "--register", "reg"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert listed(copied) == before
    assert not (copied / "new").exists()


def test_a_release_that_cannot_be_written_leaves_no_key(copied, monkeypatch, capsys):
    from unspoken.release.release import Release

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device", "new")

    monkeypatch.chdir(copied)
    monkeypatch.setattr(Release, "save", fail)
    assert main([*PROTECT, *OUT]) == 2
    assert "No space left" in capsys.readouterr().err
    assert not (copied / "new.key").exists()
