"""The audit of any table that stands for another: what it tells about the people behind it.

No manifest and no key: columns are matched by name and content, records by nearness, never by their
place. Every attack is tried on people of the original, on a control group of people who are not
behind the release, and beside the best guess without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.audit.file_extras import file_extras
from unspoken.audit.hidden_values import hidden_values
from unspoken.audit.kept_promises import held_identifiers
from unspoken.audit.people.blank_patterns import told_by_blanks
from unspoken.audit.people.control_group import outsiders
from unspoken.audit.people.exact_copies import ADVERSARY, exact_copies
from unspoken.audit.people.facts import (
    LEARNED,
    PEOPLE,
    Attacked,
    known_columns,
    secret_columns,
)
from unspoken.audit.people.few_columns import ADVERSARY as FEW
from unspoken.audit.people.inferring import inferring
from unspoken.audit.people.kept_order import kept_order
from unspoken.audit.people.kept_use import kept_use
from unspoken.audit.people.linking import linking, person_risks
from unspoken.audit.people.membership import membership
from unspoken.audit.people.nearest import find_nearest
from unspoken.audit.people.read_columns import FREQUENCY, RANK, Reading, read_tables
from unspoken.audit.people.singling_predicates import singling_out
from unspoken.audit.turned_values import TurnedColumns, turned_columns
from unspoken.disclosure.audit_request import Progress, finished
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.column_runner import WORKERS
from unspoken.disclosure.people_risk import (
    INFERRED,
    NO_CONTROL,
    PeopleAudit,
    PersonRisks,
    Risk,
)
from unspoken.disclosure.policy import Policy
from unspoken.numerics.random import seed_from
from unspoken.release.parameters import Real, Whole, check
from unspoken.table.read import read
from unspoken.table.table import Table

WORDS = {
    "predicates": "writes down what distinguishes one released record from all others and looks "
                  "for the one person it fits",
    "two halves of a record": "knows two sets of facts and takes them for those of one person if "
                              "both lead to the same released record",
    "nearest record": "looks for the released records nearest to what is known of a person",
    "learner": "trains a learner on the released records",
    FEW: "finds out by which one to three columns people are found, and looks by these alone",
    ADVERSARY: "takes a released record for the one person of the original who has the same one",
    "distance": "takes people for members whose record lies near a released one",
    "relative distance": "takes people for members whose record lies nearer to a released one than "
                         "to outsiders",
}
ATTACKS = 6
"""Steps of a bar: reading, persons, and four kinds of attacks."""
_LIMITS = (
    "only the listed attacks were tried; a better one may exist",
    "people were drawn at random; the intervals say how much that matters",
)


@dataclass(frozen=True)
class PeopleRequest:
    """What is known, what is inferred, how near a guess must be, and how many are attacked.

    `truth`: the released row of every person, where a key has the record map.
    """

    known: Sequence[str] | None = None
    secrets: Sequence[str] | None = None
    radius: float = 0.02
    people: int = PEOPLE
    random_state: Any = None
    truth: Ints | None = None
    learned: int = LEARNED
    progress: Progress | None = None
    copies: bool = False
    """Whether records that were released as they are count, be they ever so few."""
    policy: Policy | None = None
    """Columns that it limits are inferred, too."""
    turned: TurnedColumns | None = None
    """What `turned_columns` says of both tables, where it is known already."""


def people_audit(table: Table, release: Table, control: Table | None,
                 asked: PeopleRequest) -> tuple[PeopleAudit, tuple[str, ...]]:
    """Return the risks of the people behind a release, and the limits of what was tried."""
    check("audit", {"radius": (Real(0.0, 1.0), "Use 0.02, a share of the range."),
                    "people": (Whole(20), "Use 500.")},
          {"radius": asked.radius, "people": asked.people})
    control, notes = outsiders(table, control, release if asked.copies else None)
    reading = read_tables(table, release, control, asked.turned)
    attacked = Attacked(reading, known_columns(reading, table.schema, asked.known),
                        secret_columns(reading, table, asked.secrets, _limited_by(asked.policy)),
                        asked.radius,
                        seed_from(asked.random_state), asked.people, asked.learned,
                        None if asked.truth is None else np.flatnonzero(asked.truth >= 0))
    persons = person_risks(attacked, asked.truth)
    risks = _attacks(attacked, persons, asked.progress)
    if asked.copies:
        risks += exact_copies(reading)
    whole = PeopleAudit(tuple(risks), persons, reading.how, kept_use(reading))
    return whole, (*_limits(attacked, table, control), *notes)


def _limited_by(policy: Policy | None) -> Callable[[str], bool]:
    return (lambda name: False) if policy is None else policy.limits


def _attacks(attacked: Attacked, persons: PersonRisks,
             progress: Progress | None) -> list[Risk]:
    """Run the attacks side by side; every draw has a stream of its own, so none sees another."""
    attacks = (inferring, lambda one: linking(one, persons), membership, singling_out)
    out: list[list[Risk]] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for done, risks in enumerate(pool.map(lambda attack: attack(attacked), attacks), 2):
            out.append(risks)
            if progress is not None:
                progress(done, ATTACKS)
    inferred, linked, members, singled = out
    return [*singled, *linked, *inferred, *members]


def _limits(attacked: Attacked, table: Table, control: Table | None) -> tuple[str, ...]:
    out = [] if control is not None else [NO_CONTROL]
    coded = [n for n, how in attacked.reading.how.items() if how.startswith((RANK, FREQUENCY))]
    if coded:
        out.append(f"{', '.join(coded[:5])}{' and others' * (len(coded) > 5)} were read as codes, "
                   "numbers by rank and labels by frequency; a better reading may exist")
    if len(attacked.secrets) > attacked.learned:
        out.append(f"the learner was trained for {attacked.learned} of {len(attacked.secrets)} "
                   "columns")
    return (*_LIMITS, *out)


def audit_table(  # noqa: PLR0913
    release: Any, table: Any, control: Any = None, *, known: Sequence[str] | None = None,
    secrets: Sequence[str] | None = None, radius: float | None = None, people: int = PEOPLE,
    random_state: Any = None, name: str = "", progress: Progress | None = None,
    policy: Policy | None = None,
) -> Audit:
    """Measure what any table tells about the people it was made from, whatever tool made it.

    Parameters
    ----------
    release : Table or anything that `read` takes
        The table that is to be released: anonymised, noised, encoded or synthetic.
    table : Table or anything that `read` takes
        The original.
    control : Table or anything that `read` takes, default None
        People of the same population who are not behind the release; without them every risk is an
        upper bound.
    known : sequence of str, default None
        What is known of people; by default the quasi-identifiers, or the six most telling columns.
    secrets : sequence of str, default None
        What is inferred; by default sensitive columns, target and what the policy limits, or
        every column where none is declared sensitive.
    radius : float, default None
        How near a guessed number must be, as a share of the range; by default the policy's, or
        0.02.
    people : int, default 500
        The most people that are attacked.
    random_state : int, default None
        The same seed gives the same audit.
    name : str, default ""
        What the release is called in the audit.
    progress : callable, default None
        Called with (done, total).
    policy : Policy, default None
        Judged at the end; the columns that it limits are inferred, sensitive or not.

    Returns
    -------
    Audit
        Its `people` has the three risks of European guidance and membership, each with a count, an
        interval, the control group and the best guess without the release.

    Examples
    --------
    >>> audit_table("synthetic.csv", "patients.csv", "others.csv").summary()  # doctest: +SKIP
    """
    original, released = as_read(table), as_read(release)
    extras = file_extras(Path(release)) if isinstance(release, str | os.PathLike) else {}
    outside = None if control is None else as_read(control)
    reach = radius if radius is not None else 0.02 if policy is None else policy.radius
    asked = PeopleRequest(known, secrets, reach, people, random_state, progress=progress,
                          copies=True, turned=turned_columns(original, released), policy=policy)
    found, limits = people_audit(original, released, outside, asked)
    missing = [n for n in released.schema.names
               if n not in found.read and not any(f"({n})" in how for how in found.read.values())]
    finished(progress)
    about = {"fingerprint": name or "of another tool", "rows": released.rows,
             "mechanism": {"name": "another tool"}, "columns": dict(found.read)}
    alone = read_tables(original, released, None, asked.turned)
    unscored = {name: _not_matched(name, original, outside) for name in missing} | {
        name: f"{count:,} of its cells say what no cell of the original does, nor that a value was "
        "taken away; whatever they say is published" for name, count in alone.strange.items()
        if count} | extras
    audited = Audit(tuple(people_rows(found)), reach, 1, about, words_of(found.risks), unscored,
                    limits=limits, people=found, faults=_faults(alone, original, released, asked))
    return audited if policy is None else replace(audited, judgement=policy.judge(audited))


def _not_matched(name: str, original: Table, control: Table | None) -> str:
    if control is not None and name in original.schema.names and name not in control.schema.names:
        return "the control group has no such column, so nobody can tell what it adds"
    return "no column of the original could be matched with it"


def _faults(reading: Reading, table: Table, release: Table,
            asked: PeopleRequest) -> tuple[str, ...]:
    """Return what shows at once: identifiers, the order, values hidden in other ones."""
    attacked = Attacked(reading, (), reading.names, asked.radius, seed_from(asked.random_state))
    rows = attacked.drawn(reading.original, 2 * len(reading.names), "side by side")
    near = find_nearest(reading, reading.original, rows, reading.names, attacked.rng("nearest"))
    shown = np.array([found[0] for found in near.records], np.int64)
    return (*held_identifiers(table, release), *kept_order(reading, attacked.rng("order")),
            *hidden_values(table, release, rows, shown, asked.turned),
            *told_by_blanks(table, release, rows, shown))


def as_read(source: Any) -> Table:
    """Return a table as it is, or read it."""
    return source if isinstance(source, Table) else read(source, show=False)


def words_of(risks: Sequence[Risk]) -> dict[str, str]:
    """Return what each adversary does."""
    return {one.adversary: WORDS[one.adversary] for one in risks if one.adversary in WORDS}


def people_rows(found: PeopleAudit, columns: bool = True) -> list[Row]:
    """Return the risks as rows; with `columns` inferring also counts as values of a column."""
    rows = [row for one in found.risks for row in one.rows()]
    if columns:
        rows += [Row(one.adversary, one.knowledge, one.column, "records", one.value, *one.interval,
                     max(one.baseline, one.control or 0.0), 1)
                 for one in found.risks if one.kind == INFERRED]
    return rows
