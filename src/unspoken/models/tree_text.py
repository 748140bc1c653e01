"""Drawing trees as text, once for all of them: children under their parent, leaves with a class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.models.labels import Label

SHOWN = 40
"""How many lines of a tree a summary has before it says how many nodes are left."""
LABELS = 4
"""How many categories of a branch a summary names."""
INDENTED = 64
"""Levels that are indented; deeper ones say their depth, or a hostile chain would fill memory."""


@dataclass(frozen=True)
class Drawing:
    """What drawing needs to know of a tree whose root is node 0.

    Attributes
    ----------
    nodes : int
        How many nodes there are.
    children : callable
        The children of a node in order; none at leaves.
    answer : callable
        What leads from a node to its first, second, ... child, such as "age <= 30".
    leaf : callable
        What a leaf predicts.
    """

    nodes: int
    children: Callable[[int], Sequence[int]]
    answer: Callable[[int, int], str]
    leaf: Callable[[int], str]

    def lines(self, most: int | None = None) -> list[str]:
        """Return one line per node below the root, depth first, at most `most` and a remark."""
        lines: list[str] = []
        # A stack, because trees may be deeper than Python recurses.
        waiting, seen = [(0, 0, "")], 0
        while waiting:
            if most is not None and len(lines) >= most:
                left = self.nodes - seen
                return [*lines, f"... {left:,} more node{'s' * (left != 1)}"]
            node, depth, answer = waiting.pop()
            below, seen = self.children(node), seen + 1
            parts = [part for part in (answer, "" if below else f"-> {self.leaf(node)}") if part]
            lines += [_indented(depth, " ".join(parts))] if parts else []
            waiting += [(below[side], depth + 1, self.answer(node, side))
                        for side in reversed(range(len(below)))]
        return lines


def _indented(depth: int, text: str) -> str:
    if depth <= INDENTED:
        return "  " * depth + text
    return "  " * INDENTED + f"[level {depth}] {text}"


def threshold_answer(name: str, side: int, threshold: str, missing_left: bool | None,
                     signs: tuple[str, str] = ("<=", ">")) -> str:
    """Return "age <= 30", with "or missing" where missing values go; None says nothing of them."""
    missing = " or missing" if missing_left is not None and missing_left == (side == 0) else ""
    return f"{name} {signs[side]} {threshold}{missing}"


def category_answer(name: str, labels: Sequence[str | None], full: bool) -> str:
    """Return "colour in {blue, red}"; a summary names the first few only."""
    names = ["missing" if label is None else label for label in labels]
    shown = names if full else names[:LABELS]
    return f"{name} in {{{', '.join(shown)}{', ...' * (len(shown) < len(names))}}}"


def leaf_text(classes: Sequence[Any], value: Sequence[float], rows: int, full: bool) -> str:
    """Return the class of a leaf with its share, or its number; and its rows where known (> 0)."""
    many = f"{rows:,} row{'s' * (rows != 1)}"
    if not classes:
        return number(value[0], full) + (f", {many}" if rows else "")
    best = int(np.argmax(value))
    share = f", {value[best]:.1%}" if rows or value[best] != 1.0 else ""
    return f"{classes[best]}{share}" + (f" of {many}" if rows else "")


def number(value: float, full: bool = False) -> str:
    """Return a number: nine digits in a summary, the shortest exact form in a full text."""
    return repr(float(value)) if full else f"{value:.9g}"


def join_lines(lines: Iterable[str]) -> str:
    """Join lines; what a terminal would obey (line breaks, escapes) is written out instead."""
    return "\n".join(line if line.isprintable() else "".join(map(_visible, line))
                     for line in lines)


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def tree_sections(trees: Sequence[Any], full: bool) -> list[str]:
    """Return the first tree of several as it is drawn, or all of them."""
    shown = trees if full else trees[:1]
    return [line for place, tree in enumerate(shown)
            for line in _titled(f"tree {place}: " if full else "first tree: ", tree._lines(full))]


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title + lines[0], *lines[1:]]


def class_line(classes: tuple[Label, ...], full: bool) -> list[str]:
    """Return the classes in one line, none for a regression."""
    shown = classes if full else classes[:8]
    more = ", ..." * (len(shown) < len(classes))
    return [f"classes: {', '.join(map(str, shown))}{more}"] if classes else []
