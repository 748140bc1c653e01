"""What one method does to a table, as plain data: quickly on a sample, or on all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.audit.people.audit_people import PeopleRequest, people_audit
from unspoken.audit.people.own_release import released_table
from unspoken.audit.people.side_by_side import SideBySide, side_by_side
from unspoken.disclosure.people_risk import RISKS
from unspoken.errors import SchemaError
from unspoken.methods.anonymity.measures import measure
from unspoken.release.key import Key
from unspoken.release.method import Method
from unspoken.release.release import Release
from unspoken.table.table import Table

PEOPLE = 100


@dataclass(frozen=True)
class Tried:
    """A method that was run: its release, and the original beside it."""

    table: Table
    release: Release
    key: Key
    beside: SideBySide


def tried(table: Table, method: Method, parameters: Mapping[str, Any]) -> Tried:
    """Run a method and put its release beside the original; nobody is attacked yet."""
    release, key = method.build(parameters).protect(table)
    return Tried(table, release, key, side_by_side(table, release, key, turned={}))


def quick_figures(one: Tried) -> dict[str, Any]:
    """Return the promise, the smallest group, and what is left of the use."""
    groups = _groups(one)
    return {"promise": one.release.guarantee.statement,
            "conditions": list(one.release.guarantee.conditions),
            "rows": one.release.table.rows, "of": one.table.rows,
            "missing": list(one.beside.missing), "use": one.beside.use,
            "k": None if groups is None else groups.k,
            "risk": None if groups is None else groups.risk.prosecutor_average}


def _groups(one: Tried) -> Any:
    """Measure who hides among whom, if the quasi-identifiers went out under their names."""
    quasi = [n for n in one.table.schema.with_role("quasi") if n in one.release.schema.names]
    if not quasi:
        return None
    secret = [n for n in one.table.schema.with_role("sensitive") if n in one.release.schema.names]
    return measure(one.release, quasi, secret)


def attacked(one: Tried, people: int = PEOPLE) -> list[dict[str, Any]]:
    """Attack some people, and return the worst of every kind of risk."""
    secrets = tuple(n for n in one.table.schema.with_role("sensitive")
                    if n in one.beside.missing or n in one.release.schema.names) or None
    try:
        there = released_table(one.release, one.key)
        audit = people_audit(one.table, there, None, PeopleRequest(
            secrets=secrets, people=min(people, max(one.table.rows, 20)), learned=1))[0]
    except SchemaError:
        return []
    worst = [audit.worst(kind) for kind in RISKS]
    return [{"kind": risk.kind, "column": risk.column, "value": risk.value,
             "baseline": risk.baseline, "adversary": risk.adversary,
             "knowledge": risk.knowledge, "people": risk.people, "interval": risk.interval}
            for risk in worst if risk is not None]
