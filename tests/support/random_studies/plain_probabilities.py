"""Naive Bayes, votes, networks and mixtures: plain references, and scikit-learn's EM."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from fractions import Fraction
from itertools import product
from math import factorial

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

CLASSES = ("no", "yes", "rare")
TOWNS = tuple(f"t{place}" for place in range(9))


def _labels(random, rows):
    """Return classes, all of which occur, the last one once or a little more."""
    labels = words(random, rows, CLASSES[:2])
    labels[:3] = CLASSES
    few = int(random.integers(1, 4))
    labels[-few:] = ["rare"] * few
    return labels


def draw_bayes(random):
    """Shares, means and variances by class, opened as sums, finely, or as finely as is safe."""
    owners, rows = owners_of(random), int(random.integers(30, 90))
    table = {"age": numbers(random, rows), "town": words(random, rows, TOWNS),
             "class": _labels(random, rows)}
    order = random.permutation(rows)
    files = by_rows(random, taken(table, order), owners)
    reveal = "sums" if len(owners) == 3 and random.random() < 0.4 else "ratios"
    bits = 0 if reveal == "sums" else int(random.choice([0, 20, 24]))
    alpha = float(random.choice([1.0, 0.5, 3.0]))
    parameters = {"target": "class", "classes": list(CLASSES), "columns": ["age", "town"],
                  "range.age": [-8, 8], "categories.town": list(TOWNS), "least": 0,
                  "reveal": reveal, "bits": bits, "alpha": alpha}

    def check(outputs):
        for model in outputs.values():
            yield from _bayes(model, files, alpha, None if reveal == "sums" else bits)

    return Trial("bayes", parameters, files, check)


def _bayes(model, files, alpha, bits):
    labels, ages = together(files, "class"), together(files, "age").astype(float)
    count = Counter(labels)
    rows, most = len(labels), max(count.values())

    def step(size, rule):
        if bits is None:
            return 1e-11
        return 2.0**-bits if bits else 2.0**-min(20, rule(math.floor(math.log2(size))))

    def fine(e):
        return max(1, e - 1)

    yield near("priors", model.prior, [count[c] / rows for c in CLASSES],
               4 * step(most, fine))
    spread = float(np.var(ages)) * 1e-9
    by_age, by_town = model.columns
    for place, name in enumerate(CLASSES):
        here = ages[labels == name]
        yield near("means", by_age.means[place], np.mean(here),
                   8 * step(here.size, lambda e: e // 2 + 6) + 1e-8 * (bits is not None))
        yield near("variances", by_age.variances[place], np.var(here) + spread,
                   64 * (2 * step(here.size, lambda e: e // 2 + 10) + 2e-8 * (bits is not None)))
        shares = [(sum(town == t for town in together(files, "town")[labels == name]) + alpha)
                  / (here.size + alpha * len(TOWNS)) for t in TOWNS]
        yield near("shares", by_town.shares[place], shares,
                   (len(TOWNS) + 1) * step(here.size, fine))


def draw_bayes_columns(random):
    """Classes of new records by numbers and categories of three sites."""
    rows, known = int(random.integers(24, 60)), bool(random.integers(0, 2))
    columns = {"north": {"age": numbers(random, rows)}, "east": {"stay": numbers(random, rows)},
               "south": {"town": words(random, rows, TOWNS),
                         "sex": words(random, rows, ("f", "m"))}}
    labels = _labels(random, rows)
    new = random.random(rows) < 0.3
    new[:3], new[-1], labels[-1] = False, True, "no"
    shown = [None if gone else label for label, gone in zip(labels, new, strict=True)]
    sizes = {name: len(set(columns["south"][name])) for name in ("town", "sex")}
    parameters = {"target": "class", "classes": list(CLASSES), "class_site": "north",
                  "class_known": known, "north": ["number"], "east": ["number"],
                  "south": [sizes["town"], sizes["sex"]], "same_order": True}
    files = {name: {**columns[name], **({"class": shown} if known or name == "north" else {})}
             for name in NAMES}

    def check(outputs):
        old = ~new
        scored = _scored({**columns["north"], **columns["east"]}, columns["south"], sizes, labels,
                         old, np.flatnonzero(new))
        for result in outputs.values():
            yield same("rows", result["rows"], np.flatnonzero(new).tolist())
            yield from _chosen(list(result.values())[1], scored)

    return Trial("bayes-columns", parameters, files, check)


def _scored(measured, named, sizes, labels, old, asked):
    """Return (score, error) of every class for every record: trained on `old`, z within reach."""
    labels, out = np.array(labels, object), []
    for row in asked:
        each = {}
        for name in CLASSES:
            here = old & (labels == name)
            if not here.any():
                continue
            score, error = math.log(here.sum()), 1e-6
            for values in measured.values():
                values = np.asarray(values, float)
                centre = values[old].mean()
                reach = np.abs(values[old] - centre).max() or 1.0
                z = np.clip((values - centre) / reach, -1, 1)
                variance = max(z[here].var() + 1e-9 * z[old].var(), 2.0**-16)
                away = (z[row] - z[here].mean()) / math.sqrt(variance)
                score += -math.log(variance) / 2 - away**2 / 2
                error += 4e-6 * (1 + abs(away)) * (1 + abs(away))
            for column, values in named.items():
                share = sum(values[r] == values[row] for r in np.flatnonzero(here))
                score += math.log((share + 1) / (here.sum() + sizes[column]))
            each[name] = score, error
        out.append(each)
    return out


def _chosen(found, scored):
    """Judge classes: each is the best but for the stated error of scores."""
    assert len(found) == len(scored)
    for name, each in zip(found, scored, strict=True):
        assert name in _best(each), (name, each)
    yield same("classes", len(found), len(scored))


def _best(each):
    """Return the classes that may come out: the best one, and those within the error of it."""
    top = max(score for score, _ in each.values())
    error = max(error for _, error in each.values())
    return {name for name, (score, _) in each.items() if score >= top - 2 * error}


def _model(random):
    """Return a random model as it is written to a file, and its parts."""
    prior = random.dirichlet(np.ones(3))
    shares = random.dirichlet(np.ones(len(TOWNS)), 3)
    means, variances = random.uniform(-6, 6, 3), random.uniform(0.05, 20, 3)
    text = {"format": "unspoken-mixed-bayes", "version": 1, "target": "class",
            "classes": list(CLASSES), "prior": prior.tolist(), "records": 10, "columns": [
                {"name": "age", "means": means.tolist(), "variances": variances.tolist()},
                {"name": "town", "values": list(TOWNS), "shares": shares.ravel().tolist()}]}
    return json.dumps(text), (prior, shares, means, variances)


def draw_classify(random):
    """Records of one owner, a model of another; a third has nothing that counts."""
    rows = int(random.integers(1, 30))
    text, (prior, shares, means, variances) = _model(random)
    table = {"age": numbers(random, rows), "town": words(random, rows, TOWNS)}
    parameters = {"model": "north", "asks": "south", "target": "class", "classes": list(CLASSES),
                  "columns": ["age", "town"], "range.age": [-8, 8], "categories.town": list(TOWNS)}
    files = {"north": (text, "json"), "south": table, "east": table}

    def check(outputs):
        scored = [{name: (math.log(prior[c]) + math.log(shares[c][TOWNS.index(town)])
                          - math.log(variances[c]) / 2 - (age - means[c]) ** 2 / variances[c] / 2,
                          1e-6 + 4e-6 * (1 + abs(age - means[c]) / math.sqrt(variances[c])) ** 2)
                   for c, name in enumerate(CLASSES)}
                  for age, town in zip(table["age"], table["town"], strict=True)]
        for result in outputs.values():
            [found] = result.values()
            yield from _chosen(found, scored)

    return Trial("classify", parameters, files, check)


def draw_vote(random):
    """Two owners' naive Bayes models, learned at home, vote; the first class of equals wins."""
    rows = int(random.integers(1, 20))
    asked = {"age": numbers(random, rows), "town": words(random, rows, TOWNS)}
    own = {name: {"age": numbers(random, 40), "town": words(random, 40, TOWNS),
                  "class": _labels(random, 40)} for name in ("south", "east")}
    parameters = {"asks": "north", "target": "class", "classes": list(CLASSES),
                  "columns": ["age", "town"], "range.age": [-8, 8], "categories.town": list(TOWNS)}

    def check(outputs):
        allowed = [_winners([_local(part, age, town) for part in own.values()])
                   for age, town in zip(asked["age"], asked["town"], strict=True)]
        for result in outputs.values():
            [found] = result.values()
            assert all(name in fits for name, fits in zip(found, allowed, strict=True))
            yield same("votes", len(found), rows)

    return Trial("vote", parameters, {"north": asked, **own}, check)


def _local(part, age, town):
    labels, each = np.array(part["class"], object), {}
    for name in CLASSES:
        here = labels == name
        if not here.any():
            continue
        z = np.asarray(part["age"], float)[here] / 8
        variance = max(z.var(), 2.0**-16)
        away = (age / 8 - z.mean()) / math.sqrt(variance)
        share = (sum(np.array(part["town"], object)[here] == town) + 1) / (here.sum() + len(TOWNS))
        each[name] = (math.log(here.sum()) + math.log(share) - math.log(variance) / 2
                      - away**2 / 2, 1e-6 + 4e-6 * (1 + abs(away)) ** 2)
    return _best(each)


def _winners(votes):
    """Return which classes may win, where models that nearly tie may vote either way."""
    out = set()
    for cast in product(*votes):
        counts = Counter(cast)
        out.add(next(name for name in CLASSES if counts[name] == max(counts.values())))
    return out


def draw_network(random):
    """K2 with exact factorials: parents in the order in which they were found, ties included."""
    rows, names = int(random.integers(4, 40)), ("a", "b", "c", "d")
    values = {"a": words(random, rows, ("u", "v")), "b": words(random, rows, ("u", "v", "w"))}
    values["c"] = list(values["a"]) if random.random() < 0.3 else words(random, rows, ("x", "y"))
    values["d"] = [one + two if random.random() < 0.8 else "ux" for one, two in zip(
        values["a"], values["c"], strict=True)]
    site = {"a": "north", "b": "south", "c": "east", "d": "north"}
    size = {name: len(set(column)) + int(random.integers(0, 2)) for name, column in values.items()}
    most = int(random.integers(1, 4))
    parameters = {"order": list(names), "max_parents": most, "same_order": True,
                  **{f"site.{n}": site[n] for n in names},
                  **{f"values.{n}": size[n] for n in names}}
    files = {owner: {n: values[n] for n in names if site[n] == owner} for owner in NAMES}

    def check(outputs):
        wanted = [_parents(names[:place], name, values, size, most)
                  for place, name in enumerate(names)]
        for net in outputs.values():
            yield same("parents", [list(p) for p in net.to_json()["parents"]], wanted)

    return Trial("network", parameters, files, check)


def _parents(before, name, values, size, most):
    chosen, score = [], _k2(name, [], values, size)
    while len(chosen) < most:
        tried = [(one, _k2(name, [*chosen, one], values, size)) for one in before
                 if one not in chosen]
        best = max((worth for _, worth in tried), default=score)
        if best <= score:
            break
        chosen.append(next(one for one, worth in tried if worth == best))
        score = best
    return chosen


def _k2(name, parents, values, size):
    """Return K2's score itself, a fraction of factorials."""
    cells = Counter(zip(*(values[n] for n in (name, *parents)), strict=True))
    totals = Counter(zip(*(values[n] for n in parents), strict=True)) if parents else Counter(
        {(): len(values[name])})
    score = Fraction(1)
    for count in cells.values():
        score *= factorial(count)
    for count in totals.values():
        score *= Fraction(factorial(size[name] - 1), factorial(count + size[name] - 1))
    return score


def draw_mixture(random):
    """EM from a given start, in scikit-learn's steps; equal rows, and clusters that end it."""
    owners, rows = owners_of(random), int(random.integers(60, 120))
    spread = random.choice([-3.0, 0.0, 3.0], rows)
    table = {"x": np.clip(spread + random.normal(0, 1, rows), -8, 8),
             "y": np.clip(numbers(random, rows, kinds=("tenths", "normal", "whole")), -8, 8)}
    files = {name: taken(table, np.arange(rows)[place::len(owners)])
             for place, name in enumerate(owners)}
    weights, means = [0.4, 0.6], [-2.0, 0.0, 2.0, 0.5]
    variances, kind = [4.0, 9.0, 4.0, 16.0], str(random.choice(["full", "diag"]))
    parameters = {"columns": ["x", "y"], "range.x": [-8, 8], "range.y": [-8, 8], "components": 2,
                  "weights": weights, "means": means, "variances": variances, "covariance": kind,
                  "max_iter": int(random.integers(1, 6)), "least": 3, "moved": 3, "small": "stop",
                  "two_agreed": len(owners) == 2}

    def check(outputs):
        x = np.column_stack([together(files, n).astype(float) for n in "xy"])
        for found in outputs.values():
            yield from _mixture(found, x, (weights, means, variances), kind)

    return Trial("mixture", parameters, files, check)


def _mixture(found, x, start, kind):
    from sklearn.mixture import GaussianMixture

    weights, means, variances = (np.array(one) for one in start)
    inverse = 1 / variances.reshape(2, 2)
    iterations = int(found.facts["iterations"])
    if not iterations:
        yield near("means", found.means, means.reshape(2, 2), 1e-9)
        return
    model = GaussianMixture(2, covariance_type=kind, max_iter=iterations, tol=0.0, reg_covar=1e-6,
                            weights_init=weights, means_init=means.reshape(2, 2), precisions_init=
                            np.array([np.diag(one) for one in inverse]) if kind == "full"
                            else inverse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x)
    covariances = model.covariances_ if kind == "full" else np.array(
        [np.diag(one) for one in model.covariances_])
    yield near("weights", found.weights, model.weights_, 1e-9)
    yield near("means", found.means, model.means_, 1e-8)
    yield near("covariances", found.covariances, covariances, 1e-7)


DRAWS = {"bayes": draw_bayes, "bayes-columns": draw_bayes_columns, "classify": draw_classify,
         "vote": draw_vote, "network": draw_network, "mixture": draw_mixture}
