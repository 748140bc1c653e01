"""What shows of a mining program: opened values, lengths, and masked words."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.everywhere import replace_everywhere
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, parse

# What travels under these labels must be uniform words of 64 bits.
FULL = ("share", "multiply.open", "matmul.open", "deal.correction")


def watched(program, inputs, mode="dealer", blur=()):
    """Run once; return opened values (blurred ones by shape), and all lengths.

    `blur`: words in the reason of an opening whose last unit is rounded at random.
    """
    opened, lengths, real = [], [], sharing.reveal

    async def reveal(party, value, **options):
        found = await real(party, value, **options)
        vague = any(word in options["because"] for word in blur)
        shown = None if found is None else (
            np.shape(found) if vague else np.asarray(found).tolist())
        opened.append((party.name, party.count, options["because"], repr(shown)))
        return found

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label not in ("agree", "ready"):
            lengths.append((source, target, header.label, header.step, len(frame)))
        return frame

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, real, reveal)
        _run(program, inputs, mode, tap)
    return sorted(opened), sorted(lengths)


def masked_words(program, inputs, width, rows, runs=3, mode="dealer"):
    """Return masked words that anybody received, as the distinguisher wants them."""
    found = []
    for _ in range(runs):
        seen = []

        def tap(source, target, frame, seen=seen):
            header = parse(frame[:HEADER_BYTES])
            if header.kind is Kind.DATA and header.label in FULL:
                seen.append(np.frombuffer(frame[HEADER_BYTES:], np.uint64))
            return frame

        _run(program, inputs, mode, tap)
        words = np.concatenate([part for part in seen if part.size >= width])
        found.append(words[:width * rows].reshape(rows, width))
    return np.array(found)


def _run(program, inputs, mode, tap):
    names = [f"p{i}" for i in range(len(inputs))]
    for outcome in asyncio.run(in_memory(program, inputs, roles_for(names, mode), tap=tap)):
        if outcome.error is not None:
            raise outcome.error
