"""Runs on sets in which one message is changed on its way."""

from __future__ import annotations

import asyncio

from support.set_programs import names
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, parse

IDENTITY, NOTHING = bytes(32), b"\xff" * 32


def tampered(program, label, change, parties=3):
    """Run with one message changed on its way; return who is blamed by the one who got it."""
    blamed = {}

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label != label or blamed:
            return frame
        blamed["sender"], blamed["receiver"] = source, target
        body = frame[HEADER_BYTES:]
        return frame[:HEADER_BYTES] + change(body)

    given_ = [[1, 2, 3, 4], [2, 3, 4], [3, 4, 5, 6]][:parties]
    outcomes = asyncio.run(in_memory(program, given_, roles_for(names(parties), "sums"), tap=tap))
    errors = {o.name: o.error for o in outcomes}
    return blamed.get("sender"), errors.get(blamed.get("receiver")), errors


BAD = {"identity": lambda body: IDENTITY + body[32:], "no point": lambda body: body[:-32] + NOTHING,
       "twice": lambda body: body[:32] * (len(body) // 32)}
