"""What the verbs under `unspoken node` do; each function has the name of its verb."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import emit, must_be_new, pairs
from unspoken.cli.joint_evidence import agree, user_name
from unspoken.cli.qr_text import with_qr
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.joint.node.node_config import NodeConfig
    from unspoken.joint.node.node_state import Kept, NodeState
    from unspoken.joint.node.peer_state import Peer


def opened(args: argparse.Namespace) -> tuple[NodeConfig, NodeState]:
    """Return configuration and state of the node in a folder."""
    from unspoken.joint.node.node_config import NodeConfig
    from unspoken.joint.node.node_state import NodeState

    config = NodeConfig.load(args.folder)
    return config, NodeState(config.state_path)


def init(args: argparse.Namespace) -> int:
    """Make a node."""
    from unspoken.joint.node.node_config import FILE, NodeConfig, config_text
    from unspoken.joint.session.identity import make_identity
    from unspoken.table.atomic_files import write_file

    args.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    must_be_new(args.folder / FILE, "The node")
    tables = [{"name": name, "path": str(Path(path).absolute()), "show_to": []}
              for name, path in pairs(args.table, "--table").items()]
    data: dict[str, Any] = {"name": args.name, "listen": args.listen or _usual(args.address),
                            "address": args.address, "health": args.health, "table": tables}
    config = NodeConfig.of(args.folder, data)
    (args.folder / "identity").mkdir(mode=0o700, exist_ok=True)
    own = make_identity(config.name, args.folder / "identity")
    write_file(args.folder / FILE, config_text(data).encode(), overwrite=False)
    emit(args, {"folder": str(args.folder), "name": own.name, "fingerprint": own.fingerprint},
         f"{args.folder / FILE}: what this node is and has; add tables and who may see them\n"
         f"{own.key_path}: the key; keep a copy where nobody else gets it\n"
         f"fingerprint: {own.fingerprint}\nStart it with: unspoken node serve --folder "
         f"{args.folder}")
    return 0


def _usual(address: str) -> list[str]:
    """Return where a node listens of which nothing else is said; at a relay it need not."""
    from unspoken.joint.wire.relay.relay_words import SCHEME

    return [] if address.startswith(SCHEME) else [f"0.0.0.0:{address.rpartition(':')[2]}"]


def serve(args: argparse.Namespace) -> int:
    """Run the node."""
    from unspoken.joint.node.node_config import NodeConfig
    from unspoken.joint.node.node_service import serve as serve_node

    serve_node(NodeConfig.load(args.folder))
    return 0


def invite(args: argparse.Namespace) -> int:
    """Print an invitation."""
    from unspoken.joint.node.pairing import DAY, new_invitation

    config, state = opened(args)
    invitation, hashed = new_invitation(config.address, config.identity.fingerprint)
    state.invite(hashed, time.time() + DAY)
    emit(args, {"invitation": invitation}, with_qr(
        args, f"{invitation}\nSend this to one organisation; it is valid once, for a day, while "
        "this node runs. They type: unspoken node accept INVITATION", invitation))
    return 0


def accept(args: argparse.Namespace) -> int:
    """Accept an invitation."""
    import asyncio

    from unspoken.joint.node.pairing import accept_invitation

    config, state = opened(args)
    peer = asyncio.run(accept_invitation(args.invitation, config.identity, config.address))
    if any(one.name == peer.name for one in state.peers()):
        raise InputError(f"A node called '{peer.name}' is trusted already. If it has a new "
                         f"identity, type first: unspoken node forget {peer.name}")
    state.keep_peer(peer)
    _tell_code(args, peer)
    return 0


def _tell_code(args: argparse.Namespace, peer: Peer) -> None:
    emit(args, {"peer": peer.name, "read aloud": peer.shown}, with_qr(
        args, f"'{peer.name}' at {peer.address} is not trusted yet. Call its people on a number "
        f"that you know.\nRead them: {peer.shown}\nThey read you a code, too; type it: unspoken "
        f"node trust {peer.name} CODE", peer.shown))


def trust(args: argparse.Namespace) -> int:
    """Trust a node."""
    from dataclasses import replace

    from unspoken.joint.node.spoken_codes import same_code

    _, state = opened(args)
    peer = next((one for one in state.peers(trusted=False) if one.name == args.peer), None)
    if peer is None:
        raise InputError(f"No node called '{args.peer}' waits to be trusted. See: unspoken node "
                         "status")
    if not same_code(args.code, peer.expected):
        state.forget_peer(peer.name)
        raise InputError(f"This is not the code of the node that introduced itself as "
                         f"'{peer.name}'. Somebody may be between you, or it was misheard. The "
                         "introduction was dropped: begin again with a new invitation.")
    state.keep_peer(replace(peer, trusted=True, expected=""))
    emit(args, {"peer": peer.name, "trusted": True},
         f"'{peer.name}' is trusted. They must type your code too: {peer.shown}")
    return 0


def forget(args: argparse.Namespace) -> int:
    """Forget a node, and take back the consents to studies with it."""
    from unspoken.joint.node.forgetting import forget as forget_node

    config, state = opened(args)
    stopped = forget_node(config, state, args.peer, user_name())
    emit(args, {"forgotten": args.peer, "stopped": stopped},
         f"'{args.peer}' is forgotten." + (f" Studies with it do not go on: {', '.join(stopped)}."
                                           if stopped else ""))
    return 0


def catalogue(args: argparse.Namespace) -> int:
    """Show a catalogue."""
    from unspoken.joint.node.catalogue import Catalogue
    from unspoken.joint.node.prediction_service import Offer
    from unspoken.joint.node.proposing import asked_catalogue, asked_services, trusted

    config, state = opened(args)
    views = Catalogue(config).shown_to(None) if args.peer is None else asked_catalogue(
        config, trusted(state, args.peer))
    # Of its own services everything is read, so that a model that cannot be offered is named.
    offers = [Offer.from_json(service.offer(service.records)) for service in config.services] \
        if args.peer is None else asked_services(config, trusted(state, args.peer))
    lines = [view.text() for view in views] + [offer.text() for offer in offers]
    emit(args, {"tables": [view.to_json() for view in views],
                "services": [asdict(offer) for offer in offers]},
         "\n".join(lines) or "No table is shown to this node.")
    return 0


def plan_text(config: NodeConfig, kept: Kept) -> str:
    """Return everything that a person should know before agreeing."""
    from unspoken.joint.session.consent import consent as consent_text
    from unspoken.joint.tasks.task_list import task_of

    study = kept.proposal.study
    return "\n".join([consent_text(study, config.name), kept.proposal.text(),
                      task_of(study).plan(study).text()])


def consent(args: argparse.Namespace) -> int:
    """Agree to a study."""
    from unspoken.joint.node.proposal import signed_verdict

    config, state = opened(args)
    kept = _open_study(state, args.study, config.name)
    approver = agree(args, plan_text(config, kept))
    state.answer(signed_verdict(config.identity, kept.proposal.id, True, approver))
    emit(args, {"study": kept.proposal.id, "agrees": True},
         f"Agreed. Study '{kept.proposal.study.name}' runs when everybody has agreed.")
    return 0


def refuse(args: argparse.Namespace) -> int:
    """Refuse a study, or withdraw one that this node leads."""
    from unspoken.joint.node.proposal import signed_verdict

    config, state = opened(args)
    approver, kept = args.approver or user_name(), state.find(args.study)
    if kept.proposal.lead == config.name:
        if not state.end(kept.proposal.id, "withdrawn", f"by '{config.name}': {args.reason}"[:400]):
            raise InputError(f"Study '{kept.proposal.study.name}' has ended already.")
    else:
        refusal = signed_verdict(config.identity, kept.proposal.id, False, approver, args.reason)
        if kept.result or not state.answer(refusal):
            raise InputError(f"Study '{kept.proposal.study.name}' has ended, or was refused here.")
    emit(args, {"study": kept.proposal.id, "agrees": False},
         "Refused. What was opened before is in the ledgers; nothing more is computed.")
    return 0


def _open_study(state: NodeState, study: str, own: str) -> Kept:
    """Return a study that still waits for this node's answer."""
    kept = state.find(study)
    if kept.result:
        raise InputError(f"Study '{kept.proposal.study.name}' has ended: {kept.story}.")
    if own in state.verdicts(kept.proposal.id):
        raise InputError(f"This node has answered study '{kept.proposal.study.name}' already.")
    return kept
