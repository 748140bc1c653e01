"""Trees, forests and their use: entropies of plain counts at every node of what came out."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np

from support.random_studies.trials import (
    NAMES,
    Trial,
    by_rows,
    numbers,
    owners_of,
    same,
    together,
    words,
)
from unspoken.joint.tasks.tree import hidden_steps

CLASSES = ("no", "yes", "rare")
CUTS = (-1.2, 0.0, 0.5, 1.2)
TOWNS = tuple(f"t{place}" for place in range(5))
# Per record and candidate: x ln x on shares is off by 3.5e-8 x, and later ones are set back.
NEAR = 6 * 3.5e-8


@dataclass(frozen=True)
class Question:
    """What is asked, and who gives which answer."""

    name: str
    cut: float | None
    answers: list

    def branches(self, here):
        """Return the records of every answer."""
        return [here & answer for answer in self.answers]


def by_number(name, values, cuts):
    """Return a question for every cut: at or below it, in float64, or above."""
    values = [float(v) for v in values]
    return [Question(name, cut, [np.array([v <= cut for v in values]),
                                 np.array([v > cut for v in values])]) for cut in cuts]


def by_category(name, values, categories):
    """Return the question for the category; none if there is one alone."""
    if len(categories) < 2:
        return []
    return [Question(name, None, [np.array([v == c for v in values]) for c in categories])]


def own_cuts(values, count):
    """Return cuts halfway between the values around a site's own quantiles."""
    distinct = sorted(set(map(float, values)))
    if len(distinct) < 2:
        return distinct
    cuts = set()
    for wanted in np.quantile(np.array(values, float), np.arange(1, count + 1) / (count + 1)):
        place = min(max(sum(v <= wanted for v in distinct), 1), len(distinct) - 1)
        low, high = distinct[place - 1], distinct[place]
        middle = low / 2 + high / 2
        cuts.add(middle if low <= middle < high else low)
    return sorted(cuts)


def _x_log_x(x):
    return x * np.log(x) if x > 0 else 0.0


def _counts(labels, weights, here):
    return [int(weights[here & (labels == name)].sum()) for name in CLASSES]


def worth(labels, weights, groups):
    """Return -|T| H(class | answer) of records in groups."""
    tables = [_counts(labels, weights, group) for group in groups]
    return sum(sum(map(_x_log_x, counts)) - _x_log_x(sum(counts)) for counts in tables)


def leaf_class(own, above):
    """Return the most frequent class; ties as in the parent, then the first."""
    return max(range(len(own)), key=lambda c: (own[c], above[c], -c))


class Followed:
    """Follows a tree that came out and judges every node of it."""

    def __init__(self, questions, labels, weights, depth, least, slots):
        self.questions, self.labels, self.weights = questions, labels, weights
        self.depth, self.least, self.slots = depth, least, slots

    def node(self, tree, place, here, above, depth):
        """Judge a node and all below; `tree(place)` is (question, children, class)."""
        asked, children, label = tree(place)
        counts = _counts(self.labels, self.weights, here)
        size = sum(counts)
        none = worth(self.labels, self.weights, [here])
        scores = [worth(self.labels, self.weights, q.branches(here)) for q in self.questions]
        near, may = NEAR * (self.slots + 1) * size, depth < self.depth and size >= self.least
        if asked is None:
            assert not may or max(scores, default=none) <= none + near
            assert label == CLASSES[leaf_class(counts, above)], (label, counts, above)
            return
        known = [(q.name, q.cut) for q in self.questions]
        assert asked in known, f"nobody has the question {asked}"
        at = known.index(asked)
        assert may
        assert scores[at] > none
        assert scores[at] >= max(scores) - near
        assert all(score < scores[at] + 1e-9 * size - 1e-10 or i == at or _apart(
            score, scores[at], size) for i, score in enumerate(scores[:at + 1]))
        for child, group in zip(children, self.questions[at].branches(here), strict=True):
            self.node(tree, child, group, counts, depth + 1)


def _apart(score, chosen, size):
    """Say whether an earlier question is worse than the chosen one."""
    return score < chosen - 1e-11 * max(1, size)


def _of_rows(tree):
    """Return a tree over rows as a function of its nodes."""
    def at(node):
        if tree.feature[node] < 0:
            return None, (), tree.classes[int(np.argmax(tree.value[node]))]
        name = tree.features[int(tree.feature[node])]
        first = int(tree.first_child[node])
        if name in tree.categories:
            return (name, None), [first + way for way in tree.route[node]], None
        return (name, float(tree.threshold[node])), [first, first + 1], None
    return at


def _of_parts(parts, class_site):
    """Return a tree over columns, put together from its parts."""
    shape = parts[class_site]

    def at(node):
        if shape.owner[node] < 0:
            return None, (), shape.classes[int(shape.leaf_class[node])]
        asked = parts[shape.sites[int(shape.owner[node])]].asked[node]
        first = int(shape.first_child[node])
        return ((asked.column, None if asked.categories else asked.cut),
                list(range(first, first + int(shape.children[node]))), None)
    return at


def _labels(random, age, town):
    """Return classes that follow the columns, one of them rare."""
    labels = ["yes" if (a > 0.5) != (t == "t0") else "no" for a, t in zip(age, town, strict=True)]
    flips = random.random(len(labels)) < random.choice([0.0, 0.2, 0.5])
    labels = [str(random.choice(CLASSES[:2])) if f else one
              for one, f in zip(labels, flips, strict=True)]
    labels[0] = "rare"
    return labels


def _rows_case(random):
    """Return files of owners, the parameters and what everybody has together."""
    owners, rows = owners_of(random), int(random.integers(12, 60))
    table = {"age": numbers(random, rows, 3.0), "town": words(random, rows, TOWNS),
             "sex": words(random, rows, ("f", "m"))}
    table["age"][::5] = random.choice(CUTS, len(table["age"][::5]))
    table["class"] = _labels(random, table["age"], table["town"])
    files = by_rows(random, table, owners)
    parameters = {"target": "class", "classes": list(CLASSES), "cuts.age": list(CUTS),
                  "attributes": ["age", "town", "sex"], "categories.town": list(TOWNS),
                  "categories.sex": ["f", "m"], "max_depth": int(random.integers(0, 4)),
                  "min_records": int(random.integers(1, 6)), "most": 4096}
    return files, parameters


def rows_questions(files):
    """Return all questions about the rows of all owners, in their order."""
    return [*by_number("age", together(files, "age"), CUTS),
            *by_category("town", together(files, "town"), TOWNS),
            *by_category("sex", together(files, "sex"), ("f", "m"))]


def _follow_rows(files, parameters, tree, weights):
    questions, labels = rows_questions(files), together(files, "class")
    followed = Followed(questions, labels, weights, parameters["max_depth"],
                        parameters["min_records"], len(questions))
    here = np.ones(labels.size, bool)
    followed.node(_of_rows(tree), 0, here, _counts(labels, weights, here), 0)


def draw_tree(random):
    """ID3 over rows; values at cut points, wide categories, a class of one record."""
    files, parameters = _rows_case(random)

    def check(outputs):
        for tree in outputs.values():
            _follow_rows(files, parameters, tree, np.ones(len(together(files, "class")), int))
            yield same("nodes", 0, 0)

    return Trial("tree", parameters, files, check)


def draw_forest(random):
    """Trees of rows that were drawn as the trial says; all attributes count at every node."""
    files, parameters = _rows_case(random)
    trees = int(random.integers(1, 4))
    drawn = {name: np.array([np.bincount(random.integers(0, len(part["age"]), len(part["age"])),
                                         minlength=len(part["age"])) for _ in range(trees)])
             for name, part in files.items()}

    def check(outputs):
        for forest in outputs.values():
            for place, tree in enumerate(forest.trees):
                weights = np.concatenate([each[place] for each in drawn.values()])
                _follow_rows(files, parameters, tree, weights)
            yield same("trees", len(forest.trees), trees)

    return Trial("forest", {**parameters, "trees": trees, "attributes_at_a_node": 3}, files, check,
                 given=lambda inputs: {name: replace(each, weights=drawn[name])
                                       for name, each in inputs.items()})


# Columns --------------------------------------------------------------------------------------

POINTS, SLOTS = 3, 8


def _columns_case(random, rows):
    """Return columns of three sites, and classes."""
    columns = {"north": {"age": numbers(random, rows, 3.0)},
               "south": {"town": words(random, rows, TOWNS), "flat": np.full(rows, 1.2)},
               "east": {"stay": numbers(random, rows, 3.0), "sex": words(random, rows, ("f", "m"))}}
    return columns, _labels(random, columns["north"]["age"], columns["south"]["town"])


def columns_questions(columns, rows):
    """Return all questions of sites; numbers are cut, and categories found, in some rows."""
    out = []
    for own in columns.values():
        for name, values in own.items():
            seen = [values[row] for row in rows]
            if isinstance(values[0], str):
                out += by_category(name, values, sorted(set(seen)))
            else:
                out += by_number(name, values, own_cuts(seen, POINTS))
    return out


def _columns_parameters(random, structure="known"):
    settings = {"target": "class", "classes": list(CLASSES), "class_site": "north", "slots": SLOTS,
                "branches": 5, "cut_points": POINTS, "same_order": True,
                "max_depth": int(random.integers(1, 3)), "min_records": int(random.integers(1, 5))}
    return settings if structure == "known" else {**settings, "max_depth": 2, "branches": 3}


def draw_tree_columns(random):
    """ID3 over columns of three sites: whose questions they are, and what they ask."""
    if random.random() < 0.4:
        return _hidden(random, "tree-columns", {"structure": "hidden"}, None)
    rows = int(random.integers(12, 60))
    columns, labels = _columns_case(random, rows)
    parameters = _columns_parameters(random)
    files = {name: {**own, **({"class": labels} if name == "north" else {})}
             for name, own in columns.items()}

    def check(outputs):
        known, ones = np.array(labels, object), np.ones(rows, int)
        followed = Followed(columns_questions(columns, range(rows)), known, ones,
                            parameters["max_depth"], parameters["min_records"], 3 * SLOTS)
        here = np.ones(rows, bool)
        followed.node(_of_parts(outputs, "north"), 0, here, _counts(known, ones, here), 0)
        yield same("nodes", 0, 0)

    return Trial("tree-columns", parameters, files, check)


class Unsure(Exception):
    """Two questions are too near to each other: rounding decides which is asked."""


def grown(questions, labels, weights, depth, least, slots, new):
    """Return the class of some records by the tree of the others; raises `Unsure`."""
    def node(here, asking, above, level):
        counts = _counts(labels, weights, here)
        size, none = sum(counts), worth(labels, weights, [here])
        scores = [worth(labels, weights, q.branches(here)) for q in questions]
        best = max(scores, default=none)
        near = NEAR * (slots + 1) * size
        if any(1e-9 * size < best - s <= 2 * near for s in (none, *scores)):
            raise Unsure
        if level == depth or size < least or best <= none + 1e-9 * size:
            out[asking] = CLASSES[leaf_class(counts, above)]
            return
        asked = next(q for q, s in zip(questions, scores, strict=True) if s >= best - 1e-9 * size)
        for group, those in zip(asked.branches(here), asked.branches(asking), strict=True):
            node(group, those, counts, level + 1)

    out = np.full(labels.size, "", object)
    old = ~new
    node(old, new, _counts(labels, weights, old), 0)
    return out[new]


def draw_forest_columns(random):
    """Hidden trees that vote, all slots counting; the class site's draws are the trial's."""
    trees = int(random.integers(1, 4))
    return _hidden(random, "forest-columns", {"trees": trees, "questions_at_a_node": 3 * SLOTS},
                   trees)


def _hidden(random, task, more, trees):
    """Return a study whose trees nobody sees: classes of new records, and none unsure."""
    while True:
        rows = int(random.integers(14, 40))
        columns, labels = _columns_case(random, rows)
        columns["south"]["town"] = [{"t0": "t0", "t1": "t1"}.get(t, "t2")
                                    for t in columns["south"]["town"]]
        labels = ["no" if label == "rare" else label for label in labels]
        new = random.random(rows) < 0.3
        new[:2] = True, False
        parameters = {**_columns_parameters(random, "hidden"), **more}
        drawn = np.ones((1, rows), int) if trees is None else _draws(random, new, trees)
        # A category that only new records have goes to the first answer.
        seen = {t for t, n in zip(columns["south"]["town"], new, strict=True) if not n}
        sexes = {t for t, n in zip(columns["east"]["sex"], new, strict=True) if not n}
        if seen != set(columns["south"]["town"]) or sexes != set(columns["east"]["sex"]):
            continue
        try:
            wanted = _voted(columns, labels, drawn, parameters, new)
            break
        except Unsure:
            continue
    shown = [None if gone else label for label, gone in zip(labels, new, strict=True)]
    files = {name: {**own, **({"class": shown} if name == "north" else {})}
             for name, own in columns.items()}

    def check(outputs):
        for result in outputs.values():
            yield same("rows", result["rows"], np.flatnonzero(new).tolist())
            yield same("classes", list(result.values())[1], wanted)

    def around() -> AbstractContextManager:
        return mock.patch.object(hidden_steps, "draw_rows", return_value=drawn[:, ~new])

    return Trial(task, parameters, files, check, around=around)


def _draws(random, new, trees):
    old, drawn = np.flatnonzero(~new), np.zeros((trees, new.size), int)
    for row in drawn:
        np.add.at(row, random.choice(old, old.size), 1)
    return drawn


def _voted(columns, labels, drawn, parameters, new):
    questions = columns_questions(columns, np.flatnonzero(~new))
    each = [grown(questions, np.array(labels, object), weights, parameters["max_depth"],
                  parameters["min_records"], 3 * SLOTS, new) for weights in drawn]
    votes = [[sum(one[row] == name for one in each) for name in CLASSES]
             for row in range(int(new.sum()))]
    return [CLASSES[count.index(max(count))] for count in votes]


# Use ------------------------------------------------------------------------------------------

def draw_classify_columns(random):
    """Records that walk a random tree of three sites; values at its cuts."""
    rows = int(random.integers(1, 25))
    columns, _ = _columns_case(random, rows)
    columns["north"]["age"][::2] = random.choice(CUTS, len(columns["north"]["age"][::2]))
    nodes = _random_tree(random, int(random.integers(1, 4)))
    way = str(random.choice(["together", "walking"]))
    parameters = {"class_site": "north", "same_order": True, "way": way}
    parts = {name: json.dumps(_part(nodes, place, name)) for place, name in enumerate(NAMES)}

    def check(outputs):
        wanted = [_walked(nodes, columns, row) for row in range(rows)]
        told = [result for result in outputs.values() if result is not None]
        assert told
        for result in told:
            yield same("classes", list(result.values())[1], wanted)

    return Trial("classify-columns", parameters, columns, check, beside=parts,
                 mode="sums" if way == "walking" else "dealer")


def _random_tree(random, depth):
    """Return nodes in breadth: (site, column, cut or categories, first child) or a class."""
    nodes, level = [], 0
    width = 1
    while width:
        below, first = 0, len(nodes) + width
        for _ in range(width):
            if level == depth or (level and random.random() < 0.3):
                nodes.append(int(random.integers(0, 3)))
                continue
            kind = int(random.integers(0, 3))
            asked = [(0, "age", float(random.choice(CUTS))), (1, "town", TOWNS),
                     (2, "stay", float(random.choice(CUTS)))][kind]
            nodes.append((*asked, first + below))
            below += 5 if kind == 1 else 2
        width, level = below, level + 1
    return nodes


def _part(nodes, place, name):
    """Return a site's part as it is written to a file."""
    inner = [not isinstance(node, int) for node in nodes]
    asked = [{"node": at, "column": node[1], "categories": list(node[2]) if node[0] == 1 else [],
              "cut": 0.0 if node[0] == 1 else node[2]}
             for at, node in enumerate(nodes) if inner[at] and node[0] == place]
    return {"format": "unspoken-tree-part", "version": 1, "site": name, "sites": list(NAMES),
            "classes": list(CLASSES), "nodes": len(nodes),
            "owner": [node[0] if i else -1 for node, i in zip(nodes, inner, strict=True)],
            "first_child": [node[3] if i else -1 for node, i in zip(nodes, inner, strict=True)],
            "children": [(5 if node[0] == 1 else 2) if i else 0
                         for node, i in zip(nodes, inner, strict=True)],
            "leaf_class": [-1 if i or place else node
                           for node, i in zip(nodes, inner, strict=True)], "asked": asked}


def _walked(nodes, columns, row):
    at = 0
    while not isinstance(nodes[at], int):
        site, column, asked, first = nodes[at]
        value = columns[NAMES[site]][column][row]
        at = first + (asked.index(value) if site == 1 else int(value > asked))
    return CLASSES[nodes[at]]


DRAWS = {"tree": draw_tree, "forest": draw_forest, "tree-columns": draw_tree_columns,
         "forest-columns": draw_forest_columns, "classify-columns": draw_classify_columns}
