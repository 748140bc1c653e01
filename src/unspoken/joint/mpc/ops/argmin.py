"""The place of the least value, by a tournament on shares (vcz2006 section 7.2.2).

Neighbours are compared, all pairs and all rows together; the right one wins only if it is
strictly less, so that among equals the first place is found, as numpy does.
  discloses: nothing: neither places nor values nor which comparisons were won.
  safe against: all holders but one; never the dealer with a holder.
  cost: 9 rounds (64 bits) for each halving of the number of columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate


def plain_argmin(values: Any) -> Any:
    """Return the reference."""
    return np.argmin(values, axis=-1)


async def argmin(party: Party, values: Shared) -> tuple[Shared, Shared]:
    """Return where the least value along the last axis lies, and that value.

    A tournament on shares (vcz2006 section 7.2.2): 9 rounds for each halving of the number of
    columns. Among equal values the first place is taken, as numpy does. Discloses nothing.

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
    >>> nearest, distance = await argmin(party, distances)  # doctest: +SKIP
    """
    if not values.shape or values.shape[-1] == 0:
        raise RingError("argmin needs at least one value along the last axis. Got shape "
                        f"{values.shape}.")
    rows, columns = values.shape[:-1], values.shape[-1]
    value = values.reshape(-1, columns)
    place = _places(party, value)
    while value.shape[1] > 1:
        value, place = await _round(party, value, place)
    return place.reshape(*rows), value.reshape(*rows)


def _places(party: Party, value: Shared) -> Shared:
    """Return the public numbers of the columns as shares: one holder has them."""
    rows, columns = value.shape
    places = np.broadcast_to(np.arange(columns, dtype=np.uint64), (rows, columns))
    return Shared(party, party.engine.public_words(places), 0, columns - 1)


async def _round(party: Party, value: Shared, place: Shared) -> tuple[Shared, Shared]:
    """Let neighbours play; a last one without a neighbour goes on."""
    k = value.shape[1] // 2
    left, right = value[:, 0:2 * k:2], value[:, 1:2 * k:2]
    wins = await less_than(party, right, left)
    left_place, right_place = place[:, 0:2 * k:2], place[:, 1:2 * k:2]
    # Values and places are kept in one step.
    chosen = await keep(party, wins, [right - left, right_place - left_place])
    new_value = _bounded(left + chosen[0], value)
    new_place = _bounded(left_place + chosen[1], place)
    rest_value, rest_place = value[:, 2 * k:], place[:, 2 * k:]
    return concatenate([new_value, rest_value], 1), concatenate([new_place, rest_place], 1)


def _bounded(chosen: Shared, among: Shared) -> Shared:
    """A value chosen among others stays in their interval."""
    return replace(chosen, low=among.low, high=among.high)
