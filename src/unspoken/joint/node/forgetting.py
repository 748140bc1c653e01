"""To forget a node: its certificate, and every consent to a study in which it would take part.

A stolen key must not get into a study that was agreed to before. Studies that this node leads are
withdrawn, its consents to others are taken back, and what runs is stopped by the node itself.
"""

from __future__ import annotations

from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_state import Kept, NodeState
from unspoken.joint.node.proposal import signed_verdict


def forget(config: NodeConfig, state: NodeState, peer: str, approver: str) -> list[str]:
    """Forget a peer; return the names of the studies that do not go on because of it."""
    with state.together():
        state.forget_peer(peer)
        concerned = [kept for kept in state.active() if peer in kept.proposal.study.names]
        stopped = [kept for kept in concerned if _stopped(config, state, kept, peer, approver)]
    return [kept.proposal.study.name for kept in stopped]


def _stopped(config: NodeConfig, state: NodeState, kept: Kept, peer: str, approver: str) -> bool:
    reason = f"'{config.name}' no longer trusts '{peer}'"
    if kept.proposal.lead == config.name:
        return state.end(kept.proposal.id, "withdrawn", reason)
    return state.answer(signed_verdict(config.identity, kept.proposal.id, False, approver, reason))
