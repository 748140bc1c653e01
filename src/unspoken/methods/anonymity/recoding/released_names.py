"""Hierarchies that were built from a table name its values: those of people left out are not told.

Labels of merged categories list their members; they do so over the records that are released, also
where such a hierarchy was saved and passed in again. Labels that somebody chose are published as
they are, and so are hierarchies that were built together with a population that others know. What
a description says about labels is ruled by `named_values`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Ints
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.hierarchy_builders import names_of_groups
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded

_OTHERS = re.compile(r"(.+) and (\d+) others")


def renamed(tree: Hierarchy, values: Coded, rows: Ints) -> Hierarchy:
    """Return a hierarchy whose merged categories are named by members that are released."""
    if is_number(values.labels.type) or values.missing == 0:
        return tree
    texts = [row[0] for row in tree.rows]
    counts = _released(texts, values, rows)
    merged = [_names([row[level] for row in tree.rows], counts, texts)
              for level in range(1, tree.levels)]
    tops = [row[-1] for row in tree.rows]
    return Hierarchy(tuple(zip(texts, *merged, tops, strict=True)))


def _released(texts: Sequence[str], values: Coded, rows: Ints) -> Ints:
    """Return how many released people hold each value of a hierarchy."""
    place = {text: at for at, text in enumerate(texts)}
    counts = np.zeros(len(texts), np.int64)
    held = np.bincount(values.codes[rows], minlength=values.missing + 1)
    for value, count in zip(values.values(), held, strict=False):
        at = place.get(str(value), place.get(str(value).strip()))
        if at is not None:
            counts[at] += count
    return counts


def _names(labels: Sequence[str], counts: Ints, texts: Sequence[str]) -> list[str]:
    """Name the groups of a level; one of which nobody is released keeps its name."""
    members: dict[str, list[int]] = {}
    for at, label in enumerate(labels):
        members.setdefault(label, []).append(at)
    shown = {label: [at for at in group if counts[at]] for label, group in members.items()
             if _lists_members(label, [texts[at] for at in group])}
    names = names_of_groups(list(shown.values()), counts, texts)
    name = {label: names[group[0]] for label, group in shown.items() if group}
    return [name.get(label, label) for label in labels]


def _lists_members(label: str, members: Sequence[str]) -> bool:
    """Return whether a label was made of the names of its members, and nobody chose it."""
    match = _OTHERS.fullmatch(label)
    if match and match[1] in members and int(match[2]) == len(members) - 1:
        return True
    return sorted(label.split(" | ")) == sorted(members)
