"""Real commands in real processes, and a look at what they left behind."""

import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.datasets import load_breast_cancer

from unspoken.cli.main import main

# Far beyond what any command takes: one that needs it stands still.
LIMIT = 280


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


def call(*args, cwd, **env):
    """Run `python -m unspoken` in a folder and return its status, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "unspoken", *map(str, args)], cwd=cwd, capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "UNSPOKEN_DEBUG": ""} | env,
        stdin=subprocess.DEVNULL, check=False, timeout=LIMIT)
    return Result(done.returncode, done.stdout, done.stderr)


def call_here(*args, cwd):
    """Run the same command in this process: it takes a tenth, and others try the real thing."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch, \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.delenv("UNSPOKEN_DEBUG", raising=False)
        try:
            status = main([*map(str, args)])
        except SystemExit as left:
            status = left.code
    return Result(status, out.getvalue(), err.getvalue())


def contents(folder):
    """Return every file below a folder with its hash."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(Path(folder).rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def command_in():
    return call


@pytest.fixture(scope="session")
def command_here():
    return call_here


@pytest.fixture(scope="session")
def listed():
    return contents


def write_table(path, rows=200, columns=5):
    """Write part of the breast cancer data as CSV: rows of both classes, plain names."""
    bunch = load_breast_cancer()
    data = {f"m{i}": bunch.data[:rows, i] for i in range(columns)}
    data["outcome"] = ["malignant" if y == 0 else "benign" for y in bunch.target[:rows]]
    pa.csv.write_csv(pa.table(data), path)


@pytest.fixture(scope="session")
def write():
    return write_table


@pytest.fixture(scope="session")
def walk(tmp_path_factory):
    """A folder with a table, its release, its key and a mined tree, made by the commands.

    They run in this process, which is faster; the tests run commands in processes of their own.
    """
    folder = tmp_path_factory.mktemp("walk")
    write_table(folder / "table.csv")
    write_table(folder / "other.csv", rows=50, columns=1)
    (folder / "lenient.toml").write_text('[columns]\nmax_recovered = 1.0\nagainst = "expert"\n')
    (folder / "harsh.toml").write_text('[columns]\nmax_recovered = 0.0\nagainst = "histogram"\n')
    (folder / "strange.toml").write_text('[columns]\nmax_recovered = 0.1\nagainst = "wizard"\n')
    (folder / "broken.toml").write_text("[columns\n")
    for args in (
        ("protect", "table.csv", "--target", "outcome", "--out", "release", "--key", "table.key",
         "--keep-zero"),
        ("protect", "table.csv", "--target", "outcome", "--out", "second", "--key", "second.key",
         "--mode", "max-mono", "--neutral-names", "--register", "register", "--to", "a friend"),
        ("mine", "release", "--out", "tree.json"),
        ("decode", "tree.json", "--key", "table.key", "--data", "table.csv",
         "--out", "decoded.json"),
    ):
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            assert main(list(args)) == 0
    return folder


@pytest.fixture
def copied(walk, tmp_path):
    """The same folder, to be changed by one test."""
    shutil.copytree(walk, tmp_path / "walk")
    return tmp_path / "walk"
