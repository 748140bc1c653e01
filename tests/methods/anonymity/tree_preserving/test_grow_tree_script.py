"""The script that a release carries grows the same trees, where this package is not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken import Release
from unspoken.errors import ReleaseError
from unspoken.methods.anonymity.tree_preserving import grow_tree
from unspoken.numerics.exact_scores import exact_score
from unspoken.protect import Growth, TreePreservingAnonymizer


def people(seed, rows=60):
    """Return a table full of ties, with missing values, one column twice and one constant."""
    rng = np.random.default_rng(seed)
    age = [None if rng.random() < 0.1 else int(v) for v in rng.integers(0, 6, rows)]
    city = [None if rng.random() < 0.1 else str(v) for v in rng.choice(list("abcdef"), rows)]
    return unspoken.read(pa.table({
        "age": pa.array(age), "city": pa.array(city), "again": pa.array(age),
        "dose": rng.choice([0.1, 0.25, 0.3, 7.5], rows), "one": np.full(rows, 3),
        "said": rng.choice(list("pqrs"), rows), "y": rng.choice(list("xyz")[:2 + seed % 2], rows),
        "number": rng.choice([0.0, 0.1, 2.5, 1e6], rows)}),
        target="y", sensitive="said", show=False, kinds={"age": "numeric", "again": "numeric",
                                                         "one": "numeric", "number": "numeric"})


GROWTHS = [
    {"criterion": criterion, "categories": categories, "order": order, "max_leaves": 7,
     "min_leaf": 1 + at % 2}
    for at, (criterion, categories, order) in enumerate(
        (a, b, c) for a in ("gini", "entropy", "gain-ratio", "variance")
        for b in ("two-way", "multiway") for c in ("best-first", "level"))
]


def release_of(table, growth, **options):
    target = "number" if growth["criterion"] == "variance" else "y"
    method = TreePreservingAnonymizer(2, l=None, tree=Growth(**growth, target=target), **options)
    return method.protect(table)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("growth", GROWTHS, ids=lambda g: "-".join(map(str, g.values())))
def test_every_learner_is_grown_again(growth, seed, tmp_path, capsys):
    release = release_of(people(seed), growth, rule=("safe", "leaf-merge")[seed % 2])
    release.save(tmp_path / "r")
    assert grow_tree.main(tmp_path / "r") == 0
    assert capsys.readouterr().out == "tree 0: identical\n"


def alone(folder: Path):
    """Run the script of a release with numpy, and without this package or any other."""
    code = ("import runpy, sys; sys.path.append(sys.argv[1]); sys.argv = sys.argv[2:];"
            "runpy.run_path(sys.argv[0], run_name='__main__')")
    place = folder.parent / "only-numpy"
    place.mkdir()
    for part in Path(np.__file__).parent.parent.glob("numpy*"):
        (place / part.name).symlink_to(part)
    return subprocess.run([sys.executable, "-I", "-S", "-c", code, str(place),
                           str(folder / "grow_tree.py")], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"]}, check=False)


@pytest.mark.slow
def test_the_script_runs_where_nothing_but_numpy_is_installed(tmp_path):
    release_of(people(5), GROWTHS[0]).save(tmp_path / "r")
    done = alone(tmp_path / "r")
    assert (done.stdout, done.stderr) == ("tree 0: identical\n", "")


def test_a_tree_that_was_changed_is_noticed(tmp_path, capsys):
    release_of(people(5), GROWTHS[0]).save(tmp_path / "r")
    file = tmp_path / "r" / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["trees"][0]["feature"][0] += 1
    file.write_text(json.dumps(manifest))
    assert grow_tree.main(tmp_path / "r") == 1
    assert "node 0: grown" in capsys.readouterr().out


@pytest.mark.slow
def test_the_script_is_short_and_its_files_are_sealed_with_the_release(tmp_path):
    text = Path(grow_tree.__file__).read_text()
    assert len(text.splitlines()) < 200
    assert "unspoken" not in text.replace('"unspoken"', "")
    release = release_of(people(5), GROWTHS[0])
    release.save(tmp_path / "r")
    assert Release.load(tmp_path / "r").attachments == release.attachments
    release.save(tmp_path / "r", overwrite=True)
    (tmp_path / "r" / "cells.json").write_text("{}")
    with pytest.raises(ReleaseError, match=r"cells\.json"):
        Release.load(tmp_path / "r")


def test_the_manifest_states_the_whole_rule():
    rule = release_of(people(1), GROWTHS[0]).details["stopping_rule"]
    assert {"ties", "score", "arithmetic", "floor", "priority", "steps"} <= set(rule)


def test_equally_good_splits_have_the_same_score():
    # 1/3 and 2/6 of the records: floating sums of such thirds differ in their last bits.
    one = exact_score("gini", [9, 9], [[3, 1], [6, 8]])
    two = exact_score("gini", [9, 9], [[6, 8], [3, 1]])
    assert one == two
    whole = exact_score("entropy", [8, 8], [[4, 4], [4, 4]])
    assert abs(whole) < 1e-40
    assert exact_score("entropy", [2, 2], [[2, 0], [0, 2]]) == 4.0
    assert exact_score("gain-ratio", [2, 2], [[2, 0], [0, 2]]) == 1.0
    assert exact_score("variance", [4, 0], [[2, -6], [2, 6]]) == 36.0
