"""How often 95% intervals hold the truth: every estimator that prints one, 300 draws each.

    python bench/interval_coverage.py [PART ...] [DRAWS]

where parts are bars, many, printed, response, baskets, survey, inverse and models.

`adult_data.parquet` is looked for in the folder that bench/data.py names.
"""

import sys
import warnings

import numpy as np
import pyarrow.parquet as pq

import unspoken
from harness import shared
from unspoken import mine
from unspoken.attack import Knows, disclosure, puzzle, sample_disclosure
from unspoken.joint.tasks.logistic.pooled import pooled_logistic
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.regression.pooled import pooled as fitted
from unspoken.joint.tasks.robust_regression.pooled import pooled as robust_fit
from unspoken.methods.distortion.known_laws import Additive
from unspoken.methods.distortion.local_frequencies import LocalHashing, OptimisedUnary
from unspoken.methods.distortion.noise_laws import for_width
from unspoken.methods.distortion.reconstruct.error_bars import Column, bar_tests
from unspoken.methods.distortion.reconstruct.reconstruct import reconstruct
from unspoken.methods.distortion.reconstruct.reports import Reports
from unspoken.methods.distortion.response_matrices import by_inverse, keep_or_draw, least_variance
from unspoken.protect import CutAndPaste, Mask, SelectASize
from unspoken.studio.survey_laws import SurveyQuestion

DRAWS = 300
REACH = 1.959963984540054


def shown(name, held):
    """Print the share of all intervals that hold, and of the worst one."""
    held = np.asarray(held)
    print(f"| {name} | {held.shape[0]} | {held.mean():.1%} | {held.mean(axis=0).min():.1%} |",
          flush=True)


def columns():
    """Yield a smooth column and spiky ones."""
    rng = np.random.default_rng(0)
    yield "smooth", rng.beta(2, 3, 40_000) * 53, "gaussian", 0.5
    weeks = rng.choice(np.r_[0, 52, np.arange(1, 52)], 40_000,
                       p=np.r_[0.2, 0.66, np.full(51, 0.14 / 51)]).astype(float)
    yield "weeks worked", weeks, "gaussian", 0.5
    yield "weeks worked", weeks, "uniform", 0.25
    path = shared("adult_data.parquet")
    if path is not None and path.exists():
        adult = pq.read_table(path)
        yield "age (Adult)", adult["age"].to_numpy().astype(float), "laplace", 0.5
        yield "hours (Adult)", adult["hours-per-week"].to_numpy().astype(float), "uniform", 0.5


def bars(draws):
    """Error bars of reconstructed shares: a bar holds what its test calls possible."""
    for name, people, family, width in columns():
        support = (float(people.min()), float(people.max()) + 1)
        noise = for_width(family, width * (support[1] - support[0]))
        edges, held = np.linspace(*support, 9), []
        truth = np.histogram(people, edges)[0] / people.size
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            reports = rng.choice(people, 2000) + noise.quantile(rng.random(2000))
            column = Column(Reports(reports, np.zeros(0)), Additive(noise), edges)
            tests = bar_tests(column, 0.95, seed)
            held.append([test.possible(share) for test, share in zip(tests, truth, strict=True)])
        shown(f"reconstruct, {name}, {family} noise of {width:.0%}", held)


def many(draws):
    """Error bars of 50 intervals, which have the largest of 19 draws, on 10,000 reports."""
    for name, people, family, width in list(columns())[1:3]:
        noise, edges, held = for_width(family, width * 53), np.linspace(0.0, 53.0, 51), []
        truth = np.histogram(people, edges)[0] / people.size
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            reports = rng.choice(people, 10_000) + noise.quantile(rng.random(10_000))
            tests = bar_tests(Column(Reports(reports, np.zeros(0)), Additive(noise), edges), 0.95,
                              seed)
            held.append([tests[bar].possible(truth[bar]) for bar in range(0, 50, 7)])
        shown(f"reconstruct, 50 intervals, {name}, {family} noise of {width:.0%}", held)


def printed(draws):
    """The same bars as they are printed: their ends, with the estimate among them."""
    for name, people, family, width in columns():
        support = (float(people.min()), float(people.max()) + 1)
        noise = for_width(family, width * (support[1] - support[0]))
        held = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            reports = rng.choice(people, 2000) + noise.quantile(rng.random(2000))
            estimate = reconstruct(reports, noise, bins=8, support=support, confidence=0.95,
                                   stop="steps", steps=30)
            truth = np.histogram(people, estimate.edges)[0] / people.size
            held.append((estimate.low <= truth + 1e-4) & (truth <= estimate.high + 1e-4))
        shown(f"printed bars, {name}, {family} noise of {width:.0%}", held)


def response(draws):
    """Shares of randomised answers, and counts of local reports."""
    rng = np.random.default_rng(1)
    spiky = np.array([0.9, 0.08, 0.015, 0.005])
    for name, shares in (("even", np.full(4, 0.25)), ("spiky", spiky)):
        for kind, matrix in (("keep or draw", keep_or_draw(4, 0.7)),
                             ("least variance", least_variance(4, 3.0))):
            held = []
            for _ in range(draws):
                said = rng.multinomial(2000, matrix.T @ shares)
                found = by_inverse(said, matrix)
                held.append(np.abs(found.shares - shares) <= REACH * found.deviations)
            shown(f"randomised response, {kind}, {name} shares", held)
    for design in (OptimisedUnary(tuple("abcd"), 1.0), LocalHashing(tuple("abcd"), 1.0)):
        held = []
        for _ in range(draws):
            truth = rng.choice(4, 1000, p=spiky)
            found = design.estimate(design.report(np.array([*"abcd"])[truth],
                                                  rng.bytes(32)))
            counts = np.bincount(truth, minlength=4)
            held.append(np.abs(found.counts - counts) <= REACH * found.deviations)
        shown(f"{type(design).__name__}, spiky counts", held)


def baskets(draws):
    """Supports from randomised baskets."""
    rng, items = np.random.default_rng(3), [f"i{k}" for k in range(8)]
    law = np.r_[0.4, 0.3, np.full(6, 0.3 / 6)]
    whole = unspoken.Baskets.of([[items[k] for k in rng.choice(8, m, replace=False, p=law)]
                                 for m in rng.choice([2, 4], 2000)], items=items)
    wanted = [("i0",), ("i7",), ("i0", "i1"), ("i5", "i6")]
    true = mine.supports(whole, wanted)
    for method in (SelectASize(rho1=0.05, rho2=0.5), CutAndPaste(2, 0.1), Mask(0.9)):
        held = []
        for seed in range(draws):
            method.set_params(random_state=seed)
            found = mine.supports(method.protect(whole)[0], wanted)
            held.append((found.low <= true.supports) & (true.supports <= found.high))
        shown(f"supports, {type(method).__name__}", held)


def inverse(draws):
    """Estimated shares of data sets that fit published itemsets, beside the exact one."""
    lists = [["a", "b"], ["a"], ["a"], ["b"], ["a", "b", "c"], ["c"]]
    asked = puzzle(mine.itemsets(unspoken.Baskets.of(lists), 1 / 3, longest=2), [Knows(("c",))])
    exact, held = float(disclosure(asked, "b", Knows(("c",))).share), []
    for seed in range(draws):
        found = sample_disclosure(asked, "b", Knows(("c",)), chains=32, steps=2000,
                                  random_state=seed)
        held.append([found.low <= exact <= found.high])
    shown("inverse mining, estimated share", held)


def models(draws):
    """Intervals of coefficients: least squares, logistic, and robust with gross errors."""
    rng, width = np.random.default_rng(5), 1.959963984540054
    for name, draw in (("smooth", lambda: rng.normal(0, 1, 300)),
                       ("spiky", lambda: (rng.random(300) < 0.1) * 1.0)):
        linear, logit, held_down = [], [], []
        for _ in range(draws):
            x, z = draw(), rng.normal(0, 1, 300)
            columns = {"x": x, "z": z, "y": 1 + 2 * x - z + rng.normal(0, 1, 300)}
            truth, terms = np.array([1.0, 2.0, -1.0]), RegressionTerms("y", ("x", "z"))
            ends = fitted(terms, columns).intervals()
            linear.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
            gross = {**columns, "y": columns["y"] + 9 * rng.standard_t(2, 300)
                     * (rng.random(300) < 0.05)}
            robust = robust_fit(terms, gross)
            off = np.array(list(robust["coefficients"].values())) - truth
            held_down.append(np.abs(off) <= width * np.array(list(robust["errors"].values())))
            odds = 1 / (1 + np.exp(-(0.5 + x - 0.5 * z)))
            model = pooled_logistic(terms, {**columns, "y": (rng.random(300) < odds) * 1.0})
            ends, truth = model.intervals(), np.array([0.5, 1.0, -0.5])
            logit.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        for kind, held in (("least squares", linear), ("logistic", logit), ("robust", held_down)):
            shown(f"coefficients, {kind}, {name} column", held)


def survey(draws):
    """Intervals of the survey page."""
    rng = np.random.default_rng(4)
    for way, people, share in (("response", 300, 0.1), ("response", 2000, 0.005),
                               ("hashing", 300, 0.1)):
        question = SurveyQuestion("Did you?", way, 3.0, ("yes", "no"))
        held = []
        for _ in range(draws):
            said = (rng.random(people) >= share).astype(int)
            if way == "response":
                reports = question.law.answer(said, rng.bytes(32)).tolist()
            else:
                pairs = question.law.report([("yes", "no")[one] for one in said], rng.bytes(32))
                reports = [[str(a), str(b)] for a, b in pairs.tolist()]
            _, _, low, high = question.estimate(reports)[0]
            held.append([low <= share <= high])
        shown(f"survey, {way}, {people} people, share {share}", held)
    question = SurveyQuestion("How many?", "number", 3.0, ends=(0.0, 52.0))
    for name, draw in (("smooth", lambda: rng.beta(2, 3, 300) * 52),
                       ("spiky", lambda: rng.choice([0.0, 52.0, 26.0], 300, p=[0.9, 0.05, 0.05]))):
        truth, held = {"smooth": 52 * 0.4, "spiky": 0.05 * 78}[name], []
        for _ in range(draws):
            said = draw() + question.law.noise.quantile(rng.random(300))
            _, _, low, high = question.estimate(said.tolist())[0]
            held.append([low <= truth <= high])
        shown(f"survey, a number, 300 people, {name}", held)


PARTS = {"bars": bars, "many": many, "printed": printed, "response": response,
         "baskets": baskets, "survey": survey, "inverse": inverse, "models": models}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # every release is seeded, to be drawn again
    chosen = [one for one in sys.argv[1:] if one in PARTS] or list(PARTS)
    draws = next((int(one) for one in sys.argv[1:] if one.isdigit()), DRAWS)
    print("| estimator | draws | held | worst interval |\n| --- | --- | --- | --- |")
    for part in chosen:
        PARTS[part](draws)
