"""Parties in networks as they are: behind a forwarded port, missing, with old certificates."""

from __future__ import annotations

import json
import socket
import threading
from datetime import UTC, timedelta

import pytest

from support.joint_commands import OWNERS, ended, free_ports, joint_command, spawn
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.session import identity

pytestmark = pytest.mark.slow


@pytest.fixture
def study(tmp_path):
    """Return a function that makes a study of three owners, and the folder of their files."""
    for name in OWNERS:
        assert joint_command("identity", name, "--folder", tmp_path) == 0
        (tmp_path / f"{name}.csv").write_text("a\n1\n2\n")

    def make(addresses, *words):
        parties = [word for name, address in zip(OWNERS, addresses, strict=True)
                   for word in ("--party", f"{tmp_path / name}.crt={address}")]
        assert joint_command("new", tmp_path / "study.toml", "--name", "try", "--columns", "a",
                             *parties, *words) == 0
        return tmp_path

    return make


def join(folder, name, *words):
    return spawn("join", "study.toml", "--as", name, "--data", f"{name}.csv", "--yes", "--json",
                 "--limit", "4", *words, cwd=folder)


class Forwarded:
    """A port that leads to another, as NAT and containers have it; `ends` are its connections."""

    def __init__(self, port):
        self.server, self._to, self.ends = socket.create_server(("127.0.0.1", 0)), port, []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                outside, _ = self.server.accept()
            except OSError:
                return
            try:
                inside = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                outside.close()
                continue
            self.ends += [outside, inside]
            for pair in ((outside, inside), (inside, outside)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source, target):
        try:
            while piece := source.recv(1 << 16):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        for one in (self.server, *self.ends):
            one.close()


def test_a_party_behind_a_forwarded_port_listens_at_its_own(study):
    """The address in the study is not one where this party could listen: somebody else is there."""
    [inner, south, east] = free_ports(3)
    forwarded = Forwarded(inner)
    outer = forwarded.server.getsockname()[1]
    folder = study([f"localhost:{outer}", f"127.0.0.1:{south}", f"127.0.0.1:{east}"])
    try:
        runs = [join(folder, "north", "--listen", f"127.0.0.1:{inner}"), join(folder, "south"),
                join(folder, "east")]
        said = ended(runs)
    finally:
        forwarded.close()
    assert [run.returncode for run in runs] == [0, 0, 0], said
    assert json.loads(said[0][0])["results"] == {"north": {"a": 9.0}}


def test_the_owner_who_never_comes_is_the_one_that_is_named(study):
    ports = free_ports(3)
    folder = study([f"127.0.0.1:{port}" for port in ports], "--wait", "3")
    runs = [join(folder, "north"), join(folder, "east")]
    for _, error in ended(runs):
        assert "'south' did not connect within" in error
        assert "closed the connection" not in error


def test_a_certificate_that_has_expired_is_refused_when_the_study_is_written(study, monkeypatch):
    real = identity.datetime

    class Past(real):
        @classmethod
        def now(cls, tz=None):
            return real.now(UTC) - timedelta(days=1000)

    folder = study([f"h:{port}" for port in (1, 2, 3)])
    monkeypatch.setattr(identity, "datetime", Past)
    (folder / "old").mkdir()
    assert joint_command("identity", "east", "--folder", folder / "old") == 0
    monkeypatch.undo()
    parties = [f"{folder / 'north'}.crt=h:1", f"{folder / 'south'}.crt=h:2",
               f"{folder / 'old' / 'east'}.crt=h:3"]
    with pytest.raises(IdentityError, match="The certificate of 'east' expired on"):
        joint_command("new", folder / "again.toml", "--name", "try", "--columns", "a",
                      *(word for party in parties for word in ("--party", party)))
    assert not (folder / "again.toml").exists()
