"""Every stated epsilon, tried by an adversary who tells two values apart; and when none is stated.

Reports of two inputs that the statement compares are told apart by the best of many events; the
epsilon this proves with 99.9% confidence must not exceed the stated one. Mutants of the mechanism
show that the adversary would see a broken promise.
"""

import math

import numpy as np
import pytest
from scipy.stats import beta

import unspoken
from support.epsilon_distinguisher import least_epsilon
from unspoken.errors import ClampedWarning, DataError, InputError, SeededWarning, UnseenValueError
from unspoken.methods.distortion import column_noise, randomized_response
from unspoken.methods.distortion.noise_laws import FAMILIES, Noise
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder, RandomizedResponse

RANGES = {"x": (0.0, 10.0)}
COUNT = 20_000


def adder(**more):
    return NoiseAdder("laplace", scale=5.0, **{"ranges": RANGES, "random_state": 3} | more)


def by_transform(method, value):
    method.fit(np.array([[0.0], [10.0]]) if isinstance(value, float) else [[0], [1]])
    return method.transform(np.full((COUNT, 1), value))[:, 0]


def by_protect(method, value):
    table = unspoken.read({"x": np.full(COUNT, value)}, show=False)
    return method.protect(table)[0].table.arrow()["x"].to_numpy(zero_copy_only=False)


def by_device(method, value):
    return np.array([method.distort({"x": value})["x"] for _ in range(COUNT // 4)])


def renamed(method):
    """An array has no names: its first column is x0."""
    method.set_params(ranges={"x0": RANGES["x"]})
    return method


def stated(method):
    table = unspoken.read({"x": np.linspace(0, 10, 50)}, show=False)
    return method.set_params(random_state=None).protect(table)[0].guarantee.facts["epsilon_total"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unspoken.errors.ClampedWarning")
@pytest.mark.parametrize("pair", [(0.0, 10.0), (-1e9, 1e12), (3.0, 1000.0), (10.0, 10.0000001),
                                  (0.1234567, 9.87654321)])
@pytest.mark.parametrize("path", [by_transform, by_protect, by_device])
def test_laplace_noise_keeps_its_epsilon(path, pair):
    assert stated(adder()) == pytest.approx(2.0, rel=1e-5)
    method = renamed(adder()) if path is by_transform else adder()
    reports = [path(method, value) for value in pair]
    assert least_epsilon(*reports) <= 2.0


def _no_clamp(patch):
    patch.setattr(column_noise, "within", lambda name, values, ends, outside: values)


def _half_the_noise(patch):
    real = Noise.drawn
    patch.setattr(Noise, "drawn", lambda noise, words, more: real(noise, words, more) / 2)


def _one_noise_for_all_rows(patch):
    real = Noise.drawn
    patch.setattr(Noise, "drawn", lambda noise, words, more: np.full(
        words.size, real(noise, words, more)[0]))


def _one_sign(patch):
    real = Noise.drawn
    patch.setattr(Noise, "drawn", lambda noise, words, more: np.abs(real(noise, words, more)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unspoken.errors.ClampedWarning")
@pytest.mark.parametrize(("mutant", "pair"), [
    (_no_clamp, (3.0, 1000.0)), (_half_the_noise, (0.0, 10.0)),
    (_one_noise_for_all_rows, (0.0, 10.0)), (_one_sign, (0.0, 10.0))])
def test_the_adversary_sees_a_broken_mechanism(monkeypatch, mutant, pair):
    mutant(monkeypatch)
    assert least_epsilon(*(by_protect(adder(), value) for value in pair)) > 2.0


@pytest.mark.slow
def test_noise_that_two_columns_share_breaks_their_total(monkeypatch):
    """The difference of two columns must not be free of noise."""
    ranges = {"x": (0.0, 10.0), "y": (0.0, 10.0)}

    def differences(pair):
        method = NoiseAdder("laplace", scale=5.0, ranges=ranges, random_state=3)
        table = unspoken.read({name: np.full(COUNT, value)
                               for name, value in zip("xy", pair, strict=True)}, show=False)
        out = method.protect(table)[0].table.arrow()
        return out["x"].to_numpy() - out["y"].to_numpy()

    assert least_epsilon(differences((0.0, 10.0)), differences((10.0, 0.0))) <= 4.0
    real = column_noise.words
    monkeypatch.setattr(column_noise, "words",
                        lambda seed, start, count: real(b"\x01" * 32, start, count))
    assert least_epsilon(differences((0.0, 10.0)), differences((10.0, 0.0))) > 4.0


@pytest.mark.slow
@pytest.mark.parametrize("pair", [("yes", "no"), ("yes", "never declared")])
def test_randomised_response_keeps_its_epsilon(pair):
    method = RandomizedResponse(0.75, values={"x": ["no", "yes"]}, other="no", random_state=5)
    reports = [by_device(method, value) for value in pair]
    assert method.laws_["x"].gamma == pytest.approx(3.0)
    assert least_epsilon(*reports) <= math.log(3.0)


@pytest.mark.slow
def test_the_adversary_sees_answers_that_are_too_true(monkeypatch):
    real = randomized_response.warner
    monkeypatch.setattr(randomized_response, "warner", lambda truth: real(0.9))
    method = RandomizedResponse(0.75, values={"x": ["no", "yes"]}, random_state=5)
    assert least_epsilon(by_device(method, "yes"), by_device(method, "no")) > math.log(3.0)


def misses(family, share, confidence=0.8):
    """Return how often the adversary's interval of a share of the stated width misses the value."""
    method = NoiseAdder(family, privacy=0.5, confidence=confidence, ranges=RANGES, random_state=8)
    reports = by_protect(method, 4.0)
    width = method.laws_["x"].noise.width(confidence)
    return int(np.sum(np.abs(reports - 4.0) > share * width / 2))


@pytest.mark.parametrize("family", FAMILIES)
def test_no_interval_narrower_than_the_stated_width_has_its_confidence(family):
    """Nobody who knows the report alone is right more often than stated (99.9%)."""
    missed = misses(family, 0.95)
    assert beta.ppf(0.001, missed, COUNT - missed + 1) > 0.2
    # The width is no larger than it must be: at the stated one the confidence is reached.
    missed = misses(family, 1.05)
    assert beta.ppf(0.999, missed + 1, COUNT - missed) < 0.2


def test_half_the_noise_is_seen_in_the_width(monkeypatch):
    _half_the_noise(monkeypatch)
    missed = misses("laplace", 0.95)
    assert beta.ppf(0.999, missed + 1, COUNT - missed) < 0.2


def test_epsilon_is_stated_for_declared_ranges_only():
    table = unspoken.read({"x": np.linspace(0, 10, 50), "y": np.linspace(5, 7, 50)}, show=False)
    learned = NoiseAdder("laplace").protect(table)[0].guarantee
    assert learned.facts["epsilon_total"] is None
    assert {c["epsilon"] for c in learned.facts["columns"].values()} == {None}
    assert "no epsilon holds" in learned.summary()
    half = NoiseAdder("laplace", ranges=RANGES).protect(table)[0].guarantee.facts
    assert half["columns"]["x"]["epsilon"] > 0
    assert half["columns"]["y"]["epsilon"] is None
    assert half["epsilon_total"] is None
    answers = unspoken.read({"q": ["a", "b"] * 20}, show=False)
    assert RandomizedResponse(0.75).protect(answers)[0].guarantee.facts["epsilon_total"] is None


def test_the_total_is_over_columns_and_reports():
    table = unspoken.read({"x": np.linspace(0, 10, 50), "y": np.linspace(0, 10, 50),
                           "t": np.arange(50) % 2}, target="t", show=False)
    ranges = {"x": (0, 10), "y": (0, 10)}
    method = NoiseAdder("laplace", scale={"x": 10.0, "y": 5.0}, ranges=ranges, reports=4)
    release, _ = method.protect(table)
    facts = release.manifest["guarantee"]["facts"]
    assert facts["columns"]["x"]["epsilon"] == pytest.approx(1.0, rel=1e-5)
    assert facts["epsilon_per_report"] == pytest.approx(3.0, rel=1e-5)
    assert facts["epsilon_total"] == pytest.approx(12.0, rel=1e-5)
    text = release.guarantee.summary()
    assert "epsilon is 12" in text
    assert "4 times" in text
    assert "reported as missing" in text
    # The target is released as it is, and the text says so.
    assert facts["unchanged"] == ["t"]
    assert "outside all that is stated: t" in text


@pytest.mark.parametrize("make", [
    lambda **more: NoiseAdder("laplace", ranges=RANGES, **more),
    lambda **more: MultiplicativeNoise(ranges=RANGES, **more),
    lambda **more: Discretizer(ranges=RANGES, **more)])
def test_values_outside_a_declared_range_are_moved_and_counted_or_refused(make):
    table = unspoken.read({"x": [1.0, 5.0, 1000.0, -3.0, None]}, show=False)
    with pytest.warns(ClampedWarning, match="2 values"):
        release, _ = make().protect(table)
    assert np.nanmax(np.abs(release.table.numbers(["x"]))) < 500
    # How many there were is not released.
    assert "2 values" not in release.guarantee.summary()
    with pytest.raises(DataError, match="declared range"):
        make(outside="refuse").protect(table)
    fitted = make(outside="refuse").set_params(ranges={"x0": (0.0, 10.0)})
    fitted.fit(np.array([[1.0], [5.0]]))
    with pytest.raises(DataError, match="declared range"):
        fitted.transform(np.array([[1000.0]]))
    with pytest.raises(DataError, match="declared range"):
        fitted.distort({"x0": 1000.0})


def test_a_published_mechanism_clamps_on_the_device():
    table = unspoken.read({"x": np.linspace(0, 10, 50)}, show=False)
    release, _ = NoiseAdder("laplace", scale=1e-3, ranges=RANGES).protect(table)
    device = NoiseAdder.from_public(release.mechanism)
    assert abs(device.distort({"x": 1000.0})["x"] - 10) < 1


def test_categories_that_were_not_declared_are_refused_or_become_other():
    table = unspoken.read({"q": ["a", "b", "z"] * 10}, show=False)
    values = {"q": ["a", "b", "other"]}
    with pytest.raises(UnseenValueError, match="holds 'z', which was not declared"):
        RandomizedResponse(0.9, values=values).protect(table)[0].table.arrow()
    with pytest.warns(ClampedWarning, match="10 values"):
        release, _ = RandomizedResponse(0.9, values=values, other="other").protect(table)
    assert set(release.table.arrow()["q"].to_pylist()) <= set(values["q"])
    with pytest.raises(InputError, match="'other'"):
        RandomizedResponse(0.9, values=values, other="z").protect(table)


def test_a_seeded_release_states_no_odds():
    table = unspoken.read({"x": np.linspace(0, 10, 50)}, show=False)
    with pytest.warns(SeededWarning, match="guesses"):
        release, _ = NoiseAdder("laplace", ranges=RANGES, random_state=42).protect(table)
    assert release.manifest["seeded"] is True
    facts = release.guarantee.facts
    assert (facts["epsilon_total"], facts["columns"]["x"]["epsilon"],
            facts["columns"]["x"]["gamma"]) == (None, None, None)
    assert "undoes it" in release.guarantee.summary()
    assert "epsilon is" not in release.guarantee.summary()


@pytest.mark.parametrize("value", [10**400, [5.0], {"age": 5}, "five", float("inf")])
def test_a_device_refuses_what_is_no_number_by_a_sentence(value):
    adder = NoiseAdder("laplace", scale=10.0, ranges={"age": (0, 100)})
    with pytest.raises(DataError, match="A value to distort must be a finite number"):
        adder.distort({"age": value})
