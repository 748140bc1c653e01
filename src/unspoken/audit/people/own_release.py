"""The risks to people of a release of ours, beside what its own adversaries found.

The key, where it is there, says how columns are called and which record is whose; adversaries see
neither. Fewer people are attacked than by an audit that has nothing else to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.audit.people.audit_people import (
    PeopleRequest,
    as_read,
    people_audit,
    people_rows,
    words_of,
)
from unspoken.disclosure.audit_request import Progress
from unspoken.disclosure.audit_result import Audit
from unspoken.errors import SchemaError
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.release.record_key import original_rows
from unspoken.release.release import Release
from unspoken.table.schema import Schema
from unspoken.table.table import Table

EVERYBODY = "(people)"
PEOPLE = 200
LEARNED = 3
NO_KEY = "risks to people were not measured: they need the key, which tells what was released"
BASKETS = "risks to people by singling out, linking and membership are not measured for baskets"


def with_people(audit: Audit, table: Table, release: Release, key: Key | None,
                control: Any = None, random_state: Any = None,
                progress: Progress | None = None) -> Audit:
    """Return an audit with the risks to people added."""
    if release.schema.of_kind("basket") or table.schema.of_kind("basket"):
        return replace(audit, limits=(*audit.limits, BASKETS))
    method = method_of(release.mechanism)
    if key is None and audit.unscored:
        return replace(audit, limits=(*audit.limits, NO_KEY))
    names = method.released_names(key, release)
    asked = PeopleRequest(None, _secrets(table, names), audit.radius or 0.02, PEOPLE,
                          random_state, _released_rows(key, release, table.rows), LEARNED,
                          progress)
    try:
        people, limits = people_audit(_gone_out(table, names, key), released_table(release, key),
                                     None if control is None else as_read(control), asked)
    except SchemaError as error:
        return replace(audit, unscored={**audit.unscored, EVERYBODY: "risks to people were not "
                                        f"measured: {error}"})
    more = tuple(line for line in limits if line not in audit.limits)
    return replace(audit, rows=(*audit.rows, *people_rows(people, columns=False)), people=people,
                   words={**words_of(people.risks), **audit.words}, limits=(*audit.limits, *more))


def _gone_out(table: Table, names: Mapping[str, str], key: Key | None) -> Table:
    """Return a table of the columns that were released, where a key says which.

    Another column, an identifier above all, could be taken for a released one by its content.
    """
    if key is None:
        return table
    return replace(table, schema=Schema(tuple(c for c in table.schema.columns if c.name in names)))


def _released_rows(key: Key | None, release: Release, people: int) -> Ints | None:
    """Return the released row of every original one, -1 where it was left out."""
    if key is None or not method_of(release.mechanism).of_people:
        return None
    rows = np.full(people, -1, np.int64)
    rows[original_rows(key, release.table.rows)] = np.arange(release.table.rows)
    return rows


def released_table(release: Release, key: Key | None) -> Table:
    """Return the released rows under the original names of their columns."""
    return renamed(release.table, method_of(release.mechanism).released_names(key, release))


def _secrets(table: Table, names: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the sensitive columns that went out; None where none is declared."""
    secret = tuple(n for n in table.schema.with_role("sensitive") if n in names)
    return secret or None


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """Return the released table under its original names; adversaries know the layout."""
    back = {there: name for name, there in names.items()}
    if all(there == name for there, name in back.items()):
        return table
    from unspoken.table.read import read

    rows = table.arrow()
    rows = rows.rename_columns([back.get(name, name) for name in rows.column_names])
    columns = tuple(replace(c, name=back.get(c.name, c.name)) for c in table.schema.columns)
    return replace(read(rows, show=False), schema=Schema(columns))
