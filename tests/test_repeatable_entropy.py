"""Secrets in tests: alike in every run, never alike twice in one, and untouched elsewhere."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import pytest

from support import repeatable_entropy

pytestmark = pytest.mark.skipif(not repeatable_entropy.wanted(),
                                reason="UNSPOKEN_TEST_ENTROPY=fresh draws from the system")


def drawn(name):
    repeatable_entropy.begin(name)
    return [secrets.token_bytes(16) for _ in range(100)]


def test_secrets_repeat_for_a_test_and_for_no_other():
    assert drawn("one") == drawn("one")
    assert not set(drawn("one")) & set(drawn("another"))
    assert len(set(drawn("one"))) == 100
    assert len(secrets.token_bytes()) == 32


def test_other_processes_draw_from_the_system():
    repeatable_entropy.begin("one")
    with os.fdopen(forked(), "rb") as pipe:
        assert pipe.read() not in (drawn("one")[0], b"")
    code = "import secrets; print(secrets.token_hex(16))"
    texts = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
             for _ in range(2)]
    assert texts[0] != texts[1]


def forked():
    """Return where a forked process writes what it drew."""
    here, there = os.pipe()
    if os.fork() == 0:
        os.write(there, secrets.token_bytes(16))
        os._exit(0)
    os.close(there)
    return here
