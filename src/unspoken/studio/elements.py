"""Markup that cannot be forged: every text is escaped unless it was built here.

`el("p", name)` escapes the name, whatever it holds, and returns `Markup`; what is `Markup` already
goes in as it is. So a hostile file name, column name or cell is text wherever it ends up.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from unspoken.report.markup import breakable, escape

_EMPTY = frozenset(("input", "br", "meta", "link", "img", "hr", "wbr", "circle", "rect", "line",
                    "path", "polyline"))


class Markup(str):
    """Text that is markup already: only this module and the charts make it."""

    __slots__ = ()


Child = Any
"""A text, a number, Markup, None for nothing, or several of these."""


def el(name: str, /, *inside: Child, **attributes: Any) -> Markup:
    """Return an element; `class_` and `for_` stand for class and for, `_` for a hyphen."""
    head = f"<{name}{_attributes(attributes)}"
    return Markup(f"{head}/>" if name in _EMPTY else f"{head}>{joined(inside)}</{name}>")


def joined(inside: Iterable[Child]) -> Markup:
    """Return parts one after the other, with every text escaped."""
    return Markup("".join(_part(one) for one in inside))


def wrapped(text: object) -> Markup:
    """Return a text whose long words may break."""
    return Markup(breakable(text))


def whole(text: object) -> Markup:
    """Return a text that stays on one line, such as a time."""
    return el("span", str(text), class_="whole")


def _part(one: Child) -> str:
    if one is None or one is False:
        return ""
    if isinstance(one, Markup):
        return one
    if isinstance(one, str | int | float | PurePath):
        return escape(one)
    return joined(one)


def _attributes(values: dict[str, Any]) -> str:
    parts = []
    for name, value in values.items():
        plain = name.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(f" {plain}")
        elif value is not None and value is not False:
            parts.append(f' {plain}="{escape(value)}"')
    return "".join(parts)
