"""What the tests of the joint room share: identities, studies and programs in other processes."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tacit.joint.identity import make_identity
from tacit.joint.study import Member, Study

# Programs that run in other processes must be importable there by name.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def circle(tmp_path):
    """Return a function that makes a study, identities and listening sockets for some names."""
    sockets = []

    def make(*names):
        identities = {name: make_identity(name, tmp_path) for name in names}
        members = []
        for name in names:
            listening = socket.create_server(("127.0.0.1", 0))
            sockets.append(listening)
            one = identities[name]
            members.append(Member(name, f"127.0.0.1:{listening.getsockname()[1]}", ("owner",),
                                  one.fingerprint, one.certificate))
        study = Study("test", "sum", "sums", tuple(members))
        return study, identities, dict(zip(names, sockets[-len(names):], strict=True))

    yield make
    for listening in sockets:
        listening.close()
