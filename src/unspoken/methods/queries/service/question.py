"""A question to the service, as JSON. `question_text` reads the same as one line of text.

    {"select": "mean", "column": "age", "where": "work = 'state'", "group": ["sex"]}
    {"select": "quantile", "column": "age", "at": 0.5}
    {"select": "histogram", "column": "age", "edges": [20, 40, 60]}

`select` is count, sum, mean, variance, quantile or histogram. Nothing is evaluated, every part is
bounded, and what is not known is refused.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unspoken.errors import InputError, explain, unknown
from unspoken.methods.queries.parse_conditions import parse
from unspoken.methods.queries.predicates import Predicate

KINDS = ("count", "sum", "mean", "variance", "quantile", "histogram")
FIELDS = ("select", "column", "where", "group", "at", "edges", "epsilon")
MAX_BYTES = 16_384
MILLION = 10**6
"""Parts that 'at' of a quantile is counted in."""
MAX_GROUPS, MAX_EDGES, MAX_PARTS = 3, 101, 60
LEAST_EPSILON, MOST_EPSILON = 1e-6, 100.0
"""Of one answer. Noise for less is wider than whole numbers of 64 bits are."""


@dataclass(frozen=True)
class Question:
    """What was asked, checked for form."""

    select: str
    column: str | None = None
    where: str | None = None
    group: tuple[str, ...] = ()
    at: float | None = None
    edges: tuple[float, ...] = ()
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.select not in KINDS:
            raise InputError(unknown("What is selected", self.select, KINDS))
        if (self.column is None) != (self.select == "count"):
            raise InputError("A count is over records and has no column." if self.column
                             else f"'{self.select}' needs a column.")
        if (self.at is None) != (self.select != "quantile"):
            raise InputError("'at' belongs to a quantile, and a quantile needs it, such as 0.5.")
        if self.edges and self.select != "histogram":
            raise InputError("'edges' belong to a histogram.")
        if self.select in ("quantile", "histogram") and self.group:
            raise InputError(f"A {self.select} is not grouped. Ask for each group with 'where'.")
        _check_numbers(self)
        _ = self.condition

    @cached_property
    def condition(self) -> Predicate | None:
        """Return the condition on records."""
        if self.where is None:
            return None
        found = parse(self.where)
        if found.nodes > MAX_PARTS:
            raise InputError(f"A condition must have at most {MAX_PARTS} parts. Ask for less at "
                             "once.")
        return found

    @cached_property
    def columns(self) -> frozenset[str]:
        """Return every column that the question names."""
        where = self.condition
        named = frozenset(self.group) | ({self.column} if self.column is not None else set())
        return named | (where.columns if where is not None else frozenset())

    def to_json(self) -> dict[str, Any]:
        """Return the question as plain data, without what it leaves out."""
        return {name: list(value) if isinstance(value, tuple) else value
                for name, value in ((name, getattr(self, name)) for name in FIELDS)
                if value not in (None, ())}

    @cached_property
    def identity(self) -> str:
        """Return a text that two questions share exactly if they ask the same."""
        where = self.condition
        return json.dumps({**self.to_json(), "where": None if where is None else str(where)},
                          sort_keys=True)


def _check_numbers(one: Question) -> None:
    if one.at is not None and not (_finite(one.at) and 0 < one.at < 1):
        raise InputError(explain("'at' of a quantile", "above 0 and below 1", one.at))
    if one.at is not None and abs(one.at * MILLION - round(one.at * MILLION)) > 1e-6:
        raise InputError(explain("'at' of a quantile", "a whole number of millionths", one.at))
    if one.epsilon is not None and not is_price(one.epsilon):
        raise InputError(explain("'epsilon' of a question", PRICES, one.epsilon))
    if len(one.group) > MAX_GROUPS or len(set(one.group)) != len(one.group):
        raise InputError(f"'group' must name at most {MAX_GROUPS} different columns.")
    edges = one.edges
    if edges and (not 2 <= len(edges) <= MAX_EDGES or not all(map(_finite, edges))
                  or any(low >= high for low, high in itertools.pairwise(edges))):
        raise InputError(f"'edges' must be 2 to {MAX_EDGES} increasing numbers.")


PRICES = "from 0.000001 to 100"


def is_price(value: Any) -> bool:
    """Return True for an epsilon that an answer may cost."""
    return _finite(value) and LEAST_EPSILON <= value <= MOST_EPSILON


def _finite(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def question_from_json(data: Any) -> Question:
    """Return the question that JSON data states; anything else in it is refused."""
    if not isinstance(data, Mapping):
        raise InputError("A question must be a JSON object, or a text such as \"select count() "
                         "where age > 30\".")
    for name in data:
        if name not in FIELDS:
            raise InputError(unknown("A field of a question", str(name)[:100], FIELDS))
    if not isinstance(data.get("select"), str):
        raise InputError(f"'select' must be one of {', '.join(KINDS)}.")
    return Question(data["select"], _name(data, "column"), _name(data, "where"),
                    tuple(_list(data, "group", str)), data.get("at"),
                    tuple(_list(data, "edges", int | float)), data.get("epsilon"))


def _name(data: Mapping[str, Any], field: str) -> str | None:
    value = data.get(field)
    if value is not None and not isinstance(value, str):
        raise InputError(f"'{field}' of a question must be a text.")
    return value


def _list(data: Mapping[str, Any], field: str, kind: Any) -> list[Any]:
    value = data.get(field, [])
    if not isinstance(value, list) or not all(isinstance(one, kind) for one in value):
        raise InputError(f"'{field}' of a question must be a list of "
                         f"{'names' if kind is str else 'numbers'}.")
    return value


def read_json(body: bytes) -> Any:
    """Read JSON from the other side: bounded, no double fields, no NaN."""
    if len(body) > MAX_BYTES:
        raise InputError(f"A question must be at most {MAX_BYTES} bytes long.")
    try:
        data = json.loads(body, object_pairs_hook=_once, parse_constant=_no_constant)
        # Half a character (a lone surrogate) can be escaped, but no answer could repeat it.
        json.dumps(data, ensure_ascii=False).encode()
        return data
    except (ValueError, RecursionError):
        raise InputError("A question must be valid JSON, with every field once.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(text)
