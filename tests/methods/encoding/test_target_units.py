"""Numeric targets in secret units: exact where they must be, refused where they cannot be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unspoken
from support.encoding_walk import walk
from unspoken.errors import (
    DamagedKeyError,
    DataError,
    DecodeError,
    InputError,
    NotCoveredError,
)
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.target_values import in_original_units
from unspoken.methods.encoding.results.result_forms import as_pattern as as_forms
from unspoken.methods.encoding.target_units import KINDS, TWO, draw_units, is_quantity
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode

AWKWARD = {
    "ages": np.arange(18.0, 95.0),
    "halves": np.arange(-10, 10) / 2,
    "huge": np.array([-1e300, 0.0, 1.0, 3e299, 1e300]),
    "tiny": np.array([0.0, 5e-324, 1e-310, 2e-310]),
    "beyond 2^53": np.array([2.0**60, 2.0**60 + 512, 2.0**62]),
    "mixed sizes": np.array([1e-30, 1.0, 1e30]),
    "cents": np.arange(1, 4000) / 100,
    "zero only": np.array([-0.0, 1e-9]),
    "two": np.array([3.25, 4.5]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", AWKWARD)
def test_the_line_rises_and_comes_back(name, kind):
    values = np.unique(AWKWARD[name])
    width = values[-1] - values[0]
    for seed in range(5):
        units = draw_units(values, 1000, kind, np.random.default_rng(seed))
        released = units.encode(values)
        assert np.all(np.diff(released) >= 0)
        assert released[-1] > released[0]
        assert np.array_equal(released, np.rint(released))
        # Sums over all rows are exact in float64.
        assert np.abs(released).max() * 1000 < 2.0**53
        reach = max(np.abs(values).max(), width)
        assert np.abs(units.decode(released) - values).max() <= 1e-11 * reach


def test_a_target_on_a_grid_comes_back_bit_for_bit():
    for name in ("ages", "halves", "two"):
        values = AWKWARD[name]
        units = draw_units(values, 1000, "affine", np.random.default_rng(1))
        assert units.decode(units.encode(values)).tolist() == values.tolist()


def test_scaled_keeps_zero_and_affine_does_not():
    values = np.arange(30.0)
    drawn = [draw_units(values, 100, kind, np.random.default_rng(0)) for kind in KINDS]
    by_kind = dict(zip(KINDS, drawn, strict=True))
    assert by_kind["scaled"].encode([0.0]).tolist() == [0.0]
    assert by_kind["affine"].encode([0.0]).tolist() != [0.0]


def test_an_infinite_range_is_refused_without_its_values():
    with pytest.raises(DataError, match="finite") as error:
        draw_units(np.array([-1.7e308, 1.7e308]), 10, "affine", np.random.default_rng(0))
    assert "1.7" not in str(error.value)


def test_quantities_and_classes():
    assert is_quantity(np.array([0.5, 1.0]))
    assert is_quantity(np.arange(21.0))
    assert not is_quantity(np.arange(20.0))
    assert is_quantity(np.arange(3.0), TWO)
    assert not is_quantity(np.array([3.0, 7.0]), TWO)


@pytest.mark.parametrize(("target", "options", "wanted"), [
    ([1, 2, 3, 4, 5, 5], {}, "affine"), ([0, 1, 2, 2, 1, 0], {"target": "classes"}, "classes"),
    ([0, 1, 0, 1, 1, 0], {}, "classes"), ([True, False, True, True, False, True], {}, "classes"),
    (["a", "b", "c", "a", "b", "c"], {}, "classes"), ([1, 2, 3, 4, 5, 5], {"mode": "max-mono"},
                                                      "classes"),
])
def test_neutral_names_never_turn_a_number_into_classes(target, options, wanted):
    frame = pa.table({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": target})
    table = unspoken.read(frame, target="y", show=False)
    release, _ = PiecewiseEncoder(neutral_names=True, **options).protect(table)
    assert release.mechanism["target"] == wanted
    released = release.table.labels()
    if wanted == "affine":
        assert released.dtype.kind == "f"
        assert not set(released.tolist()) <= set(target)
    else:
        assert all(str(label).startswith("k") for label in released)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
def test_impurities_come_back_in_the_unit_of_their_criterion(kind, criterion):
    rng = np.random.default_rng(3)
    rows, values = rng.normal(size=(60, 2)), rng.integers(1000, 1200, 60).astype(float)
    units = draw_units(np.unique(values), 60, "affine", rng)
    few = {"max_depth": 3, "criterion": criterion, "random_state": 0}
    few |= {"n_estimators": 2} if kind is RandomForestRegressor else {}
    original, mined = kind(**few).fit(rows, values), kind(**few).fit(rows, units.encode(values))
    for shape in (lambda model: model, as_forms):
        decoded, wanted = in_original_units(shape(mined), units), shape(original)
        for one, other in zip(impurities(decoded), impurities(wanted), strict=True):
            assert np.allclose(one, other, rtol=1e-6, atol=1e-6)


def impurities(model):
    if hasattr(model, "tree_"):
        return [model.tree_.impurity]
    trees = getattr(model, "estimators_", None) or getattr(model, "trees", None)
    return [model.impurity] if trees is None else [impurities(tree)[0] for tree in trees]


def people(rows=120, seed=0, target=None):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows).astype(float)
    wage = rng.lognormal(7, 1, rows).round(1) if target is None else target
    hours = rng.normal(30, 9, rows).round(1)
    frame = pa.table({"age": age, "hours": hours, "wage": wage})
    return unspoken.read(frame, target="wage", show=False)


def test_a_number_never_leaves_in_clear_unless_it_is_named():
    table = people()
    original = set(table.labels().tolist())
    for neutral in (False, True):
        release, _ = PiecewiseEncoder(neutral_names=neutral).protect(table)
        released = release.table.labels()
        assert released.dtype.kind == "f", "a number stays a number, whatever names it has"
        assert not original & set(released.tolist())
        assert release.schema.target == ("target" if neutral else "wage")
    clear, _ = PiecewiseEncoder(clear_target="wage", neutral_names=True).protect(table)
    assert set(clear.table.labels().tolist()) == original


@pytest.mark.parametrize("options", [{"clear_target": "age"}, {"clear_target": "x"}])
def test_only_the_target_can_be_named_in_clear(options):
    with pytest.raises(InputError, match="'clear_target' must be the name of the target, 'wage'"):
        PiecewiseEncoder(**options).protect(people())


def test_units_need_numbers_and_no_classes():
    words = unspoken.read(pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}), target="y",
                          show=False)
    with pytest.raises(InputError, match="does not hold numbers"):
        PiecewiseEncoder(target="affine").protect(words)
    with pytest.raises(InputError, match="need classes"):
        PiecewiseEncoder(target="scaled", mode="max-mono").protect(people())


@pytest.mark.parametrize(("target", "words"), [
    ([5.0] * 20, "at least 2 different values"),
    ([1.5, None] * 10, "must have a value in every row"),
    ([1.5, float("nan")] * 10, "must have a value in every row|finite"),
    ([1.5, float("inf")] * 10, "finite"),
])
def test_targets_that_cannot_be_released(target, words):
    table = unspoken.read(pa.table({"x": np.arange(20.0), "y": target}), target="y", show=False)
    with pytest.raises(DataError, match=words):
        PiecewiseEncoder(target="affine").protect(table)


def test_the_key_holds_the_units_and_a_damaged_one_is_refused():
    _, key = PiecewiseEncoder().protect(people())
    book = PiecewiseBook.from_key(key)
    assert book.units is not None
    assert "secrets hidden" in repr(book.units)
    for wrong in ([0.0, 0.0, 1.0, 0.0], [0.0, 1.0, -1.0, 0.0], [1.0], ["a"] * 4,
                  [0.0, float("inf"), 1.0, 0.0]):
        secrets = {**key.secrets, "units": wrong}
        broken = type(key)(key.mechanism, key.fingerprint, secrets, key.arrays)
        with pytest.raises(DamagedKeyError):
            PiecewiseBook.from_key(broken)


LEARNERS = [
    DecisionTreeRegressor(random_state=0),
    DecisionTreeRegressor(random_state=0, criterion="absolute_error", max_depth=4),
    RandomForestRegressor(4, random_state=0),
    GradientBoostingRegressor(n_estimators=4, random_state=0),
    GradientBoostingRegressor(n_estimators=4, random_state=0, loss="quantile", alpha=0.8),
    HistGradientBoostingRegressor(max_iter=4, random_state=0),
    HistGradientBoostingRegressor(max_iter=4, random_state=0, loss="absolute_error"),
]


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaf_values_come_back_in_the_original_unit(learner, weighted):
    table = people(seed=3)
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, table.rows).astype(float) if weighted else None
    found = walk(table.numbers(), table.labels(), learner, weight, random_state=1)
    assert found.release.guarantee.covers(learner)
    assert found.identical, found.identical.difference
    # Independently: predictions are those of the original in released units, put on the line that
    # two of its own targets give.
    book = PiecewiseBook.from_key(found.key)
    whole = decode(found.mined, found.key, walk_table(table), sample_weight=weight)
    y = table.labels()
    shown = book.units.encode(y)
    ends = [int(np.argmin(y)), int(np.argmax(y))]
    slope = (y[ends[1]] - y[ends[0]]) / (shown[ends[1]] - shown[ends[0]])
    unseen = np.column_stack([rng.uniform(10, 99, 500), rng.uniform(0, 70, 500)])
    expected = y[ends[0]] + slope * (found.original.predict(unseen) - shown[ends[0]])
    np.testing.assert_allclose(whole.predict(unseen), expected, rtol=0, atol=1e-9 * np.ptp(y))


def walk_table(table):
    columns = {f"c{i}": column for i, column in enumerate(table.numbers().T)}
    return unspoken.read(pa.table({**columns, "y": table.labels()}), target="y", show=False)


def test_leaves_are_the_means_of_the_original_target():
    table = people(seed=5)
    release, key = PiecewiseEncoder().protect(table)
    tree = decode(fit(release, "tree", max_depth=4).model, key, table)
    leaf, y = tree.apply(table), table.labels()
    for node in np.unique(leaf):
        assert tree.value[node, 0] == pytest.approx(y[leaf == node].mean(), rel=1e-12)
        assert tree.impurity[node] == pytest.approx(y[leaf == node].var(), rel=1e-6,
                                                    abs=1e-9 * y.var())


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["xgboost", "lightgbm"])
def test_boosted_files_come_back_in_the_original_unit(learner):
    table = people(rows=300, seed=7)
    release, key = PiecewiseEncoder(keep_zero=True).protect(table)
    mined = fit(release, learner, n_estimators=6)
    assert mined.verdict
    assert mined.recipe.task == "regression"
    decoded = decode(mined.to_bytes(), key, table)
    again = unspoken.load_model(decoded.text.encode() if learner == "lightgbm"
                                else decoded._json_text().encode())
    said = again.predict(table)
    assert np.corrcoef(said, table.labels())[0, 1] > 0.3
    units, y = PiecewiseBook.from_key(key).units, table.labels()
    shown = units.encode(y)
    released = decode(mined.to_bytes(), key, table, units="released").predict(table)
    slope = (y.max() - y.min()) / (shown.max() - shown.min())
    expected = y.min() + slope * (released.astype(float) - shown.min())
    np.testing.assert_allclose(said, expected, rtol=0, atol=2e-6 * np.ptp(y))
    np.testing.assert_allclose(decoded.booster().predict(matrix(learner, table)), said,
                               rtol=1e-5)


def matrix(learner, table):
    if learner == "lightgbm":
        return table.numbers()
    import xgboost

    return xgboost.DMatrix(table.numbers(), feature_names=["age", "hours"])


REFUSED = [
    ({"min_impurity_decrease": 0.1}, "unit of the target"),
    ({"ccp_alpha": 0.1}, "unit of the target"),
    ({"criterion": "poisson"}, "where zero lies"),
]


@pytest.mark.parametrize(("params", "words"), REFUSED)
def test_what_depends_on_the_unit_is_not_covered(params, words):
    release, _ = PiecewiseEncoder().protect(people())
    verdict = release.guarantee.covers(DecisionTreeRegressor(random_state=0, **params))
    assert not verdict
    assert words in verdict.reason
    clear, _ = PiecewiseEncoder(clear_target="wage").protect(people())
    assert clear.guarantee.covers(DecisionTreeRegressor(random_state=0, **params))


def test_boosters_that_depend_on_the_unit_are_not_covered():
    import lightgbm
    import xgboost

    release, _ = PiecewiseEncoder(keep_zero=True).protect(people())
    for learner in (xgboost.XGBRegressor(objective="count:poisson"), xgboost.XGBRegressor(gamma=1),
                    xgboost.XGBRegressor(reg_alpha=1), xgboost.XGBRegressor(base_score=3.0),
                    lightgbm.LGBMRegressor(objective="poisson"),
                    lightgbm.LGBMRegressor(min_split_gain=0.5),
                    HistGradientBoostingRegressor(loss="gamma"),
                    HistGradientBoostingRegressor(early_stopping=True),
                    GradientBoostingRegressor(init="zero"),
                    DecisionTreeClassifier()):
        assert not release.guarantee.covers(learner), learner
    for learner in (xgboost.XGBRegressor(), lightgbm.LGBMRegressor(),
                    HistGradientBoostingRegressor(early_stopping=True, tol=0.0)):
        assert release.guarantee.covers(learner), release.guarantee.covers(learner).reason


@pytest.mark.parametrize("seed", range(4))
def test_poisson_with_zeros_is_covered_by_a_secret_unit_alone(seed):
    counts = np.random.default_rng(seed).poisson(1.5, 200).astype(float)
    learner = DecisionTreeRegressor(criterion="poisson", max_depth=6, random_state=0)
    table = people(200, seed, counts)
    found = walk(table.numbers(), table.labels(), learner, target="scaled", random_state=seed)
    assert found.release.guarantee.covers(learner)
    assert found.identical, found.identical.difference
    released = found.release.table.labels()
    assert (released == 0).sum() == (counts == 0).sum()
    assert released.min() == 0


def test_monotone_constraints_hold_in_other_units():
    table = people(seed=9)
    learner = DecisionTreeRegressor(monotonic_cst=[1, 0], random_state=0, max_depth=5)
    found = walk(table.numbers(), table.labels(), learner, random_state=2)
    assert found.release.guarantee.covers(learner)
    assert found.identical


def test_a_model_that_takes_numbers_for_classes_is_refused():
    table = people(target=np.random.default_rng(0).integers(0, 30, 120).astype(float))
    release, key = PiecewiseEncoder().protect(table)
    codes, shown = release.table.numbers(), release.table.labels()
    wrong = DecisionTreeClassifier(random_state=0).fit(codes, shown)
    with pytest.raises(DecodeError, match="took its values for classes"):
        decode(wrong, key, table)


@pytest.mark.slow
def test_a_logarithmic_loss_is_refused_when_decoding():
    table = people()
    release, key = PiecewiseEncoder(target="scaled").protect(table)
    model = HistGradientBoostingRegressor(loss="gamma", max_iter=2).fit(
        release.table.numbers(), release.table.labels())
    with pytest.raises(DecodeError, match="depends on the unit"):
        decode(model, key, table)


def test_exchanged_leaves_are_still_refused_in_secret_units():
    table = people()
    release, key = PiecewiseEncoder().protect(table)
    tree = fit(release, "tree", max_depth=3).model
    from dataclasses import replace

    with pytest.raises(DecodeError):
        decode(replace(tree, value=-tree.value), key, table)


def test_decimals_and_dates_do_not_leave_in_clear_either():
    import datetime
    from decimal import Decimal

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=7 * i) for i in range(40)]
    for target in (days, [Decimal(i) / 4 for i in range(40)]):
        table = unspoken.read(pa.table({"x": np.arange(40.0), "y": target}), target="y",
                              kinds={"y": "numeric"}, show=False)
        release, key = PiecewiseEncoder().protect(table)
        assert release.mechanism["target"] == "affine"
        tree = decode(fit(release, "tree").model, key, table)
        assert np.corrcoef(tree.predict(table), np.arange(40.0))[0, 1] > 0.999


def test_bags_of_trees_are_covered_and_come_back_in_the_original_unit():
    table = people()
    release, key = PiecewiseEncoder().protect(table)
    mined = fit(release, "bagging", n_estimators=3, max_samples=0.7)
    assert mined.verdict
    decoded = decode(mined.to_bytes(), key, table)
    wages = table.labels()
    assert np.corrcoef(decoded.predict(table), wages)[0, 1] > 0.5
    assert abs(np.mean(decoded.predict(table)) - wages.mean()) < 0.2 * wages.std()
    median = {"estimator__criterion": "absolute_error"}
    with pytest.raises(NotCoveredError, match="bags of trees with that criterion"):
        fit(release, "bagging", n_estimators=3, **median)
    with pytest.raises(NotCoveredError, match="ccp_alpha"):
        fit(release, "bagging", n_estimators=3, estimator__ccp_alpha=0.1)
