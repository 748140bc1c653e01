"""Everybody chooses: withhold, tell or distort, for every method and every learner."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError, InputError
from unspoken.methods.distortion.known_laws import Additive
from unspoken.methods.distortion.learners.chosen_columns import mixed_column
from unspoken.methods.distortion.learners.distorted_column import Setting
from unspoken.methods.distortion.noise_laws import for_width
from unspoken.mine import (
    Noise,
    ReconstructingNaiveBayes,
    ReconstructingTreeClassifier,
    noisy_naive_bayes,
    noisy_tree,
    reconstruct,
)
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder, RandomizedResponse

pytestmark = pytest.mark.slow

SAID = ("withhold", "truth", "distort")


def people(n=20_000, seed=0):
    """Incomes; the younger half tells more often, so that choosing depends on the value."""
    rng = np.random.default_rng(seed)
    x = 20 + 60 * rng.beta(2, 4, n)
    told = rng.random(n) < np.where(x < 40, 0.5, 0.1)
    said = np.where(told, "truth", np.where(rng.random(n) < 0.15, "withhold", "distort"))
    ill = np.where(rng.random(n) < np.where(x < 40, 0.2, 0.6), "yes", "no")
    group = np.where(x + rng.normal(0, 4, n) > 42, "b", "a")
    return x, said, ill, group


def table_of(n=20_000):
    x, said, ill, group = people(n)
    return unspoken.read(pa.table({"x": x, "x_said": said, "ill": ill, "group": group}),
                      target="group", show=False)


NUMERIC = {
    "noise": lambda: NoiseAdder(privacy=0.5, columns=["x"], choices={"x": "x_said"},
                                others="drop", random_state=1),
    "classes": lambda: Discretizer(12, columns=["x"], choices={"x": "x_said"}, others="drop"),
    "truncated": lambda: MultiplicativeNoise(deviation=0.2, columns=["x"],
                                             choices={"x": "x_said"}, others="drop",
                                             random_state=1),
    "lognormal": lambda: MultiplicativeNoise("lognormal", variance=0.5, columns=["x"],
                                             choices={"x": "x_said"}, others="drop",
                                             random_state=1),
}


@pytest.mark.parametrize("name", NUMERIC)
def test_the_release_holds_what_everybody_chose(name):
    table = table_of(2000)
    x, said, _, _ = people(2000)
    release, key = NUMERIC[name]().set_params(shuffle_rows=False).protect(table)
    key.fits(release)
    sent = release.table.numbers(["x"])[:, 0]
    assert np.all(np.isnan(sent[said == "withhold"]))
    np.testing.assert_array_equal(sent[said == "truth"], table.numbers(["x"])[said == "truth", 0])
    assert np.mean(sent[said == "distort"] == x[said == "distort"]) < 0.02
    assert release.table.arrow()["x_said"].to_pylist() == said.tolist()
    assert release.mechanism["choices"] == {"x": "x_said"}
    assert any("chose to distort" in line for line in release.guarantee.conditions)


@pytest.mark.parametrize("name", NUMERIC)
def test_reconstruction_uses_each_report_as_what_it_is(name):
    """20,000 people who choose by their value: within .03 of those who did not withhold."""
    release, _ = NUMERIC[name]().protect(table_of())
    x, said, _, _ = people()
    found = reconstruct(release, column="x", bins=30)
    kept = np.sort(x[said != "withhold"])
    gap = np.abs(found.cdf(kept) - np.arange(kept.size) / kept.size).max()
    assert gap < (0.06 if name == "classes" else 0.03)
    assert found.facts["truthful"] == (said == "truth").sum()
    assert found.facts["withheld"] == (said == "withhold").sum()
    assert found.probabilities.min() >= 0
    assert found.probabilities.sum() == pytest.approx(1.0)


def test_answers_that_were_told_are_not_unmixed():
    """Those who tell are ill more often: both groups' shares are found, with their error."""
    n = 30_000
    rng = np.random.default_rng(2)
    said = rng.choice(["truth", "distort", "withhold"], n, p=[0.3, 0.6, 0.1])
    ill = np.where(rng.random(n) < np.where(said == "truth", 0.9, 0.2), "yes", "no")
    table = unspoken.read(pa.table({"ill": ill, "how": said, "y": ["a", "b"] * (n // 2)}),
                       target="y", show=False)
    method = RandomizedResponse(0.7, columns=["ill"], choices={"ill": "how"}, others="drop",
                                shuffle_rows=False, random_state=3)
    release, _ = method.protect(table)
    answers = np.array(release.table.arrow()["ill"].to_pylist(), dtype=object)
    assert np.array_equal(answers[said == "truth"], ill[said == "truth"])
    assert all(value is None for value in answers[said == "withhold"])
    assert (answers[said == "distort"] == ill[said == "distort"]).mean() \
        == pytest.approx(0.7, abs=4 * np.sqrt(0.21 / (0.6 * n)))
    found = reconstruct(release, column="ill")
    truth = (ill[said != "withhold"] == "yes").mean()
    assert abs(found.unbiased[1] - truth) < 4 * found.deviations[1]
    assert found.records == (said != "withhold").sum()
    # Unmixing everything, told or not, would be off by many standard errors.
    wrong = ((answers == "yes").sum() / found.records - 0.3) / 0.4
    assert abs(wrong - truth) > 10 * found.deviations[1]
    pooled = reconstruct(release, column="ill", pooled=True)
    assert pooled.probabilities.sum() == pytest.approx(1.0)


def test_the_error_of_mixed_shares_is_what_repeated_surveys_show():
    """200 surveys of 600 people: bars of two standard errors hold the truth in 91% or more, and the
    stated error is what the estimates spread, within 15%."""
    held, rng, shares, errors = 0, np.random.default_rng(0), [], []
    for seed in range(200):
        said = np.where(np.arange(600) % 3 == 0, "truth", "distort")
        ill = np.where(rng.random(600) < 0.3, "yes", "no")
        table = unspoken.read(pa.table({"ill": ill, "how": said, "y": ["a", "b"] * 300}),
                           target="y", show=False)
        release, _ = RandomizedResponse(0.75, columns=["ill"], choices={"ill": "how"},
                                        others="drop", random_state=seed).protect(table)
        found = reconstruct(release, column="ill")
        held += abs(found.unbiased[1] - 0.3) <= 2 * found.deviations[1]
        shares.append(found.unbiased[1])
        errors.append(found.deviations[1])
    assert held / 200 >= 0.91
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.15)
    assert abs(np.mean(shares) - 0.3) < 4 * np.std(shares) / np.sqrt(200)


def test_devices_send_what_the_person_chose():
    wants = {"x": "truth"}
    assert Discretizer(10, ranges={"x": (0, 100)}).distort({"x": 37}, wants) == {
        "x": 37, "x_choice": "truth"}
    device = RandomizedResponse(0.9, values={"x": ["no", "yes"]})
    assert device.distort({"x": "yes"}, {"x": "withhold"}) == {"x": None, "x_choice": "withhold"}
    assert device.distort({"x": "yes"}, wants) == {"x": "yes", "x_choice": "truth"}
    factors = MultiplicativeNoise().fit(np.array([[1.0], [2.0], [9.0]]))
    assert factors.distort({"x0": 5}, {"x0": "truth"}) == {"x0": 5.0, "x0_choice": "truth"}
    assert factors.distort({"x0": 5}, {})["x0_choice"] == "distort"
    for method in (device, factors, Discretizer(10, ranges={"x": (0, 100)})):
        with pytest.raises(InputError, match="choice 'truth' for 'pay'"):
            method.distort({"x": 1, "x0": 1}, {"pay": "truth"})


def test_wrong_choices_are_refused_by_name():
    table = table_of(60)
    for method in (Discretizer, MultiplicativeNoise, RandomizedResponse, NoiseAdder):
        with pytest.raises(InputError, match=rf"{method.__name__}: 'choices'.*group"):
            method(columns=["x"], choices={"group": "x_said"}, others="drop").protect(table)
        with pytest.raises(InputError, match="'choices'"):
            method(choices="x_said").protect(table)
    bad = unspoken.read(pa.table({"x": np.arange(9.0), "how": ["perhaps"] * 9,
                               "y": ["a", "b", "c"] * 3}), target="y", show=False)
    with pytest.raises(DataError, match="'how' of choices holds 'perhaps'"):
        Discretizer(3, columns=["x"], choices={"x": "how"}, others="drop").protect(
            bad)[0].table.arrow()


@pytest.fixture(scope="module")
def mixed():
    """30,000 people of two classes; a third tells, a tenth withholds, the others distort."""
    rng = np.random.default_rng(4)
    n = 30_000
    x = rng.uniform(0, 10, (n, 2))
    y = np.where((x[:, 0] > 4) & (x[:, 1] > 3), "in", "out")
    said = rng.choice(SAID, (n, 2), p=[0.1, 0.3, 0.6])
    noise = for_width("gaussian", 10.0)
    w = x + noise.quantile(rng.random(x.shape))
    reports = np.where(said == "truth", x, np.where(said == "withhold", np.nan, w))
    fresh = rng.uniform(0, 10, (4000, 2))
    return reports, said, y, noise, fresh, np.where((fresh[:, 0] > 4) & (fresh[:, 1] > 3),
                                                    "in", "out")


@pytest.mark.parametrize("strategy", ["refined", "local"])
def test_trees_learn_from_mixed_reports(mixed, strategy):
    """Within 6 points of the rule, and better than from those alone who distorted everything."""
    reports, said, y, noise, fresh, truth = mixed
    learner = ReconstructingTreeClassifier(noise, strategy, support=(0.0, 10.0))
    right = (learner.fit(reports, y, said).predict(fresh) == truth).mean()
    assert right > 0.94
    only = np.all(said == "distort", axis=1)
    alone = (learner.fit(reports[only], y[only]).predict(fresh) == truth).mean()
    assert right > alone


def test_naive_bayes_learns_from_mixed_reports(mixed):
    reports, said, y, noise, fresh, truth = mixed
    learner = ReconstructingNaiveBayes(noise, support=(0.0, 10.0))
    found = learner.fit(reports, y, said)
    # Naive Bayes cannot do better than this on the original: an L-shaped rule.
    clean = ReconstructingNaiveBayes(stop="steps").fit(fresh, truth)
    assert (found.predict(fresh) == truth).mean() > (clean.predict(fresh) == truth).mean() - 0.02


@pytest.mark.parametrize("name", NUMERIC)
def test_learners_read_mixed_releases(name):
    release, _ = NUMERIC[name]().protect(table_of(6000))
    x, _, _, group = people(3000, 9)
    best = np.where(x > 42, "b", "a")
    for model in (noisy_tree(release), noisy_tree(release, "local"), noisy_naive_bayes(release)):
        assert (model.predict(x[:, None]) == group).mean() > (best == group).mean() - 0.06


@pytest.mark.parametrize("learn", [noisy_tree, noisy_naive_bayes])
def test_where_nobody_chose_values_may_be_missing(learn):
    x, _, _, group = people(6000, 4)
    rng = np.random.default_rng(6)
    holes = rng.random(6000) < 0.1
    table = unspoken.read(pa.table({"x": pa.array(x, mask=holes), "z": rng.normal(0, 1, 6000),
                                 "y": group}), target="y", show=False)
    release, _ = NoiseAdder(privacy=0.5, random_state=2).protect(table)
    assert release.table.arrow()["x"].null_count == holes.sum()
    fresh, _, _, truth = people(3000, 9)
    best = np.where(fresh > 42, "b", "a")
    found = learn(release).predict(np.column_stack([fresh, rng.normal(0, 1, 3000)]))
    assert (found == truth).mean() > (best == truth).mean() - 0.06


def test_learners_read_mixed_answers():
    rng = np.random.default_rng(5)
    true = rng.integers(0, 3, 9000)
    y = np.where((true == 2) ^ (rng.random(9000) < 0.05), "b", "a")
    how = rng.choice(SAID, 9000, p=[0.1, 0.3, 0.6])
    table = unspoken.read(pa.table({"q": true, "how": how, "y": y}), target="y",
                       kinds={"q": "ordinal"}, show=False)
    release, _ = RandomizedResponse(0.6, columns=["q"], choices={"q": "how"}, others="drop",
                                    random_state=1).protect(table)
    for model in (noisy_tree(release), noisy_tree(release, "local"), noisy_naive_bayes(release)):
        assert model.predict([[0.0], [1.0], [2.0]]).tolist() == ["a", "a", "b"]
        assert model.predict_proba([[2.0]])[0, 1] > 0.85


def test_who_told_stands_in_his_interval_and_nowhere_else():
    values = np.array([0.5, 1.5, 2.5, 7.0, np.nan, 3.5] * 5)
    said = np.array(["truth", "truth", "distort", "distort", "withhold", "truth"] * 5,
                    dtype=object)
    law = Additive(Noise("uniform", 3.0), 0.0, 4.0)
    column = mixed_column(values, said, law, 4, Setting())
    rows = np.arange(30)
    shares = column.distribution(rows)
    assert shares.sum() == pytest.approx(1.0)
    placed = column.assign(rows, shares)
    np.testing.assert_array_equal(placed[said == "truth"], [0, 1, 3] * 5)
    assert placed.min() >= 0
    assert placed.max() <= 3
    # Rows of the table: chances of each report by interval.
    table, where = column.table, column.where
    np.testing.assert_array_equal(table[where[0]], [1, 0, 0, 0])
    np.testing.assert_array_equal(table[where[4]], [1, 1, 1, 1])
    assert table[where[2]].max() < 1
    with pytest.raises(DataError, match="Everybody withheld this column"):
        mixed_column(values[4:5], said[4:5], law, 4, Setting())


def test_those_who_distorted_are_placed_by_their_own_distribution():
    """The told are all low, the others all high: nobody who distorted is put among the low."""
    rng = np.random.default_rng(0)
    values = np.r_[rng.uniform(0, 1, 300), rng.uniform(3, 4, 300) + rng.uniform(-0.1, 0.1, 300)]
    said = np.array(["truth"] * 300 + ["distort"] * 300, dtype=object)
    column = mixed_column(values, said, Additive(Noise("uniform", 0.1), 0.0, 4.0), 4, Setting())
    rows = np.arange(600)
    shares = column.distribution(rows)
    np.testing.assert_allclose(shares, [0.5, 0, 0, 0.5], atol=0.02)
    placed = column.assign(rows, shares)
    assert np.all(placed[:300] == 0)
    assert (placed[300:] == 3).mean() > 0.97


def test_choices_of_another_shape_are_refused(mixed):
    reports, said, y, noise, _, _ = mixed
    with pytest.raises(InputError, match=r"'choices'.*30000 x 2"):
        ReconstructingTreeClassifier(noise).fit(reports, y, said[:, :1])
    with pytest.raises(InputError, match=r"'choices'.*Got hide"):
        ReconstructingNaiveBayes(noise).fit(reports[:4], y[:4], [["hide", "truth"]] * 4)
    with pytest.raises(ValueError, match="NaN"):
        ReconstructingTreeClassifier(noise).fit(reports, y)
