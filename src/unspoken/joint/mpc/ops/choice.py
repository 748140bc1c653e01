"""Choosing among shared values: select, greater and lesser, sign, floor.

All of it is built from comparisons, daBits and products, so it runs in every mode.
  discloses: nothing: neither what was chosen nor why.
  safe against: as comparisons and products (all holders but one; never the dealer with one).
  cost: select 2 rounds; maximum, minimum, sign and floor add one comparison (7 rounds or fewer).

**add and compare** (vcz2006 sections 7.2.2 and 7.3.5): whether the owners' numbers add up to less
in one place than in the other. The book's "sum > 0" in a field is wrong, half of the field is
meant; here the sums are taken exactly and the sign bit decides. The result is a shared bit;
`split` gives it to two parties as numbers modulo any F, the book's other field.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.ops.shared_bits import SharedBits, to_numbers
from unspoken.joint.mpc.ops.sharing import share_sum
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack


def plain_floor(values: Any, bits: int) -> Any:
    """Return the reference."""
    return np.asarray(values) >> bits


async def numbers(party: Party, bits: SharedBits | Shared) -> Shared:
    """Return bits as numbers; numbers 0 and 1 are taken as they are."""
    if isinstance(bits, SharedBits):
        return await to_numbers(party, bits)
    if bits.scale or bits.low < 0 or bits.high > 1:
        raise RingError("A condition must be shared bits, or shared numbers that can only be 0 or "
                        f"1. Got {bits!r}.")
    return bits


async def select(party: Party, bits: SharedBits | Shared, yes: Shared, no: Shared) -> Shared:
    """Return `yes` where the bit is set and `no` elsewhere; nobody learns which.

    2 rounds. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    bits : SharedBits or Shared
        The condition: shared bits, or shared numbers that are sure to be 0 or 1.
    yes, no : Shared
        The values to choose from, of the same scale.

    Returns
    -------
    Shared
        The chosen values.

    Examples
    --------
    >>> larger = await select(party, await less_than(party, x, y), y, x)  # doctest: +SKIP
    """
    gap = yes - no
    if isinstance(bits, SharedBits) and bits.shape == gap.shape:
        [kept] = await keep(party, bits, [gap])
    else:
        kept = replace(await multiply(party, await numbers(party, bits), gap), scale=no.scale)
    chosen = no + kept
    return chosen.within(min(yes.low, no.low), max(yes.high, no.high))


async def maximum(party: Party, one: Shared, other: Shared) -> Shared:
    """Return the greater of two shared values, element by element.

    One comparison and one choice; discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : Shared
        The values to compare, of the same scale.

    Returns
    -------
    Shared
        The greater value at each place.

    Examples
    --------
    >>> larger = await maximum(party, x, y)  # doctest: +SKIP
    """
    greater = await select(party, await less_than(party, one, other), other, one)
    return greater.within(max(one.low, other.low), max(one.high, other.high))


async def minimum(party: Party, one: Shared, other: Shared) -> Shared:
    """Return the lesser of two shared values, element by element.

    One comparison and one choice; discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : Shared
        The values to compare, of the same scale.

    Returns
    -------
    Shared
        The lesser value at each place.

    Examples
    --------
    >>> smaller = await minimum(party, x, y)  # doctest: +SKIP
    """
    lesser = await select(party, await less_than(party, other, one), other, one)
    return lesser.within(min(one.low, other.low), min(one.high, other.high))


async def argmax(party: Party, values: Shared) -> tuple[Shared, Shared]:
    """Return where the greatest value along the last axis lies, and that value.

    Among equal values the first place is taken, as numpy does. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : Shared
        At least one value along the last axis.

    Returns
    -------
    tuple of Shared
        The place and the value, both without the last axis.

    Examples
    --------
    >>> place, greatest = await argmax(party, scores)  # doctest: +SKIP
    """
    place, least = await argmin(party, -values)
    return place, -least


async def sign(party: Party, value: Shared) -> Shared:
    """Return the sign of shared values: -1, 0 or 1.

    Both comparisons travel together: the rounds of one. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    value : Shared
        The values.

    Returns
    -------
    Shared
        Whole numbers from -1 to 1.

    Examples
    --------
    >>> signs = await sign(party, x)  # doctest: +SKIP
    """
    bits = await to_numbers(party, await less_than(party, stack([value, -value]), 0))
    return (bits[1] - bits[0]).within(-1, 1)


async def absolute(party: Party, value: Shared) -> Shared:
    """Return the magnitude of shared values.

    One comparison and one choice; discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    value : Shared
        The values.

    Returns
    -------
    Shared
        The magnitudes, with the scale of `value`.

    Examples
    --------
    >>> distance = await absolute(party, x - y)  # doctest: +SKIP
    """
    magnitude = await select(party, await less_than(party, value, 0), -value, value)
    return magnitude.within(0, max(abs(value.low), abs(value.high)))


async def floor(party: Party, value: Shared, bits: int) -> Shared:
    """Return shared values divided by 2^bits, always rounded down.

    `truncate` is cheaper and may give one more. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    value : Shared
        The values.
    bits : int
        How many bits to drop, from 1 to 61.

    Returns
    -------
    Shared
        The quotients; fractional bits are dropped first.

    Examples
    --------
    >>> halves = await floor(party, x, 1)  # doctest: +SKIP
    """
    near = await truncate(party, value, bits)
    rest = replace(value, scale=0) - replace(near, scale=0) * (1 << bits)
    above = await to_numbers(party, await less_than(
        party, rest.within(-(1 << bits), (1 << bits) - 1), 0))
    exact = near - replace(above, scale=near.scale)
    return replace(exact, rounded=False).within(value.low >> bits, value.high >> bits)


async def in_steps(party: Party, value: Shared, bits: int) -> Shared:
    """Return values rounded to this many fractional bits, for opening: nothing else of them shows.

    What is truncated and opened tells holders a little of the bits that were cut off.
    """
    dropped = value.scale - bits
    if dropped <= 0:
        return value
    raised = replace(value, scale=0) + (1 << (dropped - 1))
    return replace(await floor(party, raised, dropped), scale=bits)


async def sums_less(party: Party, one: Any, other: Any, shape: tuple[int, ...], low: int,
                    high: int, scale: int = 0) -> SharedBits:
    """Return shared bits: where the owners' `one` add up to less than their `other`.

    Add and compare (vcz2006 sections 7.2.2 and 7.3.5), with exact sums. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : array or None
        This owner's values; None if this party owns no data.
    shape : tuple of int
        The shape of `one` and `other`, which is public.
    low, high : int
        Bounds on the values of each owner, in units of 2^-scale.
    scale : int, default 0
        Fractional bits.

    Returns
    -------
    SharedBits
        Set where the first sum is less than the second.

    Examples
    --------
    >>> bits = await sums_less(party, costs, budgets, (12,), 0, 10**6)  # doctest: +SKIP
    """
    gap = None if one is None else np.asarray(one) - np.asarray(other)
    total = await share_sum(party, gap, shape, low - high, high - low, scale)
    return await less_than(party, total, 0)
