"""An earlier disclosure laid beside a table: a release, a model, answers, the result of a study.

Both are searched for the same people (`linked_releases`), or asked about them
(`model_beside_release`); sums are laid on what the table shows (`answers_beside`). What cannot be
read counts as not measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unspoken.audit.added_disclosure import Added
from unspoken.audit.answers_beside import entered_sums, lay_sums
from unspoken.audit.averaged_reports import RADIUS
from unspoken.audit.linked_releases import Joined, join, read_sides
from unspoken.audit.model_beside_release import ask_both, registered_model
from unspoken.audit.people.own_release import renamed
from unspoken.audit.studies_beside import joint_model, joint_sums, study_result, with_goal
from unspoken.errors import ReleaseError, SchemaError, UnspokenError
from unspoken.methods.queries.disclosed_sums import DisclosedSum
from unspoken.numerics.random import seed_from
from unspoken.release.automatic_entries import file_of, is_file
from unspoken.release.register import Entry
from unspoken.release.release import Release
from unspoken.table.read import read
from unspoken.table.schema import Schema
from unspoken.table.table import Table

MIXED = "and one of both mixes columns, which no attack on two releases reads"


def two_tables(entry: Entry, mine: Entry, table: Table,
               shown: tuple[Release, Table], shared: Sequence[tuple[str, str]],
               random_state: Any) -> list[Added]:
    """Search an earlier release and a table under original names for the same people."""
    (earlier, second), names, who = shown, dict(shared), _who(entry)
    if mixes_columns(entry, earlier):
        return not_read(entry, shared, MIXED)
    first = renamed(earlier.table, {names.get(n, n): there for n, there in entry.released.items()})
    try:
        sides = read_sides(_known_to(table, entry, mine, names), first, second, RADIUS,
                           seed_from(random_state))
    except SchemaError as error:
        return [Added(b, entry.what, entry.to, None, None, None, f"'{b}': {who} could not be laid "
                      f"beside this release: {error}") for _, b in shared]
    return [added_by(entry, one) for one in join(sides)]


def _known_to(table: Table, entry: Entry, mine: Entry, names: Mapping[str, str]) -> Table:
    """Return the columns of the original that one of two releases shows."""
    out = {*mine.released, *(names.get(name, name) for name in entry.released)}
    return replace(table, schema=Schema(tuple(c for c in table.schema.columns if c.name in out)))


def mixes_columns(entry: Entry, release: Release) -> bool:
    """Return True if original columns have no released column of their own."""
    return any(there not in release.schema.names for there in entry.released.values())


def not_read(entry: Entry, shared: Sequence[tuple[str, str]], why: str) -> list[Added]:
    """Return that columns went out before in what cannot be attacked together with the next."""
    return [Added(b, entry.what, entry.to, None, None, None, f"'{b}': also in {_who(entry)}, {why};"
                  " together they may disclose more") for _, b in shared]


def _who(entry: Entry) -> str:
    what = entry.what[:12] if entry.kind == "release" else f"'{entry.what[:40]}'"
    return f"{entry.kind} {what} to {entry.to or 'an unnamed recipient'}"


def added_by(entry: Entry, one: Joined) -> Added:
    """Return what two disclosures tell together, in a sentence."""
    words = (f"'{one.column}': whoever looks for people in this release and in {_who(entry)} "
             f"guesses {one.together:.1%} correctly ({one.knowledge} known), {one.first:.1%} "
             f"and {one.second:.1%} from each alone, {one.blind:.1%} without any")
    return Added(one.column, entry.what, entry.to, one.first, one.second, one.together, words)


def beside_release(entry: Entry, table: Table, release: Release,
                   names: Mapping[str, str] | None, random_state: Any) -> list[Added] | None:
    """Attack what went out before and is no release of ours together with a release.

    None where no attack takes both in.
    """
    shown = names or {n: n for n in table.schema.names if n in release.schema.names}
    if entry.kind not in BESIDE or release.schema.of_kind("basket") or \
            any(there not in release.schema.names for there in shown.values()):
        return None
    return BESIDE[entry.kind](entry, table, renamed(release.table, shown), random_state)


def model_beside(entry: Entry, table: Table, released: Table,
                 random_state: Any) -> list[Added] | None:
    """Ask an entered model and a table about the same people; None if it cannot be asked."""
    model = registered_model(entry)
    both = None if model is None else ask_both(model, table, released, RADIUS,
                                               seed_from(random_state))
    return None if both is None else [added_by(entry, both)]


def answers_beside(entry: Entry, table: Table, released: Table,
                   random_state: Any) -> list[Added] | None:
    """Lay the answers of an entered query log on a table; None if the log is not at its place."""
    sums = entered_sums(entry, table)
    return None if sums is None else _summed(entry, sums, table, released, random_state)


def study_beside(entry: Entry, table: Table, released: Table,
                 random_state: Any) -> list[Added] | None:
    """Lay the entered result of a study beside a table; None if it is not at its place."""
    content = study_result(entry)
    if content is None:
        return None
    model = joint_model(content)
    if model is not None:
        both = ask_both(model, with_goal(entry, table), released, RADIUS, seed_from(random_state))
        return None if both is None else [added_by(entry, both)]
    sums = joint_sums(content, table)
    return None if sums is None else _summed(entry, sums, table, released, random_state)


def _summed(entry: Entry, sums: Sequence[DisclosedSum], table: Table, released: Table,
            random_state: Any) -> list[Added] | None:
    try:
        laid = lay_sums(sums, table, released, RADIUS, seed_from(random_state))
    except SchemaError:
        return None
    return [*(added_by(entry, one) for one in laid.joined),
            *(Added(name, entry.what, entry.to, None, None, None, f"'{name}': {count} numbers of "
                    f"{_who(entry)} could not be laid beside this release; together they may "
                    "disclose more") for name, count in laid.left_out.items())]


def file_beside(entry: Entry, table: Table, released: Table,
                random_state: Any) -> list[Added] | None:
    """Search an entered table of another tool and a table for the same people; None if unread."""
    first = entered_table(entry)
    if first is None:
        return None
    try:
        sides = read_sides(table, first, released, RADIUS, seed_from(random_state))
    except SchemaError:
        return None
    return [added_by(entry, one) for one in join(sides)]


BESIDE: Mapping[str, Callable[[Entry, Table, Table, Any], list[Added] | None]] = {
    "model": model_beside, "table": file_beside, "query": answers_beside, "study": study_beside}
"""How an entry that is no release of ours is attacked together with a table."""


def entered_table(entry: Entry) -> Table | None:
    """Return the table of another tool that was entered; None if it is not as it was."""
    path = file_of(entry)
    if entry.kind != "table" or path is None or not path.is_file():
        return None
    if not is_file(entry, hashlib.sha256(path.read_bytes()).hexdigest()):
        return None
    try:
        return read(path, show=False)
    except UnspokenError:
        return None


def load_entered(entry: Entry) -> Release | None:
    """Return the release that was entered; None if another one lies at its place by now."""
    if entry.place is None or not Path(entry.place).is_dir():
        return None
    try:
        release = Release.load(entry.place)
    except ReleaseError:
        return None
    return release if release.fingerprint == entry.what else None
