"""Bringing a shared x into [0.75, 1.5) by a shared power of two: the start of ln, 1/x, root x.

The bits b_k = [x >= 0.75 2^k] come from one batch of comparisons and are 1 up to some K and 0
from there on, so that everything that depends on K alone is a public linear combination of them:
2^-K = 1 - sum b_k 2^-k, and f(K) = f(0) + sum b_k (f(k) - f(k - 1)) for any table f. (The book's
section 4.3, after Lindell and Pinkas, finds the power of two with a circuit; alpha and beta are
swapped there.) Zero is treated as one unit, and [x > 0] is kept beside it.
  discloses: nothing; the interval of x, which is public, fixes the number of comparisons.
  cost: one comparison of n values at once, daBits, one product: about 9 rounds. Many values are
    taken apart bit by bit instead (`leading`), where a dealer serves: half the bytes, 15 rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.ops.leading_bit import leading_bits
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public

FRACTION = 30
MOST = 60
MANY = 1024


@dataclass(frozen=True)
class Normal:
    """x = mantissa times 2^K, in units of x: the bits behind K, and the mantissa's shares."""

    bits: Shared
    positive: Shared
    top: int
    mantissa: Shared

    def table(self, f: Callable[[int], float], scale: int) -> Shared:
        """Return f(K) as shares, each entry rounded once; f(0) also where x is zero."""
        entries = [round(f(k) * 2**scale) for k in range(self.top + 1)]
        value = public(self.positive.party, np.full(self.positive.shape, entries[0]), scale)
        for k in range(1, self.top + 1):
            value = value + replace(self.bits[k - 1] * (entries[k] - entries[k - 1]), scale=scale)
        return value.within(min(entries), max(entries))


async def normalise(party: Party, x: Shared, what: str) -> Normal:
    """Return mantissa and exponent of values that are sure not to be negative."""
    _check(x, what)
    top = last_exponent(x.high)
    bits, positive = await _bits(party, x, top)
    # 2^-K in units of 2^-top is exact, and so is the product: below 1.5 times 2^top.
    whole = replace(x, scale=0) + (1 - positive)
    power = inverse_power(bits, top, x)
    raised = await multiply(party, whole, power, within=(0, 3 << max(0, top - 1)))
    return Normal(bits, positive, top, await _mantissa(party, raised, top))


def last_exponent(high: int) -> int:
    """Return the greatest k with 0.75 2^k <= high."""
    k = max(1, high).bit_length()
    return k if 3 << k <= 4 * high else k - 1


def inverse_power(bits: Shared, top: int, like: Shared) -> Shared:
    """Return 2^-K in units of 2^-top."""
    power = public(like.party, np.full(like.shape, 1 << top))
    for k in range(1, top + 1):
        power = power - bits[k - 1] * (1 << (top - k))
    return power.within(1, 1 << top)


def by_prefix(size: int) -> bool:
    """Return True if this many values are taken apart bit by bit: fewer bytes, 6 rounds more."""
    return size >= MANY


async def _bits(party: Party, x: Shared, top: int) -> tuple[Shared, Shared]:
    """Return b_1 ... b_top as numbers, and [x > 0]."""
    first = 0 if x.low <= 0 else 1
    limits = np.array([max(1, -(-3 * 2**k // 4)) for k in range(first, top + 1)], np.int64)
    one = public(party, np.ones(x.shape, np.int64)).within(1, 1)
    if not limits.size:
        return one[np.newaxis][:0], one
    if by_prefix(x.size) and party.engine.finds_bits:
        # Whole words of 64 values need no repacking of bits.
        flat = x.with_share(np.pad(x.share.ravel(), (0, -x.size % 64)))
        flags = await to_numbers(party, await leading_bits(party, flat, top))
        flags = flags[:, :x.size].reshape(top + 1, *x.shape)
        return flags[1:], flags[0] if first == 0 else one
    steps = limits.reshape(-1, *[1] * len(x.shape))
    rows = replace(x, share=np.broadcast_to(x.share, (limits.size, *x.shape)), scale=0)
    below = await less_than(party, rows - public(party, np.broadcast_to(steps, rows.shape)), 0)
    flags = await to_numbers(party, ~below)
    return (flags[1:], flags[0]) if first == 0 else (flags, one)


async def _mantissa(party: Party, raised: Shared, top: int) -> Shared:
    """Return the mantissa with 30 fractional bits, in [0.75, 1.5) or one unit more."""
    bounds = 3 << (FRACTION - 2), (3 << (FRACTION - 1)) + 1
    if top > FRACTION:
        return replace(await truncate(party, raised, top - FRACTION), scale=FRACTION).within(
            *bounds)
    return replace(raised * (1 << (FRACTION - top)), scale=FRACTION).within(*bounds)


def _check(x: Shared, what: str) -> None:
    if x.low < 0:
        raise RingError(f"{what}: values must not be negative. Their interval is [{x.low}, "
                        f"{x.high}]. If you know that none is negative, use x.within(0, high).")
    if x.high >= 1 << MOST:
        raise RingError(f"{what}: values must stay below 2^{MOST} units. They could reach "
                        f"{x.high}. Truncate first.")
