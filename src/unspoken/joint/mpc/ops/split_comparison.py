"""A comparison's result split between two parties modulo any F (vcz2006 section 7.3.5).

The first party draws y_a uniformly below F and shares it together with [y_a > 0] and [y_a = 1];
the second gets y_b = bit - y_a modulo F, computed on shares. Each number alone is uniform
below F and says nothing; together they are the bit. The book lets a circuit do this, and asks for
"sum > 0" in a field, where the lower half of the field is meant: here the bit comes from an exact
comparison, and F may be anything from 2 on.
  discloses: nothing: y_b is masked by y_a.
  safe against: all holders but one; never the dealer with a holder; not the two parties together.
  cost: 4 rounds; 24 bytes a bit from the first party, 33 between two holders, 8 to the second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.choice import numbers
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import SharedBits
from unspoken.joint.mpc.ops.sharing import rerandomised, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.shared import Shared, total
from unspoken.joint.wire.frames import Purpose

MOST = 1 << 60


async def split(party: Party, bits: SharedBits | Shared, modulus: int,
                between: Sequence[str]) -> Words | None:
    """Split bits between two parties as numbers modulo F that add up to the bit.

    The result of a comparison in another field (vcz2006 section 7.3.5). Each number alone is
    uniform below F and discloses nothing; the two parties together know the bits.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    bits : SharedBits or Shared
        Shared bits, or shared numbers that are sure to be 0 or 1.
    modulus : int
        F, from 2 to 2^60.
    between : sequence of two str
        The two parties.

    Returns
    -------
    array or None
        This party's numbers; None if it is not one of the two.

    Examples
    --------
    >>> own = await split(party, bits, 101, ["north", "south"])  # doctest: +SKIP
    """
    first, second = between
    if not 2 <= modulus <= MOST or first == second:
        raise RefusedError("split needs two different parties and a modulus from 2 to 2^60. "
                           f"Got '{first}', '{second}' and {modulus}.")
    number = await numbers(party, bits)
    mine = below(modulus, number.size).reshape(number.shape) if party.name == first else None
    rows = None if mine is None else np.stack([mine, mine > 0, mine == 1]).astype(np.int64)
    y = await share(party, rows, first, (3, *number.shape), 0, modulus)
    y_a, positive, one = y[0], y[1].within(0, 1), y[2].within(0, 1)
    both = await multiply(party, one, number)
    # bit - y_a, and F more unless y_a is 0, or 1 with the bit set.
    rest = number - y_a + positive * modulus - both * modulus
    masked = await _tell(party, rest, second)
    return mine if party.name == first else masked


def below(limit: int, count: int) -> Words:
    """Return uniform numbers below a limit; words that would favour some are drawn again."""
    last = (1 << 64) - (1 << 64) % limit
    words = fresh_words(count)
    while last < 1 << 64 and (bad := words >= np.uint64(last)).any():
        words[bad] = fresh_words(int(bad.sum()))
    return np.asarray(words % np.uint64(limit))


async def _tell(party: Party, value: Shared, name: str) -> Words | None:
    """Open a masked value to one party; a zero share keeps the dealer from solving for factors."""
    await party.engine.before_opening()
    party.begin("split")
    if party.engine.guarded is not None:
        words = await party.engine.guarded.output(value.share, [name], bits=False,
                                                  purpose=Purpose.MASKED)
        return None if words is None else words.reshape(value.shape)
    own = rerandomised(party, value).ravel()
    if party.name != name:
        if party.is_holder:
            await party.send(name, "split.masked", own, Purpose.MASKED)
        return None
    sources = [holder for holder in party.holders if holder != party.name]
    got = await asyncio.gather(*(party.receive(source, "split.masked", "<u8", own.shape,
                                               Purpose.MASKED) for source in sources))
    return total([own, *got]).reshape(value.shape)
