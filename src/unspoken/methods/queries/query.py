"""A query as the guard sees it: whose values it is about, and the set of records it sums over."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Bools
from unspoken.errors import InputError, QueryLogError, explain
from unspoken.methods.queries.guard_settings import EXACT, NOISE, Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.parse_conditions import parse
from unspoken.methods.queries.predicates import All, Predicate, conjuncts
from unspoken.numerics.random import derive
from unspoken.numerics.record_bitsets import pack
from unspoken.release.parameters import Real

KINDS = ("count", "sum", "mean")
PUBLIC = "public"
"""The name of sums of public columns over public sets: anybody could have computed them."""
Where = Predicate | str | None


@dataclass(frozen=True)
class Query:
    """What was asked, in the words of the log."""

    kind: str
    column: str | None
    where: Predicate | None
    epsilon: float | None = None

    def __str__(self) -> str:
        what = self.kind if self.column is None else f"{self.kind} of {self.column}"
        return what if self.where is None else f"{what} where {self.where}"

    def to_json(self) -> dict[str, Any]:
        """Return the query as plain data."""
        return {"kind": self.kind, "column": self.column, "epsilon": self.epsilon,
                "where": None if self.where is None else str(self.where)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Query:
        """Read a query back from a log entry, whose chain has been checked."""
        try:
            where = data["where"]
            return cls(data["kind"], data["column"], None if where is None else parse(where),
                       data["epsilon"])
        except (KeyError, InputError):
            raise QueryLogError("The query log holds a query that cannot be read. It was written "
                                "by another version of unspoken.") from None


@dataclass(frozen=True, eq=False)
class Asked:
    """A query over known records: a sum of unknown values over a set that anybody may know.

    `unknown` names the values that are summed: of a column, or a yes or no. `hidden` is the part
    of the condition that looks at protected columns; `members` follow from the rest alone.
    """

    query: Query
    unknown: str
    hidden: Predicate | None
    members: Bools = field(repr=False)
    digest: str

    @property
    def size(self) -> int:
        """Return how many records are in the query set."""
        return int(np.count_nonzero(self.members))

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return what two queries share that always get the same answer, noise included."""
        return (self.unknown, "" if self.hidden is None else str(self.hidden), self.digest)


def make_query(kind: str, column: str | None, where: Where,
               epsilon: float | None = None) -> Query:
    """Return a query; a condition may be a text."""
    if epsilon is not None and not Real(0.0, 100.0).admits(epsilon):
        raise InputError(explain("'epsilon' of a query", "a number above 0 and below 100", epsilon))
    if where is not None and not isinstance(where, str | Predicate):
        raise InputError(explain("'where'", "a condition, its text or None",
                                 type(where).__name__, 'Such as "age > 30".'))
    predicate = parse(where) if isinstance(where, str) else where
    # What is asked is what the log can say: the text is read back before it is used.
    return Query(kind, column, None if predicate is None else parse(str(predicate)),
                 None if epsilon is None else float(epsilon))


def resolve(query: Query, rows: Rows, settings: Settings, secret: bytes) -> Asked:
    """Find the query set. Protected values are not looked at."""
    _refuse_identifiers(query, rows)
    if query.epsilon is not None and settings.audit != NOISE:
        raise InputError("'epsilon' of a query applies to noisy answers only. This guard has "
                         f"audit='{settings.audit}'.")
    known, hidden = _sides(query, settings)
    members = rows.meet(known)
    if query.column is not None and settings.audit not in (NOISE, EXACT):
        members = members & rows.values(query.column)[1]
    key = derive(secret, "sets")
    digest = hashlib.blake2b(pack(members).tobytes(), key=key, digest_size=32).hexdigest()
    return Asked(query, _unknown(query, hidden, settings), hidden, members, digest)


def _unknown(query: Query, hidden: Predicate | None, settings: Settings) -> str:
    """Name the values that are summed; noise is drawn for each name on its own."""
    if hidden is None and (query.column is None or (
            query.column in settings.public and settings.audit in (NOISE, EXACT))):
        return PUBLIC if query.column is not None else "count"
    if settings.audit == NOISE:
        spent = settings.each if query.epsilon is None else query.epsilon
        return f"{query.kind} of {query.column} at {spent!r}"
    return "yes or no" if query.column is None else f"sum of {query.column}"


def _refuse_identifiers(query: Query, rows: Rows) -> None:
    used = set() if query.where is None else set(query.where.columns)
    for name in sorted(used | ({query.column} if query.column is not None else set())):
        if rows.schema[name].role == "identifier":
            raise InputError(f"Column '{name}' is an identifier and cannot be queried: it "
                             "singles out one person.")


def _sides(query: Query, settings: Settings) -> tuple[Predicate | None, Predicate | None]:
    """Split a condition into what anybody may know and what looks at protected values."""
    parts = () if query.where is None else conjuncts(query.where)
    public = set(settings.public)
    known = [part for part in parts if part.columns <= public]
    hidden = [part for part in parts if not part.columns <= public]
    if settings.audit != NOISE:
        _refuse_what_cannot_be_audited(query, hidden, public)
    return _joined(known), _joined(sorted(set(hidden), key=str))


def _refuse_what_cannot_be_audited(query: Query, hidden: list[Predicate],
                                   public: set[str]) -> None:
    for part in hidden:
        if not part.columns.isdisjoint(public):
            raise InputError(
                "A condition must keep protected columns and others apart, joined by 'and' only. "
                f"Got '{str(part)[:100]}', which mixes them. Ask for each alternative on its own.")
    if hidden and query.column is not None:
        raise InputError(
            "A sum or a mean must be over a set that protected columns have no part in. Got a "
            f"condition on {sorted(set().union(*(p.columns for p in hidden)))}. "
            "Such conditions can be counted, with noise.")


def _joined(parts: list[Predicate]) -> Predicate | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else All(tuple(parts))
