"""The labels of a level, for the values of a hierarchy and for numbers that it has not seen."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded

_BAND = re.compile(r"^\[(-?[\d.e+-]+), (-?[\d.e+-]+)([)\]])$")


def raised(name: str, values: Coded, tree: Hierarchy, level: int) -> Any:
    """Return the labels of a level; missing joins a label that holds everything."""
    labels: list[str | None] = [tree.label(int(at), level)
                                for at in tree.places(name, values.values())]
    return _taken(values, tree, level, labels)


def relabelled(name: str, values: Coded, tree: Hierarchy, level: int) -> Any:
    """Return the labels of new values: a number that was not seen joins the band it lies in.

    A category that was not seen, or a number in no band, is refused.
    """
    number = is_number(values.labels.type)
    whole = int(tree.ancestors[level].max(initial=0)) == 0
    labels: list[str | None] = []
    for value in values.values():
        if str(value).strip() not in tree.place and whole:
            labels.append(tree.label(0, level))
            continue
        band = _band(float(value), tree, level) if number and \
            str(value).strip() not in tree.place else None
        labels.append(band or tree.label(int(tree.places(name, [value])[0]), level))
    return _taken(values, tree, level, labels)


def _band(value: float, tree: Hierarchy, level: int) -> str | None:
    for label in tree.leaves(level):
        match = _BAND.match(label)
        if match and float(match[1]) <= value and (
                value < float(match[2]) or (match[3] == "]" and value == float(match[2]))):
            return label
    return None


def _taken(values: Coded, tree: Hierarchy, level: int, labels: list[str | None]) -> Any:
    everything = int(tree.ancestors[level].max(initial=0)) == 0
    texts = pa.array([*labels, tree.label(0, level) if everything else None], pa.string())
    return texts.take(pa.array(values.codes))
