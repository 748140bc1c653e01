"""Boosted trees: second-order gains of plain gradients at every node of what came out."""

from __future__ import annotations

import numpy as np

from support import boosted_reference
from support.random_studies.plain_trees import CUTS, TOWNS, own_cuts
from support.random_studies.plain_trees import rows_questions as questions_of
from support.random_studies.trials import (
    NAMES,
    Trial,
    by_rows,
    near,
    numbers,
    same,
    together,
    words,
)
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.tree.params import TreeParams

UNIT = 2.0**-12


def draw_boosted(random):
    """Boosted trees over rows: every question and every number of every tree."""
    rows = int(random.integers(12, 60))
    table = {"age": numbers(random, rows, 3.0), "town": words(random, rows, TOWNS),
             "sex": words(random, rows, ("f", "m"))}
    table["age"][::5] = random.choice(CUTS, len(table["age"][::5]))
    table["class"] = ["yes" if (a > 0.5) != (random.random() < 0.2) else "no" for a in table["age"]]
    files = by_rows(random, table, NAMES)
    rounds, depth = int(random.integers(1, 4)), int(random.integers(1, 4))
    rate, penalty = float(random.choice([0.3, 1.0])), float(random.choice([0.5, 1.0, 3.0]))
    parameters = {"target": "class", "classes": ["no", "yes"], "cuts.age": list(CUTS),
                  "attributes": ["age", "town", "sex"], "categories.town": list(TOWNS),
                  "categories.sex": ["f", "m"], "max_depth": depth, "most": 4096,
                  "rounds": rounds, "rate": rate, "penalty": penalty}

    def check(outputs):
        yes = (together(files, "class") == "yes").astype(float)
        for found in outputs.values():
            yield same("trees", len(found.trees), rounds)
            odds = np.zeros(rows)
            for tree in found.trees:
                p = 1 / (1 + np.exp(-np.clip(odds, -6, 6)))
                followed = Boosted(questions_of(files), p - yes, p * (1 - p), depth, rate, penalty)
                followed.node(tree, 0, np.ones(rows, bool), 0)
                odds = odds + followed.added
                yield followed.worst()

    return Trial("boosted-trees", parameters, files, check)


class Boosted:
    """Follows one boosted tree; gradients are rounded to 2^-12, which moves gains a little."""

    def __init__(self, questions, g, h, depth, rate, penalty):
        self.questions, self.g, self.h, self.depth = questions, g, h, depth
        self.rate, self.penalty, self.added = rate, penalty, np.zeros(g.size)
        self.errors, self.bounds = [], []

    def ratio(self, here):
        """Return G / (H + penalty), and how far rounding may move it."""
        below = self.h[here].sum() + self.penalty
        ratio = self.g[here].sum() / below
        return ratio, here.sum() * UNIT * (1 + abs(ratio)) / below + 4e-6

    def worth(self, groups):
        """Return the worth of groups, and how far rounding may move it."""
        parts = [(self.ratio(group), self.g[group].sum()) for group in groups]
        return (sum(ratio * g for (ratio, _), g in parts),
                sum(2 * off * (abs(g) + 1) for (_, off), g in parts) + 1e-5 * self.g.size)

    def node(self, tree, place, here, depth):
        """Judge a node and all below it."""
        none, blur = self.worth([here])
        scored = [self.worth(q.branches(here)) for q in self.questions]
        best = max(score - off for score, off in scored)
        if tree.feature[place] < 0:
            assert depth == self.depth or best <= none + blur
            self._leaf(float(tree.value[place][0]), here)
            return
        name = tree.features[int(tree.feature[place])]
        cut = None if name in tree.categories else float(tree.threshold[place])
        at = [(q.name, q.cut) for q in self.questions].index((name, cut))
        score, off = scored[at]
        assert depth < self.depth
        assert score + off >= best
        assert score + off >= none - blur
        first = int(tree.first_child[place])
        ways = tree.route[place] if cut is None else (0, 1)
        for way, group in zip(ways, self.questions[at].branches(here), strict=True):
            self.node(tree, first + way, group, depth + 1)

    def _leaf(self, number, here):
        ratio, off = self.ratio(here)
        self.errors.append(number + self.rate * ratio)
        self.bounds.append(self.rate * off)
        self.added[here] = number

    def worst(self):
        """Judge the numbers of all leaves."""
        return near("leaves", self.errors, np.zeros(len(self.errors)), self.bounds)


def draw_boosted_columns(random):
    """Boosted trees over columns, with missing values, in the reference of their own tests."""
    rows, points = int(random.integers(20, 60)), 3
    rounds, depth = int(random.integers(1, 3)), int(random.integers(1, 4))
    spread = []
    for site in range(2):
        number = numbers(random, rows, 3.0)
        if random.random() < 0.5:
            number[random.random(rows) < 0.3] = np.nan
        text = words(random, rows, TOWNS[:3 + 2 * site])
        known, listed = number[~np.isnan(number)], sorted(set(text))
        spread.append({
            f"n{site}": boosted_reference.number_column(f"n{site}", number, own_cuts(known, points)
                                                        or [0.0]),
            f"c{site}": boosted_reference.category_column(
                f"c{site}", text, listed[:1] if len(listed) == 2 else listed)})
    first = np.nan_to_num(spread[0]["n0"].values, nan=2.0)
    labels = np.where(first + random.normal(0, 1, rows) > 0.3, "yes", "no").astype(object)
    names = NAMES[:2]
    files = {name: {n: column.values for n, column in columns.items()}
             for name, columns in zip(names, spread, strict=True)}
    files["north"]["class"] = labels
    parameters = {"target": "class", "classes": ["no", "yes"], "class_site": "north", "slots": 16,
                  "max_depth": depth, "rounds": rounds, "cut_points": points, "same_order": True}

    def check(outputs):
        boosted_reference.follow(outputs, spread, labels, "north", TreeParams(max_depth=depth),
                                 Boost(rounds))
        yield same("trees", len(outputs["north"].trees), rounds)

    return Trial("boosted-trees-columns", parameters, files, check)


DRAWS = {"boosted-trees": draw_boosted, "boosted-trees-columns": draw_boosted_columns}
