"""What a tree-preserving release says of its groups, blocks and trees without naming rare values.

The rule is that of `named_values`. A group lists the members that it may name, and stands for the
others by its own label; a published tree speaks of the same names, so that growing it from the
release gives it bit by bit. A block is described by the cuts that part it from its neighbours,
halfway between two values, and only where both blocks hold at least k people: the ends of a block
are the exact numbers of single people, and the last one is that of the richest.

What leaks. Thresholds of the trees, as fu2010 section 3.2 has it, and which released label goes
where; not which rare categories are in a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.methods.anonymity.named_values import as_name, shown_in
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Group, Recoding
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.table.integer_columns import Coded

Groups = Mapping[str, Sequence[Group]]
Block = list[float | None]


def public_groups(column: Coded, recoding: Recoding, used: Ints, k: int) -> tuple[Group, ...]:
    """Return the groups with the members that may be named; the label stands for the others."""
    import pyarrow as pa

    counts = np.bincount(column.codes, minlength=column.size)
    often = {label for label, count in zip(column.labels, counts, strict=True) if count >= k}
    seen = shown_in(pa.array([recoding.groups[at][0] for at in used.tolist()], pa.string()))
    out: list[Group] = []
    for at, (label, members) in enumerate(recoding.groups):
        named = tuple(m for m in members if m is None or m in often or as_name(m) in seen)
        name = label if at in used or label is None or len(named) == len(members) else \
            f"{column.name} group {at + 1}"
        hidden = () if len(named) == len(members) else (_unlike(str(name), column.labels),)
        out.append((name, (*named, *hidden)))
    return tuple(out)


def _unlike(name: str, labels: Sequence[str | None]) -> str:
    while name in labels:
        name += "'"
    return name


def public_tree(tree: Any, groups: Groups, public: Groups) -> Any:
    """Return a tree that speaks of the names of the public groups; others stay as they are."""
    if not isinstance(tree, CategoricalTree):
        return tree
    for name in tree.categories:
        if name in public:
            tree = _renamed(tree, name, groups[name], public[name])
    return tree


def _renamed(tree: CategoricalTree, name: str, groups: Sequence[Group],
             public: Sequence[Group]) -> CategoricalTree:
    place = {label: at for at, label in enumerate(tree.categories[name])}
    of: dict[str | None, int] = {}
    for (_, members), (_, named) in zip(groups, public, strict=True):
        rest = [m for m in members if m not in named]
        of |= {m: place[m if m in members else rest[0]] for m in named}
    names = sorted(of, key=lambda m: (m is None, m or ""))
    return _over(tree, name, names, [of[m] for m in names])


def _over(tree: CategoricalTree, name: str, names: Sequence[str | None],
          places: Sequence[int]) -> CategoricalTree:
    """Return a tree with other categories of a column, each routed like the one at its place."""
    at = tree.features.index(name)
    route = tuple(tuple(way[one] for one in places) if tree.feature[node] == at and way else way
                  for node, way in enumerate(tree.route))
    return replace(tree, categories={**tree.categories, name: tuple(names)}, route=route)


def like_published(original: Any, published: Any) -> Any:
    """Return the tree of the original in the names of the published one.

    Categories that are not named are routed like one of the labels that stand for such; where the
    ways of both are not the same, the original is returned as it is, and differs.
    """
    if not isinstance(original, CategoricalTree) or not isinstance(published, CategoricalTree):
        return original
    for name in original.categories:
        if name in published.categories:
            original = _named_like(original, published, name)
    return original


def _named_like(original: CategoricalTree, published: CategoricalTree,
                name: str) -> CategoricalTree:
    own, shown = _ways(original, name), _ways(published, name)
    hidden = {way: m for m, way in own.items() if m not in shown}
    labels = [m for m in shown if m not in own]
    if {*hidden} != {shown[m] for m in labels}:
        return original
    place = {label: at for at, label in enumerate(original.categories[name])}
    places = [place[m] if m in own else place[hidden[shown[m]]] for m in shown]
    return _over(original, name, list(shown), places)


def _ways(tree: CategoricalTree, name: str) -> dict[str | None, tuple[int, ...]]:
    """Return for every category of a column where each node that asks about it sends it."""
    at = tree.features.index(name)
    asked = [tree.route[node] for node in np.flatnonzero(tree.feature == at).tolist()]
    return {label: tuple(way[place] for way in asked)
            for place, label in enumerate(tree.categories[name])}


def public_blocks(column: Coded, recoding: Recoding, used: Ints, k: int) -> list[Block]:
    """Return for every block with released records its value, and where it begins and ends."""
    assert column.values is not None
    assert recoding.representatives is not None
    owner, count = np.asarray(recoding.owner[:-1], np.int64), recoding.representatives.size
    held = np.bincount(column.codes, minlength=column.size + 1)[:-1]
    people = np.bincount(owner, held, count)
    cuts: list[float | None] = [None]
    for block in range(count - 1):
        low, high = column.values[owner == block].max(), column.values[owner == block + 1].min()
        enough = min(people[block], people[block + 1]) >= k
        cuts.append(float(low) / 2 + float(high) / 2 if enough else None)
    cuts.append(None)
    return [[float(recoding.representatives[block]), cuts[block], cuts[block + 1]]
            for block in sorted(used.tolist()) if block < count]
