"""Robust models, influence of records, and forecasts of a sum of series: statsmodels, plain loops.
"""

from __future__ import annotations

import warnings

import numpy as np

from support.random_studies.trials import Trial, near, numbers, owners_of, rows_of_each, same

COLUMNS = ("x0", "x1")


def _table(random, rows):
    """Return two columns and a response with some gross errors."""
    table = {name: numbers(random, rows, kinds=("tenths", "whole", "normal")) for name in COLUMNS}
    table["y"] = 3 + 2 * table["x0"] - table["x1"] + random.normal(0, 1, rows)
    far = random.random(rows) < float(random.choice([0.0, 0.05, 0.1]))
    table["y"] = table["y"] + far * random.normal(25, 5, rows)
    return table


def _design(files):
    whole = {n: np.concatenate([np.asarray(f[n]) for f in files.values()]) for n in (*COLUMNS, "y")}
    return np.column_stack([np.ones(len(whole["y"])), whole["x0"], whole["x1"]]), whole["y"]


def draw_robust(random):
    """Huber's estimate with its scale."""
    import statsmodels.api as sm

    owners, tuning = owners_of(random), float(random.choice([1.0, 1.345, 2.0]))
    files = rows_of_each(random, _table(random, int(random.integers(1800, 2000))), owners, 580)
    x, y = _design(files)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = sm.RLM(y, x, M=sm.robust.norms.HuberT(tuning)).fit(
            scale_est=sm.robust.scale.HuberScale(d=tuning, tol=1e-12, maxiter=500), tol=1e-12,
            maxiter=500)

    def check(outputs):
        for found in outputs.values():
            yield same("records", found["records"], len(y))
            yield near("scale", found["scale"], exact.scale, 1e-4 * exact.scale)
            yield near("coefficients", list(found["coefficients"].values()), exact.params,
                       1e-4 * exact.bse)

    return Trial("robust", {"response": "y", "columns": list(COLUMNS), "condition": 4096.0,
                            "tuning": tuning}, files, check)


def draw_influence(random):
    """Which of its own rows each owner is told of; a value at a limit may be on either side."""
    from statsmodels.api import OLS

    owners = owners_of(random)
    files = rows_of_each(random, _table(random, int(random.integers(90, 140))), owners, 28)
    x, y = _design(files)
    exact = OLS(y, x).fit().get_influence()
    ends = np.cumsum([len(f["y"]) for f in files.values()])[:-1]
    limits = {"leverage": 2.0 * 3 / len(y), "distance": 4.0 / len(y)}
    wanted = {"leverage": np.split(exact.hat_matrix_diag, ends),
              "distance": np.split(exact.cooks_distance[0], ends)}

    def check(outputs):
        for place, name in enumerate(files):
            for what, limit in limits.items():
                above = wanted[what][place] > limit
                clear = np.abs(wanted[what][place] / limit - 1) > 1e-6
                flags = np.zeros(len(above), bool)
                flags[np.asarray(outputs[name][what], int) - 1] = True
                yield same(what, flags[clear].tolist(), above[clear].tolist())

    return Trial("influence", {"response": "y", "columns": list(COLUMNS), "condition": 4096.0},
                 files, check)


def _continued(series, law, weight, window, ahead):
    """Return what follows a series, and the squared misses before."""
    if law == "mean":
        return [float(np.mean(series[-window:]))] * ahead, 0.0
    if law == "trend":
        line = np.polyfit(np.arange(len(series)), series, 1)
        return [float(np.polyval(line, len(series) - 1 + h)) for h in range(1, ahead + 1)], 0.0
    holt = law == "holt"
    level, slope, squares = series[0], (series[1] - series[0]) if holt else 0.0, 0.0
    for value in series[1:]:
        squares += (value - level - slope) ** 2
        after = weight * value + (1 - weight) * (level + slope)
        slope = 0.1 * (after - level) + 0.9 * slope if holt else 0.0
        level = after
    return [level + slope * h for h in range(1, ahead + 1)], squares


def draw_forecast(random):
    """Every law, with a weight that is given or found; weights that miss alike may both be used."""
    owners, periods = owners_of(random), int(random.integers(8, 30))
    law = str(random.choice(["mean", "trend", "smoothing", "holt"]))
    weight, ahead = float(random.choice([0.0, 0.3, 0.8])), int(random.integers(1, 4))
    window = int(random.integers(1, 5))
    files = {name: {"a": numbers(random, periods), "b": 50 + np.cumsum(numbers(random, periods))}
             for name in owners}
    parameters = {"columns": ["a", "b"], "periods": periods, "ahead": ahead, "law": law,
                  "window": window, "weight": weight, "most": 1000.0, "scale": 16}
    searched = law in ("smoothing", "holt") and weight == 0

    def wanted(total):
        ways = [_continued(total, law, step / 10 if searched else weight, window, ahead)
                for step in (range(1, 10) if searched else (1,))]
        least = min(missed for _, missed in ways)
        return [values for values, missed in ways if missed <= least * (1 + 1e-6) + 1e-6]

    def check(outputs):
        for found in outputs.values():
            for name in ("a", "b"):
                total = np.sum([file[name] for file in files.values()], axis=0).tolist()
                nearest = min(wanted(total), key=lambda one: abs(
                    np.subtract(found[name], one)).max())
                yield near(name, found[name], nearest, 1e-4)

    return Trial("forecast", parameters, files, check)


DRAWS = {"robust": draw_robust, "influence": draw_influence, "forecast": draw_forecast}
