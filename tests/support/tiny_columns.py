"""Tiny worlds of tasks over columns: the same records at two sites, the class at the first."""

from __future__ import annotations

from itertools import product

import numpy as np

from support.brute_force import World
from support.tiny_rows import MOMENTS, OWN_SPOTS, SPOTS, linear, near
from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite, own_questions
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.pooled_columns import pooled_boost_columns
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.pooled import pooled as clustered
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.naive_bayes.params import BayesLayout
from unspoken.joint.tasks.naive_bayes.pooled import pooled as learned
from unspoken.joint.tasks.network.params import NetworkSite, Node, Order
from unspoken.joint.tasks.network.pooled import pooled as connected
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.pooled import pooled as outlying
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled as grown
from unspoken.joint.tasks.tree.tree_sites import TreeShape

SAME = {"same_order": True}
BITS = list(product((0, 1), repeat=4))


def equality(own, other):
    """Return which records have equal values in the other's column."""
    return tuple(other[i] == other[j] for i in range(len(other)) for j in range(i))


EQUAL = {"equality of values in a column": equality}


def texts(codes, words=("u", "v", "w")):
    """Return codes as categories."""
    return np.array(words, object)[list(codes)]


# One owner's records, classified ------------------------------------------------------------

def by_model(own, other):
    """Return the class that a model gives to a record's category: the model is own."""
    return own[other]


ASKED = {"target": "class", "classes": ["n", "y"], "columns": ["a"],
         "categories.a": ["u", "v", "w"], "model": "north", "asks": "south"}
CLASSIFY = World("classify", ASKED, list(product((0, 1), repeat=3)), range(3), by_model,
                 {"values of records": lambda a, b: b})


def by_parts(own, other):
    """Return the class by a tree that asks both sites: own value and the other's, three answers."""
    return int(own == 1 or other == 2)


CLASSIFY_COLUMNS = World("classify-columns", {"class_site": "north", **SAME}, (0, 1), range(3),
                         by_parts, {"values of records": lambda a, b: b})


# Models learned from labelled records, for one new one --------------------------------------

CLASSES = np.array(["n", "y"], object)
LABELLED = [(0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 1, 0)]
VALUES = list(product((0, 1, 2), repeat=5))[::2]
NEW = {"equality of values with those of new records": lambda a, b: b[3] == b[-1]}


def bayes_class(own, other):
    """Return the predicted class of the last record; own are the classes of the others."""
    layout = BayesLayout((Attribute("a", ("u", "v", "w")),), ("n", "y"))
    model = learned(layout, {"a": texts(other[:-1]), "class": CLASSES[list(own)]})
    return str(model.predict({"a": texts(other[-1:])})[0])


def tree_of(own, other, rules=None):
    """Return the tree that the other's column and own classes give."""
    layout = TreeLayout((Attribute("a", ("u", "v", "w")),), ("n", "y"))
    columns = {"a": texts(other[:len(own)]), "class": CLASSES[list(own)]}
    return grown(layout, columns, rules or TreeParams(max_depth=1, most=64))


def tree_class(own, other):
    """Return the class of the last record by that tree."""
    return str(tree_of(own, other).predict({"a": texts(other[-1:])})[0])


TREE = {"target": "class", "classes": ["n", "y"], "class_site": "north", "slots": 2,
        "branches": 3, "max_depth": 1, **SAME}
BAYES = World("bayes-columns", {"target": "class", "classes": ["n", "y"], "class_site": "north",
                                "north": [2], "south": [3], **SAME}, [(0, 0, 1), (1, 0, 0)],
              list(product((0, 1, 2), repeat=4)), bayes_class,
              {"equality of values with those of new records": lambda a, b: b[2] == b[-1]})
HIDDEN_TREE = World("tree-columns", {**TREE, "structure": "hidden"}, LABELLED, VALUES, tree_class,
                    NEW)
HIDDEN_FOREST = World("forest-columns", {**TREE, "trees": 1}, LABELLED, VALUES, tree_class, NEW)


def whole_tree(own, other):
    """Return the tree, more of it than any one site sees."""
    return str(tree_of(own, other).to_json())


KNOWN_TREE = World("tree-columns", TREE, [(0, 0, 1), (0, 1, 1)],
                   list(product((0, 1, 2), repeat=3)), whole_tree, EQUAL)


def boosted(own, other):
    """Return which site asks at every node of the first boosted tree, and the numbers of leaves."""
    site = BoostSite(own_questions({"a": texts(other)}, (), 1), {"a": texts(other)})
    labelled = BoostSite((), {}, CLASSES[list(own)])
    parts = pooled_boost_columns({"north": labelled, "south": site},
                                 TreeShape(("n", "y"), "north", 3, 2), TreeParams(max_depth=1),
                                 Boost(rounds=1))
    [tree], [numbers] = parts["north"].trees, parts["north"].numbers
    return (*tree.owner.tolist(), *numbers.tolist()), site, parts


def counts_in_leaves(own, other):
    """Return how many records of each class reach each leaf."""
    _, site, parts = boosted(own, other)
    asked = parts["south"].trees[0].asked
    sides = asked[0].answers(site.columns["a"]) if asked else np.zeros(len(own), int)
    return tuple(np.bincount(2 * sides + np.array(own), minlength=4).tolist())


BOOSTED = World("boosted-trees-columns", {"target": "class", "classes": ["n", "y"],
                                          "class_site": "north", "slots": 3, "max_depth": 1,
                                          "rounds": 1, **SAME}, [(0, 0, 1), (0, 1, 1)],
                list(product((0, 1, 2), repeat=3)), lambda own, other: boosted(own, other)[0],
                {**EQUAL, "how many records of each class reach a leaf": counts_in_leaves})


# Structure, clusters, outliers --------------------------------------------------------------

def parents(own, other):
    """Return whether the network joins both columns."""
    order = Order((Node("a", "north", 2), Node("b", "south", 2)))
    sites = {"north": NetworkSite(np.array([own])), "south": NetworkSite(np.array([other]))}
    return str(connected(sites, order).to_json())


NETWORK = World("network", {"order": ["a", "b"], "site.a": "north", "site.b": "south",
                            "values.a": 2, "values.b": 2, **SAME}, [(0, 1, 1), (0, 0, 1)],
                list(product((0, 1), repeat=3)), parents, EQUAL)


def clusters(own, other):
    """Return the cluster of every record, and the centres in one's own column."""
    rules = KMeansParams(k=2, iterations=4)
    centres, assigned = clustered([np.array(own, float)[:, None], np.array(other, float)[:, None]],
                                  rules)
    return (*assigned.tolist(), *near(centres[:, 0]))


KMEANS = World("kmeans-columns", {"columns": ["north:x", "south:y"], "k": 2, **SAME},
               [(0, 0, 3, 3), (0, 1, 0, 4)], list(product((0, 1, 3), repeat=4)), clusters, EQUAL)


def flags(own, other):
    """Return which objects are outliers."""
    rows = np.column_stack([own, other]).astype(float)
    return tuple(outlying(rows, OutlierParams(p=0.6, distance=1.2)).flags.tolist())


OUTLIERS = World("outliers-columns", {"columns": ["north:x", "south:y"], "p": 0.6,
                                      "distance": 1.2, **SAME}, [(0, 1, 0, 1), (0, 1, 2, 0)],
                 list(product((0, 2), repeat=4)), flags, EQUAL)


# Models over columns: own are (x, y), the other's is z --------------------------------------

def joined(own, other):
    """Return rows of both, the response last."""
    x, y = np.array(own).T
    return tuple(zip(x, other, y, strict=True))


def model_of_columns(own, other):
    """Return what a linear model over both columns opens."""
    return linear(("x", "z"))((), joined(own, other))


def moments(own, other):
    """Return mean, deviation, and products with own columns, of the other's column."""
    z = np.array(other, float)
    x, y = np.array(own, float).T
    cross = [((z - z.mean()) * (v - v.mean())).sum() for v in (x, y)]
    return near(z.mean(), 6), near(z.std(), 6), near(cross, 6)


COLUMN_MOMENTS = {"column means": lambda a, b: moments(a, b)[0],
                  "column deviations": lambda a, b: moments(a, b)[1],
                  "column correlations": lambda a, b: moments(a, b)[2]}
MODEL = {"response": "y", "held": "north", "columns": ["north:x", "south:z"], **SAME}
OWN_COLUMNS = [((0, 1), (1, 0), (2, 2), (3, 1), (1, 3)), ((0, 0), (2, 1), (1, 1), (5, 2), (4, 0))]
OTHER_COLUMN = list(product((1, 2, 4), repeat=5))[::2]
REGRESSION = World("regression-columns", MODEL, OWN_COLUMNS, OTHER_COLUMN, model_of_columns,
                   COLUMN_MOMENTS)
# The first owner has rows, and two others columns of other records, whose number is opened.
MIXED = World("regression-columns", {"response": "y", "held": "east", "columns": ["south:x"],
                                     "having_rows": ["north"], **SAME}, OWN_SPOTS, SPOTS,
              lambda own, other: None if linear(("x",))(own, other) is None else (
                  len(other), *linear(("x",))(own, other)),
              {name: MOMENTS[name] for name in ("means", "deviations", "correlations")},
              ("north", "south", "east"), about=("south", "east"))
RESIDUALS = World("residuals-columns", {**MODEL, "groups": 2, "group": 5}, OWN_COLUMNS,
                  OTHER_COLUMN, model_of_columns, COLUMN_MOMENTS)


def odds_of_columns(own, other):
    """Return what a logistic model of the other's column opens; own is the response."""
    z, y = np.array(other, float), np.array(own, float)
    if any(len(set(y[z == value])) < 2 for value in (0, 1)):
        return None
    model = pooled_logistic(RegressionTerms("y", ("z",)), {"z": z, "y": y})
    return near([model.intercept, *model.coefficients, *model.errors], 5)


LOGISTIC = World("logistic-columns", {"response": "y", "held": "north", "columns": ["south:z"],
                                      **SAME}, [(0, 1, 0, 1, 1), (0, 0, 1, 1, 0)],
                 list(product((0, 1), repeat=5)), odds_of_columns,
                 {"counts of values beside one's own": lambda a, b: tuple(sorted(
                     zip(a, b, strict=True)))})


def frequent(own, other):
    """Return which of a, b and ab are in four fifths of the baskets."""
    sets = own, other, [a and b for a, b in zip(own, other, strict=True)]
    return tuple(5 * sum(column) >= 4 * len(own) for column in sets)


RULES = World("rules-columns", {"items_north": ["a"], "items_south": ["b"], "support": 0.8,
                                "fewest": 1, **SAME}, BITS[7:], BITS, frequent,
              {"items of single baskets": lambda a, b: b})

COLUMN_WORLDS = {
    "classify": CLASSIFY, "classify-columns": CLASSIFY_COLUMNS, "bayes-columns": BAYES,
    "hidden tree": HIDDEN_TREE, "hidden forest": HIDDEN_FOREST, "tree-columns": KNOWN_TREE,
    "boosted trees": BOOSTED,
    "network": NETWORK, "kmeans-columns": KMEANS, "outliers-columns": OUTLIERS,
    "regression-columns": REGRESSION, "rows beside columns": MIXED,
    "residuals-columns": RESIDUALS,
    "logistic-columns": LOGISTIC, "rules-columns": RULES}
