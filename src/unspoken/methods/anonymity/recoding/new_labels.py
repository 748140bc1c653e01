"""The labels of a level, for the values of a hierarchy and for values that it has not seen.

A value that was not seen has a label where the labels themselves say what they hold: a band of
numbers, a month, year or decade of dates, a text whose hidden characters are stars, or one label
that holds everything. Others are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from unspoken.methods.anonymity.exact_bands import inside
from unspoken.methods.anonymity.hierarchy import ALL, Hierarchy
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded, coded

_BAND = re.compile(r"^\[(-?[\d.e+-]+), (-?[\d.e+-]+)([)\]])$")


def own_labels(column: Any, tree: Hierarchy) -> Any:
    """Return texts as their lines in the hierarchy write them: classes are counted by these."""
    values = coded(column)
    texts = [_own(str(value), tree) for value in values.values()]
    if is_number(values.labels.type) or texts == values.values():
        return column
    return pa.array([*texts, None], pa.string()).take(pa.array(values.codes))


def _own(text: str, tree: Hierarchy) -> str:
    return text.strip() if text not in tree.place and text.strip() in tree.place else text


def raised(name: str, values: Coded, tree: Hierarchy, level: int) -> Any:
    """Return the labels of a level; missing joins a label that holds everything."""
    labels: list[str | None] = [tree.label(int(at), level)
                                for at in tree.places(name, values.values())]
    return _taken(values, tree, level, labels)


def relabelled(name: str, values: Coded, tree: Hierarchy, level: int) -> Any:
    """Return the labels of new values; one whose label is not known is refused."""
    known = list(tree.leaves(level))
    labels: list[str | None] = []
    for value in values.values():
        seen = str(value) in tree.place or str(value).strip() in tree.place
        label = None if seen else _new_label(value, values.labels.type, known)
        labels.append(label or tree.label(int(tree.places(name, [value])[0]), level))
    return _taken(values, tree, level, labels)


def _new_label(value: Any, kind: Any, known: Sequence[str]) -> str | None:
    """Return the label that says of itself that it holds a value."""
    if len(known) == 1:
        return known[0]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        day = str(value)[:10]
        return next((one for one in (day, day[:7], day[:4], f"{day[:3]}0s") if one in known), None)
    if is_number(kind) and not pa.types.is_temporal(kind):
        return _band(value, known)
    return _starred(str(value), known)


def _band(value: Any, known: Sequence[str]) -> str | None:
    bands = ((label, _BAND.match(label)) for label in known)
    return next((label for label, match in bands
                 if match and inside(value, match[1], match[2], match[3] == "]")), None)


def _starred(text: str, known: Sequence[str]) -> str | None:
    """Return the one label with stars that agrees with a text in every other character."""
    fits = [label for label in known if ALL in label and len(label) == len(text)
            and all(a in (ALL, b) for a, b in zip(label, text, strict=True))]
    return fits[0] if len(fits) == 1 else None


def _taken(values: Coded, tree: Hierarchy, level: int, labels: list[str | None]) -> Any:
    everything = int(tree.ancestors[level].max(initial=0)) == 0
    texts = pa.array([*labels, tree.label(0, level) if everything else None], pa.string())
    return texts.take(pa.array(values.codes))
