"""Every party as a process of its own, over TLS on loopback: for trying out, tests and benches.

Each child makes its own key and certificate, listens on a free port and tells its parent only
name, port and certificate; the parent puts them into a study and hands that to everybody. What
passes between a child and its parent is the program's input and output on one machine; parties
never exchange anything but frames.

Children are spawned, so a script that calls this needs `if __name__ == "__main__":` around it.
"""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tacit.joint.errors import PeerLostError
from tacit.joint.identity import make_identity
from tacit.joint.join import join
from tacit.joint.ledger import Ledger
from tacit.joint.run import Outcome, Program
from tacit.joint.seam import Roles
from tacit.joint.study import Disclosure, Member, Study
from tacit.joint.transport.base import Limits

DIED = ("died before it could listen (a script that calls this needs "
        "'if __name__ == \"__main__\":' around it)")


class Fleet:
    """The parties of one run, each a child process."""

    def __init__(self, program: Program, inputs: Sequence[Any], mode: str, roles: Roles,
                 limits: Limits | None = None) -> None:
        self.names = roles.everybody
        given = [*inputs, *[None] * (len(self.names) - len(inputs))]
        context = get_context("spawn")
        self.children: dict[str, BaseProcess] = {}
        self._lines: dict[str, Connection] = {}
        for name in self.names:
            self._lines[name], theirs = context.Pipe()
            child = context.Process(target=_child, daemon=True,
                                    args=(theirs, name, limits or Limits()))
            child.start()
            theirs.close()
            self.children[name] = child
        try:
            # Not as arguments: `start` would wait for ever for a child that died before it read.
            for name, data in zip(self.names, given, strict=True):
                self._tell(name, (program, data))
            self._introduce(mode, roles, tuple(getattr(program, "disclosures", ())))
        except BaseException:
            self.stop()
            raise

    def _tell(self, name: str, what: Any) -> None:
        """Send something to a child; one that is not there any more is lost."""
        try:
            self._lines[name].send(what)
        except OSError:
            raise PeerLostError(name, "start", DIED) from None

    def _introduce(self, mode: str, roles: Roles, declared: tuple[Disclosure, ...]) -> None:
        """Collect ports and certificates, and give everybody the study."""
        members = []
        for name in self.names:
            try:
                port, certificate, print_ = self._lines[name].recv()
            except EOFError:
                raise PeerLostError(name, "start", DIED) from None
            role = [word for word, who in (("owner", roles.owners), ("holder", roles.holders),
                                           ("dealer", (roles.dealer,))) if name in who]
            members.append(Member(name, f"127.0.0.1:{port}",
                                  tuple(role), print_, certificate))
        study = Study("local", "program", mode, tuple(members), disclosures=declared)
        for name in self.names:
            self._tell(name, study)

    def wait(self, seconds: float | None = None) -> list[Outcome]:
        """Wait for every party; one that died without a word has a PeerLostError."""
        outcomes = [self._outcome(name, seconds) for name in self.names]
        for child in self.children.values():
            child.join(seconds)
        return outcomes

    def _outcome(self, name: str, seconds: float | None) -> Outcome:
        line = self._lines[name]
        try:
            if wait([line, self.children[name].sentinel], seconds) and line.poll():
                outcome: Outcome = line.recv()
                return outcome
        except EOFError:
            pass
        return Outcome(name, None, Ledger(name, status="failed: the process died"),
                       PeerLostError(name, "unknown", "died"))

    def stop(self) -> None:
        """Kill whoever still runs."""
        for child in self.children.values():
            if child.is_alive():
                child.kill()
                child.join()


def run_processes(program: Program, inputs: Sequence[Any], mode: str, roles: Roles,
                  limits: Limits | None = None) -> list[Outcome]:
    """Run every party as a process and wait for all of them."""
    fleet = Fleet(program, inputs, mode, roles, limits)
    try:
        return fleet.wait()
    finally:
        fleet.stop()


def _child(line: Connection, name: str, limits: Limits) -> None:
    """Be one party."""
    program, data = line.recv()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as mine:
        identity = make_identity(name, Path(folder))
        line.send((mine.getsockname()[1], identity.certificate, identity.fingerprint))
        study = line.recv()
        line.send(asyncio.run(join(study, identity, program, data, limits=limits,
                                   listening=mine)))
