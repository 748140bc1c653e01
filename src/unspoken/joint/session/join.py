"""One party joins a study over TLS: meet, compare, run, and keep the ledger whatever happens."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from unspoken.joint.session.play import Outcome, Program, play
from unspoken.joint.session.preflight import compare_studies
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Identity
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.base import Transport
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.threaded import ThreadedTransport
from unspoken.joint.wire.transports.tls import TlsTransport


async def meet(study: Study, identity: Identity, limits: Limits,
               listening: socket.socket | None = None) -> Transport:
    """Open the links of a study and compare it with everybody before anything else."""
    transport = TlsTransport(study, identity, limits)
    await transport.open(listening)
    transport.ledger.study = study.hash()
    transport.ledger.mode = study.mode
    try:
        await compare_studies(transport, study)
    except BaseException:
        await transport.close()
        raise
    return transport


async def join(study: Study, identity: Identity, program: Program, data: Any, *,
               limits: Limits | None = None, listening: socket.socket | None = None,
               ledger_path: Path | None = None) -> Outcome:
    """Run this party's side; errors are in the outcome, and the ledger is saved first."""
    outcome = await _joined(study, identity, program, data, limits or Limits(), listening)
    if ledger_path is not None:
        outcome.ledger.save(ledger_path)
    return outcome


async def _joined(study: Study, identity: Identity, program: Program, data: Any, limits: Limits,
                  listening: socket.socket | None) -> Outcome:
    seam = ThreadedTransport()
    try:
        await seam.open(lambda: meet(study, identity, limits, listening))
    except Exception as error:
        ledger = Ledger(identity.name, study.mode, study.hash(), status="failed at the start")
        return Outcome(identity.name, None, ledger, error)
    try:
        output = await play(seam, roles_of(study), program, data, study.disclosures)
    except Exception as error:
        return Outcome(identity.name, None, seam.ledger, error)
    return Outcome(identity.name, output, seam.ledger)

