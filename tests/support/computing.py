"""Running one function on shares, for the tests of functions and matrices."""

from __future__ import annotations

import asyncio

import numpy as np

from unspoken.joint import reveal, share, share_wide
from unspoken.joint.joint_errors import PartyError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.multi_limb import Wide
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for

# How many parties, the mode, and how many hold shares if not two.
CIRCLES = [(2, "dealer"), (3, "three-party")]
ALL_HOLD = (3, "dealer", 3)


def run(program, given, mode="dealer", held=None):
    """Run a program in memory and return the outputs; the first error of a program is raised."""
    names = [f"p{i}" for i in range(len(given))]
    holders = None if held is None else names[:held]
    outcomes = asyncio.run(in_memory(program, given, roles_for(names, mode, holders)))
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, PartyError))
    return [outcome.output for outcome in outcomes if outcome.name != "dealer"]


def on_shares(what, arrays, bounds, circle=(2, "dealer")):
    """Share arrays from different parties, compute, open; intervals must hold what comes out."""
    parties, mode, *held = circle

    @declares("answer", ILL)
    async def program(party, _):
        shared = [await _shared(party, array, bound, i % parties)
                  for i, (array, bound) in enumerate(zip(arrays, bounds, strict=True))]
        found = await what(party, *shared)
        found = found if isinstance(found, tuple) else (found,)
        opened = [await reveal(party, value, because="answer") for value in found]
        for value, plain in zip(found, opened, strict=True):
            if hasattr(value, "low"):
                units = np.ldexp(np.asarray(plain, float), value.scale)
                assert np.all(units >= value.low), "below its interval"
                assert np.all(units <= value.high), "above its interval"
        return opened

    outputs = run(program, [None] * parties, mode, *held)
    for output in outputs[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(output, outputs[0], strict=True))
    return outputs[0] if len(outputs[0]) > 1 else outputs[0][0]


async def _shared(party, array, bound, owner):
    """Bounds (low, high[, scale]) make a Shared array, ("wide", most, scale) a Wide one."""
    name = party.names[owner]
    mine = array if party.name == name else None
    if bound[0] == "wide":
        found = await share_wide(party, mine, name, np.shape(array), *bound[1:])
        assert isinstance(found, Wide)
        return found
    return await share(party, mine, name, np.shape(array), *bound)


def around_powers(top):
    """Return where the normaliser changes its mind: 0.75 2^k and its neighbours."""
    found = {min(2**top - 1, max(0, -(-3 * 2**k // 4) + d)) for k in range(top)
             for d in (-2, -1, 0, 1)}
    return np.array(sorted(found))
