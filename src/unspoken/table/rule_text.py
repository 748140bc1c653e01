"""Rules as people write them: `bread, butter -> milk`; itemsets as `bread, butter`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any

from unspoken.errors import InputError, UnseenValueError, explain
from unspoken.table.baskets import Baskets

ARROW = "->"
Sides = tuple[tuple[int, ...], tuple[int, ...]]
"""The codes of the left and of the right side of a rule."""


def read_rule(text: str, items: Sequence[str]) -> Sides:
    """Read one rule over these items; a name with a comma or an arrow in it stands in quotes.

    Blanks around a name do not matter, unless two items differ in them alone.
    """
    parts = _split(text)
    if len(parts) != 2:
        raise InputError(explain("A rule", f"two sides around one '{ARROW}'", text,
                                 "Write it as 'a, b -> c'."))
    left, right = (tuple(_code(name, items) for name in side) for side in parts)
    return sides(left, right, len(items))


def sides(left: Iterable[int], right: Iterable[int], items: int) -> Sides:
    """Return the two sides of a rule in order; refuse what is no rule."""
    one, other = tuple(sorted(set(left))), tuple(sorted(set(right)))
    if not one or not other or set(one) & set(other):
        raise InputError(explain("A rule", "two sides with items, none on both", (one, other)))
    if min(*one, *other) < 0 or max(*one, *other) >= items:
        raise InputError(explain("The codes of a rule", f"from 0 to {items - 1}", (one, other)))
    return one, other


def set_or_rule(rule: Any, baskets: Baskets) -> Sides:
    """Return the codes of a rule, or of an itemset `a, b`, which has no right side."""
    parts = _split(rule) if isinstance(rule, str) else []
    if len(parts) != 1 or not parts[0]:
        return rule_of(rule, baskets)
    advice = "Check its spelling; a rule is written 'a, b -> c', an itemset 'a, b'."
    return tuple(sorted({_code(name, baskets.items, advice) for name in parts[0]})), ()


def rule_of(rule: Any, baskets: Baskets) -> Sides:
    """Return the codes of a rule that is a text or a pair of lists of names."""
    if isinstance(rule, str):
        return read_rule(rule, baskets.items)
    if not isinstance(rule, Sequence) or len(rule) != 2 or any(isinstance(s, str) for s in rule):
        raise InputError(explain("A rule", "a text such as 'a, b -> c' or two lists of names",
                                 repr(rule)))
    left, right = (baskets.code_of(*side) for side in rule)
    return sides(left, right, len(baskets.items))


def write_rule(rule: Sides, items: Sequence[str]) -> str:
    """Return a rule as `read_rule` reads it."""
    return f" {ARROW} ".join(", ".join(_quoted(items[c]) for c in side) for side in rule if side)


def _quoted(name: str) -> str:
    special = any(mark in name for mark in (",", '"', ARROW)) or name != name.strip()
    return '"' + name.replace('"', '""') + '"' if special else name


def _split(text: str) -> list[list[str]]:
    """Split at the arrow that stands outside quotes, then at commas."""
    pieces = text.split('"')
    pieces[::2] = [piece.replace(ARROW, "\n") for piece in pieces[::2]]
    return [next(csv.reader([side.strip()], skipinitialspace=True), [])
            for side in '"'.join(pieces).split("\n")]


def _code(name: str, items: Sequence[str], advice: str = "Check its spelling.") -> int:
    if name in items:
        return items.index(name)
    alike = [code for code, item in enumerate(items) if item.strip() == name.strip()]
    if len(alike) != 1 or not name.strip():
        raise UnseenValueError(explain("An item of a rule", f"one of the {len(items)} items",
                                       f"'{name}'", advice))
    return alike[0]
