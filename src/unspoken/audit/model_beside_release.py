"""A published model beside a released table: whoever holds both asks both about a person.

Two ways. Who knows everything else about a person asks the model, and looks the person up in the
table; what both say is put together. Who knows a few facts finds a record by them, reads off it
what the model takes, and asks the model. Both are scored as two releases are (`linked_releases`):
the adversary learns on one half of the people what the answers are worth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats, Ints
from unspoken.audit.linked_releases import OTHERS, Joined, found_by_facts, less_one, put_together
from unspoken.audit.people.comparable import Labels, Numbers, People, Scale, Values
from unspoken.audit.people.facts import Attacked, known_columns
from unspoken.audit.people.inferring import in_terms, said
from unspoken.audit.people.nearest import find_nearest
from unspoken.audit.people.read_columns import Reading, read_tables
from unspoken.audit.people.value_beliefs import Domain, Records, beliefs, domain_of
from unspoken.audit.published.model_losses import Published, inputs_of
from unspoken.errors import UnspokenError
from unspoken.models.load_model import load_model
from unspoken.release.automatic_entries import file_of, is_file
from unspoken.release.register import Entry
from unspoken.table.table import Table

PEOPLE = 1000
UNUSABLE = (UnspokenError, ValueError, KeyError, TypeError, pa.ArrowException, OSError)
"""What asking a model can raise that was learned from other columns, or of another kind."""


def registered_model(entry: Entry) -> Any | None:
    """Return the model that was entered; None if it is not at its place as it was."""
    path = file_of(entry)
    if entry.kind != "model" or path is None or not path.is_file():
        return None
    if not is_file(entry, hashlib.sha256(path.read_bytes()).hexdigest()):
        return None
    try:
        return load_model(path)
    except UNUSABLE:
        return None


def ask_both(model: Any, table: Table, released: Table, radius: float,
             seed: bytes) -> Joined | None:
    """Return what a model and a table tell together of the model's target, in the better way.

    None where the model cannot be asked about these people.
    """
    try:
        asked = _Asked.of(Published.of(model, table), table, released, radius, seed)
        return max(asked.by_others(), asked.by_facts(), key=lambda one: one.gain)
    except UNUSABLE:
        return None


@dataclass(frozen=True)
class _Asked:
    """A model, a table as it is read, the people, and what is known of them."""

    published: Published
    table: Table
    side: Attacked
    rows: Ints
    domain: Domain
    learned: tuple[Ints, Records]

    @classmethod
    def of(cls, published: Published, table: Table, released: Table, radius: float,
           seed: bytes) -> _Asked:
        reading = read_tables(table, released, None)
        side = Attacked(reading, known_columns(reading, table.schema, None), reading.names, radius,
                        seed, PEOPLE)
        side = replace(side, known=tuple(n for n in side.known if n != published.target))
        rows = side.drawn(reading.original, 4 * len(reading.names), "model")
        rows = side.rng("model").permutation(rows)
        half = rows[:rows.size // 2]
        near = find_nearest(reading, reading.original, half, reading.names, side.rng("own"))
        truth = _truth(table, published.target)
        return cls(published, table, side, rows, domain_of(truth, radius), (half, near.records))

    @property
    def target(self) -> str:
        return self.published.target

    def by_others(self) -> Joined:
        """Return what both say to whoever knows everything else about a person."""
        shown = less_one(self.side, self.rows).get(self.target)
        return self._joined(OTHERS, {"first": self._believed({}), "second": self._read(shown)})

    def by_facts(self) -> Joined:
        """Return what the model says about what the table shows of people known by a few facts."""
        records = found_by_facts(self.side, self.rows, self.side.known)
        if records is None:
            return self._joined("facts", {})
        shown = {n: said(in_terms(self.side, n), records) for n in self.published.model.features
                 if n in self.side.reading.names and n not in self.side.known}
        return self._joined("facts", {"first": self._believed({}, facts_only=True),
                                      "second": self._read(records),
                                      "first helped": self._believed(shown, facts_only=True)})

    def _joined(self, knowledge: str, told: Mapping[str, Floats | None]) -> Joined:
        usable = {way: belief for way, belief in told.items() if belief is not None}
        scored = np.arange(self.rows.size) >= self.learned[0].size
        return put_together(self.target, knowledge, self.domain, usable, self.rows, scored)

    def _read(self, records: Records | None) -> Floats | None:
        if records is None or self.target not in self.side.reading.names:
            return None
        return beliefs(self.side, self.target, self.domain, records, self.learned)

    def _believed(self, shown: Mapping[str, Values], facts_only: bool = False) -> Floats:
        """Return what the model's answers say, as known people teach."""
        answers = self._answers(shown, facts_only)
        truth = self.domain.truth.take(self.rows)
        reading = Reading(People({self.target: truth}, self.rows.size),
                          People({self.target: answers}, self.rows.size), None,
                          {self.target: Scale()}, {self.target: ""})
        places = [np.array([i]) for i in range(self.rows.size)]
        asked = replace(self.side, reading=reading)
        half = np.arange(self.learned[0].size)
        here = replace(self.domain, truth=truth)
        return beliefs(asked, self.target, here, places, (half, places[:half.size]))

    def _answers(self, shown: Mapping[str, Values], facts_only: bool) -> Values:
        """Ask the model about everybody: with their own inputs, or with those that were found."""
        data = inputs_of(self.published, self.table, self.rows)
        for name in data:
            if name in shown:
                data[name] = _like(shown[name], data[name].type)
            elif facts_only and name not in self.side.known:
                data[name] = _commonest(data[name])
        said_by_model = self.published.answers(data)
        if not self.published.classifies:
            return Numbers(said_by_model[:, 0], said_by_model[:, 0])
        truth = self.domain.truth
        assert isinstance(truth, Labels)
        place = {name: i for i, name in enumerate(truth.names)}
        codes = np.array([place.get(name, -1) for name in self.published.classes], np.int64)
        return Labels(codes[said_by_model.argmax(axis=1)], truth.names)


def _truth(table: Table, target: str) -> Values:
    from unspoken.audit.people.comparable import people_of

    return people_of(table, [target]).columns[target]


def _like(values: Values, kind: Any) -> Any:
    """Return what was read off records as a model takes it."""
    if isinstance(values, Labels):
        names = pa.array([*values.names, None], pa.string())
        return names.take(pa.array(np.where(values.codes < 0, len(values.names), values.codes)))
    numbers = pa.array(values.middle, pa.float64(), from_pandas=True)
    return numbers if pa.types.is_floating(kind) else \
        pa.compute.round(numbers).cast(kind, safe=False)


def _commonest(column: Any) -> Any:
    """Return the most frequent value for everybody: the adversary knows no better."""
    counts = pa.compute.value_counts(column)
    best = counts.field("values")[int(np.argmax(counts.field("counts").to_numpy()))]
    return pa.array([best.as_py()] * len(column), column.type)
