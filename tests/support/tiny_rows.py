"""Tiny worlds of tasks over rows: all data sets of another owner, and what a party would see."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product
from math import exp

import numpy as np

from support.brute_force import World
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.pooled import pooled_boost
from unspoken.joint.tasks.forest.pooled import pooled_forest
from unspoken.joint.tasks.influence.pooled import pooled as influential
from unspoken.joint.tasks.kmeans.params import KMeansParams, totals
from unspoken.joint.tasks.kmeans.pooled import nearest
from unspoken.joint.tasks.kmeans.pooled import pooled as clustered
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.naive_bayes.opened_precision import bits_of
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.pooled import pooled as outlying
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.regression.pooled import pooled as fitted
from unspoken.joint.tasks.robust_regression.pooled import pooled as robust
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled as grown
from unspoken.joint.tasks.tree.program_rows import Given

THREE = ("north", "south", "east")


def bags(values, sizes):
    """Return all multisets of some values, of some sizes."""
    return [bag for size in sizes for bag in combinations_with_replacement(values, size)]


def near(values, digits=9):
    """Return numbers that can be compared."""
    return tuple(np.round(np.asarray(values, float), digits).ravel().tolist())


# Sums, sets, counts -------------------------------------------------------------------------

NUMBERS = bags((0, 1, 2), (1, 2))
SUM_OF_TWO = World("sum", {"columns": ["x"]}, NUMBERS, NUMBERS, lambda a, b: sum(a) + sum(b),
                   {"the sum of each column": lambda a, b: sum(b)})
SUM_OF_THREE = World("sum", {"columns": ["x"]}, NUMBERS, list(product(NUMBERS, NUMBERS)),
                     lambda a, b: sum(a) + sum(map(sum, b)),
                     {"the sum of each column": lambda a, b: sum(b[0])}, THREE)
NOISY_SUM = World("sum", {"columns": ["x"], "epsilon": 1.0, "range.x": [0, 2]}, NUMBERS, NUMBERS,
                  lambda a, b: (), {"the sum of each column": lambda a, b: sum(b)})
IDS = [frozenset(ids) for size in (1, 2, 3) for ids in combinations(range(4), size)]
COMMON = World("intersection", {"column": "id", "least": 0}, IDS, IDS,
               lambda a, b: (len(a & b), len(b)),
               {"membership of single ids": lambda a, b: a & b}, mode="sums")
LISTS = [frozenset(ids) for size in (2, 3) for ids in combinations(range(5), size)]
COMMON_LISTS = replace(COMMON, parameters={"column": "id", "least": 2}, own=LISTS, others=LISTS)

SOME = [frozenset(ids) for size in (1, 2, 3) for ids in combinations(range(3), size)]
UNITED = World("schema", {"columns": ["a"]}, SOME, SOME, lambda a, b: a | b,
               {"categories that it lacks itself": lambda a, b: b - a})
UNITED_OF_THREE = replace(UNITED, others=list(product(SOME, SOME)), owners=THREE,
                          sees=lambda a, b: a | b[0] | b[1], quantities={
                              "categories that it lacks itself": lambda a, b: b[0] - a})

# Preparation: descriptions, quantiles, bins ---------------------------------------------------

def described_by(*parts):
    """Return what a summary opens of all values."""
    values = [value for part in parts for value in part]
    return len(values), sum(values), sum(value**2 for value in values)


DESCRIBED = {"columns": ["x"], "range.x": [0, 2], "fewest": 1}
SUMMARY_PART = "the counts, the mean and the variance of each column"
SUMMARY_OF_TWO = World("summary", DESCRIBED, NUMBERS, NUMBERS, described_by, {
    SUMMARY_PART: lambda a, b: described_by(b), "values of records": lambda a, b: b})
SUMMARY_OF_THREE = World("summary", DESCRIBED, NUMBERS, list(product(NUMBERS, NUMBERS)),
                         lambda a, b: described_by(a, *b),
                         {SUMMARY_PART: lambda a, b: described_by(b[0])}, THREE)
NOISY_SUMMARY = World("summary", {"columns": ["x"], "range.x": [0, 2], "epsilon": 1.0}, NUMBERS,
                      NUMBERS, lambda a, b: (), {SUMMARY_PART: lambda a, b: described_by(b)})


def quarters_at(*parts):
    """Return the first whole numbers with a quarter, a half, three quarters at or below them."""
    values = [value for part in parts for value in part]
    return tuple(next(point for point in range(5) if 4 * sum(value <= point for value in values)
                      >= quarter * len(values)) for quarter in (1, 2, 3))


def shown_quarters(own, other):
    """Return the same without those that have less than one value on a side."""
    size = len(own) + len(other)
    return tuple(None if size * min(quarter, 4 - quarter) < 4 else point
                 for quarter, point in zip((1, 2, 3), quarters_at(own, other), strict=True))


FOUR_VALUES = bags((0, 1, 2, 3), (1, 2, 3))
QUARTERS = World("quantiles", {"columns": ["x"], "range.x": [0, 4], "bits": 2, "fewest": 1},
                 [(0, 1), (2,)], FOUR_VALUES,
                 shown_quarters,
                 {"the number of values at or below a quantile": lambda a, b: tuple(
                     sum(value <= point for value in b) for point in quarters_at(a, b)),
                  "values of records": lambda a, b: b})


def halves(values, edge):
    """Return how many values lie at or below an edge, and above it."""
    below = sum(value <= edge for value in values)
    return below, len(values) - below


BIN_PART = "the counts of each bin"
BINS_OF_TWO = World("bins", {"columns": ["x"], "cuts.x": [1.0], "fewest": 0}, NUMBERS, NUMBERS,
                    lambda a, b: halves((*a, *b), 1), {BIN_PART: lambda a, b: halves(b, 1)})
BINS_OF_THREE = World("bins", BINS_OF_TWO.parameters, NUMBERS, list(product(NUMBERS, NUMBERS)),
                      lambda a, b: halves((*a, *b[0], *b[1]), 1),
                      {BIN_PART: lambda a, b: halves(b[0], 1)}, THREE)
NOISY_BINS = replace(BINS_OF_TWO, parameters={"columns": ["x"], "cuts.x": [1.0], "epsilon": 1.0},
                     sees=lambda a, b: ())
BINS_AT_MEDIANS = World(
    "bins", {"columns": ["x"], "range.x": [0, 4], "bits": 2, "bins": 2, "fewest": 0},
    [(0, 1), (2,)], FOUR_VALUES,
    lambda a, b: (quarters_at(a, b)[1], *halves((*a, *b), quarters_at(a, b)[1])),
    {BIN_PART: lambda a, b: halves(b, quarters_at(a, b)[1]), "values of records": lambda a, b: b})


TABLES = list(product(range(4), repeat=4))
LARGE = [(5, 4, 6, 4), (4, 7, 5, 5), (8, 4, 4, 9)]
BAYES = {"target": "class", "classes": ["n", "y"], "columns": ["a"], "categories.a": ["u", "v"],
         "most": 4096}


def quotients(own, other):
    """Return shares of classes and of categories: counts are (class, category), flattened."""
    counts = np.add(own, other).reshape(2, 2)
    classes = counts.sum(axis=1)
    return np.vstack([classes / classes.sum(), (counts.T + 1) / (classes + 2)]), classes


def fine_quotients(own, other):
    """Return them with 20 bits."""
    return tuple(np.floor(quotients(own, other)[0] * 2.0**20).ravel().tolist())


def chosen_quotients(own, other):
    """Return them as finely as the sizes of classes allow, and these powers of two."""
    values, classes = quotients(own, other)
    powers = np.floor(np.log2(np.maximum(classes, 0.5))).astype(np.int64)
    steps = np.floor(values * 2.0 ** bits_of(powers, 2, 0))
    return (*powers.tolist(), *steps.ravel().tolist())


COUNTS = {"the counts of classes and categories": lambda a, b: b}
BAYES_FINE = World("bayes", {**BAYES, "bits": 20}, LARGE, TABLES, fine_quotients, COUNTS)
BAYES_CHOSEN = World("bayes", BAYES, LARGE, TABLES, chosen_quotients, COUNTS)
PAIRS = list(product(range(3), repeat=2))
BAYES_SUMS = World(
    "bayes", {**BAYES, "reveal": "sums"}, [(1, 0), (2, 1)], list(product(PAIRS, PAIRS)),
    lambda a, b: near(np.add(a, np.sum(b, axis=0))),
    {"the counts of classes and categories": lambda a, b: b[0]}, THREE, "sums")


# Clusters and outliers ----------------------------------------------------------------------

def centres(k):
    """Return what k-means opens: sizes and centres."""
    rules = KMeansParams(k=k, iterations=5)

    def sees(own, other):
        found, _ = clustered([np.array([*own, *other], float)[:, None]], rules)
        return (len(other), *np.floor(found.ravel() * 2.0**14).tolist())
    return sees


def parts_of_clusters(own, other):
    """Return the sums and sizes of another owner's part of the clusters."""
    rules = KMeansParams(k=2, iterations=5)
    found, _ = clustered([np.array([*own, *other], float)[:, None]], rules)
    units = np.array(other)[:, None]
    sums, counts = totals(units, nearest([units.astype(float)], [found], rules), 2)
    return (*sums.ravel().tolist(), *counts.tolist())


POINTS = bags((0, 1, 3, 4), (1, 2, 3))
ONE_CLUSTER = World("kmeans", {"columns": ["x"], "k": 1}, [(0, 1), (4,)], POINTS, centres(1),
                    {"the mean of each column": lambda a, b: near(np.mean(b))})
TWO_CLUSTERS = World("kmeans", {"columns": ["x"], "k": 2}, [(0, 4, 1), (3, 0, 0, 4)], POINTS,
                     centres(2), {"the sums and sizes of clusters": parts_of_clusters})


def outliers_among(own, other):
    """Return which objects of all are outliers."""
    rows = np.array([*own, *other], float)[:, None]
    return len(other), tuple(outlying(rows, OutlierParams(p=0.6, distance=1.5)).flags.tolist())


OUTLIERS = World("outliers", {"columns": ["x"], "p": 0.6, "distance": 1.5}, [(0, 1), (0, 3, 4)],
                 list(product((0, 1, 2, 4), repeat=2)), outliers_among,
                 {"values of objects": lambda a, b: b})


def lonely_among(own, other):
    """Return which objects of all have no neighbour near."""
    rows = np.array([*own, *other], float)[:, None]
    rules = OutlierParams(neighbours=1, distance=1.5)
    return len(other), tuple(outlying(rows, rules).flags.tolist())


LONELY = replace(OUTLIERS, parameters={"columns": ["x"], "neighbours": 1, "distance": 1.5},
                 own=[(0,)], others=list(product((0, 1, 4), repeat=2)), sees=lonely_among)
NEIGHBOURS = {"columns": ["x"], "target": "class", "classes": ["n", "y"], "k": 1}


def by_nearest(records, rows):
    """Return the class of the nearest row, of equally near ones the first: (value, class)."""
    return tuple(min(rows, key=lambda row: abs(row[0] - record))[1] for record in records)


ROWS_OF_TWO = list(product(product((0, 4), "ny"), repeat=2))
ASKING = World("neighbours", {**NEIGHBOURS, "asks": "north"}, [(0, 4), (1,)], ROWS_OF_TWO,
               lambda a, b: (len(b), by_nearest(a, b)),
               {"values of labelled rows": lambda a, b: tuple(sorted(row[0] for row in b)),
                "classes of labelled rows": lambda a, b: tuple(sorted(row[1] for row in b))})
ASKED_FOR = World("neighbours", {**NEIGHBOURS, "asks": "south"}, [((0, "n"), (4, "y"))],
                  [(0,), (1,), (4,)], lambda a, b: (len(b), by_nearest(b, a)),
                  {"values of records": lambda a, b: b})


def memberships(values):
    """Return what one owner adds to the first iteration of a mixture of two parts."""
    parts = np.array([[exp(-(x - c) ** 2) for c in (-0.5, 0.5)] for x in values])
    members = parts / parts.sum(axis=1, keepdims=True)
    x = np.array(values)[:, None]
    return near(np.concatenate([part.sum(axis=0) for part in (members, members * x,
                                                              members * x**2)]))


MIXED = bags((-0.9, 0.1, 0.4), (1, 2, 3))
MIXTURE = World(
    "mixture", {"columns": ["x"], "range.x": [-1, 1], "components": 2, "seed": 3,
                "two_agreed": True}, MIXED[:4], MIXED,
    lambda a, b: (len(a) + len(b), near(np.add(memberships(a), memberships(b)), 7)),
    {"number of records": lambda a, b: len(b),
     "the sums of memberships, numbers and squares of every cluster and iteration":
         lambda a, b: memberships(b)})


# Models -------------------------------------------------------------------------------------

def linear(columns, response="y"):
    """Return what a linear model opens."""
    terms = RegressionTerms(response, columns)

    def sees(own, other):
        table = np.array([*own, *other], float)
        if np.linalg.matrix_rank(np.column_stack([np.ones(len(table)), table[:, :-1]])) <= len(
                columns) or len(table) < len(columns) + 3:
            return None
        model = fitted(terms, dict(zip((*columns, response), table.T, strict=True)))
        return (model.records, *near([model.intercept, *model.coefficients, model.rss, model.tss,
                                      *model.errors], 7))
    return sees


def described(own, other):
    """Return means and deviations, and the correlation, of another's rows."""
    table = np.array(other, float)
    spread = table.std(axis=0)
    cross = (table - table.mean(axis=0)).T @ (table - table.mean(axis=0))
    return near(table.mean(axis=0), 6), near(spread, 6), near(cross, 6)


MOMENTS = {"number of records": lambda a, b: len(b),
           "means": lambda a, b: described(a, b)[0],
           "deviations": lambda a, b: described(a, b)[1],
           "correlations": lambda a, b: described(a, b)[2]}
SPOTS = bags(list(product((1, 2, 4), (0, 1, 3))), (2, 3))
OWN_SPOTS = [((1, 0), (2, 3), (4, 1)), ((2, 1), (2, 0), (1, 3), (4, 4))]
ONE_TERM = {"response": "y", "columns": ["x"]}
REGRESSION = World("regression", ONE_TERM, OWN_SPOTS, SPOTS, linear(("x",)), MOMENTS)
WIDE_SPOTS = bags(list(product((1, 3), (0, 2), (0, 1))), (2, 3))
OWN_WIDE = [((1, 0, 0), (3, 2, 1), (3, 0, 0), (1, 2, 0))]
REGRESSION_OF_TWO = World("regression", {"response": "y", "columns": ["x", "z"]}, OWN_WIDE,
                          WIDE_SPOTS, linear(("x", "z")), MOMENTS)
RESIDUALS = World("residuals", {**ONE_TERM, "synthetic": 10, "group": 5}, OWN_SPOTS, SPOTS,
                  linear(("x",)), {**MOMENTS, "values of records": lambda a, b: b})


def odds(own, other):
    """Return what a logistic model opens; None where classes can be separated."""
    table = np.array([*own, *other], float)
    if any(len(set(table[table[:, 0] == x, 1])) < 2 for x in (0, 1)):
        return None
    model = pooled_logistic(RegressionTerms("y", ("x",)), {"x": table[:, 0], "y": table[:, 1]})
    return (len(other), *near([model.intercept, *model.coefficients, *model.errors], 5))


CROSSES = bags(list(product((0, 1), (0, 1))), (2, 3))
LOGISTIC = World("logistic", ONE_TERM, [((0, 0), (1, 1), (0, 1)), ((0, 0), (0, 1), (1, 0), (1, 1))],
                 CROSSES, odds, {"number of records": lambda a, b: len(b),
                                 "values of records": lambda a, b: b,
                                 "counts of values of columns and of their pairs":
                                     lambda a, b: near(np.array(b).T @ np.array(b))})


def held_down(own, other):
    """Return what a robust model opens; None where residuals vanish."""
    table = np.array([*own, *other], float)
    if len({(x, y) for x, y in table.tolist()}) < 4:
        return None
    model = robust(RegressionTerms("y", ("x",)), {"x": table[:, 0], "y": table[:, 1]})
    return (len(other), *near([*model["coefficients"].values(), model["scale"]], 5))


ROBUST = World("robust", ONE_TERM, [((0, 0), (1, 1), (0, 1)), ((0, 0), (0, 1), (1, 0), (1, 1))],
               CROSSES, held_down, {"number of records": lambda a, b: len(b),
                                    "values of records": lambda a, b: b})


def influence(own, other):
    """Return the model, and which of its own records north learns to be far out."""
    model = linear(("x",))(own, other)
    if model is None:
        return None
    table = [{"x": np.array(part, float)[:, 0], "y": np.array(part, float)[:, 1]}
             for part in (own, other)]
    flags = influential(RegressionTerms("y", ("x",)), table)[0]
    return (len(other), model, *map(tuple, flags.values()))


INFLUENCE = World("influence", ONE_TERM, OWN_SPOTS, SPOTS, influence,
                  {"number of records": lambda a, b: len(b), "values of records": lambda a, b: b})
INFLUENCE_OF_CODES = replace(
    INFLUENCE, own=[((0, 0), (1, 1), (0, 1)), ((0, 0), (0, 1), (1, 0), (1, 1))], others=CROSSES,
    quantities={name: MOMENTS[name] for name in ("means", "deviations", "correlations")})


# Trees and rules ----------------------------------------------------------------------------

LAYOUT = TreeLayout((Attribute("a", ("u", "v")),), ("n", "y"))
RULES = TreeParams(max_depth=1, most=4096)
TREE = {"target": "class", "classes": ["n", "y"], "attributes": ["a"],
        "categories.a": ["u", "v"], "max_depth": 1, "most": 4096}


def rows_of(*tables):
    """Return coded rows from tables of counts, flattened (category, class)."""
    cells = np.repeat(np.arange(4), np.sum(tables, axis=0))
    return cells[None] // 2, cells % 2


def one_tree(own, other):
    """Return the tree of all rows."""
    codes, labels = rows_of(own, other)
    columns = {"a": np.array(["u", "v"], object)[codes[0]],
               "class": np.array(["n", "y"], object)[labels]}
    return str(grown(LAYOUT, columns, RULES).to_json()) if labels.size else None


def one_forest(own, other):
    """Return the forest of one tree of all rows, each drawn once."""
    codes, labels = rows_of(own, other)
    given = Given(codes, labels, weights=np.ones((1, labels.size), np.int64))
    return str(pooled_forest(LAYOUT, given, RULES, 1).to_json())


def one_boost(own, other):
    """Return the first boosted tree of all rows."""
    given = Given(*rows_of(own, other))
    return str(pooled_boost(LAYOUT, given, RULES, Boost(rounds=1, two_may_learn=True)).to_json())


CELLS = {"the counts of classes in a node": lambda a, b: b[:2]}
SMALL = [(1, 0, 0, 1), (2, 0, 0, 1), (1, 1, 1, 1)]
TREE_ROWS = World("tree", TREE, SMALL, TABLES, one_tree, CELLS)
FOREST = World("forest", {**TREE, "trees": 1}, SMALL, TABLES, one_forest, CELLS)
BOOSTED = World("boosted-trees", {**TREE, "rounds": 1, "two_may_learn": True}, SMALL, TABLES,
                one_boost, {"the sums of gradients of a leaf": lambda a, b: b})


def two_boosts(own, other):
    """Return the first two boosted trees of all rows."""
    given, boost = Given(*rows_of(own, other)), Boost(rounds=2, two_may_learn=True)
    return str(pooled_boost(LAYOUT, given, RULES, boost).to_json())


BOOSTED_TWICE = replace(BOOSTED, parameters={**BOOSTED.parameters, "rounds": 2}, own=SMALL[:1],
                        others=list(product(range(3), repeat=4)), sees=two_boosts)
BASKETS = bags(("", "a", "b", "ab"), (1, 2, 3))


def frequent(own, other):
    """Return which sets are in half of all baskets or more."""
    baskets = [*own, *other]
    return tuple(2 * sum(set(items) <= set(basket) for basket in baskets) >= len(baskets)
                 for items in ("a", "b", "ab"))


ASSOCIATIONS = World("rules", {"items": ["a", "b"], "support": 0.5}, BASKETS[:8], BASKETS, frequent,
                     {"the number of baskets with a set": lambda a, b: tuple(
                         sum(set(items) <= set(basket) for basket in b)
                         for items in ("a", "b", "ab"))})

ROWS_WORLDS = {
    "sum of two": SUM_OF_TWO, "sum of three": SUM_OF_THREE, "noisy sum": NOISY_SUM,
    "categories of two": UNITED, "categories of three": UNITED_OF_THREE,
    "summary of two": SUMMARY_OF_TWO, "summary of three": SUMMARY_OF_THREE,
    "noisy summary": NOISY_SUMMARY, "quantiles": QUARTERS, "bins of two": BINS_OF_TWO,
    "bins of three": BINS_OF_THREE, "noisy bins": NOISY_BINS, "bins at medians": BINS_AT_MEDIANS,
    "intersection": COMMON, "longer lists": COMMON_LISTS, "bayes, fine": BAYES_FINE,
    "bayes, chosen": BAYES_CHOSEN, "bayes, sums": BAYES_SUMS, "one cluster": ONE_CLUSTER,
    "two clusters": TWO_CLUSTERS,
    "outliers": OUTLIERS, "outliers by neighbours": LONELY, "asking neighbours": ASKING,
    "asked by a neighbour": ASKED_FOR, "mixture": MIXTURE, "regression": REGRESSION,
    "regression, two terms": REGRESSION_OF_TWO, "residuals": RESIDUALS, "logistic": LOGISTIC,
    "robust": ROBUST, "influence": INFLUENCE,
    "influence, of 0 and 1": INFLUENCE_OF_CODES, "tree": TREE_ROWS, "forest": FOREST,
    "boosted trees": BOOSTED, "boosted trees, two rounds": BOOSTED_TWICE, "rules": ASSOCIATIONS}
