"""A crash leaves the old file or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from unspoken.table import atomic_files as files


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f"
    files.write_file(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_failed_fill_leaves_the_old_folder(tmp_path):
    path = tmp_path / "d"
    files.write_folder(path, lambda inside: files.write_file(inside / "a", b"old"))

    def fail(inside):
        (inside / "a").write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        files.write_folder(path, fail)
    assert (path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["d"]


def test_folders_are_exchanged(tmp_path):
    path = tmp_path / "d"
    for text in (b"one", b"two"):
        files.write_folder(path, lambda inside, text=text: files.write_file(inside / "a", text))
        assert (path / "a").read_bytes() == text
    assert os.listdir(tmp_path) == ["d"]


def test_folders_are_replaced_where_they_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_exchange", lambda *_: False)
    test_folders_are_exchanged(tmp_path)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_kill_9_in_the_middle(tmp_path, step):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    code = textwrap.dedent(f"""
        import os, signal, sys
        from pathlib import Path
        from unspoken.table import atomic_files as files
        files.os.{step} = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
        files.write_file(Path(sys.argv[1]), b"new")
    """)
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
