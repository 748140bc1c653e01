"""The same boosted trees over columns from all sites' columns in one place, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite
from unspoken.joint.tasks.boosted_trees.column_gains import STEP, units
from unspoken.joint.tasks.boosted_trees.column_growth import OPENED
from unspoken.joint.tasks.boosted_trees.packed_slopes import ROUGH, Bits
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.boosted_part import BoostedPart
from unspoken.models.site_tree_part import TreePart


@dataclass
class PlainTree:
    """A tree as it grows: the question of every node (-1: none), and who is in it."""

    firsts: Bools
    sums: Floats
    question: list[int] = field(default_factory=lambda: [-1])
    first_child: list[int] = field(default_factory=lambda: [-1])
    rows: list[Bools] = field(default_factory=list)

    def split(self, node: int, question: int) -> list[int]:
        """Put a question in, and return the children."""
        here, yes = self.rows[node], self.firsts[question]
        self.question[node], self.first_child[node] = question, len(self.question)
        self.rows += [here & yes, here & ~yes]
        self.question += [-1, -1]
        self.first_child += [-1, -1]
        return [len(self.question) - 2, len(self.question) - 1]


def pooled_boost_columns(sites: Mapping[str, BoostSite], shape: TreeShape, rules: TreeParams,
                         boost: Boost) -> dict[str, BoostedPart]:
    """Return every site's part of the trees that all columns in one place give."""
    firsts = _first_answers(sites, shape)
    labels = sites[shape.class_site].fits(shape, shape.class_site).classes
    assert labels is not None
    odds, grown = np.zeros(labels.size), []
    for _ in range(boost.rounds):
        likely = 1 / (1 + np.exp(-np.clip(odds, -ROUGH.greatest, ROUGH.greatest)))
        tree = _tree(firsts, np.stack([likely - labels, likely * (1 - likely)]), rules, boost)
        numbers = _numbers(tree, boost)
        odds = odds + sum(tree.rows[leaf] * number for leaf, number in numbers.items())
        grown.append((tree, numbers))
    return {name: BoostedPart(
        tuple(_part(tree, shape, list(sites), name, site) for tree, _ in grown),
        tuple(np.array([numbers[leaf] for leaf in sorted(numbers)]) for _, numbers in grown)
        if name == shape.class_site else ()) for name, site in sites.items()}


def _first_answers(sites: Mapping[str, BoostSite], shape: TreeShape) -> Bools:
    """Return (questions of all sites, rows): who has the first answer; nobody in empty slots."""
    rows = next(iter(sites.values())).codes.shape[1]
    out = np.zeros((len(sites), shape.slots, rows), np.bool_)
    for place, site in enumerate(sites.values()):
        out[place, :len(site.questions)] = site.codes == 0
    return out.reshape(-1, rows)


def _tree(firsts: Bools, sums: Floats, rules: TreeParams, boost: Boost) -> PlainTree:
    """Grow one tree, level by level."""
    tree = PlainTree(firsts, sums, rows=[np.ones(firsts.shape[1], np.bool_)])
    level = [0]
    for _ in range(rules.max_depth):
        chosen = {node: _best(tree, node, rules, boost) for node in level}
        level = [child for node, question in chosen.items() if question >= 0
                 for child in tree.split(node, question)]
    return tree


def _best(tree: PlainTree, node: int, rules: TreeParams, boost: Boost) -> int:
    """Return the question of a node, -1 for none: the first of those that are worth most."""
    here, bits = tree.rows[node], Bits(tree.firsts.shape[1])
    if here.sum() < rules.min_records:
        return -1
    first = (tree.firsts & here) @ tree.sums.T
    total = tree.sums[:, here].sum(axis=1)
    worth = _worth(first, boost, bits) + _worth(total - first, boost, bits)
    scores = np.concatenate([[_worth(total, boost, bits)], worth])
    setback = STEP * int(here.sum()) * 2.0**-bits.ratio
    return int((scores - setback * np.arange(scores.size)).argmax()) - 1


def _worth(sums: Floats, boost: Boost, bits: Bits) -> Floats:
    return np.asarray(sums[..., 0] ** 2 / (sums[..., 1] + _penalty(boost, bits)))


def _penalty(boost: Boost, bits: Bits) -> float:
    return float(np.ldexp(units(boost.penalty, bits), -bits.fine))


def _numbers(tree: PlainTree, boost: Boost) -> dict[int, float]:
    """Return the number of every leaf, rounded as it is opened."""
    bits, out = Bits(tree.firsts.shape[1]), {}
    for leaf in (n for n, question in enumerate(tree.question) if question < 0):
        gradient, curvature = tree.sums[:, tree.rows[leaf]].sum(axis=1)
        number = -boost.rate * gradient / (curvature + _penalty(boost, bits))
        out[leaf] = float(np.ldexp(np.floor(np.ldexp(number, OPENED) + 0.5), -OPENED))
    return out


def _part(tree: PlainTree, shape: TreeShape, names: list[str], name: str,
          site: BoostSite) -> TreePart:
    """Return what a site knows of a tree."""
    asked: Ints = np.array(tree.question, np.int64)
    owner = np.where(asked >= 0, asked // shape.slots, -1)
    mine = np.flatnonzero(owner == names.index(name)).tolist()
    return TreePart(name, tuple(names), shape.classes, owner,
                    np.array(tree.first_child, np.int64), np.where(asked >= 0, 2, 0),
                    np.full(asked.size, -1, np.int64),
                    {node: site.questions[tree.question[node] % shape.slots] for node in mine})
