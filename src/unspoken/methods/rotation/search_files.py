"""Questions to a store and what it sends back, as files (liu2006 section 2.1).

The question holds rotated queries and how many records are wanted. What comes back holds released
records that may belong to the answers, with their rows. Neither needs the key to be written by the
store; both show the store's side of the secret and nothing else. The store is believed: that it
looked everywhere, and changed nothing, is not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import ForeignKeyError, InputError, ReleaseError
from unspoken.methods.rotation.similarity_outsourcing import (
    Answer,
    Candidates,
    SimilarityOutsourcing,
    Store,
)
from unspoken.models.hostile_json import Fields, refuse
from unspoken.release.release import Release

ASKED, REPLIED = "unspoken-search-question", "unspoken-search-answer"
VERSION = 1
MOST = 1_000_000
"""Most queries of a question, and most records of an answer."""


@dataclass(frozen=True)
class Question:
    """Rotated queries to the store of one release, and how many records or how near they are."""

    release: str
    queries: Floats
    count: int | None = None
    radius: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the question as plain data."""
        return {"format": ASKED, "version": VERSION, "release": self.release,
                "columns": int(self.queries.shape[1]), "queries": self.queries.ravel().tolist(),
                "count": self.count, "radius": self.radius}

    @classmethod
    def from_json(cls, data: Any) -> Question:
        """Read a question; whatever is wrong with it is named."""
        fields = _opened(data, ASKED)
        columns = fields.whole("columns", 1, MOST)
        numbers = fields.floats("queries", None)
        if numbers.size == 0 or numbers.size % columns:
            refuse("queries", f"rows of {columns} numbers", f"{numbers.size} numbers")
        count = None if fields.raw("count") is None else fields.whole("count", 1, MOST)
        return cls(fields.text("release"), numbers.reshape(-1, columns), count,
                   _radius(fields, count))


def _radius(fields: Fields, count: int | None) -> float | None:
    radius = fields.raw("radius")
    if (radius is None) == (count is None):
        refuse("radius", "null where there is a count, and a number where there is none", radius)
    if radius is not None and (type(radius) not in (int, float) or not 0 <= radius < np.inf):
        refuse("radius", "a number >= 0", radius)
    return None if radius is None else float(radius)


@dataclass(frozen=True)
class Reply:
    """What a store sends back: candidates for every query of one question, in its order."""

    release: str
    candidates: tuple[Candidates, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the candidates as plain data."""
        return {"format": REPLIED, "version": VERSION, "release": self.release,
                "candidates": [{"rows": one.rows.tolist(), "records": one.records.ravel().tolist()}
                               for one in self.candidates]}

    @classmethod
    def from_json(cls, data: Any, columns: int, rows: int) -> Reply:
        """Read a reply about a release of so many columns and rows."""
        fields = _opened(data, REPLIED)
        some = [Fields(one, "candidates") for one in fields.items("candidates", MOST)]
        return cls(fields.text("release"), tuple(_candidates(one, columns, rows) for one in some))


def _candidates(fields: Fields, columns: int, rows: int) -> Candidates:
    places = fields.ints("rows", None, 0, rows - 1)
    records = fields.floats("records", places.size * columns)
    return Candidates(places, records.reshape(-1, columns))


def _opened(data: Any, kind: str) -> Fields:
    fields = Fields(data)
    if fields.text("format") != kind:
        refuse("format", kind, fields.text("format"))
    fields.whole("version", VERSION, VERSION)
    return fields


def ask(owner: SimilarityOutsourcing, queries: Floats, count: int | None = None,
        radius: float | None = None) -> Question:
    """Return the question of the owner; the store learns the rotated queries."""
    if (count is None) == (radius is None):
        raise InputError("A question needs a number of nearest records or a radius, and not both.")
    return Question(owner.key_.fingerprint, owner.rotated(queries), count, radius)


def answer(release: Release, question: Question) -> Reply:
    """Return what the store finds for a question; it needs no key."""
    if question.release != release.fingerprint:
        raise ReleaseError("The question is to the store of another release. Send it there.")
    store = Store(release)
    if question.queries.shape[1] != store.columns:
        refuse("columns", str(store.columns), question.queries.shape[1])
    if question.count is not None:
        return Reply(release.fingerprint, tuple(store.nearest(question.queries, question.count)))
    reach = 0.0 if question.radius is None else question.radius
    return Reply(release.fingerprint, tuple(store.within(question.queries, reach)))


def read_answer(owner: SimilarityOutsourcing, queries: Floats, question: Question,
                reply: Reply) -> Sequence[Answer]:
    """Return the records that the owner was asked for, mapped back; ties go to the lower row."""
    if reply.release != owner.key_.fingerprint or question.release != reply.release:
        raise ForeignKeyError("The question, the reply and the key must be of one release. "
                              "They are of several.")
    if len(reply.candidates) != queries.shape[0] or not np.array_equal(
            owner.rotated(queries), question.queries):
        raise InputError("The queries must be those of the question, in the same order. They are "
                         "others.")
    radius = np.inf if question.radius is None else question.radius
    return [owner.chosen(query, some, question.count or some.rows.size, radius)
            for query, some in zip(queries, reply.candidates, strict=True)]
