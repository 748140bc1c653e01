"""What the tests of the joint room share: identities and studies."""

from __future__ import annotations

import socket

import pytest

from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member


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
