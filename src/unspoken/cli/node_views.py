"""What a node shows: itself, its studies, a plan with what happened to it, and results."""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import columns, emit, must_be_new
from unspoken.cli.node_steps import opened, plan_text
from unspoken.cli.qr_text import with_qr
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.joint.node.node_config import NodeConfig
    from unspoken.joint.node.node_state import Kept, NodeState
    from unspoken.joint.node.peer_state import Peer

SOON = 60
"""Days before its end from which on people are told to make a new certificate."""


def status(args: argparse.Namespace) -> int:
    """Show identity, peers and studies."""
    config, state = opened(args)
    relay = _relay_row(config, state)
    peers = [_peer_row(peer, state) for peer in state.peers(trusted=None)]
    rows = [row(kept, state, config) for kept in state.all_kept()]
    going = [f"study '{one['name']}' ({one['number']}): {one['state']}, {one['story']}"
             for one, kept in zip(rows, state.all_kept(), strict=True) if not kept.result]
    lines = [f"node '{config.name}' at {config.address}, {config.identity.fingerprint}",
             _validity(config), *([relay["words"]] if relay else []),
             *_rotation(config, state), *(_with_code(args, peer) for peer in peers),
             f"{len(rows)} studies", *going]
    emit(args, {"name": config.name, "address": config.address, "relay": relay, "peers": peers,
                "studies": rows}, "\n".join(lines))
    return 0


def _validity(config: NodeConfig) -> str:
    """Return until when others take this node's certificate, and what to do when that is soon."""
    from unspoken.joint.wire.credentials import valid_until

    until = valid_until(config.identity.certificate)
    soon = until - datetime.now(UTC) < timedelta(days=SOON)
    return f"certificate valid until {until:%Y-%m-%d}" + (
        ": make a new one in time, with: unspoken node rotate" if soon else "")


def _relay_row(config: NodeConfig, state: NodeState) -> dict[str, Any] | None:
    """Return whether this node waits at its relay, where it has one."""
    from unspoken.joint.node.proposal import date_text

    if config.relay is None:
        return None
    (heard, wrong), where = state.contact(config.address), config.address.rpartition("@")[2]
    words = f"relay {where}, " + (f"last waited there {date_text(heard)}" if heard
                                  else "has not waited there yet") + (f": {wrong}" if wrong else "")
    return {"heard": heard or None, "wrong": wrong, "words": words}


def _peer_row(peer: Peer, state: NodeState) -> dict[str, Any]:
    from unspoken.joint.node.proposal import date_text

    (heard, wrong), words = state.contact(peer.name), f"peer '{peer.name}' at {peer.address}"
    if not peer.trusted:
        words += f": not trusted yet; read them {peer.shown}"
    elif state.succession(peer.name, confirmed=False) is not None:
        words += (": announces a new identity. Call its people on a number that you know; type "
                  f"what they read: unspoken node confirm {peer.name} CODE")
    else:
        words += f", last heard {date_text(heard)}" if heard else ", not heard yet"
        words += f": {wrong}" if wrong else ""
    return {"name": peer.name, "address": peer.address, "trusted": peer.trusted,
            "heard": heard or None, "wrong": wrong,
            "read aloud": peer.shown, "words": words}


def _with_code(args: argparse.Namespace, peer: dict[str, Any]) -> str:
    """Return the words about a peer, with the QR code of what its people are waiting to hear."""
    words, code = str(peer["words"]), str(peer["read aloud"])
    return words if peer["trusted"] else with_qr(args, words, code)


def _rotation(config: NodeConfig, state: NodeState) -> list[str]:
    """Return how far the rotation of this node's own identity is."""
    from unspoken.joint.node.rotation import waits_for

    pending = state.succession(config.name)
    if pending is None:
        return []
    waiting = ", ".join(waits_for(config, state))
    return [f"new identity {pending.new}: read to every peer {pending.code}; "
            + (f"not confirmed by {waiting}" if waiting else
               "all have confirmed: stop the node and type: unspoken node rotate --finish")]


def studies(args: argparse.Namespace) -> int:
    """List the studies."""
    config, state = opened(args)
    rows = [row(kept, state, config) for kept in state.all_kept()]
    heads = ("number", "name", "task", "lead", "state", "story")
    lines = [heads, *([one[head] for head in heads] for one in rows)]
    emit(args, {"studies": rows}, columns(lines))
    return 0


def row(kept: Kept, state: NodeState, config: NodeConfig) -> dict[str, str]:
    """Return a study as one line of a list."""
    from unspoken.joint.node.study_progress import progress_of

    proposal, own = kept.proposal, config.name
    verdicts, progress = state.verdicts(proposal.id), progress_of(config, state, proposal)
    waiting = [name for name in proposal.study.names if name not in verdicts]
    word = kept.result or ("waits for you" if own in waiting else
                           f"waits for {', '.join(waiting)}" if waiting else "agreed")
    return {"number": proposal.id[:16], "name": proposal.study.name, "task": proposal.study.task,
            "lead": proposal.lead, "state": word,
            "story": kept.story or (progress.text if progress.attempt else "")}


def show(args: argparse.Namespace) -> int:
    """Show the whole plan of a study."""
    config, state = opened(args)
    kept = state.find(args.study)
    history = [f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(when))} {what}"
               for when, what in state.events(kept.proposal.id)]
    emit(args, {**row(kept, state, config), "proposal": kept.proposal.to_json(),
                "verdicts": {name: verdict.to_json() for name, verdict
                             in state.verdicts(kept.proposal.id).items()}, "history": history},
         "\n".join([plan_text(config, kept), "What happened:", *history]))
    return 0


def _why_none(kept: Kept) -> str:
    if kept.result == "complete":
        return "it has ended, and this node is not one of those that learn it"
    return kept.story or "it has not ended"


def results(args: argparse.Namespace) -> int:
    """List what there is of a study."""
    config, state = opened(args)
    kept = state.find(args.study)
    folder = config.study_folder(kept.proposal.id)
    files = sorted(str(path) for path in folder.iterdir())
    result = folder / "result.json"
    if args.out is not None:
        must_be_new(args.out, "The result")
        if not result.exists():
            raise InputError(f"There is no result of study '{kept.proposal.study.name}' here: "
                             f"{_why_none(kept)}.")
        from unspoken.joint.node.result_formats import result_bytes
        from unspoken.table.atomic_files import write_file

        write_file(args.out, result_bytes(result, args.out.suffix), 0o600, overwrite=False)
    emit(args, {**row(kept, state, config), "files": files},
         "\n".join([f"{kept.result or 'not ended'}: {kept.story}", *files]))
    return 0
