"""One attempt at an agreed study, in a process of its own that the node starts.

It checks once more that everybody agreed to exactly this proposal, books the study, joins, and
keeps ledger, result and outcome. Nothing is computed in the node itself: a study that fails, or
that somebody kills, takes nothing else with it. If the node dies, the attempt ends in order.

What others are told of a failure is who, and the kind of error: what went wrong inside may name
values. The whole message is in a file that only this organisation reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from unspoken.errors import UnspokenError
from unspoken.joint.joint_errors import IdentityError, PartyError, PeerGarbageError, StudyError
from unspoken.joint.node.attempt_checks import hindrance
from unspoken.joint.node.node_config import NodeConfig, OwnTable
from unspoken.joint.node.node_log import NodeLog, words_of
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.node.proposal import Proposal, Verdict
from unspoken.joint.node.result_page import result_page
from unspoken.joint.session.allocator import keep_memory
from unspoken.joint.session.book_study import book_study
from unspoken.joint.session.join import join
from unspoken.joint.session.play import Outcome
from unspoken.joint.session.result_file import result_text
from unspoken.joint.tasks.common.party_files import load_with
from unspoken.joint.tasks.common.study_parameters import naming_columns
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Identity, signing_key
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.handed_connections import HandedConnections
from unspoken.joint.wire.transports.limits import Limits
from unspoken.table.atomic_files import sha256_of, write_file
from unspoken.table.formats.read_options import ReadOptions

CHECKPOINTS = "checkpoints"
"""What an attempt that ended early had reached lies there, until the study has ended."""

UNKEPT = 3
"""The exit status of an attempt whose outcome is in no file; Python's own failures are 1."""


@dataclass(frozen=True)
class Attempt:
    """Which attempt at which study, and where its files lie."""

    config: NodeConfig
    proposal: Proposal
    n: int

    @property
    def folder(self) -> Path:
        """Return the folder of the study."""
        return self.config.study_folder(self.proposal.id)

    def file(self, end: str) -> Path:
        """Return a file of this attempt."""
        return self.folder / f"attempt-{self.n}.{end}"

    @property
    def run(self) -> bytes:
        """Return the number of this run, by which nodes find the process."""
        return run_number(self.proposal.id, self.n)


def run_number(proposal: str, n: int) -> bytes:
    """Return the 16 bytes that name an attempt to whoever dials a node."""
    return hashlib.sha256(f"unspoken run\0{proposal}\0{n}".encode()).digest()[:16]


def main(folder: str, proposal: str, n: int, line: socket.socket,
         addresses: dict[str, str]) -> None:
    """Run an attempt and keep how it ended; this is the whole life of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    keep_memory()
    try:
        attempt = agreed_attempt(NodeConfig.load(folder), proposal, n)
    except UnspokenError as error:
        _log_only(proposal, n, words_of(error))
    try:
        outcome = asyncio.run(_take_part(attempt, line, addresses))
        ending = _kept(attempt, outcome)
    except asyncio.CancelledError:
        ending = {"state": "failed", "again": True,
                  "story": f"'{attempt.config.name}' was stopped"}
    except Exception as error:
        ending = failure(attempt, error)
    try:
        write_file(attempt.file("json"), json.dumps(ending).encode(), 0o600)
    except OSError as error:
        _log_only(proposal, n, f"how it ended cannot be kept: {error.strerror}")
    sys.exit(0)


def _log_only(proposal: str, n: int, why: str) -> NoReturn:
    """End an attempt of which nothing can be kept, with a line for this node's own people."""
    NodeLog().event("attempt not kept", study=proposal[:16], attempt=n, why=why)
    sys.exit(UNKEPT)


def agreed_attempt(config: NodeConfig, proposal: str, n: int) -> Attempt:
    """Return an attempt at a proposal to which everybody, this node too, has agreed."""
    state = NodeState(config.state_path)
    try:
        kept = state.find(proposal)
        if kept.proposal.id != proposal:
            raise StudyError(f"Study {proposal[:16]} was changed after it had been agreed to.")
        reason = hindrance(kept.proposal, n, state, config.name)
        if reason:
            raise StudyError(f"Attempt {n} must not begin: {reason}.")
        return Attempt(config, kept.proposal, n)
    finally:
        state.close()


async def _take_part(attempt: Attempt, line: socket.socket, addresses: dict[str, str]) -> Outcome:
    config, study = attempt.config, attempt.proposal.study
    identity, task = config.identity, task_of(attempt.proposal.study)
    data = _own_data(attempt, identity) if config.name in attempt.proposal.tables else None
    limits = Limits(limit=config.limit_seconds, start=config.meeting_seconds)
    return await join(study, identity, task.program(study), data, limits=limits,
                      listening=HandedConnections(line, attempt.run, addresses),
                      ledger_path=attempt.file("ledger"),
                      approver=_verdicts(attempt)[config.name].approver,
                      checkpoints=attempt.folder / CHECKPOINTS)


def _verdicts(attempt: Attempt) -> dict[str, Verdict]:
    state = NodeState(attempt.config.state_path)
    try:
        return state.verdicts(attempt.proposal.id)
    finally:
        state.close()


def _own_data(attempt: Attempt, identity: Identity) -> Any:
    """Read, restrict and book this owner's table."""
    config, proposal = attempt.config, attempt.proposal
    table = config.table(proposal.tables[config.name])
    _same_data(attempt, identity, table)
    path, reading = _restricted(attempt, table)
    try:
        data = load_with(task_of(proposal.study).load, path, proposal.study, **reading)
    finally:
        if path != table.path:
            path.unlink(missing_ok=True)
    _book(attempt, table)
    return data


def _same_data(attempt: Attempt, identity: Identity, table: OwnTable) -> None:
    """Refuse other data than in the first attempt: two results would differ by a few rows."""
    key = signing_key(identity).private_bytes_raw()
    digest = hmac.digest(key, sha256_of(table.path).encode(), "sha256").hex().encode()
    place = attempt.folder / "data.digest"
    if not place.exists():
        write_file(place, digest, 0o600)
    elif place.read_bytes() != digest:
        raise StudyError(f"Table '{table.name}' was changed since the first attempt. What the "
                         "attempts opened together could show single rows. Propose a new study.")


def _restricted(attempt: Attempt, table: OwnTable) -> tuple[Path, dict[str, Any]]:
    """Return the table, or a copy with the columns alone that a standing consent admits."""
    state = NodeState(attempt.config.state_path)
    try:
        columns = state.allowed_columns(attempt.proposal.id, attempt.config.name)
    finally:
        state.close()
    if columns is None:
        return table.path, dict(table.reading)
    if not columns:
        raise StudyError(f"The standing consent admits no column of table '{table.name}'.")
    if table.path.suffix == ".dat":
        raise StudyError(f"Table '{table.name}' has baskets in place of columns. A standing "
                         "consent to columns does not cover it.")
    import pyarrow.parquet as pq

    from unspoken.table.read import read_file

    rows = read_file(table.path, ReadOptions.of(**table.reading),
                     naming_columns(attempt.proposal.study.parameters))
    copy = attempt.file("columns.parquet")
    write_file(copy, b"", 0o600)
    pq.write_table(rows.arrow([name for name in rows.schema.names if name in columns]), copy)
    return copy, {}


def _book(attempt: Attempt, table: OwnTable) -> None:
    """Book the study, once for every attempt that may have opened something."""
    from unspoken.table.read import read

    study, place = attempt.proposal.study, table.budget
    if place is None:
        beside = table.path.with_name(table.path.name + ".budget")
        place = beside if beside.exists() else None
    if place is None and "epsilon" not in study.parameters:
        return
    if attempt.n > 1 and _was_booked(attempt) and all(
            _opened_nothing(attempt.folder / f"attempt-{n}.ledger") for n in range(1, attempt.n)):
        return
    rows = read(table.path, show=False, **dict(table.reading))
    book_study(study, rows, place)
    write_file(attempt.folder / "booked", attempt.proposal.id.encode(), 0o600)


def _was_booked(attempt: Attempt) -> bool:
    """Return True if exactly this proposal was booked, and no other whose folder this was."""
    place = attempt.folder / "booked"
    return place.exists() and place.read_bytes() == attempt.proposal.id.encode()


def _opened_nothing(path: Path) -> bool:
    """Return True only if the ledger of an attempt shows that all parties never met."""
    try:
        return not path.exists() or not Ledger.load(path).session
    except UnspokenError:
        return False


def _kept(attempt: Attempt, outcome: Outcome) -> dict[str, Any]:
    """Keep page and result of an attempt, and return how it ended."""
    page = result_page(attempt.proposal, attempt.config.name, outcome, _verdicts(attempt),
                       attempt.folder)
    write_file(attempt.folder / "report.html", page.encode(), 0o600)
    if outcome.error is not None:
        return failure(attempt, outcome.error)
    if outcome.output is not None:
        text = result_text(outcome.output)
        write_file(attempt.file("result.json"), text.encode(), 0o600)
        write_file(attempt.folder / "result.json", text.encode(), 0o600)
    return {"state": "done", "again": False, "story": ""}


def failure(attempt: Attempt, error: BaseException) -> dict[str, Any]:
    """Return how an attempt failed as others may know it; the rest stays here."""
    with contextlib.suppress(OSError):  # A full disk takes no more than the reason.
        write_file(attempt.file("error.txt"), f"{type(error).__name__}: {error}\n".encode(), 0o600)
    if isinstance(error, PartyError):
        return {"state": "failed", "again": not isinstance(error, PeerGarbageError),
                "story": f"'{error.party}' {error.what} at step {error.step}"[:400]}
    return {"state": "failed", "again": isinstance(error, IdentityError),
            "story": f"'{attempt.config.name}' could not take part ({type(error).__name__}; its "
                     "own people can see why)"}
