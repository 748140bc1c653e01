"""One party joins a study over TLS: meet, compare, run, and keep the ledger whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from unspoken.joint.session.play import Outcome, Program, play
from unspoken.joint.session.preflight import compare_studies
from unspoken.joint.session.protocol_code import versions
from unspoken.joint.session.result_file import result_digest
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Identity, signing_key
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.threaded import ThreadedTransport
from unspoken.joint.wire.transports.tls import TlsTransport


async def meet(study: Study, identity: Identity, limits: Limits,
               listening: socket.socket | None = None, ledger: Ledger | None = None) -> Transport:
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


async def join(study: Study, identity: Identity, program: Program, data: Any, *,
               limits: Limits | None = None, listening: socket.socket | None = None,
               ledger_path: Path | None = None, approver: str = "") -> Outcome:
    """Run this party's side; errors are in the outcome, and the ledger is written all along."""
    with _ended_by_sigterm():
        ledger = started_ledger(study, identity, ledger_path, approver)
        seam = ThreadedTransport()
        try:
            failure = await _met(seam, study, identity, (limits or Limits(), ledger, listening))
            if failure is None:
                output = await play(seam, roles_of(study), program, data, study.disclosures,
                                    before_end=_digesting(ledger, identity))
                return Outcome(identity.name, output, ledger)
        except Exception as error:
            failure = error
        except BaseException:
            ledger.status = "failed: ended by this party's operator"
            raise
    return Outcome(identity.name, None, ledger, failure)


async def _met(seam: ThreadedTransport, study: Study, identity: Identity,
               run: tuple[Limits, Ledger, socket.socket | None]) -> Exception | None:
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
