"""A file of another tool beside what went out before: both are attacked together.

A table that another tool made has neither key nor manifest. It is laid beside every earlier release
that is still at its place, and beside every published model, the answers of every query log and the
result of every study; a model beside earlier tables. What could not be attacked is listed, and the
verdict is "not assessed".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from unspoken.audit.added_disclosure import Added, beside_a_file, counted
from unspoken.audit.averaged_reports import RADIUS
from unspoken.audit.model_beside_release import ask_both
from unspoken.audit.people.own_release import renamed
from unspoken.audit.release_overlap import columns_in_both
from unspoken.audit.studies_beside import without_results
from unspoken.audit.two_tables import (
    BESIDE,
    added_by,
    entered_table,
    load_entered,
    two_tables,
)
from unspoken.disclosure.audit_result import Audit
from unspoken.numerics.random import seed_from
from unspoken.release.automatic_entries import is_file
from unspoken.release.register import Entry, Register, digest
from unspoken.table.table import Table


def with_earlier_files(audit: Audit, register: Register, table: Table, published: Any,
                       random_state: Any = None) -> Audit:
    """Return the audit of a file with what it discloses together with earlier releases.

    `published` is the table or the model that the file holds.
    """
    sha256 = str(audit.release["data_sha256"])
    earlier = [one for one in without_results(register.before(table)) if not is_file(one, sha256)]
    added: list[Added] = []
    left: list[Entry] = []
    for entry in earlier:
        both = _pair(register, entry, table, published, audit, random_state)
        added += both or ()
        left += [] if both is not None else [entry]
    rows, unscored = counted(added)
    return replace(audit, rows=(*audit.rows, *rows),
                   added=(*audit.added, *(one.words for one in added)),
                   unscored={**audit.unscored, **unscored, **beside_a_file(left)})


def _pair(register: Register, entry: Entry, table: Table, published: Any, audit: Audit,
          random_state: Any) -> Iterable[Added] | None:
    """Attack an earlier disclosure together with the file; None if no attack takes it in."""
    if not isinstance(published, Table):
        return _model_and_release(entry, table, published, random_state)
    if entry.kind in BESIDE:
        return BESIDE[entry.kind](entry, table, published, random_state)
    earlier = load_entered(entry)
    if entry.kind != "release" or earlier is None:
        return None
    mine = _entry(register, table, audit)
    shared = columns_in_both(register, entry, mine, table)
    return two_tables(entry, mine, table, (earlier, published), shared, random_state)


def _entry(register: Register, table: Table, audit: Audit) -> Entry:
    """Return what the register would hold of a table that another tool made."""
    known = digest(table)
    shown = tuple(audit.people.read) if audit.people is not None else ()
    return register.keyed(Entry("release", known.table, known.columns, "", "", "", "none",
                                {name: name for name in shown}))


def _model_and_release(entry: Entry, table: Table, model: Any,
                       random_state: Any) -> list[Added] | None:
    """Lay a model that is to be published beside an earlier table."""
    earlier = load_entered(entry) if entry.kind == "release" else None
    shown = entered_table(entry) if earlier is None else \
        renamed(earlier.table, dict(entry.released))
    if shown is None:
        return None
    both = ask_both(model, table, shown, RADIUS, seed_from(random_state))
    return None if both is None else [added_by(entry, both)]
