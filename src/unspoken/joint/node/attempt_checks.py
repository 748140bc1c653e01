"""What must hold before an attempt begins; it is looked at again each time, in each process."""

from __future__ import annotations

import time

from unspoken.errors import InputError, UnspokenError, explain
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.node.proposal import Proposal

GRACE = 60.0
PATIENCE = 900.0
"""The lead ends a study. Who hears it waits longer than who does not: its clock may be behind."""


def is_over(proposal: Proposal, lead_lives: bool) -> bool:
    """Return True if a node other than the lead may end a study whose time is over."""
    return time.time() > proposal.until + (PATIENCE if lead_lives else GRACE)


def hindrance(proposal: Proposal, n: int, state: NodeState, own: str) -> str:
    """Return why attempt `n` must not begin at this node, in words; nothing if it may."""
    lacking = not_agreed(proposal, state)
    if lacking:
        return f"study {proposal.id[:16]} has no consent of {', '.join(lacking)}"
    strangers = not_pinned(proposal, state, own)
    if strangers:
        return (f"study {proposal.id[:16]} names a certificate that is not trusted here for "
                f"{', '.join(strangers)}")
    if state.used_up(proposal.id, own, n):
        return (f"the consent to study {proposal.id[:16]} was for one result, and an attempt "
                f"before attempt {n} has ended for good at '{own}'")
    return ""


def not_pinned(proposal: Proposal, state: NodeState, own: str) -> list[str]:
    """Return the parties with which this node is not paired under the study's certificate."""
    pinned = {peer.name: peer.member.fingerprint for peer in state.peers()}
    return [member.name for member in proposal.study.members
            if member.name != own and pinned.get(member.name) != member.fingerprint]


def not_agreed(proposal: Proposal, state: NodeState) -> list[str]:
    """Return the parties whose signed consent to exactly this proposal is not here."""
    verdicts, lacking = state.verdicts(proposal.id), []
    for member in proposal.study.members:
        verdict = verdicts.get(member.name)
        try:
            if verdict is None or not verdict.agrees:
                raise InputError(explain("A verdict", "there", "none"))
            verdict.must_be_of(member, proposal.id)
        except UnspokenError:
            lacking.append(member.name)
    return lacking
