"""What the tests of several tasks share."""

from __future__ import annotations

import pytest

from support.joint_commands import OWNERS, joint_command


@pytest.fixture
def folder(tmp_path):
    """A folder with the identities of three owners and a dealer."""
    for name in (*OWNERS, "dora"):
        assert joint_command("identity", name, "--folder", tmp_path) == 0
    return tmp_path
