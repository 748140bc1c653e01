"""What other methods would have got on the same table: a cheap comparison on a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.audit.people.audit_people import PeopleRequest, people_audit
from unspoken.audit.people.own_release import released_table
from unspoken.disclosure.people_risk import INFERRED, LINKED, SINGLED, PeopleAudit
from unspoken.errors import UnspokenError
from unspoken.numerics.random import replayed, seed_from
from unspoken.release.method import method_of
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.table import Table

ROWS = 1000
PEOPLE = 100
Compared = tuple[str, float | None, float | None, float | None, str]
"""A method, naming, inferring, columns kept, and why it could not be tried."""
TRIED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("piecewise", "piecewise", {"categorical": "relabel"}),
    ("noise", "noise", {"others": "keep"}),
    ("mondrian, k = 10", "mondrian", {"k": 10, "others": "keep"}),
)


def compare_methods(table: Table, control: Table | None = None,
                    random_state: Any = None) -> tuple[Compared, ...]:
    """Return for some methods what naming, inferring and the columns kept would be."""
    rng = replayed(seed_from(random_state), "compare methods")
    some = np.sort(rng.choice(table.rows, min(ROWS, table.rows), replace=False))
    sample = Table(table.schema, MemoryFrame(table.take(some)), LocalEngine())
    asked = PeopleRequest(people=PEOPLE, random_state=random_state, learned=1)
    out = [_row("as it is", people_audit(sample, sample, control, asked)[0])]
    for title, name, options in TRIED:
        try:
            method: Any = method_of(name).transformer(**options)
            release, key = method.protect(sample)
            there = released_table(release, key)
            out.append(_row(title, people_audit(sample, there, control, asked)[0]))
        except UnspokenError as error:
            out.append((title, None, None, None, str(error)))
    return tuple(out)


def _row(title: str, found: PeopleAudit) -> Compared:
    naming, inferring = found.worst(SINGLED, LINKED), found.worst(INFERRED)
    return (title, None if naming is None else naming.excess,
            None if inferring is None else inferring.excess, found.utility.get("columns"), "")
