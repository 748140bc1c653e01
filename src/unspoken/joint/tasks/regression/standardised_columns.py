"""Columns that every owner centres and scales by itself, in units that everybody knows.

Units are powers of two: the deviation of a column is between one half and one of its unit.
  discloses: the power of two above the greatest magnitude of each column, and the one next to its
    spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.regression.column_blocks import Own, OwnedColumns, agree_sizes
from unspoken.joint.tasks.regression.fitting import SPREADS
from unspoken.joint.tasks.regression.second_moments import LARGEST


@dataclass(frozen=True)
class Standard:
    """An owner's columns without their means; `places` says where they stand in the model.

    `means` are in units too, 0 for what was not centred. `units` are those of all terms and, last,
    of the response; `reach` bounds magnitudes in these units. Who owns nothing has no table.
    """

    places: Ints
    table: Floats | None
    means: Floats
    units: Floats
    reach: Floats


async def standardised(party: Party, columns: OwnedColumns, own: Own | None,
                       response: bool = True) -> Standard:
    """Return an owner's columns, centred and scaled; the response stays as it is if not asked."""
    p = len(columns.terms.features)
    if own is None:
        places, spread = np.zeros(0, np.int64), None
    else:
        places = np.array([place for place, _ in columns.own(party.name)], np.int64)
        spread = _spreads(own, (places < p) | response)
    sizes = await agree_sizes(party, columns, own)
    deviations = await agree_sizes(party, columns, spread, SPREADS)
    _refuse_constant(deviations, columns, response)
    if not response:
        deviations[-1] = 0
    units, reach = np.ldexp(1.0, deviations.astype(np.int32)), np.ldexp(1.0, sizes - deviations)
    if own is None:
        return Standard(places, None, np.zeros(0), units, reach)
    means = np.where((places < p) | response, own.table.mean(axis=0), 0.0)
    return Standard(places, (own.table - means) / units[places], means / units[places], units,
                    reach)


def _spreads(own: Own, scaled: npt.NDArray[np.bool_]) -> Own:
    """Return deviations in the place of columns, and 1 for what is not scaled."""
    return Own(np.where(scaled, own.table.std(axis=0), 1.0)[None, :], own.response[:1])


def _refuse_constant(sizes: Ints, columns: OwnedColumns, response: bool) -> None:
    names = (*columns.terms.features, columns.response)
    for name, size in zip(names, sizes if response else sizes[:-1], strict=False):
        if size == -LARGEST:
            raise RefusedError(f"Column '{name}' must vary. It is constant. Leave it out. Every "
                               "party learned this.")
