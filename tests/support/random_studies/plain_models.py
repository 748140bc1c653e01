"""Linear and logistic models and their residuals: statsmodels, plain algebra and plain Newton."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from support.random_studies.trials import NAMES, Trial, near, numbers, owners_of, rows_of_each, same

COLUMNS = ("x0", "x1", "x2")
SPREAD = ("tenths", "whole", "normal")


def _table(random, rows):
    """Return three columns of different scales, and a response that two of them explain."""
    table = {name: numbers(random, rows, kinds=SPREAD) * float(random.choice([1e-3, 1.0, 1e4]))
             + float(random.choice([0.0, 1.0, 100.0])) for name in COLUMNS}
    table["x1"] = table["x1"] + random.choice([0.0, 0.5]) * table["x0"] * (
        table["x1"].std() / table["x0"].std())
    z = [(column - column.mean()) / column.std() for column in table.values()]
    table["y"] = 3 + 2 * z[0] - z[1] + random.normal(0, float(random.choice([0.1, 1.0, 5.0])), rows)
    return table


def _over_columns(table, held="east"):
    return {name: {column: table[column], **({"y": table["y"]} if name == held else {})}
            for name, column in zip(NAMES, COLUMNS, strict=True)}


SPREAD_COLUMNS = [f"{name}:{column}" for name, column in zip(NAMES, COLUMNS, strict=True)]


def _depends(random, table):
    """Make a column a copy or a constant now and then: no model may come out."""
    if random.random() >= 0.1:
        return False
    table["x2"] = 2 * table["x0"] + 1 if random.random() < 0.5 else np.full(len(table["y"]), 1.2)
    return True


# Least squares ------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Fit:
    """What least squares gives, the intercept first."""

    params: np.ndarray
    bse: np.ndarray
    ssr: float
    resid: np.ndarray


def _standard(table, names):
    """Return columns of mean 0 and deviation 1, and what brings their coefficients back."""
    columns = [table[n] for n in names]
    back = np.eye(1 + len(names))
    for place, column in enumerate(columns, 1):
        back[place, place], back[0, place] = 1 / column.std(), -column.mean() / column.std()
    z = [(column - column.mean()) / column.std() for column in columns]
    return np.column_stack([np.ones(len(table["y"])), *z]), back


def _fit(table, names):
    """Fit standard columns: statsmodels is off by 3e-7 where deviations are 1e-3 and 5e4."""
    import statsmodels.api as sm

    z, back = _standard(table, names)
    found = sm.OLS(table["y"], z).fit()
    return Fit(back @ found.params, np.sqrt(np.diag(back @ found.cov_params() @ back.T)), found.ssr,
               found.resid)


def _ridge(table, names, ridge):
    """Return the coefficients of ridge regression, the intercept first and not held down."""
    z, back = _standard(table, names)
    price = ridge * np.diag(np.r_[0.0, np.diag(back)[1:] ** 2])
    return back @ np.linalg.solve(z.T @ z + price, z.T @ table["y"])


def _regression_choice(random, table):
    """Return ridge, or how terms are chosen, or neither."""
    kind = str(random.choice(["plain", "plain", "ridge", "forward", "backward", "best"]))
    if kind == "plain":
        return {}
    if kind == "ridge":
        # More than some sums of squares would hide the data, and is refused.
        least = min(len(table["y"]) * table[name].var() for name in COLUMNS)
        return {"ridge": float(random.choice([0.1, 1.0, 50.0]) * min(1.0, least))}
    return {"select": kind, "criterion": str(random.choice(["aic", "bic"]))}


def _wanted_terms(table, chosen):
    """Return the terms of the model that the criterion chooses, in their order."""
    if "select" not in chosen:
        return COLUMNS
    rows = len(table["y"])

    def worth(names):
        price = 2 if chosen["criterion"] == "aic" else np.log(rows)
        return rows * np.log(_fit(table, names).ssr) + price * len(names)

    if chosen["select"] == "best":
        every = [names for size in range(4) for names in combinations(COLUMNS, size)]
        return min(every, key=worth)
    now = () if chosen["select"] == "forward" else COLUMNS
    while True:
        moves = [tuple(c for c in COLUMNS if (c in now) != (c == one)) for one in COLUMNS
                 if (one in now) == (chosen["select"] == "backward")]
        best = min(moves, key=worth, default=now)
        if worth(best) >= worth(now):
            return now
        now = best


def _judged(model, table, chosen):
    names = _wanted_terms(table, chosen)
    yield same("terms", tuple(model.features), tuple(names))
    yield same("records", model.records, len(table["y"]))
    if "ridge" in chosen:
        wanted = _ridge(table, names, chosen["ridge"])
        errors = np.full(1 + len(names), np.abs(wanted[1:]).max())
    else:
        exact = _fit(table, names)
        wanted, errors = exact.params, exact.bse
        yield near("errors", model.errors, exact.bse, 1e-7 * exact.bse)
        yield near("rss", model.rss, exact.ssr, 1e-8 * exact.ssr)
    yield near("coefficients", [model.intercept, *model.coefficients], wanted,
               1e-8 * (np.abs(wanted) + errors))


def draw_regression(random):
    """Least squares and ridge over rows, terms chosen on shares; dependent columns are refused."""
    owners, rows = owners_of(random), int(random.integers(90, 140))
    table = _table(random, rows)
    chosen = _regression_choice(random, table)
    refused = "ridge" not in chosen and "select" not in chosen and _depends(random, table)
    files = rows_of_each(random, table, owners, 28)
    parameters = {"response": "y", "columns": list(COLUMNS), "condition": 4096.0, **chosen}

    def check(outputs):
        whole = {n: np.concatenate([np.asarray(f[n]) for f in files.values()]) for n in table}
        for model in outputs.values():
            yield from _judged(model, whole, chosen)

    return Trial("regression", parameters, files, check, refused=refused)


def draw_regression_columns(random):
    """The same over columns; in a third of all studies one owner has rows of its own."""
    rows = int(random.integers(60, 120))
    table = _table(random, rows)
    chosen = _regression_choice(random, table)
    refused = "ridge" not in chosen and "select" not in chosen and _depends(random, table)
    parameters = {"response": "y", "held": "east", "columns": SPREAD_COLUMNS, "same_order": True,
                  "condition": 4096.0, **chosen}
    files = _over_columns(table)
    if random.random() < 0.35:
        parameters |= {"held": "south", "having_rows": ["east"],
                       "columns": ["north:x0", "south:x1", "south:x2"]}
        half = {n: v[:rows // 2 + 10] for n, v in table.items()}
        files = {"north": {"x0": half["x0"]}, "south": {n: half[n] for n in ("x1", "x2", "y")},
                 "east": {n: v[rows // 2 + 10:] for n, v in table.items()}}

    def check(outputs):
        for model in outputs.values():
            yield from _judged(model, table, chosen)

    return Trial("regression-columns", parameters, files, check, refused=refused)


# Logistic -----------------------------------------------------------------------------------------

def _logistic_table(random, rows):
    """Return two columns and a response of 0 and 1, separable now and then."""
    table = {name: numbers(random, rows, kinds=SPREAD) for name in COLUMNS[:2]}
    z = [(column - column.mean()) / column.std() for column in table.values()]
    score = 0.8 * z[0] - 0.5 * z[1] + float(random.choice([-0.5, 0.0, 0.5]))
    apart = random.random() < 0.1
    yes = z[0] > 0 if apart else random.random(rows) < 1 / (1 + np.exp(-score))
    table["y"] = yes.astype(float)
    return table, apart


def _newton(table, ridge):
    """Return coefficients, standard errors and log-likelihood by Newton's steps."""
    x = np.column_stack([np.ones(len(table["y"])), *(table[n] for n in COLUMNS[:2])])
    beta, extra = np.zeros(3), ridge * np.diag([0.0, 1.0, 1.0])
    for _ in range(60):
        p = 1 / (1 + np.exp(-(x @ beta)))
        hessian = x.T @ (x * (p * (1 - p))[:, None]) + extra
        step = np.linalg.solve(hessian, x.T @ (table["y"] - p) - extra @ beta)
        beta = beta + step
    p = 1 / (1 + np.exp(-(x @ beta)))
    hessian = x.T @ (x * (p * (1 - p))[:, None]) + extra
    chance = np.where(table["y"] > 0, p, 1 - p)
    return beta, np.sqrt(np.diag(np.linalg.inv(hessian))), np.log(chance).sum()


def _logistic_judged(model, table, ridge, fine):
    beta, errors, likelihood = _newton(table, ridge)
    yield near("coefficients", [model.intercept, *model.coefficients], beta,
               fine * (errors + 1e-3 * np.abs(beta)))
    if not ridge:
        yield near("errors", model.errors, errors, fine * errors)
    yield near("likelihood", model.likelihood, likelihood,
               max(3e-7 * len(table["y"]), fine * abs(likelihood)))


def draw_logistic(random):
    """Logistic models of rows; classes that a line separates are refused."""
    owners, rows = owners_of(random), 270
    table, apart = _logistic_table(random, rows)
    ridge = 0.0 if apart else float(random.choice([0.0, 0.0, 1.0]))
    files = rows_of_each(random, table, owners, 84)
    parameters = {"response": "y", "columns": list(COLUMNS[:2]), "ridge": ridge,
                  "condition": 256.0}

    def check(outputs):
        whole = {n: np.concatenate([np.asarray(f[n]) for f in files.values()]) for n in table}
        for model in outputs.values():
            yield from _logistic_judged(model, whole, ridge, 1e-6)

    return Trial("logistic", parameters, files, check, refused=apart)


def draw_logistic_columns(random):
    """The same over columns."""
    rows = int(random.integers(100, 140))
    table, apart = _logistic_table(random, rows)
    ridge = 0.0 if apart else float(random.choice([0.0, 1.0]))
    files = {"north": {"x0": table["x0"]}, "south": {"x1": table["x1"], "y": table["y"]}}
    parameters = {"response": "y", "held": "south", "columns": ["north:x0", "south:x1"],
                  "ridge": ridge, "same_order": True, "condition": 256.0}

    def check(outputs):
        for model in outputs.values():
            yield from _logistic_judged(model, table, ridge, 1e-3)

    return Trial("logistic-columns", parameters, files, check, refused=apart)


# Residuals ----------------------------------------------------------------------------------------

def draw_residuals(random):
    """Made-up rows: drawn anew in every run, so that their number and their limits are judged."""
    owners, rows = owners_of(random), 130
    table = _table(random, rows)
    files, count = rows_of_each(random, table, owners, 40), int(random.integers(5, 20))
    parameters = {"response": "y", "columns": list(COLUMNS), "synthetic": count, "group": 5}

    def check(outputs):
        rest = _fit(table, COLUMNS).resid
        for found in outputs.values():
            for name, points in zip(found.features, found.points, strict=True):
                yield same("points", points.shape, (count * len(owners), 3))
                wide = 4 * np.ptp(table[name])
                assert points[:, 0].min() >= table[name].min() - wide
                assert points[:, 0].max() <= table[name].max() + wide
                assert np.abs(points[:, 1]).max() <= 16 * np.abs(rest).max()
                assert not points[:, 2].any()

    return Trial("residuals", parameters, files, check)


def draw_residuals_columns(random):
    """Means and spreads of residuals by groups along every column."""
    rows, groups = int(random.integers(180, 240)), int(random.integers(1, 5))
    table = {name: random.normal(0, 3, rows) for name in COLUMNS}
    table["y"] = table["x0"] - table["x1"] + table["x2"] ** 2 / 3 + random.normal(0, 1, rows)
    parameters = {"response": "y", "held": "east", "columns": SPREAD_COLUMNS, "groups": groups,
                  "group": 5, "same_order": True}

    def check(outputs):
        rest = _fit(table, COLUMNS).resid
        for found in outputs.values():
            for name, points in zip(found.features, found.points, strict=True):
                cut = np.array_split(np.argsort(table[name]), groups)
                wanted = [[table[name][p].mean(), rest[p].mean(), rest[p].std()] for p in cut]
                yield near("groups", points, wanted, 1e-4)

    return Trial("residuals-columns", parameters, _over_columns(table), check)


DRAWS = {"regression": draw_regression, "regression-columns": draw_regression_columns,
         "logistic": draw_logistic, "logistic-columns": draw_logistic_columns,
         "residuals": draw_residuals, "residuals-columns": draw_residuals_columns}
