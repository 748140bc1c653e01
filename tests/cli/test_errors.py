"""What cannot be done: one line on stderr, status 2, nothing on stdout, nothing written."""

import json

import pytest

PROTECT = ("protect", "table.csv", "--target", "outcome")
OUT = ("--out", "new", "--key", "new.key")
DECODE = ("--key", "table.key", "--data", "table.csv", "--out", "new.json")
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
    "no number": ((*PROTECT, *OUT, "--breakpoints", "many"), "invalid int"),
    "bad mode": ((*PROTECT, *OUT, "--mode", "safe"), "max-mono"),
    "text refused": ((*PROTECT, *OUT, "--kind", "m1=categorical"), "relabel"),
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
    "min width": (("inspect", "table.csv", "--target", "outcome", "--min-width", "0"), "min-width"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(walk, tacit_in, listed, name):
    args, words = CASES[name]
    before = listed(walk)
    done = tacit_in(*args, *(["--json"] if args else []), cwd=walk)
    assert done.status == 2, done
    assert done.out == ""
    assert done.err.startswith("tacit: ")
    assert done.err.count("\n") == 1, done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert listed(walk) == before


def test_debug_shows_where(walk, tacit_in):
    done = tacit_in("mine", "nothing", "--out", "new.json", cwd=walk, TACIT_DEBUG="1")
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
def test_hostile_models_are_refused(copied, tacit_in, listed, which):
    tree = json.loads((copied / "tree.json").read_text())
    changed = dict(_hostile(tree))[which]
    (copied / "hostile.json").write_text(json.dumps(tree | changed))
    before = listed(copied)
    done = tacit_in("decode", "hostile.json", *DECODE, cwd=copied)
    assert done.status == 2
    assert done.err.startswith("tacit: ")
    assert listed(copied) == before


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"a": NaN}', "\x80\x04K\x01.", "[" * 100_000])
def test_files_that_are_no_models(copied, tacit_in, text):
    (copied / "strange").write_text(text)
    done = tacit_in("decode", "strange", *DECODE, cwd=copied)
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert not (copied / "new.json").exists()


def test_a_foreign_key_is_refused(copied, tacit_in, listed):
    made = tacit_in(*PROTECT, "--out", "r2", "--key", "k2", cwd=copied)
    assert made.status == 0
    before = listed(copied)
    done = tacit_in("verify", "tree.json", "--release", "release", "--key", "k2", "--data",
                    "table.csv", cwd=copied)
    assert done.status == 2
    assert "belong to this release" in done.err
    assert listed(copied) == before


def test_a_damaged_key_is_refused(copied, tacit_in):
    data = bytearray((copied / "table.key").read_bytes())
    data[len(data) // 2] ^= 1
    (copied / "table.key").write_bytes(data)
    done = tacit_in("decode", "tree.json", *DECODE, cwd=copied)
    assert done.status == 2
    assert "checksum" in done.err


def test_a_release_that_cannot_be_written_leaves_no_key(copied, monkeypatch, capsys):
    from tacit.cli.main import main
    from tacit.core.release import Release

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device", "new")

    monkeypatch.chdir(copied)
    monkeypatch.setattr(Release, "save", fail)
    assert main([*PROTECT, *OUT]) == 2
    assert "No space left" in capsys.readouterr().err
    assert not (copied / "new.key").exists()
