"""A command that is stopped, killed or out of room leaves nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table import atomic_files, long_passes
from unspoken.table.engines import local

STOPPED_WHILE_WRITING = textwrap.dedent("""
    import os, resource, sys
    from unspoken.cli import main
    from unspoken.table import read
    from unspoken.table.engines.local import LocalEngine

    if "LARGEST" in os.environ:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["LARGEST"]),) * 2)
    read.EAGER_CELLS = 0
    write = LocalEngine.write

    def stopped(engine, frame, path, progress=None):
        write(engine, frame, path, lambda rows: os.kill(os.getpid(), int(sys.argv[1])))

    if sys.argv[1] != "0":
        LocalEngine.write = stopped
    sys.exit(main.main(sys.argv[2:]))
""")


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(18, 90, 60_000), "pay": rng.normal(size=60_000),
                      "class": rng.integers(0, 2, 60_000)})
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def protect(folder, number, key="key", **more):
    """Run `protect` in a process that gets a signal when the first rows are written."""
    env = {**os.environ, "PYTHONPATH": str(Path(unspoken.__file__).parents[1]),
           "TMPDIR": str(folder / "tmp"), **more}
    return subprocess.run(
        [sys.executable, "-c", STOPPED_WHILE_WRITING, str(int(number)), "protect",
         str(folder / "people.parquet"), "--target", "class", "--out", str(folder / "out"),
         "--key", str(folder / key)],
        env=env, capture_output=True, text=True, check=False)


def left(folder):
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*"))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_stopped_leaves_nothing(people, number, status):
    done = protect(people, number)
    assert done.returncode == status, done.stderr
    assert "stopped" in done.stderr
    assert left(people) == ["people.parquet", "tmp"]


@pytest.mark.slow
def test_after_a_kill_the_next_run_starts_clean(people):
    assert protect(people, signal.SIGKILL).returncode == -signal.SIGKILL
    assert [one for one in left(people) if one.startswith(".out.") and one.endswith(".part")]
    assert not (people / "out").exists()
    assert protect(people, 0, "second.key").returncode == 0
    assert [one for one in left(people) if ".part" in one] == []
    Key.load(people / "second.key").fits(Release.load(people / "out"))


@pytest.mark.slow
def test_a_full_disk_leaves_nothing_and_says_so(people):
    done = protect(people, 0, LARGEST="600000")
    assert done.returncode == 2
    assert "disk is full" in done.stderr
    assert left(people) == ["people.parquet", "tmp"]


def test_what_a_living_process_fills_is_not_removed(tmp_path):
    def fill(inside):
        atomic_files.write_folder(tmp_path / "out", lambda other: None)
        (inside / "a").write_text("first")

    atomic_files.write_folder(tmp_path / "out", fill)
    assert (tmp_path / "out" / "a").read_text() == "first"
    (tmp_path / ".out.0123456789ab.part").mkdir()
    atomic_files.write_folder(tmp_path / "out", lambda inside: None)
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.slow
def test_long_passes_say_how_far_they_are(people):
    from contextlib import contextmanager

    seen = {}

    @contextmanager
    def show(label, rows):
        seen[label] = [rows, 0]

        def step(more):
            seen[label][1] += more

        yield step

    from unspoken.protect import PiecewiseEncoder

    with long_passes.shown_by(show):
        table = unspoken.read(people / "people.parquet", target="class", lazy=True, show=False)
        assert isinstance(table.frame, local.ScanFrame)
        PiecewiseEncoder().protect(table)
    assert seen == {"look at columns": [60_000, 60_000], "count values": [120_000, 120_000],
                    "know records again": [60_000, 60_000]}


@pytest.mark.slow
@pytest.mark.parametrize("words", [["protect", "--help"], ["methods"]])
def test_a_reader_who_has_read_enough_is_no_failure(words):
    command = subprocess.Popen([sys.executable, "-m", "unspoken", *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    command.stdout.close()
    said = command.stderr.read()
    command.stderr.close()
    assert command.wait() == 0
    assert said == b""
