"""Private synthetic rows and trees: what is stated and drawn, and what a distinguisher proves."""

import math

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon
from unspoken.errors import DataError, InputError
from unspoken.methods.private import loss_split, private_trees
from unspoken.methods.private.declared_columns import Cells, cells_of
from unspoken.methods.private.loss_split import Loss
from unspoken.methods.private.private_trees import expected_leaf_error, private_tree
from unspoken.methods.private.synthetic_rows import PrivateSynthesizer
from unspoken.numerics.concentrated_loss import delta_of, rho_of
from unspoken.release.budget_costs import NONE
from unspoken.release.budget_releases import release_draws

EDGES = {"age": [18, 30, 45, 60, 90]}
VALUES = {"sex": ["F", "M"], "ill": ["no", "yes"]}


def people(rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    sex = rng.choice(["F", "M"], rows)
    ill = np.where(rng.random(rows) < np.where(age > 60, 0.9, 0.1), "yes", "no")
    return unspoken.read(pa.table({"age": age, "sex": sex, "ill": ill}), target="ill",
                         keep=["age", "sex"], show=False)


def test_rho_costs_the_stated_epsilon_at_delta():
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9), (5.0, 1e-5)):
        rho = rho_of(epsilon, delta)
        assert delta_of(rho, epsilon) <= delta
        assert delta_of(rho * 1.01, epsilon) > delta
        # The textbook bound is weaker, and never contradicts.
        assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) >= epsilon


@pytest.mark.slow
def test_gaussian_noise_of_that_rho_is_as_private_as_dp_accounting_says():
    losses = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    rho = rho_of(1.0, 1e-6)
    exact = losses.from_gaussian_mechanism(1 / math.sqrt(2 * rho)).get_epsilon_for_delta(1e-6)
    assert exact <= 1.0
    assert exact > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("concentrated", [False, True])
def test_no_distinguisher_gets_beyond_a_count_or_a_choice(concentrated):
    loss = Loss(0.5 if concentrated else 1.0, concentrated)
    counts = [np.array([loss.counts(np.array([5 + k, 5 - k]))[0] for _ in range(4000)])
              for k in (0, 1)]
    picks = [np.array([loss.choose([0.0 + k, 1.0 - k], 1) for _ in range(4000)]) for k in (0, 1)]
    # A rho of 1/2 is no epsilon; at this confidence events that prove 3 or more are beyond it.
    most = 3.0 if concentrated else 1.0
    assert least_epsilon(*counts) <= most
    assert least_epsilon(*picks) <= most


@pytest.mark.slow
def test_half_the_noise_and_too_bold_a_choice_are_caught(monkeypatch):
    real, chooser = loss_split.laplace_noise, loss_split.noisy_choice
    monkeypatch.setattr(loss_split, "laplace_noise", lambda v, r, e: real(v, r, 3 * e))
    monkeypatch.setattr(loss_split, "noisy_choice", lambda s, r, e: chooser(s, r, 6 * e))
    loss = Loss(1.0, False)
    assert least_epsilon(*(np.array([loss.counts(np.array([5 + k, 5 - k]))[0] for _ in range(4000)])
                           for k in (0, 1))) > 1.0
    assert least_epsilon(*(np.array([loss.choose([0.0 + 2 * k, 2.0 - 2 * k], 1)
                                     for _ in range(4000)]) for k in (0, 1))) > 1.0


def tiny(age, ill):
    return unspoken.read(pa.table({"age": [age, 20, 25, 70, 80], "ill": [ill, "no", "no", "yes",
                                                                        "yes"]}),
                         target="ill", keep=["age"], show=False)


def leaf(table, epsilon=1.0):
    found = private_tree(table, epsilon, edges={"age": [18, 45, 90]},
                         values={"ill": VALUES["ill"]}, max_depth=1)
    return float(found.model.n_samples[1] - found.model.n_samples[2])


@pytest.mark.slow
def test_no_distinguisher_gets_beyond_the_epsilon_of_a_tree(monkeypatch):
    def proven():
        return least_epsilon(*(np.array([leaf(table) for _ in range(1500)])
                               for table in (tiny(20, "no"), tiny(80, "yes"))))

    assert proven() <= 1.0
    monkeypatch.setattr(private_trees, "LEAVES", 6.0)
    monkeypatch.setattr(private_trees._Grower, "_split", _fixed_split)
    assert proven() > 1.0


def _fixed_split(self, at):
    node = self._nodes[at]
    node.question = self._questions[0]
    left = node.question.left[self._codes[0][node.rows]]
    node.children = (1, 2)
    self._nodes += [private_trees._Node(node.rows[left]), private_trees._Node(node.rows[~left])]
    return node.children


def test_a_tree_finds_what_is_there_and_states_its_cost():
    table = people()
    found = private_tree(table, 2.0, edges=EDGES, values=VALUES, max_depth=2)
    guess = found.model.predict(table)
    assert (guess == np.array(table.arrow()["ill"].to_pylist())).mean() > 0.85
    assert found.cost.epsilon == 2.0
    assert found.leaf_error == pytest.approx(expected_leaf_error(2.0))
    assert private_tree(table, 2.0, max_depth=1).cost.law == NONE
    text = type(found.model).from_json(found.model.to_json())
    assert text.same_as(found.model)


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"max_depth": 0}, {"max_depth": 99}])
def test_wrong_parameters_of_a_tree(wrong):
    with pytest.raises(InputError):
        private_tree(people(20), **wrong)


@pytest.mark.slow
def test_synthetic_rows_keep_marginals_and_state_what_they_cost():
    table = people()
    for delta in (1e-6, 0.0):
        release, key = PrivateSynthesizer(2.0, delta, edges=EDGES, values=VALUES).protect(table)
        key.fits(release)
        shown = release.table.arrow().to_pandas()
        true = table.arrow().to_pandas()
        assert len(shown) == len(true)
        assert abs((shown.ill == "yes").mean() - (true.ill == "yes").mean()) < 0.03
        old = shown.age >= 60
        assert (shown.ill[old] == "yes").mean() > 0.7
        assert (shown.ill[~old] == "yes").mean() < 0.3
        assert shown.age.dropna().between(18, 90).all()
        assert release.guarantee.facts["epsilon_total"] == 2.0
        assert release_draws(release, "")[0].cost.delta == delta
    learned, _ = PrivateSynthesizer(2.0).protect(table)
    assert learned.guarantee.facts["epsilon_total"] is None
    assert "no epsilon holds" in learned.guarantee.summary()
    assert [one.cost.law for one in release_draws(learned, "")] == [NONE]


def test_cells_clamp_what_lies_beyond_and_count_missing_as_a_value():
    cell = Cells("x", (0.0, 10.0, 20.0), (), True, True)
    codes = cell.codes(pa.chunked_array([pa.array([-5, 0, 9, 10, 20, 999, None])]))
    assert codes.tolist() == [0, 0, 0, 1, 1, 1, 2]
    drawn = cell.draw(np.array([0] * 50 + [1] * 50 + [2]), np.random.default_rng(1)).to_pylist()
    assert set(drawn[:50]) <= set(range(10))
    assert set(drawn[50:100]) <= set(range(10, 21))
    assert drawn[-1] is None
    texts = Cells("x", (), ("a", "b"), False, True)
    assert texts.codes(pa.chunked_array([pa.array(["b", "a", "c", None])])).tolist() == [1, 0, 2, 2]


def test_what_cannot_be_released_is_refused():
    with pytest.raises(InputError, match="'columns' names a column that is not there"):
        PrivateSynthesizer(columns=["nobody"]).protect(people(20))
    with pytest.raises(InputError, match="identifier"):
        PrivateSynthesizer(columns=["age", "ill"]).protect(
            unspoken.read(people(20), identifiers="age", target="ill", show=False))
    with pytest.raises(InputError, match="two columns"):
        PrivateSynthesizer(columns=["age"]).protect(
            unspoken.read(pa.table({"age": [1, 2]}), keep=["age"], show=False))
    with pytest.raises(DataError):
        cells_of(unspoken.read(pa.table({"a": pa.array([None, None], pa.int64()), "b": [1, 2]}),
                               keep=["a", "b"], show=False), ["a"], None, None, 4)
