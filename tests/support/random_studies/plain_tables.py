"""Sums, descriptions, quantiles, bins, segments, ranks and sets: plain references."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np

from support.random_studies.trials import (
    NAMES,
    Trial,
    by_rows,
    near,
    numbers,
    owners_of,
    same,
    together,
    words,
)


def draw_sum(random):
    """Columns added up as they are, clamped to a range, and counted by interval."""
    owners, scale = owners_of(random), int(random.integers(0, 21))
    rows = int(random.integers(len(owners), 40))
    table = {name: numbers(random, rows) for name in "abc"}
    if scale == 0:
        table["a"] = np.rint(table["a"])
    files = by_rows(random, table, owners)
    edges = [-4.0, -1.2, 0.0, 1.2, 5.0]
    parameters = {"columns": ["a", "b", "c"], "scale": scale, "range.b": [-1.2, 3.3],
                  "edges.c": edges}

    def check(outputs):
        a, b, c = (together(files, name).astype(float) for name in "abc")
        counts = [sum((low <= v or place == 0) and (v < high or place == 3) for v in c)
                  for place, (low, high) in enumerate(pairwise(edges))]
        unit = 2.0**-scale
        for result in outputs.values():
            yield near("sum", result["a"], math.fsum(a), len(owners) * unit / 2 + 1e-12)
            yield near("clamped", result["b"], math.fsum(min(max(v, -1.2), 3.3) for v in b),
                       rows * unit / 2 + 1e-12)
            yield same("counts", list(result.values())[2:], counts)

    return Trial("sum", parameters, files, check, "sums" if len(owners) == 3 else "dealer")


VOCABULARY = ("a", "b", "Äpfel", "x y", "zz", "comma,", "c7", "c07")


def draw_schema(random):
    """Categories of all owners, and round ends beyond all values."""
    owners, margin = owners_of(random), float(random.choice([0.1, 0.25, 1.0]))
    files = {name: {"town": words(random, 12, VOCABULARY), "age": numbers(random, 12)}
             for name in owners}
    parameters = {"columns": ["town", "age"], "numbers": ["age"], "most": 64, "margin": margin}

    def check(outputs):
        ends = [_ends(part["age"], margin) for part in files.values()]
        for result in outputs.values():
            yield same("categories", result["categories"]["town"],
                       sorted(set(together(files, "town"))))
            low, high = result["range"]["age"]
            values = together(files, "age").astype(float)
            assert low <= values.min() <= values.max() <= high
            yield near("low", low, min(e[0] for e in ends), 2e-5)
            yield near("high", high, max(e[1] for e in ends), 2e-5)

    return Trial("schema", parameters, files, check)


def _ends(values, margin):
    """Return ends widened by part of the width, and then to a multiple of 1, 2 or 5 times 10^n."""
    low, high = float(min(values)), float(max(values))
    width = high - low if high - low >= 2.0**-10 else 1.0
    steps = (factor * 10.0**power for power in range(-6, 6) for factor in (1, 2, 5))
    step = next(one for one in steps if one >= width * margin * (1 - 1e-9))
    # A quotient that is a whole number but for the last bits of its terms may fall either way.
    return (math.floor((low - margin * width) / step) * step,
            math.ceil((high + margin * width) / step) * step)


def draw_summary(random):
    """Counts, means and variances of values within ranges, with missing ones."""
    owners, least = owners_of(random), int(random.choice([0, 1, 5, 12]))
    rows = int(random.integers(len(owners), 40))
    table = {"age": numbers(random, rows), "stay": numbers(random, rows)}
    table["stay"][random.random(rows) < random.choice([0.0, 0.3, 0.95])] = np.nan
    files = by_rows(random, table, owners)
    ranges = {"age": (-1.2, 3.3), "stay": (-8.0, 8.0)}
    parameters = {"columns": ["age", "stay"], "fewest": least,
                  **{f"range.{name}": list(ends) for name, ends in ranges.items()}}

    def check(outputs):
        for result in outputs.values():
            for name, found in result["summary"].items():
                yield from _described(found, together(files, name).astype(float), ranges[name],
                                      least, len(owners))

    return Trial("summary", parameters, files, check)


def _described(found, values, ends, least, owners):
    (low, high), known = ends, values[~np.isnan(values)]
    if known.size < least or (known.size == 0 and least):
        yield same("hidden", [found[n] for n in ("known", "missing", "mean")], [None] * 3)
        return
    yield same("counts", [found[n] for n in ("known", "missing", "below", "above")],
               [known.size, values.size - known.size, int((known < low).sum()),
                int((known > high).sum())])
    if not known.size:
        yield same("mean", found["mean"], None)
        return
    inside = [Fraction(min(max(value, low), high)) for value in known.tolist()]
    mean, half, unit = sum(inside) / len(inside), (high - low) / 2, owners * 2.0**-38
    yield near("mean", found["mean"], float(mean), half * (unit / known.size + 1e-14))
    if known.size < 2:
        yield same("variance", found["variance"], None)
        return
    variance = float(sum((one - mean) ** 2 for one in inside) / (known.size - 1))
    yield near("variance", found["variance"], variance,
               half**2 * (8 * unit / (known.size - 1) + 1e-13))


def first_points(values, low, high, bits, wanted, fewest):
    """Return the first grid point with at least a part of all values at or below; None if thin."""
    points = [low + (high - low) * (step / 2**bits) for step in range(2**bits + 1)]
    found = []
    for part in wanted:
        if len(values) * min(part, 1 - part) < fewest:
            found.append(None)
            continue
        enough = (p for p in points if sum(v <= p for v in values) >= part * len(values))
        found.append(next(enough, points[-1]))
    return found


def draw_quantiles(random):
    """Quantiles on a grid whose points are values, with values beyond the range."""
    owners, bits = owners_of(random), int(random.integers(2, 7))
    rows = int(random.integers(len(owners), 50))
    files = by_rows(random, {"age": numbers(random, rows)}, owners)
    at, fewest = [0.1, 0.25, 0.5, 0.9], int(random.integers(1, 6))
    parameters = {"columns": ["age"], "range.age": [-4.0, 4.0], "at": at, "bits": bits,
                  "fewest": fewest}

    def check(outputs):
        wanted = first_points(together(files, "age").astype(float).tolist(), -4.0, 4.0, bits,
                              [Fraction(str(one)) for one in at], fewest)
        for result in outputs.values():
            yield same("quantiles", list(result["quantiles"]["age"].values()), wanted)

    return Trial("quantiles", parameters, files, check)


def draw_bins(random):
    """Bins at cuts that are values, at quantiles, by category; weights of evidence."""
    owners, fewest = owners_of(random), int(random.choice([0, 2, 5]))
    rows = int(random.integers(12, 60))
    table = {"age": numbers(random, rows), "stay": numbers(random, rows),
             "sex": words(random, rows, ("f", "m", "x")), "class": words(random, rows, ("n", "y"))}
    table["age"][random.random(rows) < 0.2] = np.nan
    files = by_rows(random, table, owners)
    cuts = [-1.2, 0.0, 0.5, 1.2]
    parameters = {"columns": ["age", "sex", "stay"], "target": "class", "classes": ["n", "y"],
                  "cuts.age": cuts, "categories.sex": ["f", "m", "x"], "range.stay": [-8, 8],
                  "bins": 3, "bits": 5, "fewest": fewest}

    def check(outputs):
        labels = together(files, "class")
        age, stay = (together(files, name).astype(float) for name in ("age", "stay"))
        found = first_points(stay.tolist(), -8.0, 8.0, 5, [Fraction(1, 3), Fraction(2, 3)],
                             max(1, fewest))
        edges = sorted({one for one in found if one is not None})
        places = {"age": [_bin(v, cuts) for v in age], "stay": [_bin(v, edges) for v in stay],
                  "sex": ["fmx".index(v) for v in together(files, "sex")]}
        sizes = {"age": len(cuts) + 2, "sex": 4, "stay": len(edges) + 2}
        for result in outputs.values():
            yield same("edges", result["bins"]["stay"]["cuts"], edges)
            for name, column in result["bins"].items():
                yield from _bins(column, places[name], labels, sizes[name], fewest)

    return Trial("bins", parameters, files, check)


def _bin(value, edges):
    return len(edges) + 1 if math.isnan(value) else sum(value > edge for edge in edges)


def _bins(found, places, labels, size, fewest):
    """Judge one column: counts but for hidden bins, weights and the information value."""
    counted = Counter(zip(places, labels, strict=True))
    table = [[counted[place, label] for label in "ny"] for place in range(size)]
    totals = [sum(row) for row in table]
    hidden = {place for place, total in enumerate(totals) if total < fewest}
    lost = sum(totals[place] for place in hidden)
    if 0 < lost < fewest and len(hidden) < size:
        hidden.add(min((t, p) for p, t in enumerate(totals) if p not in hidden)[1])
    shown = [row if place not in hidden else [0, 0] for place, row in enumerate(table)]
    yield same("counts", found["counts"], [None if fewest and not sum(row) else row
                                           for row in shown])
    there = [row for row in shown if sum(row)]
    sums = [sum(row[side] + 0.5 for row in there) for side in (0, 1)]
    shares = [[(row[side] + 0.5) / sums[side] for side in (0, 1)] for row in there]
    weights = [math.log(one[1] / one[0]) for one in shares]
    yield near("weights", [w for w in found["weights"] if w is not None], weights, 1e-12)
    yield near("information", found["information"], sum(
        (one[1] - one[0]) * w for one, w in zip(shares, weights, strict=True)), 1e-12)


def draw_percentile(random):
    """Ranks of numbers that are equal, or equal once they are rounded."""
    owners, groups = owners_of(random), int(random.choice([0, 0, 2, 4]))
    scale = int(random.integers(0, 11))
    values = {name: random.integers(-6, 7, 2) / 2 + random.choice([0.0, 1e-9], 2)
              for name in owners}
    files = {name: {"wage": values[name][:1], "days": values[name][1:]} for name in owners}
    parameters = {"columns": ["wage", "days"], "most": 10.0, "scale": scale, "groups": groups}

    def check(outputs):
        for place, column in enumerate(("wage", "days")):
            units = {name: np.rint(values[name][place] * 2**scale) for name in owners}
            for name, result in outputs.items():
                less = sum(units[name] > other for other in units.values())
                same_ = sum(units[name] == other for other in units.values())
                yield same("standing", result[column], _standing(less, same_, len(owners), groups))

    return Trial("percentile", parameters, files, check)


def _standing(less, equal, owners, groups):
    if groups:
        return {"group": math.floor(Fraction(groups * (2 * less + equal), 2 * owners)) + 1,
                "groups": groups}
    return {"rank": less + (equal + 1) / 2, "owners": owners,
            "percentile": 100 * (less + equal / 2) / owners}


def draw_segments(random):
    """Means by segment, of which some are too small, or one owner's alone."""
    owners, rows = owners_of(random), int(random.integers(6, 60))
    labels = ["a", "b", "c", "d"]
    table = {"town": words(random, rows, labels), "rent": numbers(random, rows)}
    files, scale = by_rows(random, table, owners), int(random.integers(0, 21))
    least, others = int(random.integers(1, 12)), int(random.integers(0, 4))
    parameters = {"segment": "town", "labels": labels, "columns": ["rent"], "least": least,
                  "others": others, "scale": scale}

    def check(outputs):
        each = [Counter(part["town"]) for part in files.values()]
        total = sum(each, Counter())
        shown = [label for label in labels if total[label] >= max(least, 1) and all(
            total[label] - one[label] >= others for one in each)]
        towns, rents = together(files, "town"), together(files, "rent").astype(float)
        for result in outputs.values():
            yield same("shown", list(result["segments"]), shown)
            yield same("hidden", result["not shown"], [one for one in labels if one not in shown])
            for label in shown:
                found = result["segments"][label]
                yield same("records", found["records"], total[label])
                yield near("mean", found["means"]["rent"],
                           math.fsum(rents[towns == label]) / total[label], 2.0**-scale / 2 + 1e-12)

    return Trial("segments", parameters, files, check)


UNIVERSE = ("1", "01", "001", "A", "a", "ä", "id-7", "id 7")


def _sets(random, owners, least=0):
    keys = list(UNIVERSE)
    return {name: {"id": [str(one) for one in random.choice(
        keys, int(random.integers(max(1, least), len(keys) + 1)), replace=False)]}
        for name in owners}


def draw_intersection(random):
    """Ids that differ in a zero, a case or an accent: how many, or which, all have."""
    owners, members = owners_of(random), bool(random.integers(0, 2))
    files = _sets(random, owners)

    def check(outputs):
        common = set.intersection(*(set(part["id"]) for part in files.values()))
        for name, result in outputs.items():
            [found] = result.values()
            wanted = sorted(common) if members else len(common)
            yield same("common", sorted(found) if members else found, wanted)
            assert not members or set(found) <= set(files[name]["id"])

    return Trial("intersection", {"column": "id", "least": 0, "members": members}, files, check,
                 "sums")


def _listed(task, gather):
    def draw(random):
        files = _sets(random, NAMES[:int(random.integers(2, 4))])

        def check(outputs):
            united = gather(set(part["id"]) for part in files.values())
            for result in outputs.values():
                [found] = result.values()
                yield same("ids", found, [one for one in UNIVERSE if one in united])

        return Trial(task, {"column": "id", "universe": list(UNIVERSE)}, files, check)
    return draw


DRAWS = {"sum": draw_sum, "schema": draw_schema, "summary": draw_summary,
         "quantiles": draw_quantiles, "bins": draw_bins, "percentile": draw_percentile,
         "segments": draw_segments, "intersection": draw_intersection,
         "intersection-members": _listed("intersection-members", lambda s: set.intersection(*s)),
         "union": _listed("union", lambda s: set.union(*s))}
