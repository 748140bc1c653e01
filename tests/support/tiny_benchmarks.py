"""Tiny worlds of benchmarks, sets with their members, and votes: what a party could work out."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from support.brute_force import World
from support.tiny_rows import THREE, bags
from unspoken.joint.tasks.series_forecast.params import ForecastParams

# Places among others ------------------------------------------------------------------------

PLACED = {"columns": ["x"], "most": 8.0}


def balance(own, others):
    """Return how many bring less than own, less how many bring more."""
    return int(sum(np.sign(own - other) for other in others))


def half(own, others):
    """Return in which half of the ranks own lies."""
    owners = len(others) + 1
    return 2 * (owners + balance(own, others)) // (2 * owners)


PLACE = {"whose number is greater": lambda a, b: int(np.sign(a - b)), "numbers": lambda a, b: b}
PLACE_OF_THREE = {"whose number is greater": lambda a, b: int(np.sign(a - b[0])),
                  "numbers": lambda a, b: b[0]}
OF_TWO = World("percentile", PLACED, range(4), range(4), lambda a, b: balance(a, [b]), PLACE)
HALVES = World("percentile", {**PLACED, "groups": 2}, range(4), range(4),
               lambda a, b: half(a, [b]), PLACE)
OF_THREE = World("percentile", PLACED, range(6), list(product(range(6), repeat=2)), balance,
                 PLACE_OF_THREE, THREE)

# Segments: records are (segment, value) -----------------------------------------------------

LEAST = 3
SEGMENTS = {"segment": "s", "labels": ["u"], "columns": ["x"], "least": LEAST}
RECORDS = bags((0, 1), (0, 1, 2, 3))


def shown(own, *others):
    """Return records and sum of the segment where it is shown, None where it is not."""
    rows = [*own, *(value for other in others for value in other)]
    return (len(rows), sum(rows)) if len(rows) >= LEAST else None


PART = "the records and sums of each segment that is shown"
SHOWN = World("segments", SEGMENTS, RECORDS, RECORDS, shown, {PART: lambda a, b: (len(b), sum(b))})
SHOWN_OF_THREE = World("segments", SEGMENTS, RECORDS, list(product(RECORDS, RECORDS)),
                       lambda a, b: shown(a, *b), {PART: lambda a, b: (len(b[0]), sum(b[0]))},
                       THREE)
NOT_SHOWN = World("segments", SEGMENTS, RECORDS, RECORDS,
                  lambda a, b: None if shown(a, b) else "not shown",
                  {"the records of segments that are not shown": lambda a, b: len(b)})

# The next value of a sum of series ----------------------------------------------------------

SERIES = list(product(range(3), repeat=3))
NEXT = {"columns": ["x"], "periods": 3, "most": 8.0, "law": "mean"}
FORECAST = {"the forecast of each column": lambda a, b: sum(b)}
AHEAD = World("forecast", NEXT, SERIES, SERIES, lambda a, b: sum(a) + sum(b), FORECAST)
AHEAD_OF_THREE = World("forecast", NEXT, SERIES, list(product(SERIES, SERIES)),
                       lambda a, b: sum(a) + sum(b[0]) + sum(b[1]),
                       {"the forecast of each column": lambda a, b: sum(b[0])}, THREE)
LAST = World("forecast", {**NEXT, "window": 1}, SERIES, SERIES, lambda a, b: a[-1] + b[-1],
             {"the value of the last period of each column": lambda a, b: b[-1]})
SEARCHED = ForecastParams.of({**NEXT, "law": "smoothing"})


def chosen(own, other):
    """Return the forecast of the other by the weight that misses least, and that of the sum."""
    parts = [SEARCHED.own(np.array(part, float)[:, None], 2) for part in (own, other)]
    best = (sum(part.misses for part in parts) ** 2).sum(axis=(1, 2)).argmin()
    return int(parts[1].ahead[best, 0, 0]), int(sum(part.ahead[best, 0, 0] for part in parts))


BY_WEIGHT = World("forecast", {**NEXT, "law": "smoothing"}, SERIES[1::9], SERIES,
                  lambda a, b: chosen(a, b)[1],
                  {"the forecast of each column": lambda a, b: chosen(a, b)[0]})

# Sets with their members --------------------------------------------------------------------

IDS = [frozenset(ids) for size in (1, 2, 3) for ids in combinations(range(3), size)]
LISTED = {"column": "id", "universe": ["0", "1", "2"]}
MEMBERS = {"membership of single ids": lambda a, b: a & b}
COMMON = World("intersection-members", LISTED, IDS, IDS, lambda a, b: a & b, MEMBERS)
COMMON_OF_THREE = World("intersection-members", LISTED, IDS, list(product(IDS, IDS)),
                        lambda a, b: a & b[0] & b[1],
                        {"membership of single ids": lambda a, b: a & b[0]}, THREE)
ALIGNED = World("intersection", {"column": "id", "members": True, "least": 0}, IDS, IDS,
                lambda a, b: (a & b, len(b)), MEMBERS, mode="sums")
UNITED = World("union", LISTED, IDS, IDS, lambda a, b: a | b,
               {"ids that it lacks itself": lambda a, b: b - a})
UNITED_OF_THREE = World("union", LISTED, IDS, list(product(IDS, IDS)),
                        lambda a, b: a | b[0] | b[1],
                        {"ids that it lacks itself": lambda a, b: b[0] - a}, THREE)

# Votes of two models: a tie goes to the first class, 0 --------------------------------------

MODELS = list(product((0, 1), repeat=3))
VOTE = {"target": "class", "classes": ["n", "y"], "columns": ["a"],
        "categories.a": ["u", "v", "w"]}
ASKING = World("vote", {**VOTE, "asks": "north"}, range(3), list(product(MODELS, MODELS)),
               lambda record, models: models[0][record] & models[1][record],
               {"the class that its model gives": lambda record, models: models[0][record]}, THREE)
VOTING = World("vote", {**VOTE, "asks": "south"}, MODELS, list(product(range(3), MODELS)),
               lambda model, others: model[others[0]] & others[1][others[0]],
               {"values of records": lambda model, others: others[0]}, THREE)

BENCHMARK_WORLDS = {
    "place among two": OF_TWO, "half of two": HALVES, "place among three": OF_THREE,
    "segment of two": SHOWN, "segment of three": SHOWN_OF_THREE, "segment not shown": NOT_SHOWN,
    "forecast by a weight": BY_WEIGHT, "forecast as before": LAST,
    "forecast of two": AHEAD, "forecast of three": AHEAD_OF_THREE,
    "common members": COMMON, "common members of three": COMMON_OF_THREE,
    "aligned members": ALIGNED, "united ids": UNITED, "united ids of three": UNITED_OF_THREE,
    "asking for a vote": ASKING, "voting": VOTING}
