"""One party joins a study over TLS: meet, compare, run, and keep the ledger whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.mpc.checkpoints import Checkpoints
from unspoken.joint.session.play import Outcome, Program, play
from unspoken.joint.session.preflight import compare_studies
from unspoken.joint.session.protocol_code import code_digest, versions
from unspoken.joint.session.result_file import result_digest
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study, is_address
from unspoken.joint.wire.credentials import Identity, signing_key
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.handed_connections import HandedConnections
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.threaded import ThreadedTransport
from unspoken.joint.wire.transports.tls import TlsTransport

Listening = socket.socket | HandedConnections
"""Where connections come from: a socket that listens, or a node that accepts for its studies."""


def listening_at(address: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT, which need not be the address in the study."""
    host, _, port = address.rpartition(":")
    if not is_address(address):
        raise InputError(explain("An address to listen at", "HOST:PORT, such as 0.0.0.0:7700 or "
                                 "[::]:7700", address))
    try:
        family, _, _, _, where = socket.getaddrinfo(host.strip("[]"), int(port),
                                                    type=socket.SOCK_STREAM,
                                                    flags=socket.AI_PASSIVE)[0]
        return socket.create_server(where[:2], family=family)
    except OSError as error:
        raise InputError(f"Nothing can listen at {address} on this machine: {error.strerror}. "
                         "Name an address of this machine and a port that is free.") from None


async def meet(study: Study, identity: Identity, limits: Limits,
               listening: Listening | None = None, ledger: Ledger | None = None) -> Transport:
    """Open the links of a study and compare it with everybody before anything else."""
    transport = TlsTransport(study, identity, limits, ledger)
    transport.ledger.study = study.hash()
    transport.ledger.mode = study.mode
    await transport.open(listening)
    try:
        await compare_studies(transport, study)
    except BaseException:
        await transport.close()
        raise
    return transport


async def join(study: Study, identity: Identity, program: Program, data: Any, *,  # noqa: PLR0913
               limits: Limits | None = None, listening: Listening | None = None,
               ledger_path: Path | None = None, approver: str = "",
               checkpoints: Path | None = None) -> Outcome:
    """Run this party's side; errors are in the outcome, and the ledger is written all along.

    With `checkpoints`, a folder that all parties must name or none, it goes on where an earlier
    attempt ended; whoever names one sees to it that the data are the same.
    """
    with _ended_by_sigterm():
        ledger = started_ledger(study, identity, ledger_path, approver)
        seam = ThreadedTransport()
        try:
            limits = limits or Limits(start=study.start_limit)
            points = None if checkpoints is None else Checkpoints(checkpoints, study.hash(),
                                                                  code_digest())
            failure = await _met(seam, study, identity, (limits, ledger, listening))
            if failure is None:
                output = await play(seam, roles_of(study), program, data, study.disclosures,
                                    before_end=_digesting(ledger, identity), checkpoints=points)
                return Outcome(identity.name, output, ledger)
        except Exception as error:
            ledger.status = "failed at the start"
            failure = error
        except BaseException:
            ledger.status = "failed: ended by this party's operator"
            raise
    return Outcome(identity.name, None, ledger, failure)


async def _met(seam: ThreadedTransport, study: Study, identity: Identity,
               run: tuple[Limits, Ledger, Listening | None]) -> Exception | None:
    """Meet everybody; return why that failed, if it did."""
    limits, ledger, listening = run
    try:
        await seam.open(lambda: meet(study, identity, limits, listening, ledger))
    except Exception as error:
        ledger.status = "failed at the start"
        return error
    return None


def _digesting(ledger: Ledger, identity: Identity) -> Callable[[Any], None]:
    """Return what puts the digest of a result into the ledger, while that is still open."""
    def with_digest(output: Any) -> None:
        ledger.result = result_digest(identity, ledger.session, output)
    return with_digest


def started_ledger(study: Study, identity: Identity, path: Path | None,
                   approver: str) -> Ledger:
    """Return the ledger of a run that begins; a path that cannot be written is refused here."""
    ledger = Ledger(identity.name, study.mode, study.hash())
    ledger.chain.sign_with(signing_key(identity))
    ledger.versions = versions()
    ledger.approver = approver
    if path is not None:
        ledger.keep_in(path)
        ledger.sign()
    return ledger


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the run in order, as Ctrl-C does, where this thread gets signals."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGTERM, lambda: task and task.cancel())
    except (NotImplementedError, RuntimeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
