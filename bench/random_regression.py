"""Random tables, numeric targets, regression learners and parameters: covered means identical.

    python bench/random_regression.py [first seed] [cases]

Identical: on the target in the units of the release, bit for bit, with the original mined in the
released order; then in the original unit the same predictions on unseen records as that model put
on the line through two of its own targets. Counted apart: how often the learner also finds the same
splits on the plain target, which no map of it can promise (gains that are equal to the last bit).
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

import unspoken
from unspoken.errors import UnspokenError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.results.model_equations import splits_of
from unspoken.models.readers import as_model
from unspoken.protect import PiecewiseEncoder, decode


def learners():
    from lightgbm import LGBMRegressor
    from xgboost import XGBRegressor, XGBRFRegressor

    tree = {"max_depth": [None, 3, 8], "min_samples_leaf": [1, 4],
            "criterion": ["squared_error", "friedman_mse", "absolute_error", "poisson"],
            "min_impurity_decrease": [0.0, 0.0, 0.1], "ccp_alpha": [0.0, 0.0, 0.02]}
    boosted = {"objective": ["reg:squarederror", "reg:absoluteerror", "count:poisson"],
               "max_depth": [2, 5], "tree_method": ["hist", "approx", "exact"],
               "gamma": [None, None, 0.5], "reg_alpha": [None, None, 1.0], "n_estimators": [3]}
    return {
        "tree": (DecisionTreeRegressor, tree),
        "forest": (RandomForestRegressor, {**tree, "n_estimators": [3], "max_features": [1.0, 0.5],
                                           "bootstrap": [True, False]}),
        "gradient": (GradientBoostingRegressor, {
            "n_estimators": [4], "loss": ["squared_error", "absolute_error", "huber", "quantile"],
            "max_depth": [2, 4], "init": [None, None, "zero"]}),
        "histogram": (HistGradientBoostingRegressor, {
            "max_iter": [4], "loss": ["squared_error", "absolute_error", "quantile", "poisson"],
            "quantile": [0.7], "max_bins": [16, 255], "min_samples_leaf": [2, 20],
            "l2_regularization": [0.0, 1.0], "early_stopping": ["auto", False]}),
        "xgboost": (XGBRegressor, boosted),
        "xgboost forest": (XGBRFRegressor, {**boosted, "subsample": [1.0, 0.8]}),
        "lightgbm": (LGBMRegressor, {
            "n_estimators": [4], "objective": ["regression", "regression_l1", "quantile", "huber"],
            "num_leaves": [4, 15], "min_child_samples": [2, 10], "min_split_gain": [0.0, 0.0, 0.1],
            "verbose": [-1], "deterministic": [True], "force_row_wise": [True]}),
    }


def target_of(rng, rows, kind):
    return {
        "counts": lambda: rng.poisson(2, rows).astype(float),
        "ages": lambda: rng.integers(18, 95, rows).astype(float),
        "cents": lambda: rng.lognormal(8, 1, rows).round(2),
        "real": lambda: rng.normal(size=rows),
        "huge": lambda: rng.normal(size=rows) * 1e30,
        "tiny": lambda: rng.normal(size=rows) * 1e-30,
        "beyond 2^53": lambda: rng.integers(0, 2**40, rows) * 2.0**20 + 2.0**61,
        "heavy": lambda: np.exp(rng.normal(0, 8, rows)),
        "signed zeros": lambda: np.where(rng.random(rows) < 0.3, -0.0, rng.normal(size=rows)),
    }[kind]()


TARGETS = ("counts", "ages", "cents", "real", "huge", "tiny", "beyond 2^53", "heavy",
           "signed zeros")


def fitted(estimator, data, target, weight):
    return clone(estimator).fit(data, target, **({} if weight is None
                                                 else {"sample_weight": weight}))


def same_splits(one, two):
    pairs = zip(splits_of(as_model(one)), splits_of(as_model(two)), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def one(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 250))
    names, kinds = learners(), list(TARGETS)
    name, kind = str(rng.choice(list(names))), str(rng.choice(kinds))
    data = np.column_stack([rng.integers(1, 40, rows), rng.normal(50, 9, rows).round(1),
                            np.where(rng.random(rows) < 0.1, np.nan, rng.integers(1, 9, rows))])
    if name in ("gradient",):
        data = np.nan_to_num(data)
    target = target_of(rng, rows, kind)
    factory, grid = names[name]
    params = {key: values[int(rng.integers(len(values)))] for key, values in grid.items()}
    estimator = factory(random_state=0, **params)
    code = str(rng.choice(["auto", "affine", "scaled"]))
    table = unspoken.read(pa.table({"a": data[:, 0], "b": data[:, 1], "c": data[:, 2],
                                    "y": target}), target="y", show=False)
    release, key = PiecewiseEncoder(target="affine" if code == "auto" else code,
                                    keep_zero=True).protect(table)
    book = PiecewiseBook.from_key(key)
    order = book.order(rows)
    weight = rng.integers(1, 4, rows).astype(float) if rng.random() < 0.25 else None
    moved = None if weight is None else weight[order]
    covered = bool(release.guarantee.covers(estimator))
    try:
        mined = fitted(estimator, release.table.numbers(), release.table.labels(), moved)
    except ValueError:
        return name, kind, "not fitted" if not covered else "covered, not fitted"
    values = np.column_stack([c.rounded(data[:, i]) for i, c in enumerate(book.columns)])[order]
    shown = book.units.encode(target)
    original = fitted(estimator, values, shown[order], moved)
    try:
        decoded = decode(mined, key, table, sample_weight=weight, units="released")
        final = decode(mined, key, table, sample_weight=weight)
    except UnspokenError as error:
        if covered:
            print(f"case {seed}: {name} {params} {kind} {code}: refused: {error}", flush=True)
        return name, kind, "covered, refused" if covered else "uncovered, refused"
    same = unspoken.verify(original, decoded) and close(original, final, target, shown, rng)
    if covered and not same:
        print(f"case {seed}: {name} {params} {kind} {code}: "
              f"{unspoken.verify(original, decoded)}", flush=True)
    plain = fitted(estimator, values, target[order], moved) if covered else None
    again = ", plain splits too" if plain is not None and same_splits(plain, final) else ""
    word = "covered" if covered else "uncovered"
    return name, kind, f"{word}, {'identical' + again if same else 'different'}"


def close(original, final, target, shown, rng):
    """Compare predictions on unseen records in the original unit."""
    unseen = np.column_stack([rng.uniform(0, 41, 300), rng.uniform(20, 80, 300),
                              rng.uniform(0, 9, 300)])
    low, high = int(np.argmin(target)), int(np.argmax(target))
    slope = (target[high] - target[low]) / (shown[high] - shown[low])
    said = np.asarray(original.predict(unseen), np.float64)
    expected = target[low] + slope * (said - shown[low])
    got = np.asarray(final.predict(unseen), np.float64)
    narrow = "xgboost" in type(original).__module__
    reach = max(np.ptp(target), np.abs(target).max() if narrow else 0.0)
    return bool(np.all(np.abs(got - expected) <= (3e-6 if narrow else 1e-9) * reach
                       + 4e-16 * np.abs(target).max()))


if __name__ == "__main__":
    first, cases = (int(a) for a in [*sys.argv[1:], "0", "400"][:2])
    warnings.simplefilter("ignore")
    outcomes = [one(seed) for seed in range(first, first + cases)]
    for place, title in ((0, "by learner"), (1, "by target")):
        print(title)
        for (part, outcome), count in sorted(Counter((o[place], o[2]) for o in outcomes).items()):
            print(f"  {part}: {outcome}: {count}")
    print("all")
    for outcome, count in sorted(Counter(o[2] for o in outcomes).items()):
        print(f"  {outcome}: {count}")
