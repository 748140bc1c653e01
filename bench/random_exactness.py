"""Random tables, learners and parameters: covered must mean identical.

    python bench/random_exactness.py [first seed] [cases]

Counts, per learner, how often the release promised the same model and it came true, came out
different, or was refused when decoding; and how many models would have held that were not promised.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np

import unspoken
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import InputError, UnspokenError
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder

GRID = {
    "tree": {"max_depth": [None, 3], "min_samples_leaf": [1, 4], "splitter": ["best", "random"],
             "criterion": ["gini", "entropy"], "ccp_alpha": [0.0, 0.01]},
    "forest": {"n_estimators": [3], "bootstrap": [True, False], "max_features": ["sqrt", None],
               "min_samples_leaf": [1, 3], "max_samples": [None, 0.7]},
    "xgboost": {"n_estimators": [3], "max_depth": [2, 5],
                "tree_method": ["hist", "approx", "exact"],
                "subsample": [1.0, 0.7], "max_cat_to_onehot": [1, 4]},
    "lightgbm": {"n_estimators": [3], "num_leaves": [4, 15], "min_child_samples": [1, 8],
                 "min_data_per_group": [1, 50], "max_bin": [15, 255]},
}


def column(rng: np.random.Generator, rows: int):
    kind = int(rng.integers(8))
    if kind >= 5:
        texts = rng.choice([f"v {i}" for i in range(int(rng.integers(2, 30)))], rows).astype(object)
        texts[rng.random(rows) < rng.choice([0.0, 0.1])] = None
        return texts.tolist()
    values = (rng.integers(-40, 200, rows), rng.normal(size=rows).round(2), rng.normal(size=rows),
              1e5 + rng.integers(0, 200, rows) / 1000, rng.integers(1, 60, rows) * 1e-6)[kind]
    values = values.astype(float)
    values[rng.random(rows) < rng.choice([0.0, 0.1])] = np.nan
    return values


def one(seed: int) -> tuple[str, str]:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 300))
    source = {f"c {i}": column(rng, rows) for i in range(int(rng.integers(1, 6)))}
    source["y"] = np.r_[["a", "b"], rng.choice(["a", "b", "c"], rows - 2)]
    learner = str(rng.choice(list(GRID)))
    params = {name: values[int(rng.integers(len(values)))]
              for name, values in GRID[learner].items()}
    table = unspoken.read(source, target="y", kinds={
        name: "numeric" if isinstance(v, np.ndarray) else "categorical"
        for name, v in source.items() if name != "y"}, show=False)
    release, key = PiecewiseEncoder(rare=int(rng.choice([1, 5])), keep_zero=True).protect(table)
    part = np.sort(rng.permutation(rows)[: rows * 3 // 4]) if rng.random() < 0.3 else None
    try:
        mined = fit(release, learner, anyway=True, rows=part, task="classification", **params)
    except InputError:
        return learner, "not fitted"
    covered = "covered" if mined.verdict else "uncovered"
    try:
        model = unspoken.load_model(mined.to_bytes())
        same = compare_with_original(model, mined.recipe, key, table)
    except UnspokenError as error:
        if mined.verdict:
            print(f"case {seed}: {learner} {params}: refused: {error}", flush=True)
        return learner, f"{covered}, refused"
    if mined.verdict and not same:
        print(f"case {seed}: {learner} {params}: {same}", flush=True)
    return learner, f"{covered}, {'identical' if same else 'different'}"


if __name__ == "__main__":
    first, cases = (int(a) for a in [*sys.argv[1:], "0", "1000"][:2])
    warnings.simplefilter("ignore")
    tally: Counter[tuple[str, str]] = Counter(one(seed) for seed in range(first, first + cases))
    for (learner, outcome), count in sorted(tally.items()):
        print(f"{learner}: {outcome}: {count}")
