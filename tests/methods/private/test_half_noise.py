"""A private release with half of its noise is caught, on the neighbours that show most of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon, likelier
from unspoken import protect
from unspoken.methods.private import loss_split
from unspoken.methods.private.declared_columns import Cells, Coded, cells_of
from unspoken.methods.private.loss_split import Loss
from unspoken.methods.private.measured_tree import Measurer
from unspoken.methods.private.noisy_marginals import MarginalsPlan
from unspoken.methods.private.private_bayes import BayesPlan
from unspoken.methods.private.private_itemsets import CHOICE, ItemsetsPlan
from unspoken.methods.private.private_regression import RegressionPlan
from unspoken.methods.private.private_trees import LEAVES, TreePlan
from unspoken.table.baskets import Baskets

VALUES = {"ill": ["no", "yes"]}
EDGES = {"age": [18, 45, 90]}
TIMES = 800
CAUGHT = 0.95


def patients(age, ill):
    """Return a table whose first row is one of two neighbours; every cell holds many others."""
    ages, labels = [age] + [20, 20, 70, 70] * 30, [ill] + ["no", "yes", "no", "yes"] * 30
    return unspoken.read(pa.table({"age": ages, "ill": labels}), target="ill", keep=["age"],
                         show=False)


NEIGHBOURS = patients(20, "no"), patients(80, "yes")
CELLS = [np.array([31.0, 30.0, 30.0, 30.0]), np.array([30.0, 30.0, 30.0, 31.0])]


def cells_of_marginals(result):
    return result.parts[0].counts.reshape(-1)


def cells_of_bayes(result):
    """Return the counts that priors and shares say, by the public number of rows."""
    return (result.columns[0].shares.T * result.prior).reshape(-1) * 121


def bought(kind, delta=0.0, confidence=CAUGHT):
    """Return what the cells of a release prove at epsilon 1, or at 2 with a delta."""
    epsilon, plan_of, cells = (2.0 if delta else 1.0), *KINDS[kind]
    declared = cells_of(NEIGHBOURS[0], ["age", "ill"], EDGES, VALUES, 2, ["age", "ill"])
    plan = plan_of(Loss.whole(epsilon, delta), declared)
    times = TIMES if kind == "marginals" and not delta else 2 * TIMES
    coded = [Coded(table, plan.cells) for table in NEIGHBOURS]
    reports = [likelier([cells(plan.measure(one)) for _ in range(times)], *CELLS,
                        absolute=not delta) for one in coded]
    return least_epsilon(*reports, confidence, delta) / epsilon


KINDS = {"marginals": (lambda loss, cells: MarginalsPlan(loss, cells, 121, [["age", "ill"]]),
                       cells_of_marginals),
         "naive-bayes": (lambda loss, cells: BayesPlan(loss, cells, 121, "ill"), cells_of_bayes)}


def regression(confidence=CAUGHT):
    """Return what sums prove of two: rows at (1, 1) and (-1/3, -1/3) move them most."""
    cells = [Cells(name, (-1.0, 1.0), (), False, True) for name in ("x", "y")]
    plan, silent = (RegressionPlan(Loss(loss, False), cells, 3, "y") for loss in (2.0, 1e5))
    coded = [Coded(unspoken.read(pa.table({"x": [at, 0.1], "y": [at, 0.3]}), target="y",
                                 keep=["x", "y"], show=False), cells) for at in (9.0, -1 / 3)]
    centres = [silent.noisy_sums(one) for one in coded]
    reports = [likelier([plan.noisy_sums(one) for _ in range(3000)], *centres) for one in coded]
    return least_epsilon(*reports, confidence) / 2


def counted_baskets(confidence=CAUGHT):
    """Return what counts of baskets prove of their part of the loss; one holds all or nothing."""
    plans = [ItemsetsPlan(Loss(1 / (1 - CHOICE), False), Baskets.of([held, ["a"], ["b"]],
                                                                    ["a", "b"]), 2)
             for held in (["a", "b"], [])]
    centres = [np.array([0.0, 1, 1, 1]), np.array([1.0, 1, 1, 0])]
    reports = [likelier([plan.noisy_patterns([0, 1]) for _ in range(TIMES)], *centres)
               for plan in plans]
    return least_epsilon(*reports, confidence)


def chosen_items(confidence=CAUGHT):
    """Return what the choice of one item proves of its part of the loss."""
    plans = [ItemsetsPlan(Loss(1 / CHOICE, False), Baskets.of([[held], ["b"]], ["a", "b"]), 1)
             for held in ("a", "b")]
    return least_epsilon(*(np.array([plan._picked()[0] for _ in range(TIMES)]) for plan in plans),
                         confidence)


def tree_table(odd_f, odd_g):
    """Return classes that f and g tell alike, but for a row that counts against f, and one more."""
    f = [0.0] * 300 + [1.0] * 300 + [0.0, odd_f]
    g = [0.0] * 300 + [1.0] * 300 + [1.0, odd_g]
    ill = ["no"] * 300 + ["yes"] * 300 + ["yes", "yes"]
    return unspoken.read(pa.table({"f": f, "g": g, "ill": ill}), target="ill", keep=["f", "g"],
                         show=False)


def planted(loss, table, names):
    cells = [*(Cells(name, (0.0, 0.5, 1.0), (), False, True, True) for name in names),
             Cells("ill", (), ("no", "yes"), False, True, True)]
    return TreePlan(Loss(loss, False), cells, table.rows, "ill", 1), Coded(table, cells)


def chosen_questions(confidence=CAUGHT):
    """Return what the question of a tree proves of its part: the row spoils one or the other."""
    reports = []
    for odd in ((1.0, 0.0), (0.0, 1.0)):
        plan, coded = planted(1 / (1 - LEAVES), tree_table(*odd), ("f", "g"))
        reports.append(np.array([int(plan.measure(coded).feature[0]) for _ in range(TIMES)]))
    return least_epsilon(*reports, confidence)


def leaves(confidence=CAUGHT):
    """Return what class counts of leaves prove of their part of the loss."""
    reports = []
    for table in NEIGHBOURS:
        cells = [Cells("age", (18.0, 45.0, 90.0), (), False, True, True),
                 Cells("ill", (), ("no", "yes"), False, True, True)]
        plan, coded = TreePlan(Loss(1 / LEAVES, False), cells, 121, "ill", 1), Coded(table, cells)
        reports.append(likelier([_leaf_cells(plan.measure(coded)) for _ in range(TIMES)], *CELLS))
    return least_epsilon(*reports, confidence)


def synthetic(confidence=CAUGHT):
    """Return what the marginals behind a synthetic table prove; the row moves in both columns."""
    cells = [Cells(name, (0.0, 0.5, 1.0), (), False, True, True) for name in "ab"]
    rows = [Measurer([np.array([at, 0, 1])] * 2, cells, None) for at in (0, 1)]
    plans = [[one.plan(Loss(2.0, False)).measured for _ in range(2000)] for one in rows]
    exact = [[np.array([3.0 - at - 1, 1.0 + at])] * 2 + [np.array([2.0 - at, 0, 0, 1.0 + at])]
             for at in (0, 1)]
    errors = [one.error for one in plans[0][0]]
    centres = [np.concatenate([c / e for c, e in zip(one, errors, strict=True)]) for one in exact]
    reports = [likelier([np.concatenate([one.counts.reshape(-1) / one.error for one in measured])
                         for measured in side], *centres) for side in plans]
    return least_epsilon(*reports, confidence) / 2


def _leaf_cells(model):
    return (model.value[1:] * model.n_samples[1:, None]).reshape(-1)


PROOFS = {
    "marginals": lambda c=CAUGHT: bought("marginals", confidence=c),
    "marginals with a delta": lambda c=CAUGHT: bought("marginals", 0.1, c),
    "naive Bayes": lambda c=CAUGHT: bought("naive-bayes", confidence=c),
    "naive Bayes with a delta": lambda c=CAUGHT: bought("naive-bayes", 0.1, c),
    "regression": regression, "counts of itemsets": counted_baskets,
    "synthetic rows": synthetic, "choice of items": chosen_items,
    "choice of questions": chosen_questions, "leaves": leaves}


@pytest.mark.slow
@pytest.mark.parametrize("what", PROOFS)
def test_half_the_noise_is_caught_and_all_of_it_is_not(what, monkeypatch):
    assert PROOFS[what](0.999) <= 1.0
    laplace, gaussian = loss_split.laplace_noise, loss_split.gaussian_noise
    choice = loss_split.noisy_choice
    monkeypatch.setattr(loss_split, "laplace_noise", lambda v, r, e: laplace(v, r, 2 * e))
    monkeypatch.setattr(loss_split, "gaussian_noise", lambda v, r, rho: gaussian(v, r, 4 * rho))
    monkeypatch.setattr(loss_split, "noisy_choice", lambda s, r, e, *w: choice(s, r, 2 * e, *w))
    assert PROOFS[what]() > 1.0


def offset(values):
    """Return values with the noise of all other times."""
    return [one + (place == 1) for place, one in enumerate(values)]


@pytest.mark.slow
@pytest.mark.parametrize("what", [name for name in PROOFS if "choice" not in name])
def test_noise_that_is_used_twice_is_caught(what, monkeypatch):
    monkeypatch.setattr(loss_split, "laplace_noise", lambda v, r, e: offset(v))
    monkeypatch.setattr(loss_split, "gaussian_noise", lambda v, r, rho: offset(v))
    assert PROOFS[what]() > 1.0


@pytest.mark.parametrize("odd", [None, float("nan"), float("inf"), -float("inf"), 1e308, -1e9])
@pytest.mark.parametrize("kind", ["marginals", "naive-bayes", "tree", "regression"])
def test_no_value_of_a_row_makes_an_error_that_would_tell_it(kind, odd):
    frame = pa.table({"age": pa.array([odd, 20.0, 70.0], pa.float64()),
                      "ill": ["?", "no", "yes"], "cost": pa.array([odd, 1.0, 2.0], pa.float64())})
    target = "cost" if kind == "regression" else "ill"
    table = unspoken.read(frame, target=target, keep=["age", "ill", "cost"], show=False)
    wanted = protect.private_offer(table, kind, edges={**EDGES, "cost": [0, 5]}, values=VALUES,
                                   columns=["age"])
    assert wanted.cost.epsilon == 1.0
    assert wanted.buy() is not None


def test_scores_of_questions_move_in_one_direction_by_no_more_than_their_reach():
    from unspoken.methods.private.private_trees import GINI_REACH, _impurity

    rng = np.random.default_rng(5)
    counts = rng.integers(0, 40, (5000, 3))
    for column in range(3):
        more = counts.copy()
        more[:, column] += 1
        moved = _impurity(more) - _impurity(counts)
        assert moved.min() >= 0
        assert moved.max() <= GINI_REACH
    exact = counts.sum(axis=1) - (counts**2).sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    assert np.abs(_impurity(counts) / 1000 - exact).max() < 0.0011
