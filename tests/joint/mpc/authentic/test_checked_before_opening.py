"""Tags are checked before a test of bounds is opened: a deviation must not turn it into a probe.

A holder that shifts a masked number before a comparison, or a factor of a product, would otherwise
read an honest owner's values out of what the test opens, and be found only afterwards.
"""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from support.deviating import as_party, in_share
from unspoken.joint import declares, reveal, share
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, parse


def opened_of(high, values):
    """Return a program that shares what p2 has, and opens the sum."""
    @declares("answer")
    async def program(party, _):
        own = np.array(values) if party.name == "p2" else None
        x = await share(party, own, "p2", (len(values),), 0, high)
        return await reveal(party, x.sum(), because="answer")

    return program


def sent_by_the_honest(program, label):
    """Return how it ended, and whether the honest holder sent anything under a label."""
    sent = []

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.kind is Kind.DATA and source == "p0" and header.label == label:
            sent.append(frame)
        return frame

    roles = roles_for(["p0", "p1", "p2"], "authenticated", None)
    return asyncio.run(in_memory(program, [None] * 3, roles, tap=tap)), sent


def less_500(words):
    words -= np.uint64(500)
    return words


@pytest.mark.parametrize(("high", "values", "label"), [
    (1000, [100, 900, 500, 3], "compare.open"), (1, [0, 1, 1, 0], "multiply.open")])
def test_a_shifted_test_of_bounds_opens_nothing(high, values, label):
    program = opened_of(high, values)
    outcomes, sent = sent_by_the_honest(as_party("p1", in_share(label, less_500), program),
                                        "bounds.open")
    assert "deviated" in str(outcomes[0].error)
    assert sent == []


def test_an_honest_test_of_bounds_is_opened():
    outcomes, sent = sent_by_the_honest(opened_of(1000, [100, 900]), "bounds.open")
    assert outcomes[0].output == 1000
    assert sent
