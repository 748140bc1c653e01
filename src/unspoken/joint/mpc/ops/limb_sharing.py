"""Wide values into shares, carried, cut, lifted from 64 bits and back.

**carry**: every limb but the highest is truncated by 24 bits at once and keeps the rest, which
lies between -2^24 and 2^24 because truncation may round up; the quotient goes to its neighbour.
  cost: 1 round per pass, 2 passes after a product; 8 bytes per limb from each holder to each other.
**rescale**: fewer fractional bits by dropping limbs: off by at most 1.001 units in the last place.
**narrow**: the way back to a Shared array of 64 bits, off by at most 1.001 units.
**lift**: a Shared array as a Wide one; exact.
  All disclose nothing. Safe against all holders but one; never the dealer with a holder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.multi_limb import (
    BASE,
    SMALL,
    WIDTH,
    Wide,
    digits,
    join_wide,
    limbs_for,
    span,
)
from unspoken.joint.mpc.ops.sharing import share, share_sum
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT, Shared, public, stack

TOP = 1 << 28
"""What the highest limb may reach before it is split."""


async def share_wide(party: Party, values: Any, owner: str, shape: tuple[int, ...], most: float,
                     scale: int = 48) -> Wide:
    """Return one owner's values as a wide shared array.

    Discloses shape, bound and scale, which are public.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array or None
        The values; None if this party is not the owner.
    owner : str
        The party that has the values.
    shape : tuple of int
        Their shape, which is public.
    most : float
        A bound on their magnitude; checked before anything is sent.
    scale : int, default 48
        Fractional bits.

    Returns
    -------
    Wide
        The values as shares.

    Examples
    --------
    >>> x = await share_wide(party, own, "north", (500, 3), most=1.0)  # doctest: +SKIP
    """
    count = limbs_for(most, scale)
    mine = _digits(values, most, scale, count) if party.name == owner else None
    limb_shares = await share(party, mine, owner, (count, *shape), -BASE, BASE)
    return _limbs(limb_shares, scale, 1).within(most)


async def share_sum_wide(party: Party, values: Any, shape: tuple[int, ...], most: float,
                         scale: int = 48) -> Wide:
    """Return the sum of all owners' values as a wide shared array.

    Discloses shape, bound and scale, which are public.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array or None
        This owner's values; None if this party owns no data.
    shape : tuple of int
        Their shape, which is public.
    most : float
        A bound on the magnitude of each owner's values; checked before anything is sent.
    scale : int, default 48
        Fractional bits.

    Returns
    -------
    Wide
        The sum as shares.

    Examples
    --------
    >>> total = await share_sum_wide(party, own, (12,), most=1000.0)  # doctest: +SKIP
    """
    count = limbs_for(most, scale)
    mine = _digits(values, most, scale, count) if party.name in party.roles.owners else None
    limb_shares = await share_sum(party, mine, (count, *shape), -BASE, BASE)
    total = await carry(party, _limbs(limb_shares, scale, len(party.roles.owners)))
    return total.within(most * len(party.roles.owners))


async def share_columns(party: Party, values: Any, widths: Mapping[str, int], rows: int,
                        most: float, scale: int = 48) -> Wide:
    """Return a table whose columns belong to several owners, as one wide shared array.

    The rows must stand in the same order everywhere (`align`). Discloses the number of rows, the
    widths, the bound and the scale, which are public.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array or None
        This owner's columns, rows x width; None if this party owns no data.
    widths : mapping of str to int
        The number of columns of each owner, in the order of the table.
    rows : int
        The number of rows.
    most : float
        A bound on the magnitude of the values; checked before anything is sent.
    scale : int, default 48
        Fractional bits.

    Returns
    -------
    Wide
        The table, rows x the sum of the widths.

    Examples
    --------
    >>> x = await share_columns(party, own, {"north": 2, "south": 3}, 500, 1.0)  # doctest: +SKIP
    """
    parts = [await share_wide(party, values if party.name == owner else None, owner,
                              (rows, width), most, scale) for owner, width in widths.items()]
    return join_wide(parts, 1)


def _digits(values: Any, most: float, scale: int, count: int) -> np.ndarray[Any, Any]:
    if np.asarray(values).size and not np.abs(values).max() <= most:
        # The values themselves are private and stay out of the message.
        raise RingError(f"Values to share must be finite and at most {most} in magnitude. Some are "
                        "not. Give a wider bound, or correct the data.")
    return digits(values, scale, count)


def _limbs(stacked: Shared, scale: int, times: int) -> Wide:
    """Return an array with limbs along its first axis as a wide one."""
    half = times * BASE // 2
    count = stacked.shape[0]
    return Wide((*(stacked[j].within(-half, half) for j in range(count - 1)), stacked[count - 1]),
                scale)


async def carry(party: Party, x: Wide) -> Wide:
    """Return the same values with limbs that can be multiplied."""
    while span(x.limbs[-1]) > TOP or any(span(limb) > SMALL for limb in x.limbs[:-1]):
        if span(x.limbs[-1]) > TOP:
            zero = public(party, np.zeros(x.shape, np.int64))
            x = replace(x, limbs=(*x.limbs, zero))
        x = await _carry_once(party, x)
    return x


async def _carry_once(party: Party, x: Wide) -> Wide:
    lower = x.limbs[:-1]
    cut = await truncate(party, stack(lower), WIDTH)
    # Limbs are rounded, their sum is not: what one loses, its neighbour gains.
    up = [replace(cut[j], rounded=limb.rounded).within(limb.low >> WIDTH, (limb.high >> WIDTH) + 1)
          for j, limb in enumerate(lower)]
    kept = [_rest(limb, over) for limb, over in zip(lower, up, strict=True)]
    moved = [a + b for a, b in zip([*kept[1:], x.limbs[-1]], up, strict=True)]
    return replace(x, limbs=(kept[0], *moved))


def _rest(limb: Shared, over: Shared) -> Shared:
    """Return limb - over 2^24; rounding down or up leaves it between -2^24 and 2^24."""
    share = np.subtract(limb.share, np.left_shift(over.share, np.uint64(WIDTH)))
    return replace(limb, share=share, low=-BASE, high=BASE - 1)


async def rescale(party: Party, x: Wide, scale: int) -> Wide:
    """Return wide values with another number of fractional bits.

    With fewer bits off by at most 1.001 units in the last place. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Wide
        The values.
    scale : int
        The fractional bits of the result.

    Returns
    -------
    Wide
        The same values.

    Examples
    --------
    >>> coarse = await rescale(party, x, 30)  # doctest: +SKIP
    """
    x, more = await carry(party, x), scale - x.scale
    if more > 0:
        zero = public(party, np.zeros(x.shape, np.int64))
        x = replace(x, limbs=(*[zero] * (more // WIDTH), *x.limbs), scale=scale)
        return await carry(party, x * (1 << more % WIDTH))
    place = -(more // WIDTH)
    x = await carry(party, x * (1 << (WIDTH * place + more)))
    limbs = x.limbs[place:] or (public(party, np.zeros(x.shape, np.int64)),)
    rounded = place > 0 or any(limb.rounded for limb in limbs)
    return replace(x, limbs=tuple(replace(limb, rounded=rounded) for limb in limbs), scale=scale)


async def lift(party: Party, x: Shared) -> Wide:
    """Return a Shared array as a Wide one; exact. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Shared
        The values.

    Returns
    -------
    Wide
        The same values, with the same scale.

    Examples
    --------
    >>> wide = await lift(party, x)  # doctest: +SKIP
    """
    return await carry(party, Wide((replace(x, scale=0),), x.scale))


async def narrow(party: Party, x: Wide, scale: int, most: float | Fraction | None = None) -> Shared:
    """Return wide values as a Shared array, which can be revealed and compared.

    Off by at most 1.001 units in the last place. Refused if the values could reach 2^62 units.
    Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Wide
        The values.
    scale : int
        The fractional bits of the result.
    most : float or Fraction, optional
        A bound on the magnitude that the caller promises and that the limbs do not show.

    Returns
    -------
    Shared
        The values.

    Examples
    --------
    >>> mean = await narrow(party, wide, 30)  # doctest: +SKIP
    """
    x = await rescale(party, x, scale)
    known = x.most if most is None else min(x.most, Fraction(most))
    bound = int(known * 2**scale) + 2
    if bound >= LIMIT:
        raise RingError(f"narrow: values must stay below 2^62 with {scale} fractional bits. They "
                        f"could reach {float(known):.3g}. Use fewer fractional bits, or give "
                        "'most'.")
    share = x.limbs[0].share
    for place, limb in enumerate(x.limbs[1:], start=1):
        if WIDTH * place < 64:
            share = np.add(share, np.left_shift(limb.share, np.uint64(WIDTH * place)))
    return Shared(party, share, -bound, bound, scale, any(limb.rounded for limb in x.limbs))
