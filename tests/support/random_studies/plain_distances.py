"""Clusters, neighbours and outliers: every distance in a plain loop, ties decided as stated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from support.random_studies.trials import (
    NAMES,
    Trial,
    by_rows,
    near,
    numbers,
    owners_of,
    same,
    taken,
    together,
    words,
)

POINTS = ("tenths", "whole", "near", "normal")


def rounded(value, scale):
    """Return a value in units of 2^-scale, exactly; a half goes to the even one."""
    return round(Fraction(float(value)) * 2**scale)


def apart(one, other, order=2):
    """Return the sum of powers of differences of two rows of whole numbers."""
    return sum(abs(a - b) ** order for a, b in zip(one, other, strict=True))


def _rows(table, names, scale):
    return [[rounded(table[n][row], scale) for n in names] for row in range(len(table[names[0]]))]


# Clusters -----------------------------------------------------------------------------------------

SCALE = 12
# A centre is right to a unit or two of 2^-(scale + 2), distances to 2^-(scale + 6) a site.
BLUR = 3e-3


def _clusters(rows, start, iterations, blurred=False):
    """Return all clusterings that rounding may end in: a record nearly between two may go to both.

    While centres are records, ties are exact, and the first centre wins; `blurred`: they are none.
    """
    points, states = np.array(rows, float) / 2**SCALE, [np.array(start, float)]
    for step in range(iterations):
        states = [_means(points, chosen, centres) for centres in states
                  for chosen in _assigned(points, centres, BLUR if step or blurred else 0.0)]
        states = list({tuple(np.round(s, 9).ravel()): s for s in states}.values())
        if len(states) > 64:
            return None
    ends = [(centres, chosen) for centres in states
            for chosen in _assigned(points, centres, BLUR)]
    return ends if len(ends) <= 4096 else None


def _assigned(points, centres, blur):
    squared = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    first = squared.argmin(axis=1)
    near_by = squared <= squared.min(axis=1, keepdims=True) + blur
    if not blur:
        return [first]
    open_rows = np.flatnonzero(near_by.sum(axis=1) > 1)
    if open_rows.size > 5:
        return [first] * 100
    choices = [first]
    for row in open_rows:
        choices = [np.where(np.arange(len(points)) == row, cluster, one) for one in choices
                   for cluster in np.flatnonzero(near_by[row])]
    return choices


def _means(points, chosen, before):
    return np.array([points[chosen == c].mean(axis=0) if (chosen == c).any() else centre
                     for c, centre in enumerate(before)])


def _cluster_case(random, rows):
    """Return points, k, iterations and the ends; drawn again where too many records lie between."""
    for _ in range(50):
        table = {n: numbers(random, rows, 6.0, POINTS) for n in "xyz"}
        k, iterations = int(random.integers(1, 4)), int(random.integers(1, 4))
        start = np.random.default_rng(7).choice(rows, k, replace=False)
        points = _rows(table, "xyz", SCALE)
        ends = _clusters(points, [np.array(points[s]) / 2**SCALE for s in start], iterations)
        if ends is not None and len(ends) < 500:
            return table, k, iterations, ends
    raise AssertionError("no clusters could be drawn")


def draw_kmeans(random):
    """Clusters of rows from public first records, hidden or with sums opened."""
    owners, rows = owners_of(random), int(random.integers(8, 40))
    table, k, iterations, ends = _cluster_case(random, rows)
    files = by_rows(random, table, owners)
    parameters = {"columns": list("xyz"), "k": k, "iterations": iterations, "seed": 7}
    way = "hidden"
    if len(owners) == 3 and random.random() < 0.3:
        parted = _from_parts(files, k, iterations)
        if parted is not None:
            way, ends = "revealed", parted
            parameters["way"] = way

    def check(outputs):
        begin = 0
        for name, found in outputs.items():
            own = slice(begin, begin + len(files[name]["x"]))
            begin = own.stop
            centres = np.asarray(found.centres, float).reshape(k, 3)
            yield _fits(ends, centres, found.assigned, own, [0, 1, 2])

    return Trial("kmeans", parameters, files, check, "sums" if way == "revealed" else "dealer")


def _from_parts(files, k, iterations):
    """Return the ends where every owner begins with a public partition of its own records."""
    whole = {n: np.concatenate([np.asarray(file[n]) for file in files.values()]) for n in "xyz"}
    chosen = np.concatenate([np.random.default_rng([7, place]).integers(k, size=len(file["x"]))
                             for place, file in enumerate(files.values())])
    rows = _rows(whole, "xyz", SCALE)
    start = _means(np.array(rows, float) / 2**SCALE, chosen, np.zeros((k, 3)))
    ends = _clusters(rows, start, iterations, blurred=True)
    return ends if ends is not None and len(ends) < 500 else None


def _fits(ends, centres, assigned, own, columns):
    """Judge centres and assignments: they are those of one end."""
    fitting = [one for one, chosen in ends if assigned is None
               or np.array_equal(chosen[own], assigned)]
    assert fitting, "no clustering assigns records so"
    best = min(fitting, key=lambda one: np.abs(one[:, columns] - centres).max())
    return near("centres", centres, best[:, columns], 2.0**-SCALE)


def draw_kmeans_columns(random):
    """The same over columns; assignments hidden, or opened in every round."""
    rows = int(random.integers(8, 40))
    table, k, iterations, ends = _cluster_case(random, rows)
    files = {name: {column: table[column]} for name, column in zip(NAMES, "xyz", strict=True)}
    parameters = {"columns": ["north:x", "south:y", "east:z"], "k": k, "iterations": iterations,
                  "seed": 7, "way": str(random.choice(["hidden", "assignments"])),
                  "same_order": True}

    def check(outputs):
        for place, found in enumerate(outputs.values()):
            centres = np.asarray(found.centres, float).reshape(k, 1)
            yield _fits(ends, centres, found.assigned, slice(0, rows), [place])

    return Trial("kmeans-columns", parameters, files, check)


# Neighbours ---------------------------------------------------------------------------------------

def draw_neighbours(random):
    """Classes of the nearest rows: equal distances, equal votes, and more neighbours than rows."""
    asked, rows = int(random.integers(1, 12)), int(random.integers(6, 30))
    classes, order = ("no", "yes", "rare"), int(random.choice([1, 2, 4]))
    scale, k = int(random.integers(0, 9)), int(random.integers(1, 6))
    own = {n: numbers(random, asked, 4.0) for n in "xy"}
    labelled = {n: numbers(random, rows, 4.0) for n in "xy"}
    labelled["class"] = words(random, rows, classes)
    half = int(random.integers(1, rows))
    files = {"north": own, "south": taken(labelled, range(half)),
             "east": taken(labelled, range(half, rows))}
    parameters = {"target": "class", "classes": list(classes), "columns": ["x", "y"], "k": k,
                  "asks": "north", "order": order, "scale": scale, "most": 4.0}

    def check(outputs):
        known, wanted = _rows(labelled, "xy", scale), []
        for row in _rows(own, "xy", scale):
            nearest = sorted(range(rows), key=lambda r: (apart(row, known[r], order), r))[:k]
            votes = [sum(labelled["class"][r] == name for r in nearest) for name in classes]
            wanted.append(classes[votes.index(max(votes))])
        for result in outputs.values():
            yield same("classes", next(iter(result.values())), wanted)

    return Trial("neighbours", parameters, files, check)


# Outliers -----------------------------------------------------------------------------------------

def _outlier_rules(random, rows):
    """Return parameters of one of three definitions."""
    scale = int(random.integers(0, 9))
    parameters = {"scale": scale, "most": 4.0}
    kind = str(random.choice(["p", "neighbours", "top"]))
    if kind == "p":
        parameters |= {"p": float(random.choice([0.5, 0.9, 0.75])), "enough": str(random.choice(
            ["at least", "more than"])), "among": str(random.choice(["others", "all"]))}
    else:
        parameters["neighbours"] = int(random.integers(1, min(5, rows)))
    if kind == "top":
        parameters["top"] = int(random.integers(1, min(6, rows)))
    else:
        parameters["distance"] = float(random.choice([0.5, 1.0, 1.2, 2.5, 5.0]))
    return parameters


def _outliers(rows, rules, order):
    """Return the places of outliers among rows of whole numbers."""
    away = [[apart(one, other, order) for other in rows] for one in rows]
    if "top" in rules:
        kth = [sorted(each[:place] + each[place + 1:])[rules["neighbours"] - 1]
               for place, each in enumerate(away)]
        ranked = sorted(range(len(rows)), key=lambda place: (-kth[place], place))
        return sorted(ranked[:rules["top"]])
    limit = (Fraction(str(rules["distance"])) * 2**rules["scale"]) ** order
    far = [sum(d > limit for d in each) for each in away]
    if "neighbours" in rules:
        return [p for p, count in enumerate(far) if len(rows) - 1 - count < rules["neighbours"]]
    need = Fraction(str(rules["p"])) * (len(rows) - (rules["among"] == "others"))
    return [p for p, count in enumerate(far)
            if count > need or (count == need and rules["enough"] == "at least")]


def draw_outliers(random):
    """Outliers of rows, by part, by neighbour, and the farthest; distances at the limit."""
    owners, rows = owners_of(random), int(random.integers(6, 24))
    table = {n: numbers(random, rows, 4.0) for n in "xy"}
    files, rules = by_rows(random, table, owners), _outlier_rules(random, rows)
    order = int(random.choice([1, 2]))
    parameters = {"columns": ["x", "y"], "order": order, **rules}

    def check(outputs):
        columns = {n: together(files, n) for n in "xy"}
        wanted = _outliers(_rows(columns, "xy", rules["scale"]), rules, order)
        for found in outputs.values():
            yield same("outliers", list(found.to_json()["outliers"]), wanted)

    return Trial("outliers", parameters, files, check)


def draw_outliers_columns(random):
    """The same over columns, with odd orders too."""
    rows = int(random.integers(6, 24))
    table = {n: numbers(random, rows, 4.0) for n in "xyz"}
    rules, order = _outlier_rules(random, rows), int(random.choice([1, 2, 3]))
    files = {name: {column: table[column]} for name, column in zip(NAMES, "xyz", strict=True)}
    parameters = {"columns": ["north:x", "south:y", "east:z"], "order": order, "same_order": True,
                  **rules}

    def check(outputs):
        wanted = _outliers(_rows(table, "xyz", rules["scale"]), rules, order)
        for found in outputs.values():
            yield same("outliers", list(found.to_json()["outliers"]), wanted)

    return Trial("outliers-columns", parameters, files, check)


DRAWS = {"kmeans": draw_kmeans, "kmeans-columns": draw_kmeans_columns,
         "neighbours": draw_neighbours, "outliers": draw_outliers,
         "outliers-columns": draw_outliers_columns}
