"""Private results behind one door: what is stated is kept, and what a distinguisher proves."""

import math

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon
from support.one_run_audit import proven_in_one_run
from unspoken import protect, risk
from unspoken.errors import BudgetError, InputError, SchemaError
from unspoken.methods.private import loss_split, private_regression
from unspoken.methods.private.declared_columns import Cells, Coded
from unspoken.methods.private.loss_split import Loss
from unspoken.methods.private.private_itemsets import CHOICE, ItemsetsPlan
from unspoken.methods.private.private_offer import KINDS
from unspoken.methods.private.private_regression import RegressionPlan
from unspoken.methods.private.private_trees import private_tree
from unspoken.release.budget_costs import NONE
from unspoken.table.basket_tables import to_table
from unspoken.table.baskets import Baskets

EDGES = {"age": [18, 30, 45, 60, 90]}
VALUES = {"sex": ["F", "M"], "ill": ["no", "yes"]}
TIMES = 1200


def people(rows=4000, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    ill = np.where(rng.random(rows) < np.where(age > 60, 0.9, 0.1), "yes", "no")
    return unspoken.read(pa.table({"age": age, "sex": rng.choice(["F", "M"], rows), "ill": ill}),
                         target="ill", keep=["age", "sex"], show=False)


def lines(rows=20_000, seed=2):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-5, 5, rows), rng.uniform(0, 1, rows)
    return unspoken.read(pa.table({"x": x, "z": z, "y": 3 * x - 4 * z + rng.normal(0, 1, rows)}),
                         target="y", keep=["x", "z", "y"], show=False)


def shops(count=5000, seed=3):
    rng = np.random.default_rng(seed)
    share = np.array([0.6, 0.5, 0.4] + [0.02] * 37)
    held = rng.random((count, 40)) < share
    held[:, 1] |= held[:, 0] & (rng.random(count) < 0.7)
    return Baskets.of([[f"i{k}" for k in np.flatnonzero(row)] for row in held],
                      [f"i{k}" for k in range(40)])


def offer(kind, epsilon=1.0, delta=0.0, **options):
    if kind == "itemsets":
        return protect.private_offer(shops(), kind, epsilon, delta,
                                     items=[f"i{k}" for k in range(40)], chosen=4, **options)
    if kind == "regression":
        return protect.private_offer(lines(), kind, epsilon, delta, edges={
            "x": [-5, 5], "z": [0, 1], "y": [-20, 20]}, **options)
    return protect.private_offer(people(), kind, epsilon, delta, edges=EDGES, values=VALUES,
                                 complete=["age", "sex", "ill"], **options)


@pytest.mark.parametrize("kind", KINDS)
def test_an_offer_states_cost_and_errors_and_less_error_costs_more(kind):
    cheap, dear = offer(kind, 0.5), offer(kind, 2.0)
    assert cheap.cost.epsilon == 0.5
    assert set(cheap.expected) == set(dear.expected)
    assert all(cheap.expected[name] > dear.expected[name] for name in cheap.expected)
    assert f"{cheap.expected[next(iter(cheap.expected))]:.4g}" in cheap.summary()
    assert "epsilon 0.5" in cheap.summary()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_looked_at_before_it_is_bought(kind, monkeypatch):
    wanted = offer(kind)
    monkeypatch.setattr(Loss, "counts", None)
    monkeypatch.setattr(Loss, "numbers", None)
    monkeypatch.setattr(Loss, "choose", None)
    assert wanted.summary()
    with pytest.raises(TypeError):
        wanted.buy()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_buying_books_first_and_what_does_not_fit_is_not_measured(kind, tmp_path, monkeypatch):
    table = {"itemsets": lambda: to_table(shops()), "regression": lines}.get(kind, people)()
    budget = risk.Budget.start(tmp_path / "b", table, epsilon=1.0)
    wanted = offer(kind, 0.75)
    assert wanted.buy(budget, "institute") is not None
    assert budget.draws[-1].to == "institute"
    assert budget.spent() == pytest.approx(0.75)
    monkeypatch.setattr(Loss, "counts", None)
    with pytest.raises(BudgetError):
        wanted.buy(budget)
    other = risk.Budget.start(tmp_path / "c", people(50, 9), epsilon=1.0)
    with pytest.raises(BudgetError, match="another table"):
        wanted.buy(other)


def test_what_was_not_declared_has_no_epsilon():
    for bare in (protect.private_offer(people(), "marginals", edges=EDGES),
                 protect.private_offer(shops(200), "itemsets")):
        assert bare.cost.law == NONE
        assert "Declare" in bare.summary()


def test_results_are_what_is_there():
    age = offer("marginals", 2.0, marginals=[["age"], ["sex", "ill"]]).buy()["age"]
    true = np.histogram(np.array(people().arrow()["age"].to_pylist()), [18, 30, 45, 60, 91])[0]
    assert np.abs(age.counts - true).max() < 6 * age.error
    bayes = offer("naive-bayes", 2.0).buy()
    held = np.array(people().arrow()["ill"].to_pylist())
    assert (bayes.predict(people()) == held).mean() > 0.85
    line = offer("regression", 2.0, 1e-6).buy()
    assert line.coefficients == pytest.approx([3, -4], abs=1.0)
    sets = dict(offer("itemsets", 2.0).buy())
    assert ("i0", "i1") in sets
    assert sets[("i0",)] == pytest.approx(0.6, abs=0.05)
    assert all(type(one).from_json(one.to_json()).same_as(one) for one in (bayes, line))


@pytest.mark.slow
def test_stated_deviations_are_those_of_many_results():
    counts = [offer("marginals").buy()["sex"].counts[0] for _ in range(60)]
    assert 0.6 < np.std(counts) / offer("marginals").expected["deviation of a count"] < 1.6
    wanted = offer("regression", 1.0, 1e-6)
    slopes = [wanted.buy().coefficients[0] for _ in range(60)]
    stated = wanted.expected["deviation of the coefficient of 'x', for columns spread evenly"]
    assert 0.3 < np.std(slopes) / stated < 1.6
    sets = [dict(offer("itemsets").buy()) for _ in range(40)]
    found = [one[("i0",)] for one in sets if ("i0",) in one]
    assert len(found) == 40
    stated = offer("itemsets").expected["deviation of the support of a set of 1"]
    assert 0.6 < np.std(found) / stated < 1.6


def test_undeclared_items_and_values_are_dropped_without_a_word():
    strange = Baskets.of([["a", "secret"], ["a"], ["b"]])
    wanted = protect.private_offer(strange, "itemsets", items=["a", "b"], chosen=2)
    assert wanted.buy().items == ("a", "b")
    odd = unspoken.read(pa.table({"age": [1e300, -1e300, None], "ill": ["no", "odd", None]}),
                        target="ill", keep=["age"], show=False)
    declared = {"ill": VALUES["ill"]}
    assert protect.private_offer(odd, "naive-bayes", edges=EDGES, values=declared).buy()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [
    ("means", {}), ("tree", {"delta": 1e-6}), ("tree", {"max_depth": 99}), ("itemsets", {}),
    ("marginals", {"epsilon": 1e-300}), ("marginals", {"epsilon": 1e-5, "delta": 1e-9}),
    ("marginals", {"edges": {"age": [-1e308, 1e308]}}),
    ("marginals", {"edges": {"age": [0, 5e-324]}}),
    ("marginals", {"marginals": [["age", "sex"]], "edges": {"age": list(range(600_000))}}),
    ("tree", {"columns": ["age"], "edges": {"age": [0, 9]}}),
    ("marginals", {"epsilon": 0}), ("marginals", {"epsilon": True}), ("marginals", {"delta": 0.5}),
    ("marginals", {"marginals": [["nobody"]]}), ("marginals", {"max_depth": 3}),
    ("regression", {}), ("naive-bayes", {"columns": ["nobody"]})])
def test_wrong_offers(wrong):
    kind, options = wrong
    with pytest.raises(InputError):
        protect.private_offer(people(50), kind, **{"edges": EDGES, "values": VALUES, **options})


# --- what a distinguisher proves ---


def tiny(age, ill):
    return unspoken.read(pa.table({"age": [age, 20, 25, 70, 80],
                                   "ill": [ill, "no", "no", "yes", "yes"]}),
                         target="ill", keep=["age"], show=False)


def proven_count(kind, epsilon=1.0):
    """Return what noisy cells prove: the row moves from the first cell to the last."""
    reports = []
    for table in (tiny(20, "no"), tiny(80, "yes")):
        wanted = protect.private_offer(table, kind, epsilon, edges={"age": [18, 45, 90]},
                                       values={"ill": VALUES["ill"]}, complete=["age", "ill"],
                                       **({"marginals": [["age", "ill"]]}
                                          if kind == "marginals" else {}))
        reports.append(np.array([_statistic(wanted.buy()) for _ in range(TIMES)]))
    return least_epsilon(*reports)


def _statistic(result):
    if hasattr(result, "parts"):
        counts = result.parts[0].counts
        return counts[0, 0] - counts[1, 1]
    return float(result.prior[0] + 1e-3 * result.columns[0].shares[0, 0])


def line_table(x, y):
    return unspoken.read(pa.table({"x": [x, 0.1, -0.2], "y": [y, 0.3, 0.0]}), target="y",
                         keep=["x", "y"], show=False)


def proven_sums(one, other, epsilon=1.0):
    """Return what the noisy sums prove, by their likelihood under the two tables."""
    cells = [Cells(name, (-1.0, 1.0), (), False, True) for name in ("x", "y")]
    plan = RegressionPlan(Loss(epsilon, False), cells, 3, "y")
    silent = RegressionPlan(Loss(1e4, False), cells, 3, "y")
    codes = [Coded(line_table(*who), cells) for who in (one, other)]
    means = [silent.noisy_sums(code) for code in codes]
    reports = [np.array([np.abs(sums - means[1]).sum() - np.abs(sums - means[0]).sum() for sums in
                         (plan.noisy_sums(code) for _ in range(TIMES))]) for code in codes]
    return least_epsilon(*reports)


def proven_items():
    """Return what counts of baskets prove of their part of the loss; one holds all or nothing."""
    reports = []
    for held in (["a", "b"], []):
        plan = ItemsetsPlan(Loss(1 / (1 - CHOICE), False),
                            Baskets.of([held, ["a"], ["b"]], ["a", "b"]), 2)
        counts = [plan.noisy_patterns([0, 1]) for _ in range(TIMES)]
        reports.append(np.array([one[3] - one[0] for one in counts]))
    return least_epsilon(*reports)


@pytest.mark.slow
def test_no_distinguisher_gets_beyond_what_was_stated():
    assert proven_count("marginals") <= 1.0
    assert proven_count("naive-bayes") <= 1.0
    assert proven_sums((1.0, 1.0), (-1.0, 1.0)) <= 1.0
    assert proven_sums((50.0, 1.0), (-50.0, 1.0)) <= 1.0
    assert proven_items() <= 1.0


def too_little_noise(monkeypatch, less=3):
    real = loss_split.laplace_noise
    monkeypatch.setattr(loss_split, "laplace_noise", lambda v, r, e: real(v, r, less * e))


def reused_noise(monkeypatch):
    monkeypatch.setattr(loss_split, "laplace_noise", lambda v, r, e: [one + 3 for one in v])


def no_clamp(monkeypatch):
    monkeypatch.setattr(private_regression.np, "clip", lambda values, low, high: values)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [too_little_noise, reused_noise])
@pytest.mark.parametrize("proof", [
    lambda: proven_count("marginals"), lambda: proven_count("naive-bayes"), proven_items])
def test_a_mechanism_that_breaks_its_promise_is_caught(monkeypatch, mutant, proof):
    mutant(monkeypatch)
    assert proof() > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [no_clamp, reused_noise,
                                    lambda patch: too_little_noise(patch, 8)])
def test_a_regression_that_breaks_its_promise_is_caught(monkeypatch, mutant):
    mutant(monkeypatch)
    assert proven_sums((50.0, 1.0), (-50.0, 1.0)) > 1.0


# --- auditing with one run ---

CANARIES = 1000


def canaries(seed):
    """Return a table in which everybody has two cells of their own and says one of them."""
    coins = np.random.default_rng(seed).choice([-1, 1], CANARIES)
    said = np.arange(CANARIES) * 2 + (coins > 0)
    edges = [*range(0, 2 * CANARIES + 1)]
    return pa.table({"cell": said}), coins, edges


def proven_by_canaries(epsilon, delta):
    frame, coins, edges = canaries(5)
    table = unspoken.read(frame, keep=["cell"], show=False)
    bought = protect.private_offer(table, "marginals", epsilon, delta, edges={"cell": edges},
                                   complete=["cell"]).buy()
    counts = bought["cell"].counts.reshape(-1, 2)
    return proven_in_one_run(counts[:, 1] - counts[:, 0], coins, 300, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (3.0, 0.0), (4.0, 1e-7)])
def test_one_run_with_many_canaries_proves_no_more_than_was_stated(epsilon, delta):
    assert proven_by_canaries(epsilon, delta) <= epsilon


@pytest.mark.parametrize(("epsilon", "delta", "weaker"), [(1.0, 0.0, 3), (1.0, 1e-7, 8)])
def test_one_run_with_many_canaries_catches_too_little_noise(monkeypatch, epsilon, delta, weaker):
    laplace, gaussian = loss_split.laplace_noise, loss_split.gaussian_noise
    monkeypatch.setattr(loss_split, "laplace_noise", lambda v, r, e: laplace(v, r, weaker * e))
    monkeypatch.setattr(loss_split, "gaussian_noise",
                        lambda v, r, rho: gaussian(v, r, weaker**2 * rho))
    assert proven_by_canaries(epsilon, delta) > epsilon


def test_a_published_seed_is_impossible():
    """Noise takes no seed: equal calls differ."""
    assert len({tuple(Loss(0.1, False).counts(np.zeros(4, np.int64))) for _ in range(5)}) == 5
    assert math.isfinite(Loss(0.1, True).error())


def csv(folder, cells):
    path = folder / "t.csv"
    path.write_text("f,ill\n" + "".join(f"{cell},{'yn'[k % 2]}\n" for k, cell in enumerate(cells)))
    return unspoken.read(path, keep=["f", "ill"], show=False)


@pytest.mark.slow
@pytest.mark.parametrize(("common", "declared", "changes"), [
    ("1.0", ["1.0", "2.0"], ["2.0", "XX"]), ("1", ["1", "2"], ["2", "1.5", "XX"]),
    ("01", ["01", "02"], ["02", "3", "XX"]), ("0x10", ["16", "2"], ["2", "XX"]),
    ("2020-01-01", ["2020-01-01", "2020-01-02"], ["2020-01-02", "2020-01-02 10:00:00", "XX"]),
    ("True", ["True", "False"], ["False", "maybe"]), ("?", ["?", "1"], ["1", "XX"]),
    ("31.12.2020", ["31.12.2020", "01.01.2021"], ["01.01.2021", "XX", "2020-12-31"]),
    ("12/31/2020", ["12/31/2020", "01/01/2021"], ["01/01/2021", "XX", "31/12/2020"]),
    ("2020-1-2", ["2020-1-2", "2020-1-3"], ["2020-1-3", "XX"]),
    ("10:30", ["10:30", "11:30"], ["11:30", "XX"])])
def test_one_row_of_a_text_file_does_not_change_how_the_others_are_counted(
        tmp_path, common, declared, changes):
    for change in changes:
        table = csv(tmp_path, [common] * 200 + [change])
        bought = protect.private_offer(table, "marginals", 50.0, columns=["f"],
                                       values={"f": declared}).buy()
        assert abs(bought["f"].counts[0] - 200) < 5, change


@pytest.mark.slow
@pytest.mark.parametrize("change", ["2020-01-02", "XX", "41"])
def test_intervals_of_dates_count_nothing_whatever_the_column_was_read_as(tmp_path, change):
    table = csv(tmp_path, ["2020-01-01"] * 200 + [change])
    bought = protect.private_offer(table, "marginals", 50.0, columns=["f"],
                                   edges={"f": [0, 30, 100]}).buy()
    assert abs(bought["f"].counts[-1] - 200) < 5


@pytest.mark.slow
@pytest.mark.parametrize("change", ["41", "40.5", "XX"])
def test_intervals_are_counted_whatever_a_column_was_read_as(tmp_path, change):
    table = csv(tmp_path, ["40"] * 200 + [change])
    one = protect.private_offer(table, "marginals", 50.0, columns=["f"],
                                edges={"f": [0, 30, 100]})
    assert one.cost.epsilon == 50.0
    assert abs(one.buy()["f"].counts[1] - 200) < 5


@pytest.mark.slow
@pytest.mark.parametrize(("edges", "kind"), [([0, 50, 100], pa.int64()),
                                             ([0.0, 50.0, 100.0], pa.float64())])
@pytest.mark.parametrize("change", ["41", "40.5"])
def test_declared_edges_say_whether_synthetic_numbers_are_whole(tmp_path, edges, kind, change):
    table = csv(tmp_path, ["40"] * 200 + [change])
    release, _ = protect.PrivateSynthesizer(1.0, edges={"f": edges},
                                            values={"ill": ["y", "n"]}).protect(table)
    assert release.table.arrow(["f"])["f"].type == kind


@pytest.mark.slow
def test_declared_values_that_say_the_same_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"'1' and '1\.0' say the same"):
        protect.private_offer(csv(tmp_path, ["1", "2"]), "marginals", values={"f": ["1", "1.0"]})


@pytest.mark.parametrize("edges", [[0, 80, 20, 100], [0, 0], [5], [0, math.inf], [0, math.nan, 5],
                                   ["a", "b"], 7])
def test_edges_must_increase(edges):
    with pytest.raises(InputError, match="'edges' of column 'age' must be at least two finite"):
        protect.private_offer(people(20), "marginals", edges={"age": edges}, values=VALUES)


def test_marginals_name_at_least_one_list():
    with pytest.raises(InputError, match="at least one list"):
        offer("marginals", marginals=[])


def test_units_of_regression_stay_within_their_reach():
    low = 1.7e18
    cell = Cells("t", (low, low + 768), (), False, True)
    units = private_regression._units(cell, np.array([low, low + 768, math.nan]))
    assert np.abs(units).max() <= private_regression.STEPS


@pytest.mark.parametrize("kind", KINDS)
def test_errors_that_follow_from_the_data_are_not_told(kind):
    data = shops(50) if kind == "itemsets" else lines(50) if kind == "regression" else people(50)
    one = protect.private_offer(data, kind)
    assert one.cost.law == NONE
    assert one.expected == {}
    assert "unknown until everything is declared" in one.summary()


def towns(last):
    """Twenty-five towns; the last of them decides whether every row has its own."""
    data = {"town": [f"Town{chr(65 + k)}" for k in range(24)] + [last],
            "age": [20 + k for k in range(25)], "ill": ["no", "yes"] * 12 + ["no"]}
    return unspoken.read(pa.table(data), target="ill", show=False)


NEIGHBOURS = [towns("TownY"), towns("TownA")]
TOWNS = {"town": [f"Town{chr(65 + k)}" for k in range(26)], "ill": ["no", "yes"]}


@pytest.mark.slow
def test_which_columns_a_result_is_about_does_not_follow_from_the_values():
    assert [table.schema["town"].role for table in NEIGHBOURS] == ["identifier", "plain"]
    edges = {"age": [20, 40, 60]}
    for table in NEIGHBOURS:
        bought = protect.private_offer(table, "naive-bayes", edges=edges, values=TOWNS).buy()
        assert {one["name"] for one in bought.to_json()["columns"]} == {"town", "age"}
        release, _ = protect.PrivateSynthesizer(1.0, edges=edges, values=TOWNS).protect(table)
        assert [(c.name, c.role) for c in release.schema.columns] == [
            ("town", "plain"), ("age", "plain"), ("ill", "target")]
        tree = private_tree(table, edges=edges, values=TOWNS)
        assert (tree.cost.epsilon, "town" in tree.model.features) == (1.0, True)


def test_a_free_offer_says_the_same_about_neighbours():
    offers = [protect.private_offer(table, "marginals", columns=["town"]) for table in NEIGHBOURS]
    assert offers[0].summary() == offers[1].summary()
    assert "no epsilon" in offers[0].summary()
    # Nobody's name is released because its column was not declared.
    with pytest.raises(SchemaError, match="looks as if it named people"):
        offers[0].buy()
    wide = unspoken.read(pa.table({"x": [f"v{k % 1411}" for k in range(3000)]}), show=False)
    assert "1411" not in protect.private_offer(wide, "marginals").summary()


def test_a_column_that_is_named_like_an_identifier_needs_declared_cells():
    for ids in (range(30), [0, *range(29)]):
        table = unspoken.read(pa.table({"person_id": list(map(str, ids)), "age": [30] * 30}),
                              show=False)
        assert protect.private_offer(table, "marginals", edges=EDGES).cost.epsilon == 1.0
        with pytest.raises(InputError, match="identifier"):
            protect.private_offer(table, "marginals", columns=["person_id"])
