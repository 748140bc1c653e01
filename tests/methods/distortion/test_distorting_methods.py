"""Distorting methods: what the manifest says is what was done, record by record and by table."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.errors import DataError, InputError, SchemaError, UnseenValueError
from unspoken.methods.distortion.noise_laws import FAMILIES, Noise
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder, RandomizedResponse
from unspoken.release.release import Release


def people(rows=4000, seed=0, **more):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(18, 90, rows), "pay": rng.uniform(1000, 9000, rows),
               "group": rng.choice(["a", "b"], rows), **more}
    return unspoken.read(pa.table(columns), target="group", show=False)


@pytest.mark.parametrize("family", FAMILIES)
def test_noise_is_what_the_manifest_says(family):
    table = people()
    release, key = NoiseAdder(family, shuffle_rows=False, random_state=1).protect(table)
    assert set(key.secrets) == {"order_seed", "original", "release_seal"}
    law = release.mechanism["columns"]["pay"]
    assert (law["low"], law["high"]) == (1000.0, 9000.0)
    assert law["width"] == pytest.approx(8000.0)
    added = np.sort(release.table.numbers(["pay"])[:, 0] - table.numbers(["pay"])[:, 0])
    gap = np.abs(Noise(family, law["scale"]).cdf(added) - np.arange(added.size) / added.size)
    assert gap.max() < 1.95 / math.sqrt(added.size)
    assert np.all(np.rint(release.table.numbers(["pay"]) / law["grid"]) * law["grid"]
                  == release.table.numbers(["pay"]))


def test_columns_and_rows_get_noise_of_their_own():
    table = people()
    release, _ = NoiseAdder(scale=5.0, shuffle_rows=False, random_state=1).protect(table)
    added = release.table.numbers() - table.numbers(["age", "pay"])
    assert abs(np.corrcoef(added.T)[0, 1]) < 4 / math.sqrt(len(table))
    assert abs(np.corrcoef(added[1:, 0], added[:-1, 0])[0, 1]) < 4 / math.sqrt(len(table))


def test_parameters_may_differ_by_column():
    release, _ = NoiseAdder({"age": "laplace", "pay": "uniform"}, {"age": 0.5, "pay": 2.0},
                            ranges={"age": (0, 100)}).protect(people())
    age, pay = (release.mechanism["columns"][name] for name in ("age", "pay"))
    assert age["family"] == "laplace"
    assert age["width"] == pytest.approx(50.0)
    assert pay["width"] == pytest.approx(16000.0)
    facts = release.guarantee.facts["columns"]
    assert facts["age"]["epsilon"] == pytest.approx(100 / age["scale"])
    assert facts["pay"]["gamma"] is None


def test_nobodys_value_is_published_as_the_range():
    table = people(300)
    values = table.numbers(["pay"])[:, 0]
    law = NoiseAdder().protect(table)[0].mechanism["columns"]["pay"]
    assert law["low"] < values.min()
    assert law["high"] > values.max()


@pytest.mark.slow
def test_a_file_is_streamed_with_the_same_noise_at_every_pass(tmp_path):
    pq.write_table(people().arrow(), tmp_path / "p.parquet")
    table = unspoken.read(tmp_path / "p.parquet", target="group", lazy=True, show=False)
    release, _ = NoiseAdder().protect(table)
    first = release.table.arrow()
    saved = release.save(tmp_path / "r")
    assert saved.table.arrow().equals(first)
    assert Release.load(tmp_path / "r").guarantee == release.guarantee


def test_a_device_needs_no_table():
    # Two columns: on the grid of one alone, two of 200 reports may meet by chance.
    both = NoiseAdder("uniform", ranges={"age": (0, 100), "pay": (0, 100)}, scale=10.0)
    pairs = [both.distort({"age": 50, "pay": 50, "name": "x"}) for _ in range(200)]
    assert len({(pair["age"], pair["pay"]) for pair in pairs}) == 200
    adder = NoiseAdder("uniform", ranges={"age": (0, 100)}, scale=10.0)
    sent = [adder.distort({"age": 50, "name": "x"})["age"] for _ in range(200)]
    assert all(40 <= value <= 60 for value in sent)
    assert adder.distort({"age": None}) == {"age": None}
    again = NoiseAdder.from_public(NoiseAdder().protect(people())[0].mechanism)
    assert set(again.distort({"age": 30, "pay": 2000})) == {"age", "pay"}
    with pytest.raises(InputError, match="'ranges'"):
        NoiseAdder().distort({"age": 3})
    with pytest.raises(DataError, match="no 'age'"):
        adder.distort({"years": 3})


def test_copies_of_a_device_do_not_share_noise():
    import copy

    adder = NoiseAdder(ranges={"age": (0, 100)})
    adder.distort({"age": 5})
    twin = copy.deepcopy(adder)
    assert adder.distort({"age": 5}) != twin.distort({"age": 5})


def test_everybody_chooses():
    said = np.random.default_rng(0).choice(["withhold", "truth", "distort"], 4000)
    table = people(age_said=said)
    adder = NoiseAdder(choices={"age": "age_said"}, columns=["age"], others="drop",
                       shuffle_rows=False)
    release, _ = adder.protect(table)
    before, after = table.numbers(["age"])[:, 0], release.table.numbers(["age"])[:, 0]
    assert np.all(np.isnan(after[said == "withhold"]))
    assert np.array_equal(after[said == "truth"], before[said == "truth"])
    assert np.mean(after[said == "distort"] == before[said == "distort"]) < 0.01
    assert release.table.arrow()["age_said"].to_pylist() == said.tolist()
    one = NoiseAdder(ranges={"age": (0, 90)}).distort({"age": 40}, {"age": "truth"})
    assert one == {"age": 40.0, "age_choice": "truth"}
    with pytest.raises(DataError, match=r"'maybe'.*withhold, truth, distort"):
        adder.protect(people(10, age_said=["maybe"] * 10))
    with pytest.raises(InputError, match="'pay'"):
        NoiseAdder(ranges={"age": (0, 90)}).distort({"age": 4}, {"pay": "truth"})


def test_what_cannot_be_distorted_is_refused_by_name():
    constant = unspoken.read({"x": [1.0] * 9, "y": ["a", "b", "c"] * 3}, target="y", show=False)
    with pytest.raises(DataError, match=r"'x'.*zero width"):
        NoiseAdder().protect(constant)
    endless = unspoken.read({"x": [1.0, np.inf], "y": ["a", "b"]}, target="y", show=False)
    with pytest.raises(DataError, match=r"'x'.*infinite"):
        NoiseAdder().protect(endless)
    text = unspoken.read({"x": ["u", "v", "u"], "y": [0, 1, 1]}, target="y",
                      kinds={"x": "categorical"}, show=False)
    with pytest.raises(SchemaError, match="numeric or ordinal"):
        NoiseAdder().protect(text)
    with pytest.raises(DataError, match=r"'x'.*numeric"):
        NoiseAdder(columns=["x"]).protect(text)
    mixed = people(50, city=["u", "v"] * 25)
    with pytest.raises(SchemaError, match=r"'city'.*others='drop'"):
        NoiseAdder().protect(mixed)
    assert "city" not in NoiseAdder(others="drop").protect(mixed)[0].schema.names
    assert "city" in NoiseAdder(others="keep").protect(mixed)[0].schema.names


def test_classes_are_given_equal_or_of_equally_many():
    table = people()
    release, _ = Discretizer(edges={"age": [0, 25, 35, 60, 200]}, classes={"pay": 4},
                             shuffle_rows=False).protect(table)
    age, classes = table.numbers(["age"])[:, 0], release.table.numbers(["age"])[:, 0]
    assert np.array_equal(classes, np.digitize(age, [25, 35, 60]))
    assert release.mechanism["columns"]["pay"]["edges"] == [1000, 3000, 5000, 7000, 9000]
    assert release.guarantee.facts["columns"]["pay"]["width"] == pytest.approx(0.95 * 2000)
    cut, _ = Discretizer(5, "quantile").protect(table)
    share = np.bincount(cut.table.numbers(["pay"])[:, 0].astype(int)) / len(table)
    assert np.abs(share - 0.2).max() < 0.01
    edges = set(cut.mechanism["columns"]["pay"]["edges"])
    assert not edges & set(table.numbers(["pay"])[:, 0].tolist())
    assert Discretizer(10, ranges={"age": (0, 100)}).distort({"age": 37}) == {"age": 3}
    with pytest.raises(InputError, match="'edges'"):
        Discretizer(strategy="quantile", ranges={"age": (0, 100)}).distort({"age": 37})


def test_answers_follow_the_matrix():
    """20,000 people: every cell of the matrix within 4 standard errors."""
    smoker = np.random.default_rng(0).choice(["no", "yes", "once"], 20_000, p=[0.6, 0.3, 0.1])
    table = people(20_000, smoker=smoker)
    matrix = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]]
    method = RandomizedResponse(matrix={"smoker": matrix}, values={"smoker": ["no", "once", "yes"]},
                                columns=["smoker"], others="drop", shuffle_rows=False,
                                random_state=4)
    release, _ = method.protect(table)
    said = np.array(release.table.arrow()["smoker"].to_pylist())
    for row, true in zip(matrix, ["no", "once", "yes"], strict=True):
        who = smoker == true
        for chance, answer in zip(row, ["no", "once", "yes"], strict=True):
            error = math.sqrt(chance * (1 - chance) / who.sum())
            assert abs((said[who] == answer).mean() - chance) < 4 * error
    assert method.laws_["smoker"].gamma == pytest.approx(7.0)
    method.set_params(random_state=None)
    fresh = method.protect(table)[0].guarantee
    assert fresh.facts["columns"]["smoker"]["gamma"] == pytest.approx(7.0)


def test_gamma_and_truth_and_warner():
    table = people(500, x=[1, 0] * 250)
    for options, gamma in ({"gamma": 5.0}, 5.0), ({"truth": 0.75}, 3.0), ({}, 3.0):
        release, _ = RandomizedResponse(**options, columns=["x"], values={"x": [0, 1]},
                                        others="drop").protect(table)
        assert release.guarantee.facts["columns"]["x"]["gamma"] == pytest.approx(gamma)
    with pytest.raises(InputError, match=r"one of truth, gamma and matrix for column 'x'"):
        RandomizedResponse(0.7, 3.0, columns=["x"], others="drop").protect(table)
    device = RandomizedResponse(0.9, values={"x": ["no", "yes"]}, random_state=0)
    said = [device.distort({"x": "yes"})["x"] for _ in range(500)]
    assert 0.85 < said.count("yes") / 500 < 0.95
    with pytest.raises(UnseenValueError, match=r"'x'.*Got maybe"):
        device.distort({"x": "maybe"})


def test_factors_of_both_forms():
    table = people(20_000)
    release, _ = MultiplicativeNoise(deviation=0.1, shuffle_rows=False,
                                     random_state=1).protect(table)
    ratio = release.table.numbers() / table.numbers(["age", "pay"])
    assert np.abs(ratio - 1).max() <= 0.2 + 1e-12
    assert np.abs(ratio.mean(axis=0) - 1).max() < 4 * 0.1 / math.sqrt(20_000)
    release, _ = MultiplicativeNoise("lognormal", variance=0.5, shuffle_rows=False,
                                     random_state=1).protect(table)
    logs = np.log(release.table.numbers() / table.numbers(["age", "pay"]))
    wanted = 0.5 * np.cov(np.log(table.numbers(["age", "pay"])), rowvar=False)
    np.testing.assert_allclose(np.cov(logs, rowvar=False), wanted, atol=0.006)
    np.testing.assert_allclose(release.mechanism["covariance"], wanted, rtol=1e-6)
    with pytest.raises(DataError, match=r"'x'.*above zero"):
        MultiplicativeNoise("lognormal").protect(
            unspoken.read({"x": [0.0, 1.0], "y": ["a", "b"]}, target="y", show=False))


def test_only_learners_that_reconstruct_are_covered():
    from sklearn.tree import DecisionTreeClassifier

    from unspoken.mine import ReconstructingTreeClassifier

    release, _ = NoiseAdder().protect(people(100))
    assert not release.guarantee.covers(DecisionTreeClassifier())
    assert release.guarantee.covers(ReconstructingTreeClassifier())
