"""Private releases of Adult at epsilon 1: a synthetic table, a tree and naive Bayes.

    python bench/private_adult.py [synthetic | tree | bayes | accounting] [EPSILON]

`adult_data.parquet` and `adult_test.parquet` are looked for in the folder that bench/data.py names.
"""

import itertools
import sys
import time

import numpy as np
import pandas as pd

import unspoken
from harness import shared
from unspoken.methods.private.declared_columns import cells_of
from unspoken.methods.private.private_offer import private_offer
from unspoken.methods.private.private_trees import private_tree
from unspoken.methods.private.synthetic_rows import PrivateSynthesizer
from unspoken.release.budget_costs import LAPLACE, Cost, total_epsilon

TREES = 3
EDGES = {
    "age": [17, 22, 26, 30, 34, 38, 42, 46, 50, 55, 60, 65, 75, 91],
    "fnlwgt": [0, 100_000, 150_000, 200_000, 250_000, 350_000, 1_500_000],
    "education-num": [1, 5, 7, 9, 10, 11, 12, 13, 14, 15, 17],
    "capital-gain": [0, 1, 3000, 5000, 7000, 10_000, 100_000],
    "capital-loss": [0, 1, 1500, 1800, 2000, 5000],
    "hours-per-week": [1, 20, 30, 39, 41, 46, 51, 61, 100],
}
VALUES = {
    "workclass": ["?", "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc",
                  "Self-emp-not-inc", "State-gov", "Without-pay"],
    "education": ["10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Assoc-acdm",
                  "Assoc-voc", "Bachelors", "Doctorate", "HS-grad", "Masters", "Preschool",
                  "Prof-school", "Some-college"],
    "marital-status": ["Divorced", "Married-AF-spouse", "Married-civ-spouse",
                       "Married-spouse-absent", "Never-married", "Separated", "Widowed"],
    "occupation": ["?", "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial",
                   "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Other-service",
                   "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales", "Tech-support",
                   "Transport-moving"],
    "relationship": ["Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried",
                     "Wife"],
    "race": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
    "sex": ["Female", "Male"],
    "native-country": ["United-States", "Mexico", "Philippines", "Germany", "Canada", "?"],
    "income": ["<=50K", ">50K"],
}
# Missing values are the text "?"; countries that are not listed count as missing.
COMPLETE = [name for name in (*EDGES, *VALUES) if name != "native-country"]


def adult(part):
    frame = pd.read_parquet(shared(f"adult_{part}.parquet"))
    frame["income"] = frame["income"].str.rstrip(".")
    return frame


def read(frame):
    return unspoken.read(frame, target="income", keep=list(frame.columns), show=False)


def boosted_accuracy(train, test):
    from sklearn.ensemble import HistGradientBoostingClassifier

    features = [name for name in train.columns if name != "income"]
    both = pd.concat([train[features], test[features]], ignore_index=True)
    for name in features:
        if name not in EDGES:
            both[name] = both[name].astype("category")
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    model.fit(both.iloc[: len(train)], train["income"])
    return float((model.predict(both.iloc[len(train):]) == test["income"]).mean())


def three_way_error(first, second):
    """Return the mean total variation distance of all three-way marginals, over declared cells."""
    tables = [read(one) for one in (first, second)]
    names = list(first.columns)
    cells = cells_of(tables[0], names, EDGES, VALUES, 16, COMPLETE)
    coded = [[cell.codes(table.arrow([cell.name])[cell.name]) for cell in cells]
             for table in tables]
    errors = []
    for chosen in itertools.combinations(range(len(names)), 3):
        sizes = [cells[k].size for k in chosen]
        shares = [np.bincount(np.ravel_multi_index([codes[k] for k in chosen], sizes),
                              minlength=int(np.prod(sizes))) / codes[0].size for codes in coded]
        errors.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(errors))


def synthetic(epsilon):
    train, test = adult("data"), adult("test")
    began = time.perf_counter()
    method = PrivateSynthesizer(epsilon, edges=EDGES, values=VALUES, complete=COMPLETE)
    release, _ = method.protect(read(train))
    took = time.perf_counter() - began
    made = release.table.arrow().to_pandas()[list(train.columns)]
    print(release.guarantee.statement)
    print(f"synthetic rows in {took:.1f} s; boosted accuracy {boosted_accuracy(made, test):.4f} "
          f"(original {boosted_accuracy(train, test):.4f}); three-way error "
          f"{three_way_error(train, made):.4f}")


def tree(epsilon):
    train, test = adult("data"), adult("test")
    table = read(train)
    accuracies = []
    for _ in range(TREES):
        learned = private_tree(table, epsilon, edges=EDGES, values=VALUES, complete=COMPLETE)
        guess = learned.model.predict(read(test))
        accuracies.append(float((guess == test["income"].to_numpy()).mean()))
    print(f"private tree at {learned.cost}: mean accuracy {np.mean(accuracies):.4f}, "
          f"{min(accuracies):.4f} to {max(accuracies):.4f} over {len(accuracies)} trees; a leaf's "
          f"class counts have a standard error of {learned.leaf_error:.1f}")


def bayes(epsilon):
    train, test = read(adult("data")), adult("test")
    accuracies = []
    for _ in range(TREES):
        offer = private_offer(train, "naive-bayes", epsilon, edges=EDGES, values=VALUES,
                              complete=COMPLETE)
        guess = offer.buy().predict(read(test))
        accuracies.append(float((guess == test["income"].to_numpy()).mean()))
    print(f"private naive Bayes at {offer.cost}: mean accuracy {np.mean(accuracies):.4f}, "
          f"{min(accuracies):.4f} to {max(accuracies):.4f} over {len(accuracies)} models")


def accounting(_):
    """Total 10,000 releases of a few prices, as this project and as dp-accounting does it."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    prices = [0.005, 0.01, 0.02, 0.03, 0.05]
    began = time.perf_counter()
    ours = total_epsilon({Cost(price, law=LAPLACE): 2000 for price in prices}, 1e-6)
    took = time.perf_counter() - began
    began = time.perf_counter()
    theirs = PLDAccountant()
    for price in prices:
        theirs.compose(dp_event.LaplaceDpEvent(1 / price), 2000)
    total = theirs.get_epsilon(1e-6)
    print(f"10,000 releases: {ours:.9f} in {took:.2f} s; dp-accounting's own {total:.9f} in "
          f"{time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    which = sys.argv[1] if len(sys.argv) > 1 else "synthetic"
    epsilon_ = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    {"synthetic": synthetic, "tree": tree, "bayes": bayes, "accounting": accounting}[which](
        epsilon_)
