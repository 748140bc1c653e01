"""The audit of randomised answers and of mixed choices: right shares beside their baselines."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.protect import Discretizer, NoiseAdder, RandomizedResponse
from unspoken.risk import Audit, audit


def asked(n=6000, seed=0):
    """Two values; three quarters of class v are ill, a tenth of class u."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["u", "v"], n)
    ill = np.where(rng.random(n) < np.where(y == "v", 0.75, 0.1), "ill", "well")
    how = rng.choice(["truth", "distort"], n, p=[0.25, 0.75])
    return unspoken.read(pa.table({"q": ill, "how": how, "y": y}), target="y", show=False)


def rows_of(found, measure="records"):
    return {row.adversary: row for row in found.select(measure=measure)}


@pytest.mark.slow
def test_the_posterior_beside_the_baseline():
    """Truth .7: the answer itself is right in .7; with the class, exactly what Bayes' rule gives.

    Class v, shares .75 and .25: answers are believed or the mode is taken, whichever is likelier.
    """
    table = asked()
    release, key = RandomizedResponse(0.7, columns=["q"], others="drop",
                                    random_state=1).protect(table)
    found = audit(table, release, key, trials=40, random_state=0)
    rows = rows_of(found)
    assert set(rows) == {"literal", "answer", "answer-class"}
    ill = np.mean(np.array(table.arrow()["q"].to_pylist()) == "ill")
    for row in rows.values():
        assert row.baseline == pytest.approx(1 - ill)
        assert row.low <= row.value <= row.high
        assert row.trials == 40
    assert rows["literal"].value == pytest.approx(0.7, abs=0.02)
    by_hand = {share: max(0.7 * share, 0.3 * (1 - share)) + max(0.3 * share, 0.7 * (1 - share))
               for share in (ill, 0.75, 0.1)}
    assert rows["answer"].value == pytest.approx(by_hand[ill], abs=0.02)
    assert rows["answer-class"].value == pytest.approx((by_hand[0.75] + by_hand[0.1]) / 2, abs=0.02)
    assert rows["answer-class"].value > rows["answer"].value + 0.03
    assert not found.unscored
    assert Audit.from_json(found.to_json()).rows == found.rows
    assert "'q'" in found.summary()
    again = audit(table, release, key, trials=40, random_state=0)
    assert again.rows == found.rows


@pytest.mark.slow
def test_intervals_hold_other_draws_of_the_same_people():
    table = asked(1500)
    method = {"columns": ["q"], "others": "drop"}
    release, key = RandomizedResponse(0.7, random_state=1, **method).protect(table)
    row = rows_of(audit(table, release, key, trials=200, random_state=0))["literal"]
    shares = [rows_of(audit(table, *RandomizedResponse(0.7, random_state=s, **method).protect(
        table), trials=1))["literal"].value for s in range(2, 42)]
    assert 0.85 <= np.mean([row.low <= share <= row.high for share in shares]) <= 1.0


@pytest.mark.slow
def test_who_told_is_counted_apart():
    table = asked()
    release, key = RandomizedResponse(0.7, columns=["q"], choices={"q": "how"}, others="drop",
                                    random_state=1).protect(table)
    found = audit(table, release, key, trials=5, random_state=0)
    rows = rows_of(found)
    assert rows["truthful"].value == pytest.approx(
        np.mean(np.array(table.arrow()["how"].to_pylist()) == "truth"))
    assert rows["literal"].value == pytest.approx(0.7, abs=0.02)
    assert any("true answers are known" in line for line in found.limits)


@pytest.mark.slow
def test_numbers_and_missing_values_can_be_answers():
    values = pa.array([1, 2, None, 3, 1, 2] * 50)
    table = unspoken.read(pa.table({"q": values, "x": np.arange(300.0), "y": ["u", "v"] * 150}),
                       target="y", kinds={"q": "ordinal"}, show=False)
    release, key = RandomizedResponse(0.8, columns=["q"], others="keep",
                                    random_state=0).protect(table)
    found = audit(table, release, key, trials=3, random_state=0)
    assert rows_of(found)["literal"].value == pytest.approx(0.8, abs=0.08)
    assert found.unscored == {"x": "the column was released as it is"}
    assert rows_of(found, "domain")["literal"].baseline == pytest.approx(1 / 3)


@pytest.mark.slow
def test_a_mixed_release_of_numbers():
    """Pay is told by a third; age goes with pay, so that telling pay gives age away."""
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 4000)
    pay = 100 * age + rng.normal(0, 200, 4000)
    how = rng.choice(["truth", "distort"], 4000, p=[0.33, 0.67])
    table = unspoken.read(pa.table({"age": age, "pay": pay, "how": how, "y": ["u", "v"] * 2000}),
                       target="y", show=False)
    adder = NoiseAdder(columns=["age", "pay"], choices={"pay": "how"}, others="drop",
                       random_state=1)
    release, key = adder.protect(table)
    found = audit(table, release, key, trials=2, random_state=0, radius=0.1)
    rows = {(r.adversary, r.column): r for r in found.select(measure="records")}
    assert set(rows) == {("posterior", "age"), ("posterior", "pay"), ("choices", "age"),
                         ("choices", "pay"), ("truthful", "pay")}
    assert rows["choices", "age"].value > rows["posterior", "age"].value + 0.1
    assert rows["truthful", "pay"].value == pytest.approx((how == "truth").mean())
    assert rows["truthful", "pay"].baseline < 0.35
    assert found.words["truthful"] == "reads values that were reported truthfully"
    everybody, own = NoiseAdder(columns=["age", "pay"], others="drop",
                                random_state=1).protect(table)
    plain = audit(table, everybody, own, trials=2, random_state=0, radius=0.1)
    filtered = max(r.value for r in plain.select(measure="records", column="age"))
    assert rows["choices", "age"].value > filtered


@pytest.mark.slow
def test_a_column_that_everybody_told_has_nothing_to_guess():
    table = unspoken.read(pa.table({"x": np.arange(60.0), "how": ["truth"] * 60,
                                 "y": ["u", "v"] * 30}), target="y", show=False)
    release, key = Discretizer(5, columns=["x"], choices={"x": "how"}, others="drop").protect(table)
    found = audit(table, release, key, trials=2, random_state=0)
    assert found.unscored["x"] == "nobody chose to distort it"
    assert "holds choices" in found.unscored["how"]
    assert rows_of(found)["truthful"].value == 1.0
