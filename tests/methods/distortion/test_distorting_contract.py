"""Every distorting method passes the contract; exceptions are listed by name, with the reason."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from unspoken import checks
from unspoken.protect import Discretizer, MultiplicativeNoise, NoiseAdder, RandomizedResponse

METHODS = {
    "uniform": lambda **k: NoiseAdder(**{"family": "uniform", **k}),
    "gaussian": NoiseAdder,
    "laplace": lambda **k: NoiseAdder(**{"family": "laplace", "privacy": 0.5, **k}),
    "discretizer": Discretizer,
    "discretizer quantile": lambda **k: Discretizer(**{"strategy": "quantile", **k}),
    "response": lambda **k: RandomizedResponse(
        **{"columns": ["visits", "age"], "others": "drop", **k}),
    "truncated": MultiplicativeNoise,
    "lognormal": lambda **k: MultiplicativeNoise(
        **{"form": "lognormal", "columns": ["age", "dose"], "others": "drop", **k}),
}
NOTHING_RANDOM = "the class of a value is a function of it; nothing but the order is drawn"
EXCEPTIONS = {
    "discretizer": {"random_state_repeats_and_is_declared": NOTHING_RANDOM},
}
EXCEPTIONS["discretizer quantile"] = EXCEPTIONS["discretizer"]


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract(name, check):
    if check.__name__ in EXCEPTIONS.get(name, {}):
        with pytest.raises((AssertionError, TypeError)):
            check(METHODS[name])
    else:
        check(METHODS[name])


EXPECTED_FAILURES: dict[str, dict[str, str]] = {}


def scikit_learn_checks():
    for estimator in (NoiseAdder(), Discretizer(), MultiplicativeNoise(), RandomizedResponse()):
        for made, check in estimator_checks_generator(estimator, legacy=True):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            kind = type(estimator).__name__
            yield pytest.param(made, check, kind, name, id=f"{kind}-{name}")


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check", "kind", "name"), list(scikit_learn_checks()))
def test_scikit_learn_estimator_checks(estimator, check, kind, name):
    if name in EXPECTED_FAILURES.get(kind, {}):
        with pytest.raises(AssertionError):
            check(estimator)
    else:
        check(estimator)
