"""Random tables, learners and parameters: covered must mean identical.

    python bench/random_exactness.py [--first N] [--cases N] [--seconds S] [--counts FILE]

Counts, per learner, how often the release promised the same model and it came true, came out
different, or was refused when decoding; and how many models would have held that were not promised,
with the reason that was given. A promise about a rounded column is compared with that column;
where none was given, the original is taken as it is. Every case is drawn from its number, four of
them from one table; with --counts a run can be stopped and gone on with.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

import unspoken
from long_runs import Progress, arguments
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import InputError, UnspokenError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.results.model_equations import splits_of
from unspoken.mine import Stopping, fit
from unspoken.protect import PiecewiseEncoder, decode

SAME_TABLE = 4
"""Cases that share a table, its release and its key."""
GRID = {
    "tree": {"max_depth": [None, 3], "min_samples_leaf": [1, 4],
             "splitter": ["best", "best", "random"],
             "criterion": ["gini", "entropy"], "ccp_alpha": [0.0, 0.01],
             "class_weight": [None, None, "balanced"], "max_leaf_nodes": [None, None, 6],
             "min_weight_fraction_leaf": [0.0, 0.0, 0.05], "max_features": [None, 0.5]},
    "forest": {"n_estimators": [3], "bootstrap": [True, False], "max_features": ["sqrt", None],
               "min_samples_leaf": [1, 3], "max_samples": [None, 0.7],
               "class_weight": [None, None, "balanced", "balanced_subsample"],
               "max_leaf_nodes": [None, None, 6], "min_impurity_decrease": [0.0, 0.0, 0.01]},
    "xgboost": {"n_estimators": [3], "max_depth": [2, 5],
                "tree_method": ["hist", "approx", "exact"],
                "subsample": [1.0, 0.7], "max_cat_to_onehot": [1, 4],
                "booster": ["gbtree", "gbtree", "dart"], "colsample_bytree": [1.0, 0.6],
                "min_child_weight": [1, 0, 3], "reg_lambda": [1.0, 0.0], "max_bin": [256, 8],
                "num_parallel_tree": [1, 1, 2], "grow_policy": ["depthwise", "lossguide"]},
    "lightgbm": {"n_estimators": [3], "num_leaves": [4, 15], "min_child_samples": [1, 8],
                 "min_data_per_group": [1, 50], "max_bin": [15, 255],
                 "boosting_type": ["gbdt", "gbdt", "gbdt", "dart", "goss"],
                 "subsample": [1.0, 0.6], "subsample_freq": [0, 1], "colsample_bytree": [1.0, 0.6],
                 "class_weight": [None, None, "balanced"], "min_data_in_bin": [3, 1],
                 "cat_smooth": [10.0, 1.0], "path_smooth": [0.0, 0.0, 1.0]},
    "gradient": {"n_estimators": [3], "max_depth": [1, 3], "min_samples_leaf": [1, 4],
                 "subsample": [1.0, 1.0, 0.7], "max_features": [None, "sqrt"],
                 "n_iter_no_change": [None, None, 1], "validation_fraction": [0.3],
                 "max_leaf_nodes": [None, 4]},
    "histogram": {"max_iter": [6], "max_leaf_nodes": [4, 15], "min_samples_leaf": [1, 8],
                  "max_bins": [8, 255], "max_features": [1.0, 0.5],
                  "early_stopping": [False, True], "n_iter_no_change": [1],
                  "validation_fraction": [0.3], "tol": [0.0], "learning_rate": [0.1, 0.8],
                  "class_weight": [None, None, "balanced"], "l2_regularization": [0.0, 1.0]},
    "adaboost": {"n_estimators": [4], "estimator__max_depth": [1, 3],
                 "learning_rate": [1.0, 0.3], "estimator__class_weight": [None, "balanced"]},
    "bagging": {"n_estimators": [3], "max_samples": [1.0, 0.6], "max_features": [1.0, 0.6],
                "bootstrap": [True, False], "estimator__max_depth": [None, 4],
                "estimator__min_samples_leaf": [1, 3]},
    "c45": {"min_records": [1, 3], "prune": [True, False], "raise_branches": [True, False],
            "confidence": [0.25, 0.1]},
}
CLASSES_ALONE = ("criterion", "class_weight", "estimator__class_weight")
"""Parameters that learners of numbers do not have."""
NO_HOLES = ("gradient", "adaboost", "c45")
CLASSES_ONLY = ("adaboost", "c45")
STOPPED = ("xgboost", "lightgbm")
INDICATORS = ("tree", "forest", "gradient", "adaboost", "bagging")


def column(rng: np.random.Generator, rows: int, holes: float):
    """Return a column of numbers, some of them nasty, or of texts."""
    kind = int(rng.integers(12))
    if kind >= 8:
        texts = rng.choice([f"v {i}" for i in range(int(rng.integers(2, 30)))], rows).astype(object)
        texts[rng.random(rows) < rng.choice([0.0, holes])] = None
        return texts.tolist()
    values = (rng.integers(-40, 200, rows), rng.normal(size=rows).round(2), rng.normal(size=rows),
              1e5 + rng.integers(0, 200, rows) / 1000, rng.integers(1, 60, rows) * 1e-6,
              np.exp(rng.normal(size=rows) * 8), 2.0**24 + rng.integers(0, 40, rows),
              np.where(rng.random(rows) < 0.3, -0.0, rng.integers(-2, 3, rows)))[kind]
    values = values.astype(float)
    values[rng.random(rows) < rng.choice([0.0, holes])] = np.nan
    return values


@dataclass(frozen=True)
class Drawn:
    """One table with its release and key."""

    table: Any
    release: Any
    key: Any
    task: str
    holes: bool


@lru_cache(maxsize=1)
def drawn(number: int) -> Drawn:
    """Draw a table: classes, or numbers for one in five, and gaps for two in three."""
    rng = np.random.default_rng([number, 1])
    rows, holes = int(rng.integers(30, 300)), bool(rng.random() < 0.67)
    source = {f"c {i}": column(rng, rows, 0.1 * holes) for i in range(int(rng.integers(1, 6)))}
    task = "regression" if rng.random() < 0.2 else "classification"
    source["y"] = (rng.normal(size=rows).round(3) if task == "regression"
                   else np.r_[["a", "b"], rng.choice(["a", "b", "c"], rows - 2)])
    kinds = {name: "numeric" if isinstance(v, np.ndarray) else "categorical"
             for name, v in source.items() if name != "y"}
    table = unspoken.read(source, target="y", kinds=kinds, show=False)
    encoder = PiecewiseEncoder(rare=int(rng.choice([1, 5])), keep_zero=True, random_state=number)
    return Drawn(table, *encoder.protect(table), task, holes)


@dataclass(frozen=True)
class Case:
    """What is mined from a table, and how."""

    learner: str
    params: dict[str, Any]
    options: dict[str, Any]


def case_of(seed: int, data: Drawn) -> Case:
    """Draw a learner that the table allows, its parameters, its rows and how it is stopped."""
    rng = np.random.default_rng([seed, 2])
    fitting = [name for name in GRID if not (data.holes and name in NO_HOLES)
               and not (data.task == "regression" and name in CLASSES_ONLY)]
    learner = str(rng.choice(fitting))
    params = {name: values[int(rng.integers(len(values)))]
              for name, values in GRID[learner].items()}
    if data.task == "regression":
        params = {name: value for name, value in params.items() if name not in CLASSES_ALONE}
    if learner == "forest" and not params["bootstrap"]:
        params.pop("max_samples")
    rows = data.table.rows
    options: dict[str, Any] = {"rows": np.sort(rng.permutation(rows)[: rows * 3 // 4])
                               if rng.random() < 0.3 else None}
    if learner in STOPPED and rng.random() < 0.4:
        options["stop"] = Stopping(1, 0.3, int(rng.integers(100)))
        params["n_estimators"] = 8
    if learner in INDICATORS and rng.random() < 0.2:
        options["onehot"] = True
    return Case(learner, params, options)


def unrounded(key, table):
    """Return the original in the released order, without the rounding of a promise."""
    book = PiecewiseBook.from_key(key)
    rows = table.arrow([*book.everything, table.target])
    kinds = {name: "numeric" if name in book.features else "categorical"
             for name in book.everything}
    return unspoken.read(rows.take(pa.array(book.order(rows.num_rows))), target=table.target,
                         kinds=kinds, keep=list(book.everything), show=False)


def same_splits(mined, key, table) -> bool:
    """Return whether a model asks what the original's does, its target in its own unit.

    Where a parameter is in the unit of the target, a comparison in the released unit holds always.
    """
    decoded = decode(mined.to_bytes(), key, table, rows=mined.recipe.rows)
    recipe = mined.recipe
    original = fit(unrounded(key, table), recipe.learner, task=recipe.task, rows=recipe.rows,
                   categories=getattr(decoded, "categories", None), **recipe.params).model
    return all(np.array_equal(mine, theirs) for mine, theirs in
               zip(splits_of(original), splits_of(decoded), strict=True))


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


def one(seed: int) -> tuple[str, str]:
    """Return what came of a case, and a note if a promise was not kept."""
    data = drawn(seed // SAME_TABLE)
    case = case_of(seed, data)
    name = case.learner + ", stopped" * ("stop" in case.options)
    try:
        mined = fit(data.release, case.learner, anyway=True, task=data.task, **case.options,
                    **case.params)
    except InputError:
        return f"{name}: not fitted", ""
    word, why = ("covered", "") if mined.verdict else (
        "uncovered", f": {mined.verdict.reason[:100]}")
    try:
        same: Any = holds(mined, data.key, data.table, data.release)
        said = "identical" if same else "different"
    except UnspokenError as error:
        same, said = error, "refused"
    except Exception as error:
        same, said = f"{type(error).__name__}: {error}", "failed"
    broken = said == "failed" or (word == "covered" and said != "identical")
    return (f"{name}: {word}, {said}{why}",
            f"case {seed}: {name} {case.params} {data.task}: {said}: {same}"[:500] * broken)


def totals(counts: Counter[str]) -> str:
    """Return what came of the promises, and the share of the others that would have held."""
    outcomes: Counter[str] = Counter()
    for text, count in counts.items():
        outcomes[text.split(": ")[1]] += count
    others = [outcomes[f"uncovered, {word}"] for word in ("identical", "different", "refused")]
    return f"{dict(outcomes)}\nof {sum(others)} uncovered ones {others[0]} would have held"


def main() -> int:
    """Run cases until they are done or the time is over; exit status 1 if a promise was broken."""
    wanted = arguments(__doc__ or "", 0, 20_000)
    run, began = Progress.of(wanted.first, wanted.counts), time.monotonic()
    while run.next < wanted.first + wanted.cases and time.monotonic() - began < wanted.seconds:
        outcome, note = one(run.next)
        if note:
            print(note, flush=True)
            run.notes.append(note)
        run.add({outcome: 1}, run.next + 1)
    run.write()
    print(f"{run.summary()}\n{totals(run.counts)}")
    return 1 if run.notes else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
