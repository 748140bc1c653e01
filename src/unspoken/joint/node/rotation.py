"""Rotation of a node's identity: a new key, signed by the old one, that people confirm.

`begin` makes the new key and the announcement, which the running node sends to its peers. Their
people hear its code and confirm it (`confirm`). `finish`, while the node is stopped, puts the new
key in place of the old one. From the first connection in which a peer sees the new certificate it
pins that one, and refuses the old one.

  leaks: nothing; certificates are public.
  safe against: whoever has the old key and cannot speak for the organisation on the telephone.
  breaks if: people confirm a code that they did not hear from the other organisation.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.joint.joint_errors import IdentityError
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_link import ask
from unspoken.joint.node.node_lock import hold_node
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.node.peer_state import Peer
from unspoken.joint.node.spoken_codes import same_code
from unspoken.joint.node.succession import Succession, announced
from unspoken.joint.session.identity import load_identity, make_identity
from unspoken.joint.wire.credentials import Identity
from unspoken.table.atomic_files import write_file


def begin(config: NodeConfig, state: NodeState) -> Succession:
    """Make a new key beside the old one and return its announcement; again, the same one."""
    pending = state.succession(config.name)
    if pending is not None:
        return pending
    folder = _next(config)
    folder.mkdir(mode=0o700, exist_ok=True)
    made_before = (folder / f"{config.name}.crt").exists()
    new = (load_identity if made_before else make_identity)(config.name, folder)
    succession = announced(config.identity, new)
    state.keep_succession(succession)
    return succession


def waits_for(config: NodeConfig, state: NodeState) -> list[str]:
    """Return the peers whose people have not confirmed the new identity of this node."""
    pending = state.succession(config.name)
    confirmed = () if pending is None else state.confirmed_by(pending.new)
    return [peer.name for peer in state.peers() if peer.name not in confirmed]


def confirm(state: NodeState, name: str, code: str) -> None:
    """Confirm the new identity of a peer by the code that its people read aloud."""
    succession = state.succession(name, confirmed=False)
    if succession is None:
        raise InputError(f"No new identity of '{name}' waits to be confirmed. See: unspoken node "
                         "status")
    if not same_code(code, succession.code):
        raise InputError(f"This is not the code of the new identity that came under the name of "
                         f"'{name}'. It was misheard, or somebody has the old key of '{name}' and "
                         "announced a key of his own. If they read you the same code again, type: "
                         f"unspoken node forget {name}")
    state.confirm_succession(name)


def finish(config: NodeConfig, state: NodeState, anyway: bool = False) -> str:
    """Put the new key in place of the old one; return the new fingerprint. May be repeated."""
    lock = hold_node(config, " Stop it, finish the rotation, and start it again.")
    try:
        pending = state.succession(config.name)
        if pending is None:
            raise InputError("No rotation was begun here. Type first: unspoken node rotate")
        _refuse_too_early(config, state, anyway)
        _replace(config, pending.old)
        with state.together():
            state.drop_succession(config.name)
            state.note("", f"identity {pending.old[:16]} was replaced by {pending.new[:16]}")
        return pending.new
    finally:
        os.close(lock)


def _refuse_too_early(config: NodeConfig, state: NodeState, anyway: bool) -> None:
    """Refuse while studies name the old certificate, or peers would not know the new one."""
    studies = [kept.proposal.study.name for kept in state.active()]
    if studies:
        raise InputError(f"Studies that name the old certificate have not ended: "
                         f"{', '.join(studies)}. Wait for them, or refuse them.")
    waiting = waits_for(config, state)
    if waiting and not anyway:
        raise InputError(f"Not every peer has confirmed the new identity: {', '.join(waiting)}. "
                         "Call them, or add --anyway: they must then forget this node and pair "
                         "anew.")


def _replace(config: NodeConfig, old: str) -> None:
    """Put the old key away and the new one in its place; killed at any step, it can be repeated."""
    home, retired = config.folder / "identity", config.folder / "identity" / f"retired-{old[:16]}"
    retired.mkdir(mode=0o700, exist_ok=True)
    for name in (f"{config.name}.key", f"{config.name}.crt"):
        if not (retired / name).exists():
            write_file(retired / name, (home / name).read_bytes(), 0o600)
    for name in (f"{config.name}.key", f"{config.name}.crt"):
        if (_next(config) / name).exists():
            os.replace(_next(config) / name, home / name)
    shutil.rmtree(_next(config), ignore_errors=True)


def _next(config: NodeConfig) -> Path:
    return config.folder / "identity" / "next"


async def ask_either(identity: Identity, state: NodeState, peer: Peer,
                     question: dict[str, Any]) -> dict[str, Any]:
    """Ask a peer; where it shows a new certificate that people here confirmed, pin that one."""
    try:
        return await ask(identity, peer, question)
    except IdentityError:
        newer = state.newer(peer.name)
        if newer is None:
            raise
        answer = await ask(identity, newer, question)
        state.succeed(newer)
        return answer
