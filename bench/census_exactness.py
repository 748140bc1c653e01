"""A census-like table (200,000 x 40, 28 columns of text): four default learners, decoded.

    python bench/census_exactness.py [rows] [learner ...]

Each learner is fitted with the library's own defaults (and a fixed seed) on the release, decoded
from the fitted object, and compared with the same learner on the original in the released order.
Prints whether the release promised it, whether it came true, the area under the curve of both on
unseen records, and what decoding took beside one prediction pass over the training rows.
"""

from __future__ import annotations

import sys
import time

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import roc_auc_score

import unspoken
from unspoken.errors import UnspokenError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.protect import PiecewiseEncoder, decode

TEXTS, NUMBERS = 28, 11


def census(rows: int, seed: int) -> pd.DataFrame:
    """Return made-up people: 28 columns of text, 11 of numbers, and a target."""
    rng = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    score = np.zeros(rows)
    weights = np.random.default_rng(7)
    for place in range(TEXTS):
        many = (2, 3, 5, 9, 17, 42, 120)[place % 7]
        share = weights.dirichlet(np.full(many, 0.7))
        drawn = rng.choice(many, rows, p=share)
        score += weights.normal(size=many)[drawn] * 0.3
        texts = np.array([f"t{place} {i}" for i in range(many)], object)[drawn]
        if place % 5 == 0:
            texts[rng.random(rows) < 0.03] = None
        columns[f"text {place}"] = texts
    for place in range(NUMBERS):
        values = (rng.integers(17, 91, rows).astype(float), np.round(rng.gamma(2.0, 9000.0, rows)),
                  rng.normal(size=rows))[place % 3]
        score += (values > np.median(values)) * weights.normal() * 0.5
        columns[f"number {place}"] = values
    noisy = score + rng.logistic(size=rows)
    columns["income"] = np.where(noisy > np.median(noisy), "above", "below")
    return pd.DataFrame(columns)


LEARNERS = {
    "RandomForest": RandomForestClassifier(random_state=0),
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    "LightGBM": lightgbm.LGBMClassifier(random_state=0, n_jobs=2, deterministic=True,
                                        force_row_wise=True, verbose=-1),
    "XGBoost": xgboost.XGBClassifier(random_state=0, n_jobs=2, enable_categorical=True),
}


def framed(frame: pd.DataFrame, lists: dict[str, list[str]], kind: str) -> pd.DataFrame:
    """Return texts as categories in a fixed order, or as numbers for learners without them.

    scikit-learn numbers categories in their own sorted order, whatever order the frame has; as
    whole numbers they are sorted alike on both sides. Left as texts, the original would be numbered
    in another order than the codes, and categories that tie in a split would be cut elsewhere.
    """
    out = frame.copy()
    for name, known in lists.items():
        texts = out[name].where(out[name].isin(known))
        categories = pd.Categorical(texts, categories=known)
        codes = np.where(categories.codes < 0, np.nan, categories.codes)
        if kind == "HistGradientBoosting":
            categories = pd.Categorical(codes, categories=range(len(known)))
        out[name] = codes if kind == "RandomForest" else categories
    return out


def main(rows: int, chosen: list[str]) -> None:
    frame, unseen = census(rows, 1), census(20_000, 2)
    began = time.perf_counter()
    table = unspoken.read(frame, target="income", show=False)
    release, key = PiecewiseEncoder(keep_zero=True).protect(table)
    print(f"protect: {time.perf_counter() - began:.1f} s", flush=True)
    book = PiecewiseBook.from_key(key)
    lists = {name: [group[0] for group in book.groups(name).values()] for name in book.categories}
    labels = {name: list(book.groups(name)) for name in book.categories}
    order = book.order(rows)
    released = release.table.arrow().to_pandas()
    y = np.unique(released["income"], return_inverse=True)[1]
    moved = frame.iloc[order].reset_index(drop=True).drop(columns="income")
    for column in book.columns:
        moved[column.name] = column.rounded(moved[column.name].to_numpy(float))
    wanted = np.unique(unseen["income"], return_inverse=True)[1]
    for name, learner in LEARNERS.items():
        if chosen and name not in chosen:
            continue
        one(name, learner, (released.drop(columns="income"), labels), (moved, lists), y,
            (table, key, release, unseen.drop(columns="income"), wanted))


def one(name, learner, codes, values, y, rest) -> None:
    table, key, release, unseen, wanted = rest
    seen, originals = framed(*codes, name), framed(*values, name)
    new = framed(unseen, values[1], name)
    covered = release.guarantee.covers(learner)
    mined, original = clone(learner).fit(seen, y), clone(learner).fit(originals, y)
    began = time.perf_counter()
    mined.predict_proba(seen)
    once = time.perf_counter() - began
    began = time.perf_counter()
    try:
        decoded = decode(mined, key, table)
    except UnspokenError as error:
        print(f"{name}: {covered}; refused: {error}", flush=True)
        return
    took = time.perf_counter() - began
    records = unseen if hasattr(decoded, "categories") else new
    mine, theirs = decoded.predict_proba(records)[:, 1], original.predict_proba(new)[:, 1]
    print(f"{name}: covered {bool(covered)}, {unspoken.verify(original, decoded)}, "
          f"largest difference on unseen records {np.abs(mine - theirs).max():.1e}, AUC "
          f"{roc_auc_score(wanted, mine):.4f} and {roc_auc_score(wanted, theirs):.4f}, decoding "
          f"{took:.1f} s, one prediction pass {once:.1f} s; {covered.reason}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000, sys.argv[2:])
