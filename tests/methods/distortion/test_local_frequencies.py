"""Local frequencies: right on average, as wrong as stated, and no report says more than epsilon."""

import numpy as np
import pytest

from support.epsilon_distinguisher import least_epsilon
from unspoken.errors import InputError
from unspoken.methods.distortion import local_frequencies
from unspoken.methods.distortion.local_frequencies import (
    LocalHashing,
    OptimisedUnary,
    deviation,
    heavy_hitters,
)

VALUES = tuple(f"v{k}" for k in range(40))
KINDS = (OptimisedUnary, LocalHashing)


def truth(rows=6000, seed=1):
    rng = np.random.default_rng(seed)
    return [VALUES[k] for k in np.minimum(rng.geometric(0.3, rows) - 1, 39)]


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_right_within_the_stated_deviation(kind):
    people = truth()
    found = kind(VALUES, 2.0).estimate(kind(VALUES, 2.0).report(people))
    true = np.array([people.count(value) for value in VALUES])
    assert found.deviation == pytest.approx(deviation(2.0, len(people)))
    # Frequent categories vary a little more than the stated deviation of rare ones.
    assert np.abs((found.counts - true)[5:]).max() < 4.5 * found.deviation
    spread = np.sqrt(np.mean((found.counts - true)[8:] ** 2))
    assert 0.6 < spread / found.deviation < 1.5


@pytest.mark.parametrize("kind", KINDS)
def test_heavy_hitters_are_the_frequent_ones(kind):
    method = kind(VALUES, 3.0)
    listed = [value for value, _ in heavy_hitters(method.estimate(method.report(truth())))]
    assert listed[:3] == ["v0", "v1", "v2"]
    assert not set(listed) & set(VALUES[15:])


@pytest.mark.parametrize("kind", KINDS)
def test_no_report_tells_more_than_epsilon(kind):
    assert proven(kind) <= 1.0


def proven(kind):
    method = kind(("a", "b"), 1.0)
    return least_epsilon(*(seen(method, value) for value in ("a", "b")))


def seen(method, value):
    reports = method.report([value] * 20_000)
    if isinstance(method, OptimisedUnary):
        return reports[:, 0].astype(int) - reports[:, 1]
    digests = method._digests()
    agree = [local_frequencies._hashed(reports[:, 0], one, method.range) == reports[:, 1]
             for one in digests]
    return agree[0].astype(int) - agree[1]


@pytest.mark.parametrize(("kind", "field", "share"), [(OptimisedUnary, "_false", 0.05),
                                                      (LocalHashing, "_true", 0.9)])
def test_a_report_with_too_little_noise_is_caught(kind, field, share, monkeypatch):
    monkeypatch.setattr(kind, field, property(lambda self: share))
    assert proven(kind) > 1.0


@pytest.mark.parametrize("wrong", [
    lambda: OptimisedUnary(("a",), 1.0), lambda: OptimisedUnary(("a", "a"), 1.0),
    lambda: LocalHashing(("a", "b"), 0.0), lambda: LocalHashing(("a", "b"), True),
    lambda: OptimisedUnary(("a", "b"), 1.0).report(["c"]),
    lambda: OptimisedUnary(("a", "b"), 1.0).estimate(np.zeros((3, 3), bool)),
    lambda: LocalHashing(("a", "b"), 1.0).estimate(np.zeros(3)),
    lambda: heavy_hitters(OptimisedUnary(("a", "b"), 1.0).estimate(np.zeros((3, 2), bool)), 2.0)])
def test_wrong_input_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()
