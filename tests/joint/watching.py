"""Watching what goes over the links of a run in memory."""

from __future__ import annotations

import asyncio

from tacit.joint.frames import HEADER_BYTES, Purpose, parse
from tacit.joint.run import in_memory, roles_for


def masked_frames(program, given_, mode="sums", holders=None):
    """Run once; return the payload of every frame that must look random, and every length."""
    seen, lengths = [], []

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        lengths.append((source, target, header.label, header.step, len(frame)))
        if header.purpose in (Purpose.MASKED, Purpose.SHARE, Purpose.ENCRYPTED):
            seen.append(frame[HEADER_BYTES:])
        return frame

    names = [f"p{i}" for i in range(len(given_))]
    outcomes = asyncio.run(in_memory(program, given_, roles_for(names, mode, holders), tap=tap))
    assert [outcome.error for outcome in outcomes] == [None] * len(outcomes)
    return seen, sorted(lengths)
