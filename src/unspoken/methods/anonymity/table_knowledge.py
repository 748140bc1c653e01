"""What adversaries of published tables know about people, drawn from the original table.

    quasi           every quasi-identifier of a target, exactly
    quasi errors    numbers within 10%, every tenth category another one
    quasi never     exactly, and one common sensitive value that the target does not have
    pool            with errors; sensitive numbers within 10%; the pool of 20,000 people
    order           where a target stands in the order of one attribute
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, unknown
from unspoken.methods.anonymity.adversaries.table_adversary import (
    ERRORS,
    LEVELS,
    NEVER,
    ORDER,
    POOL_LEVEL,
    TableKnowledge,
    TableView,
)
from unspoken.methods.anonymity.measures.same_meaning import said_by
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded

ERROR = 0.1
POOL = 20_000
TARGETS = 300
"""Targets per trial; the book's adversary knows 600 to 1,000."""
IN_SAMPLE = 0.9
"""Of the targets that the informed adversary takes to be in the sample, as many really are."""


@dataclass(frozen=True)
class People:
    """The original records: their columns, where each stands in the release, their secrets.

    `row[person]` is the released row of a person, -1 if it is not there; None if it is not known.
    `secrets` hold the original values in the codes of the release, -1 for values that it lost.
    """

    table: Any
    size: int
    row: Ints | None
    secrets: dict[str, Ints]
    values: dict[str, Coded]


@dataclass(frozen=True)
class Granted:
    """One trial: who is looked for, and what is known of them."""

    targets: Ints
    knowledge: TableKnowledge


def tell(label: str, column: str, people: People, view: TableView,
         rng: np.random.Generator) -> Granted:
    """Draw targets and what is known of them."""
    if label not in LEVELS:
        raise InputError(unknown("A level of knowledge about people", label, LEVELS))
    if label == POOL_LEVEL:
        return _informed(people, view, rng)
    targets = rng.permutation(_present(people))[:TARGETS]
    known = people.table.take(pa.array(targets)).select(list(view.quasi))
    if label == ORDER:
        values = np.asarray(to_numbers(people.table[column]), np.float64)
        place = np.argsort(np.argsort(values, kind="stable"), kind="stable")
        return Granted(targets, TableKnowledge(known, order=column,
                                               ranks=(place[targets] + 0.5) / people.size))
    if label == ERRORS:
        return Granted(targets, TableKnowledge(blurred(known, people.table, rng)))
    if label == NEVER:
        return Granted(targets, TableKnowledge(known, never=_never(people, column, targets, view)))
    return Granted(targets, TableKnowledge(known))


def _present(people: People) -> Ints:
    return np.arange(people.size) if people.row is None else np.flatnonzero(people.row >= 0)


def blurred(known: Any, everybody: Any, rng: np.random.Generator) -> Any:
    """Return what is known with errors: numbers within 10%, every tenth category another's."""
    columns = {}
    for name in known.column_names:
        column = known[name]
        if is_number(column.type):
            values = np.asarray(to_numbers(column), np.float64)
            moved = values * rng.uniform(1 - ERROR, 1 + ERROR, values.size)
            whole = pa.types.is_integer(column.type)
            columns[name] = pa.array(np.rint(moved) if whole else moved, from_pandas=True)
        else:
            other = everybody[name].take(pa.array(rng.integers(0, len(everybody), len(column))))
            wrong = pa.array(rng.random(len(column)) < ERROR)
            columns[name] = pc.if_else(wrong, other, column)
    return pa.table(columns)


def _never(people: People, column: str, targets: Ints, view: TableView) -> Ints:
    """Return for every target the commonest value that it does not have."""
    often = np.argsort(-view.counts(column).sum(axis=0), kind="stable")
    own = people.secrets[column][targets]
    second = often[1] if often.size > 1 else often[0]
    return np.asarray(np.where(own == often[0], second, often[0])[:, None], np.int64)


def _informed(people: People, view: TableView, rng: np.random.Generator) -> Granted:
    assert people.row is not None
    inside, outside = np.flatnonzero(people.row >= 0), np.flatnonzero(people.row < 0)
    wanted = min(TARGETS, inside.size)
    absent = min(outside.size, round((1 - IN_SAMPLE) * wanted))
    targets = np.r_[rng.permutation(inside)[:wanted - absent], rng.permutation(outside)[:absent]]
    rest = rng.permutation(np.setdiff1d(np.arange(people.size), targets))
    pool = np.r_[targets, rest[:max(POOL - targets.size, 0)]]
    quasi = list(view.quasi)
    known = blurred(people.table.take(pa.array(targets)).select(quasi), people.table, rng)
    # The target itself is in the pool as it is known; of the others everything is known.
    others = people.table.take(pa.array(pool[targets.size:])).select(quasi)
    crowd = pa.concat_tables([_plain(known), _plain(others)])
    secrets = {name: _estimated(people.table[name], people.secrets[name], targets, rng)
               for name in people.secrets}
    return Granted(targets, TableKnowledge(known, secrets, crowd, np.arange(targets.size)))


def _plain(rows: Any) -> Any:
    """Return every column as float64 or as text."""
    return pa.table({name: pa.array(np.asarray(to_numbers(rows[name]), np.float64))
                     if is_number(rows[name].type) else rows[name].cast(pa.string())
                     for name in rows.column_names})


def _estimated(column: Any, codes: Ints, targets: Ints, rng: np.random.Generator) -> Floats:
    """Return sensitive numbers within 10%; of categories nine in ten are known."""
    if is_number(column.type):
        values = np.asarray(to_numbers(column), np.float64)[targets]
        return np.asarray(values * rng.uniform(1 - ERROR, 1 + ERROR, targets.size))
    other = codes[rng.integers(0, codes.size, targets.size)]
    return np.where(rng.random(targets.size) < ERROR, other, codes[targets]).astype(np.float64)


def people_of(table: Any, view: TableView, row: Ints | None) -> People:
    """Read the original records beside a view of their release."""
    rows = table.arrow([*view.quasi, *view.secrets])
    secrets = {}
    for name, secret in view.secrets.items():
        own = coded(rows[name])
        place = {"": secret.missing,
                 **{said_by(value): at for at, value in enumerate(secret.values())}}
        to = np.array([*(place.get(said_by(value), -1) for value in own.values()), secret.missing])
        secrets[name] = to[own.codes]
    return People(rows, table.rows, row, secrets, dict(view.secrets))
