"""Two arrays that are shared, computed with and opened."""

from __future__ import annotations

import asyncio

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unspoken.joint import reveal, share
from unspoken.joint.mpc.declared import declares
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for


def compute(what, one, other, circle, bounds=None):
    """Let the first party share `one` and the last `other`, compute, and open to everybody."""
    parties, held = circle
    low, high = bounds or (-(2**20), 2**20)

    @declares("answer")
    async def program(party, data):
        first, last = party.names[0], party.names[-1]
        x = await share(party, one if party.name == first else None, first, np.shape(one), low,
                        high)
        y = await share(party, other if party.name == last else None, last, np.shape(other), low,
                        high)
        found = await what(party, x, y)
        found = found if isinstance(found, tuple) else (found,)
        return [await reveal(party, value, because="answer") for value in found]

    names = [f"p{i}" for i in range(parties)]
    roles = (roles_for(names, held) if isinstance(held, str)
             else roles_for(names, "dealer", names[:held]))
    outcomes = asyncio.run(in_memory(program, [None] * parties, roles))
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        raise min(errors, key=lambda error: type(error).__name__ == "PeerAbortedError")
    outputs = [outcome.output for outcome in outcomes if outcome.name != "dealer"]
    for output in outputs[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(output, outputs[0], strict=True))
    return outputs[0]


def vectors(low, high):
    return st.integers(1, 70).flatmap(lambda n: st.tuples(*[hnp.arrays(
        np.int64, (n,), elements=st.integers(low, high))] * 2))


small = vectors(-(2**20), 2**20)
close = vectors(-3, 3)
