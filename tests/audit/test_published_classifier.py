"""Indirect disclosure: closed forms, the book's two cases, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.integrate import quad
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken.audit.published_classifier import bayes_error, indirect, mixture_error
from unspoken.disclosure.attribute_disclosure import paired, wilson
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.models.tree import Tree

pytestmark = pytest.mark.slow


def bell(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 2.0), (0.1, 2.0), (0.3, 0.7), (0.02, 3.0)])
def test_the_two_point_mixture_against_numerical_integration(epsilon, mu):
    found, _ = quad(lambda x: min((1 - epsilon) * bell(x), epsilon * bell(x - mu)), -12, 16,
                    points=[mu / 2 + math.log((1 - epsilon) / epsilon) / mu], limit=200)
    assert mixture_error(epsilon, mu) == pytest.approx(found, abs=1e-9)
    assert mixture_error(epsilon, mu) <= min(epsilon, 1 - epsilon)


def test_known_values_of_the_mixture():
    """Equal halves two deviations apart: P(N > 1) = .158655; far apart: nothing is wrong."""
    assert mixture_error(0.5, 2.0) == pytest.approx(0.15865525393, abs=1e-9)
    assert mixture_error(0.5, 60.0) < 1e-12


def test_bayes_error_of_a_table():
    assert bayes_error([[0.4, 0.1], [0.2, 0.3]]) == pytest.approx(0.3)
    with pytest.raises(InputError, match="sums to one"):
        bayes_error([[0.4, 0.1], [0.2, 0.1]])


def mixture(n=4000, epsilon=0.4, mu=2.0, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.random(n) < epsilon
    x = rng.standard_normal(n) + mu * z
    return unspoken.read(pa.table({"x": x, "z": np.where(z, "yes", "no")}), sensitive=["z"],
                      show=False)


def stump(name, cut, classes):
    """A tree that answers the second class beyond a cut, with certainty."""
    grown = DecisionTreeClassifier().fit([[cut - 1.0], [cut + 1.0]], list(classes))
    found = Tree.from_sklearn(grown)
    return unspoken.Tree(**{**{f: getattr(found, f) for f in found.__dataclass_fields__},
                         "features": (name,)})


def test_the_book_s_example():
    """4,000 people of the mixture; the classifier is the best one there is.

    Who knows no training data guesses 'no' without it (error .4) and has the Bayes error with it.
    Who knows training data has nearly the Bayes error already.
    """
    table, cut = mixture(), 1 + math.log(1.5) / 2
    found = indirect(table, stump("x", cut, ("no", "yes")), public=["x"], random_state=0)
    best = mixture_error(0.4, 2.0)
    assert found.predicts_it
    without, asked = found.level("unknown", "nothing"), found.level("unknown", "queries")
    assert without.low < 0.4 < without.high
    assert asked.low < best < asked.high
    assert asked.reveals
    assert asked.gain == pytest.approx(0.4 - best, abs=4 * math.sqrt(0.25 / 4000))
    learned = found.level("known", "nothing")
    assert best - 0.02 < learned.error < best + 0.02
    assert not found.level("known", "queries").gain > 0.02
    assert "tells" in found.summary() or "without it" in found.summary()
    assert found.to_json()["levels"][0]["error"] == without.error


@pytest.fixture(scope="module")
def people():
    """S is P with chance .8, U is S with chance .9, Y is U. P, U and S are fair coins."""
    rng = np.random.default_rng(1)
    n = 4000
    p = rng.integers(0, 2, n)
    s = np.where(rng.random(n) < 0.8, p, 1 - p)
    u = np.where(rng.random(n) < 0.9, s, 1 - s)
    columns = {"p": p, "u": u, "s": np.where(s == 1, "ill", "well"), "y": u}
    return unspoken.read(pa.table(columns), sensitive=["s"], kinds={"p": "ordinal", "u": "ordinal"},
                      show=False)


def joint_error(uses_u):
    """Brute force over the eight cases of (p, u, s)."""
    total = {}
    for p in (0, 1):
        for s in (0, 1):
            for u in (0, 1):
                share = 0.5 * (0.8 if s == p else 0.2) * (0.9 if u == s else 0.1)
                key = (p, u) if uses_u else p
                row = total.setdefault(key, [0.0, 0.0])
                row[s] += share
    return bayes_error(list(total.values()))


def test_known_training_data_makes_a_classifier_of_the_sensitive_value_useless(people):
    """C(P, U) -> S, U unknown: no more than P alone tells (.2); its own answer tells .1."""
    model = RandomForestClassifier(20, random_state=0).fit(
        people.numbers(["p", "u"]), people.arrow(["s"])["s"].to_pylist())
    found = indirect(people, model, public=["p"], inputs=["p", "u"], random_state=0)
    assert found.unknown == ("u",)
    assert joint_error(False) == pytest.approx(0.2)
    assert joint_error(True) == pytest.approx(0.1)
    known = found.level("known", "nothing")
    assert known.low < joint_error(False) < known.high
    asked = found.level("known", "queries")
    assert asked.gain == pytest.approx(0.0, abs=0.005)
    assert not asked.reveals
    seen = found.level("known", "answer")
    assert seen.low < joint_error(True) < seen.high
    assert seen.reveals
    blind, used = found.level("unknown", "nothing"), found.level("unknown", "answer")
    assert blind.error == pytest.approx(0.5, abs=0.04)
    assert used.low < joint_error(True) < used.high
    # Asking with U filled in at random: U decides the answer, so it is noise to who asks.
    assert found.level("unknown", "queries").error < blind.error + 0.03


def test_without_training_data_asking_reveals_even_with_unknown_inputs():
    """S follows P (.9), U adds little: the averaged answers give S away with error .1."""
    rng = np.random.default_rng(2)
    p, u = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    s = np.where(rng.random(4000) < 0.9, p, 1 - p)
    table = unspoken.read(pa.table({"p": p, "u": u, "s": s}), sensitive=["s"], show=False,
                       kinds={"p": "ordinal", "u": "ordinal", "s": "ordinal"})
    model = LogisticRegression().fit(table.numbers(["p", "u"]), s)
    found = indirect(table, model, public=["p"], inputs=["p", "u"], random_state=0)
    asked = found.level("unknown", "queries")
    assert asked.low < 0.1 < asked.high
    assert asked.baseline == pytest.approx(0.5, abs=0.04)
    assert asked.reveals
    assert not found.level("known", "queries").reveals


def test_an_answer_that_is_not_sensitive_gives_the_sensitive_value_away(people):
    """C(P, U) -> Y is not about S, but its answer about a person tells U, and so S."""
    model = DecisionTreeClassifier().fit(people.numbers(["p", "u"]), people.numbers(["y"])[:, 0])
    found = indirect(people, Tree.from_sklearn(model), public=["p"], inputs=["p", "u"],
                     random_state=0, answers="labels")
    assert not found.predicts_it
    assert {one.access for one in found.levels if one.training == "unknown"} == {"nothing"}
    seen = found.level("known", "answer")
    assert seen.low < joint_error(True) < seen.high
    assert found.reveals
    assert "sees the classifier's answer" in found.summary()


def test_few_known_records_teach_less_than_many(people):
    model = DecisionTreeClassifier().fit(people.numbers(["p", "u"]), people.numbers(["y"])[:, 0])
    few = indirect(people, model, public=["p"], inputs=["p", "u"], known=0.002, random_state=3)
    assert few.known == 8
    many = indirect(people, model, public=["p"], inputs=["p", "u"], random_state=3)
    assert few.level("known", "nothing").error > many.level("known", "nothing").error + 0.05


def test_the_same_seed_gives_the_same_numbers(people):
    model = DecisionTreeClassifier(max_depth=1).fit(people.numbers(["p"]),
                                                    people.numbers(["y"])[:, 0])
    first, again = (indirect(people, model, public=["p"], inputs=["p"], records=500,
                             random_state=7).to_json() for _ in range(2))
    assert first == again
    assert first["records"] == 500


def test_frames_and_categories_are_passed_on():
    rng = np.random.default_rng(0)
    city = rng.choice(["north", "south", "east"], 600)
    ill = np.where(rng.random(600) < np.where(city == "north", 0.9, 0.1), "ill", "well")
    table = unspoken.read(pa.table({"city": city, "ill": ill}), sensitive=["ill"], quasi=["city"],
                       kinds={"city": "categorical"}, show=False)

    class Rule:
        classes_ = np.array(["ill", "well"])
        feature_names_in_ = np.array(["city"], dtype=object)

        def predict(self, frame):
            return np.where(frame["city"] == "north", "ill", "well")

    found = indirect(table, Rule(), random_state=0)
    assert found.public == ("city",)
    assert found.level("unknown", "queries").error == pytest.approx(0.1, abs=0.04)
    assert found.level("known", "nothing").error == pytest.approx(0.1, abs=0.04)


def test_intervals_by_hand():
    """Wilson for 10 of 100: .0552 to .1744; paired gains count who is helped minus who is hurt."""
    low, high = wilson(10, 100)
    assert (round(low, 4), round(high, 4)) == (0.0552, 0.1744)
    before = np.array([True] * 30 + [False] * 70)
    after = np.array([False] * 20 + [True] * 15 + [False] * 65)
    gain, low, high = paired(before, after, np.random.default_rng(0))
    assert gain == pytest.approx(0.15)
    assert low < gain < high
    assert low > 0


def test_what_cannot_be_measured_is_refused_by_name(people):
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["well", "ill"])
    ask = {"public": ["p"], "inputs": ["p"]}
    with pytest.raises(SchemaError, match="'w' must be in the table"):
        indirect(mixture(50), stump("x", 0, ("no", "yes")), sensitive="w", public=["x"])
    plain = unspoken.read({"x": [1.0, 2.0], "z": ["a", "b"]}, show=False)
    with pytest.raises(SchemaError, match=r"'sensitive'.*one column"):
        indirect(plain, stump("x", 0, ("no", "yes")), public=["x"])
    with pytest.raises(SchemaError, match=r"'public'.*'s'"):
        indirect(people, model, public=["s"], inputs=["p"])
    with pytest.raises(SchemaError, match="takes the sensitive column 's' as input"):
        indirect(people, model, public=["p"], inputs=["s"])
    with pytest.raises(InputError, match=r"without column names. Pass them as inputs="):
        indirect(people, model, public=["p"])
    with pytest.raises(InputError, match="'predict'"):
        indirect(people, object(), **ask)
    with pytest.raises(InputError, match="'folds'"):
        indirect(people, model, **ask, folds=1)
    with pytest.raises(DataError, match="2 to 100 distinct values"):
        indirect(mixture(500), stump("x", 0, ("no", "yes")), sensitive="x", inputs=[], public=[])
    with pytest.raises(DataError, match="at least 20 records"):
        indirect(mixture(12), stump("x", 0, ("no", "yes")), public=["x"])
    with pytest.raises(InputError, match=r"one of .*unknown/nothing"):
        indirect(people, model, **ask, records=100).level("known", "everything")
