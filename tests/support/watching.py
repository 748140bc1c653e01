"""Watching what goes over the links of a run in memory."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.everywhere import replace_everywhere
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, Purpose, parse


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


def opened_and_lengths(program, given_, mode="dealer"):
    """Run once; return every opened value, and every label, step and length."""
    opened, real = [], sharing.reveal

    async def reveal(party, value, **options):
        found = await real(party, value, **options)
        opened.append((party.name, party.count, options["because"], np.asarray(found).tolist()))
        return found

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, real, reveal)
        _, lengths = masked_frames(program, given_, mode)
    # A party opens one value in a step, so the values themselves are never compared here.
    return (sorted(opened, key=lambda row: row[:3]),
            [row for row in lengths if row[2] != "agree"])


def frames_to(program, given_, target, mode="sums", holders=None):
    """Run once; return what the target received, by (from, label), and all outputs."""
    got = {}

    def tap(source, to, frame):
        header = parse(frame[:HEADER_BYTES])
        if to in target and header.kind is Kind.DATA and header.purpose is not Purpose.CONTROL:
            got.setdefault((source, to, header.label), []).append(
                np.frombuffer(frame[HEADER_BYTES:], header.dtype))
        return frame

    roles = roles_for([f"p{i}" for i in range(len(given_))], mode, holders)
    outcomes = asyncio.run(in_memory(program, given_, roles, tap=tap))
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return got, [outcome.output for outcome in outcomes]
