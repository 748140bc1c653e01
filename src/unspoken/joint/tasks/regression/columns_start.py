"""What every model over columns of several owners begins with: checks and refusals.

  discloses: whether all owners have as many records, and how many; where
    everybody has the response, whether it is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unspoken.errors import DataError, explain
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.common.record_order import Records, with_ids
from unspoken.joint.tasks.regression.column_blocks import (
    ALL,
    Given,
    Own,
    OwnedColumns,
    agree_response,
    agree_rows,
    checked_part,
)
from unspoken.joint.tasks.regression.disclosure_guards import (
    opened_numbers,
    refuse_few_records,
    refuse_solvable,
)
from unspoken.joint.tasks.regression.fitting import COUNT
from unspoken.joint.tasks.regression.mixed_rows import GROUP, whole_rows
from unspoken.joint.tasks.regression.params import RegressionParams


class OverColumns:
    """Columns, rules, and what is checked before anything is computed."""

    rows: tuple[str, ...] = ()
    """Owners that have all columns of further records; only where a program says so."""

    def __init__(self, columns: OwnedColumns, rules: RegressionParams) -> None:
        self.columns, self.rules = columns, rules

    async def check_first(self, party: Party, data: Given | None) -> None:
        """Check an owner's columns before records are aligned."""
        self.checked(party, data)

    async def prepared(self, party: Party, data: Given | None) -> tuple[Own | None, int]:
        """Return an owner's part and the number of records, once all that can be is checked."""
        own = self.checked(party, data)
        await ready(party)
        part = None if party.name in self.rows else own
        rows = await agree_rows(party, tuple(self.columns.owners), part,
                                GROUP if self.rows else COUNT)
        refuse_few_records(rows, len(self.columns.terms.features))
        refuse_solvable(rows, self.columns.widths(), self.opens())
        if self.columns.held == ALL:
            await agree_response(party, tuple(self.columns.owners), part)
        return own, rows

    def checked(self, party: Party, data: Given | None) -> Own | None:
        """Check an owner's columns before anything is sent."""
        if party.name in self.rows:
            return whole_rows(party, self.columns, data)
        return checked_part(self.columns, party.name, data)

    def opens(self) -> int:
        """Return how many numbers of everybody's data are opened."""
        return opened_numbers(len(self.columns.terms.features), self.rules.inference) + len(
            self.rules.smaller)


def given_to(parts: Mapping[str, Mapping[str, Any]], columns: OwnedColumns,
             ids: Mapping[str, Iterable[Any]] | None,
             rows: Mapping[str, Mapping[str, Any]] | None = None) -> list[Records]:
    """Return what every owner gives, in the order of owners; those of rows come last."""
    if rows and ids is not None:
        raise DataError("Records are aligned by ids where all owners have columns. Some have rows. "
                        "Bring the records of the others into one order, and leave the ids out.")
    for what in (parts, ids):
        if what is not None and set(what) != set(columns.owners):
            raise DataError(explain("The owners", "those of the columns: "
                                    + ", ".join(columns.owners), ", ".join(what)))
    return [with_ids(parts[name], None if ids is None else ids[name], name, Given(parts[name]))
            for name in columns.owners] + [Records(Given(part)) for part in (rows or {}).values()]
