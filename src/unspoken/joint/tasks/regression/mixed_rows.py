"""Regression where some owners have columns and others have rows (mixed partitioning).

Some owners have columns of the same records, as over columns; every other one has all columns and
the response of further records, as over rows (vcz2006 sections 5.2.1 and 5.3 have one of both). All
moments are sums over records, so those of the owners of rows are added, on shares, to those of the
owners of columns, and everything from there on is the same.

  discloses: what `fitting` and `columns` say; how many records the owners of columns have, and how
    many there are in all, to all. How many a single one of several owners of rows has stays hidden.
  refuses: what `program_columns` does, and an owner of rows with fewer records than four times the
    terms. Records of the owners of columns must be in one order (`same_order`).
  safe against: as products and comparisons in the mode.
  error: that of rounding every value to 2^-47 of its column's greatest magnitude.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.regression.column_blocks import (
    Given,
    Own,
    OwnedColumns,
    agree_sizes,
    local_moments,
    shared_blocks,
)
from unspoken.joint.tasks.regression.disclosure_guards import (
    refuse_few_records,
    refuse_few_rows,
)
from unspoken.joint.tasks.regression.fitting import Scaled, open_count, scaled
from unspoken.joint.tasks.regression.second_moments import (
    GRID,
    MOST_RECORDS,
    block_moments,
    exponents,
    on_grid,
)

GROUP = "how many records the owners of columns have"


def check_rows(columns: OwnedColumns, rows: Sequence[str]) -> None:
    """Refuse an owner that has columns and rows."""
    both = next((name for name in rows if name in columns.owners), None)
    if both is not None:
        raise InputError(f"An owner must have columns or rows. '{both}' has both. Leave it out of "
                         "the owners of rows, or its columns out of 'columns'.")


def whole_rows(party: Party, columns: OwnedColumns, data: Given | None) -> Own:
    """Return the part of an owner of rows, checked before anything is sent."""
    if data is None:
        raise DataError(explain(f"'{party.name}'", "given its rows", None))
    table = columns.terms.table(data.columns)
    refuse_few_rows(table.shape[0], table.shape[1] - 1, party.name)
    if table.shape[0] > MOST_RECORDS // len(party.roles.owners):
        raise DataError(explain("Rows", f"at most {MOST_RECORDS:,} in all", "more"))
    return Own(table, table[:, -1])


async def mixed_moments(party: Party, columns: OwnedColumns, rows: Sequence[str], own: Own | None,
                        count: int) -> Scaled:
    """Return the scaled moments of all records; the owners of columns have `count` of them."""
    part, terms = own if party.name in columns.owners else None, columns.terms
    mine = own.table if own is not None and party.name in rows else None
    others = {name: exponents(mine) if mine is not None and name == party.name else None
              for name in rows}
    sizes = await agree_sizes(party, columns, part, others=others)
    blocks, local = await shared_blocks(party, columns, part, sizes, count)
    first = party.name == next(iter(columns.owners))
    local = _of_rows(mine, sizes) if mine is not None else _counted(local, count, first, sizes.size)
    moments = await block_moments(party, blocks, local, sizes.size, MOST_RECORDS)
    records = await open_count(party, moments)
    refuse_few_records(records, len(terms.features))
    return await scaled(party, moments, sizes, records, (*terms.features, terms.response))


def _counted(local: Any, count: int, first: bool, size: int) -> Any:
    """Return an owner's moments with the number of records, which the first one alone adds."""
    if not first:
        return local
    local = np.zeros((size + 1, size + 1), object) if local is None else local
    local[0, 0] = count << (2 * GRID)
    return local


def _of_rows(table: Floats, sizes: Ints) -> Any:
    """Return the moments of an owner of rows, exactly, in units of 2^-94."""
    local = local_moments(on_grid(table, sizes), range(sizes.size), sizes.size)
    local[0, 0] = table.shape[0] << (2 * GRID)
    return local
