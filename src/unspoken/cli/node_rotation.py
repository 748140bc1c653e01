"""`unspoken node rotate` and `confirm`: a new key for a node, and what peers do about it."""

from __future__ import annotations

import argparse

from unspoken.cli.common import emit
from unspoken.cli.node_steps import opened
from unspoken.cli.qr_text import with_qr


def rotate(args: argparse.Namespace) -> int:
    """Begin or finish the rotation of this node's identity."""
    from unspoken.joint.node.rotation import begin, finish, waits_for

    config, state = opened(args)
    if args.finish:
        new = finish(config, state, args.anyway)
        emit(args, {"fingerprint": new},
             f"New fingerprint: {new}\nStart the node. The old key is kept in "
             f"{config.folder / 'identity'}, for results of its time; peers refuse it from now on.")
        return 0
    pending = begin(config, state)
    waiting = waits_for(config, state)
    emit(args, {"fingerprint": pending.new, "read aloud": pending.code, "waits for": waiting},
         with_qr(args, f"New fingerprint: {pending.new}\nThe running node announces it. Call the "
                 f"people of {', '.join(waiting) or 'nobody'} and read them: {pending.code}\nThey "
                 f"type: unspoken node confirm {config.name} CODE\nWhen all have (unspoken node "
                 "status), stop the node and type: unspoken node rotate --finish", pending.code))
    return 0


def confirm(args: argparse.Namespace) -> int:
    """Confirm the new identity of a peer."""
    from unspoken.joint.node.rotation import confirm as confirm_identity

    _, state = opened(args)
    confirm_identity(state, args.peer, args.code)
    emit(args, {"peer": args.peer, "confirmed": True},
         f"Confirmed. As soon as '{args.peer}' shows its new certificate, the old one is refused.")
    return 0
