"""Every method of the family passes the contract of release methods and scikit-learn's checks."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from unspoken import checks
from unspoken.errors import DataError
from unspoken.protect import PairwiseRotation, RandomProjection, Rotation, SimilarityOutsourcing

# The example of the contract has missing values, which the default refuses (tested below): a
# released number mixes all columns, so one missing value would blank a record without a word.
METHODS = {
    "rotation": lambda **k: Rotation(**{"missing": "blank", **k}),
    "rigid motion": lambda **k: Rotation(**{"missing": "mean", "translation": True,
                                            "standardise": True, "proper": True, **k}),
    "pairwise": lambda **k: PairwiseRotation(**{"missing": "blank", **k}),
    "projection": lambda **k: RandomProjection(**{"missing": "blank", "columns": 4, **k}),
    "noisy projection": lambda **k: RandomProjection(
        **{"missing": "mean", "entries": "sparse", "noise": 0.5, **k}),
    "outsourcing": lambda **k: SimilarityOutsourcing(**{"missing": "blank", **k}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract(name, check):
    check(METHODS[name])


@pytest.mark.slow
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract_of_a_projection_that_is_forgotten(check):
    check(lambda **k: RandomProjection(**{"missing": "blank", "keep_key": False, **k}))


@pytest.mark.parametrize("method", [Rotation, PairwiseRotation, RandomProjection,
                                    SimilarityOutsourcing])
def test_the_default_refuses_missing_values_in_words(method):
    with pytest.raises(DataError, match=r"every record must be complete.*missing='blank'"):
        method().protect(checks.example())


def scikit_learn_checks():
    for method in (Rotation(), PairwiseRotation(1e-3), RandomProjection(3)):
        for estimator, check in estimator_checks_generator(method, legacy=True):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            yield pytest.param(estimator, check, name, id=f"{type(method).__name__}-{name}")


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check", "name"), list(scikit_learn_checks()))
def test_scikit_learn_estimator_checks(estimator, check, name):
    check(estimator)
