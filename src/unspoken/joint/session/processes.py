"""Every party as a process of its own, over TLS on loopback: for trying out, tests and benches.

Each child makes its own key and certificate, listens on a free port and sends its parent only
name, port and certificate; the parent puts them into a study and hands that to everybody. What
passes between a child and its parent is the program's input and output on one machine; parties
never exchange anything but frames.

Children are spawned, so a script that calls this needs `if __name__ == "__main__":` around it.
A child is given its input when it has reported that it is there: handed over as it starts, an input
larger than a pipe would keep the parent for ever if the child died before it had read it.
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

from unspoken.joint.joint_errors import PartyError, PeerLostError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.allocator import keep_memory
from unspoken.joint.session.identity import make_identity
from unspoken.joint.session.join import join
from unspoken.joint.session.play import Outcome, Program
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.limits import Limits

DIED = ("died before it could listen (a script that calls this needs "
        "'if __name__ == \"__main__\":' around it)")
TRYING = "whoever tried this out with all parties on one machine"
FAREWELL = 5.0
"""How long a party that has finished may take to end; its program may have left threads."""


class Fleet:
    """The parties of one run, each a child process."""

    def __init__(self, program: Program, inputs: Sequence[Any], mode: str, roles: Roles,
                 limits: Limits | None = None, folder: Path | None = None) -> None:
        self.names = roles.everybody
        self.children: dict[str, BaseProcess] = {}
        self._lines: dict[str, Connection] = {}
        self._limits = limits or Limits()
        every_input = [*inputs, *[None] * (len(self.names) - len(inputs))]
        try:
            self._start()
            for name, data in zip(self.names, every_input, strict=True):
                self._heard(name)
                path = None if folder is None else folder / f"{name}.ledger"
                self._tell(name, (program, data, self._limits, path))
            self._introduce(mode, roles, tuple(getattr(program, "disclosures", ())))
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        context = get_context("spawn")
        for name in self.names:
            self._lines[name], theirs = context.Pipe()
            child = context.Process(target=_child, daemon=True, args=(theirs, name))
            child.start()
            theirs.close()
            self.children[name] = child

    def _introduce(self, mode: str, roles: Roles, declared: tuple[Disclosure, ...]) -> None:
        """Collect ports and certificates, and give everybody the study."""
        members = []
        for name in self.names:
            port, certificate, print_ = self._heard(name)
            role = [word for word, who in (("owner", roles.owners), ("holder", roles.holders),
                                           ("dealer", (roles.dealer,)),
                                           ("linker", (roles.linker,))) if name in who]
            members.append(Member(name, f"127.0.0.1:{port}",
                                  tuple(role), print_, certificate))
        study = Study("local", "program", mode, tuple(members), disclosures=declared)
        for name in self.names:
            self._tell(name, study)

    def _tell(self, name: str, what: Any) -> None:
        """Send something to a child; one that is not there any more is lost."""
        try:
            self._lines[name].send(what)
        except OSError:
            raise PeerLostError(name, "start", DIED) from None

    def _heard(self, name: str) -> Any:
        """Return what a child says at the start; it has as long as parties have to come."""
        word = self._said(name, self._limits.start, PeerLostError(name, "start", DIED))
        if isinstance(word, PartyError):
            raise word
        return word

    def _said(self, name: str, seconds: float | None, died: PartyError) -> Any:
        """Return what a child says next, or why it says nothing."""
        line, child = self._lines[name], self.children[name]
        try:
            ready = wait([line, child.sentinel], seconds)
            if ready and line.poll():
                return line.recv()
        except (EOFError, OSError):
            return died
        return died if ready else PeerLostError(
            name, died.step, f"was not done within {seconds:g} s")

    def wait(self, seconds: float | None = None) -> list[Outcome]:
        """Wait for every party; one that died without a word has a PeerLostError."""
        outcomes = [self._outcome(name, seconds) for name in self.names]
        for child in self.children.values():
            child.join(FAREWELL)
        return outcomes

    def _outcome(self, name: str, seconds: float | None) -> Outcome:
        last_word = self._said(name, seconds, PeerLostError(name, "unknown", "died"))
        if isinstance(last_word, Outcome):
            return last_word
        ledger = Ledger(name, status=f"failed: the process {last_word.what}")
        return Outcome(name, None, ledger, last_word)

    def stop(self) -> None:
        """Kill every party that still runs."""
        for child in self.children.values():
            if child.is_alive():
                child.kill()
                child.join()


def run_processes(program: Program, inputs: Sequence[Any], mode: str, roles: Roles,
                  limits: Limits | None = None, folder: Path | None = None) -> list[Outcome]:
    """Run every party as a process and wait for all of them; ledgers are written to a folder."""
    fleet = Fleet(program, inputs, mode, roles, limits, folder)
    try:
        return fleet.wait()
    finally:
        fleet.stop()


def _child(line: Connection, name: str) -> None:
    """Be one party."""
    keep_memory()
    line.send(None)
    program, data, limits, path = line.recv()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as mine:
        identity = make_identity(name, Path(folder))
        line.send((mine.getsockname()[1], identity.certificate, identity.fingerprint))
        study = line.recv()
        line.send(asyncio.run(join(study, identity, program, data, limits=limits,
                                   listening=mine, ledger_path=path, approver=TRYING)))
