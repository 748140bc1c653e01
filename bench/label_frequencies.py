"""What merging of categories costs a model, and what frequencies still give away (Adult).

    python bench/label_frequencies.py [--quick]

For every way of labelling: the area under the curve of HistGradientBoosting, mined on the release,
decoded and scored on the test records of Adult; and the share of people whose category is named by
an adversary who has a sample of 1%, or the exact frequencies, as the mean over all columns of text.
Who knows the frequencies of the most frequent categories alone has the last column: the share of
people that the most frequent category of every label holds is the most that naming labels can give.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.metrics import roc_auc_score

import unspoken
from private_adult import adult
from unspoken.methods.encoding.audit.released_labels import label_columns
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode
from unspoken.risk import audit

WAYS = ({}, {"rare": 50}, {"rare": 500}, {"even_labels": 8}, {"even_labels": 4},
        {"even_labels": 2})
ADVERSARIES = ("category-frequencies", "category-pairs")


def named(found, adversary: str, level: str) -> float:
    """Return the mean share of people whose category is named, over columns of text."""
    rows = [row.value for row in found.select(measure="records", adversary=adversary)
            if row.knowledge == level]
    return float(np.mean(rows)) if rows else float("nan")


def one(options, table, test) -> str:
    """Return a line of the table."""
    release, key = PiecewiseEncoder(keep_zero=True, **options).protect(table)
    decoded = decode(fit(release, "histogram").to_bytes(), key, table)
    chances = decoded.predict_proba(test.drop(columns="income"))[:, 1]
    auc = roc_auc_score(test["income"] == decoded.classes[1], chances)
    found = audit(table, release, key, trials=5, random_state=0, people=False,
                  adversaries=ADVERSARIES)
    columns = label_columns(table, release, key)[0]
    most = np.mean([column.original_shares[column.owner].sum() for column in columns])
    figures = [named(found, *pair) for pair in (
        ("category-frequencies", "sample 1%"), ("category-pairs", "sample 1%"),
        ("category-frequencies", "histogram"))]
    shown = " | ".join(f"{figure:.1%}" for figure in (*figures, float(most)))
    words = ", ".join(f"`{name}={value}`" for name, value in options.items()) or "as they are"
    return f"| {words} | {sum(len(c.labels) for c in columns)} | {auc:.4f} | {shown} |"


def main() -> None:
    """Print the table."""
    train, test = adult("data"), adult("test")
    if "--quick" in sys.argv:
        train = train.iloc[:4000].reset_index(drop=True)
    table = unspoken.read(train, target="income", keep=list(train.columns), show=False)
    print("| labels | number | AUC | frequencies, sample 1% | pairs, sample 1% | frequencies, "
          "exact | at most |\n| --- | --- | --- | --- | --- | --- | --- |")
    for options in WAYS:
        began = time.perf_counter()
        print(one(options, table, test), f"({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
