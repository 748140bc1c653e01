"""Random tables, learners and parameters: covered must mean identical.

    python bench/random_exactness.py [first seed] [cases] [seconds]

Counts, per learner, how often the release promised the same model and it came true, came out
different, or was refused when decoding; and how many models would have held that were not promised,
with the reason that was given. A promise about a rounded column is compared with that column;
where none was given, the original is taken as it is. Runs in pieces: each seed is a case.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa

import unspoken
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import InputError, UnspokenError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode

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
    "gradient": {"n_estimators": [3], "max_depth": [1, 3], "min_samples_leaf": [1, 4],
                 "subsample": [1.0, 1.0, 0.7], "max_features": [None, "sqrt"]},
    "histogram": {"max_iter": [4], "max_leaf_nodes": [4, 15], "min_samples_leaf": [1, 8],
                  "max_bins": [8, 255], "max_features": [1.0, 0.5]},
    "adaboost": {"n_estimators": [4], "estimator__max_depth": [1, 3],
                 "learning_rate": [1.0, 0.3]},
    "bagging": {"n_estimators": [3], "max_samples": [1.0, 0.6], "max_features": [1.0, 0.6],
                "bootstrap": [True, False], "estimator__max_depth": [None, 4]},
}


def column(rng: np.random.Generator, rows: int, holes: float):
    kind = int(rng.integers(8))
    if kind >= 5:
        texts = rng.choice([f"v {i}" for i in range(int(rng.integers(2, 30)))], rows).astype(object)
        texts[rng.random(rows) < rng.choice([0.0, holes])] = None
        return texts.tolist()
    values = (rng.integers(-40, 200, rows), rng.normal(size=rows).round(2), rng.normal(size=rows),
              1e5 + rng.integers(0, 200, rows) / 1000, rng.integers(1, 60, rows) * 1e-6)[kind]
    values = values.astype(float)
    values[rng.random(rows) < rng.choice([0.0, holes])] = np.nan
    return values


def target(rng: np.random.Generator, rows: int, learner: str):
    """Return classes, or numbers for one case in five."""
    if learner != "adaboost" and rng.random() < 0.2:
        return rng.normal(size=rows).round(3), "regression"
    return np.r_[["a", "b"], rng.choice(["a", "b", "c"], rows - 2)], "classification"


def unrounded(key, table):
    """Return the original in the released order, without the rounding of a promise."""
    book = PiecewiseBook.from_key(key)
    rows = table.arrow([*book.everything, table.target])
    kinds = {name: "numeric" if name in book.features else "categorical"
             for name in book.everything}
    return unspoken.read(rows.take(pa.array(book.order(rows.num_rows))), target=table.target,
                         kinds=kinds, keep=list(book.everything), show=False)


def same_splits(mined, key, table) -> bool:
    """Return whether a tree asks what the original's does, its target in its own unit.

    Where a parameter is in the unit of the target, a comparison in the released unit holds always.
    """
    decoded = decode(mined.to_bytes(), key, table, rows=mined.recipe.rows)
    recipe = mined.recipe
    original = fit(unrounded(key, table), recipe.learner, task=recipe.task, rows=recipe.rows,
                   categories=decoded.categories, **recipe.params).model
    return all(np.array_equal(getattr(original, name), getattr(decoded, name))
               for name in ("left", "right", "feature", "threshold"))


def holds(mined, key, table, release) -> bool:
    """Return whether a model decodes to the original's."""
    if not mined.verdict and "in the unit of the target" in mined.verdict.reason:
        return same_splits(mined, key, table)
    model = unspoken.load_model(mined.to_bytes())
    if mined.verdict or release.guarantee.facts.get("float32_exact"):
        return compare_with_original(model, mined.recipe, key, table)
    decoded = decode(model, key, table, rows=mined.recipe.rows)
    recipe = mined.recipe
    original = fit(unrounded(key, table), recipe.learner, task=recipe.task, rows=recipe.rows,
                   categories=getattr(decoded, "categories", None), **recipe.params)
    return unspoken.verify(original.to_bytes(), decoded)


def one(seed: int) -> tuple[str, str, str]:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 300))
    learner = str(rng.choice(list(GRID)))
    holes = 0.0 if learner in ("gradient", "adaboost") else 0.1
    source = {f"c {i}": column(rng, rows, holes) for i in range(int(rng.integers(1, 6)))}
    source["y"], task = target(rng, rows, learner)
    params = {name: values[int(rng.integers(len(values)))]
              for name, values in GRID[learner].items()}
    if task == "regression":
        params.pop("criterion", None)
    table = unspoken.read(source, target="y", kinds={
        name: "numeric" if isinstance(v, np.ndarray) else "categorical"
        for name, v in source.items() if name != "y"}, show=False)
    release, key = PiecewiseEncoder(rare=int(rng.choice([1, 5])), keep_zero=True).protect(table)
    part = np.sort(rng.permutation(rows)[: rows * 3 // 4]) if rng.random() < 0.3 else None
    try:
        mined = fit(release, learner, anyway=True, rows=part, task=task, **params)
    except InputError:
        return learner, "not fitted", ""
    covered = "covered" if mined.verdict else "uncovered"
    why = "" if mined.verdict else mined.verdict.reason[:100]
    try:
        same = holds(mined, key, table, release)
    except UnspokenError as error:
        if mined.verdict:
            print(f"case {seed}: {learner} {params}: refused: {error}", flush=True)
        return learner, f"{covered}, refused", why
    if mined.verdict and not same:
        print(f"case {seed}: {learner} {params}: {same}", flush=True)
    return learner, f"{covered}, {'identical' if same else 'different'}", why


def main(first: int, cases: int, seconds: float) -> None:
    """Run cases until they are done or the time is over, and print the counts."""
    began, tally = time.monotonic(), Counter()
    for seed in range(first, first + cases):
        if time.monotonic() - began > seconds:
            break
        tally[one(seed)] += 1
    done = sum(tally.values())
    print(f"seeds {first} to {first + done - 1}: {done} cases")
    for (learner, outcome, why), count in sorted(tally.items()):
        print(f"{learner}: {outcome}: {count}{': ' * bool(why)}{why}")
    outcomes = Counter()
    for (_, outcome, _), count in tally.items():
        outcomes[outcome] += count
    print(dict(outcomes))


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:4]]
    start, wanted, limit = numbers + [0, 1000, 86_400][len(numbers):]
    warnings.simplefilter("ignore")
    main(start, wanted, limit)
