"""All of scikit-learn's checks over every public estimator; exceptions have a reason each.

The encoder, the rotations, the distortions, `TopBottomCoder` and the two learners are checked where
their other tests are (`CHECKED_ELSEWHERE`); a test looks there.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

from unspoken import mine, protect
from unspoken.protect import (
    DataSwapper,
    Generalizer,
    IsolationGuard,
    LocalMixture,
    Microaggregator,
    MondrianAnonymizer,
    OptimalRecoder,
    SimilarityOutsourcing,
    TreePreservingAnonymizer,
)

FITTED_ONLY = "a new record could be alone in its class, so only fitted records are transformed"
TOGETHER = "records are changed by each other: what one becomes depends on all of them"
NOTHING = "it refuses data of which nothing would change, as every record is there twice or more"
LABELS = "it releases labels of classes, which the check subtracts from each other"
ALONE = {"check_methods_sample_order_invariance": FITTED_ONLY,
         "check_methods_subset_invariance": FITTED_ONLY, "check_fit_idempotent": FITTED_ONLY}
EXPECTED = {
    DataSwapper: {"check_methods_sample_order_invariance": TOGETHER,
                  "check_methods_subset_invariance": TOGETHER},
    IsolationGuard: {**ALONE, "check_pipeline_consistency": NOTHING},
    Microaggregator: {**ALONE, "check_pipeline_consistency": NOTHING},
    MondrianAnonymizer: ALONE,
    TreePreservingAnonymizer: ALONE,
    OptimalRecoder: {**dict.fromkeys(("check_estimators_pickle", "check_transformer_general",
                                      "check_transformer_data_not_an_array",
                                      "check_methods_sample_order_invariance",
                                      "check_methods_subset_invariance", "check_fit_idempotent"),
                                     LABELS), "check_pipeline_consistency": NOTHING},
}
ESTIMATORS = (DataSwapper(random_state=0), IsolationGuard(), Microaggregator(),
              MondrianAnonymizer(), OptimalRecoder(), TreePreservingAnonymizer(),
              SimilarityOutsourcing(), LocalMixture(components=1, least=2))
CHECKED_ELSEWHERE = {
    "PiecewiseEncoder": "test_checks.py",
    "TopBottomCoder": "methods/anonymity/masking/test_masking.py",
    "ReconstructingTreeClassifier": "methods/distortion/learners/test_reconstructing_trees.py",
    "ReconstructingNaiveBayes": "methods/distortion/learners/test_reconstructing_bayes.py",
    **dict.fromkeys(("Rotation", "PairwiseRotation", "RandomProjection"),
                    "methods/rotation/test_rotation_contract.py"),
    **dict.fromkeys(("NoiseAdder", "Discretizer", "MultiplicativeNoise", "RandomizedResponse"),
                    "methods/distortion/test_distorting_contract.py"),
}
BASKETS = "its records are sets of items, not rows of an array"
WHOLE_TABLES = "it has no `fit`: it releases a table as a whole, with its key"
NOT_CHECKED = {
    **dict.fromkeys(("CutAndPaste", "GuidedPerturbation", "Mask", "RuleHider", "SelectASize",
                     "UniformOperator"), BASKETS),
    **dict.fromkeys(("Anatomizer", "CellSuppressor", "Condenser", "PostRandomizer",
                     "PrivateSynthesizer", "SampleReleaser"), WHOLE_TABLES),
    "Generalizer": "without widths or hierarchies, which name the columns of one table, nothing "
                   "would change, and that is refused; the checks make arrays of any width",
}


def cases():
    for estimator in ESTIMATORS:
        reasons = EXPECTED.get(type(estimator), {})
        for made, check in estimator_checks_generator(estimator, legacy=True):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            marks = [pytest.mark.xfail(reason=reasons[name], strict=True)] \
                if name in reasons else []
            yield pytest.param(made, check, id=f"{type(estimator).__name__}-{name}", marks=marks)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def public_estimators():
    """Return every public class that scikit-learn takes for an estimator, by name."""
    return {name: one for room in (protect, mine) for name in room.__all__
            if inspect.isclass(one := getattr(room, name)) and issubclass(one, BaseEstimator)}


def test_every_public_estimator_is_checked_or_has_a_reason():
    here = {type(one).__name__ for one in ESTIMATORS}
    listed = [*here, *CHECKED_ELSEWHERE, *NOT_CHECKED]
    assert sorted(listed) == sorted(public_estimators())


@pytest.mark.parametrize("name", sorted(CHECKED_ELSEWHERE))
def test_what_is_checked_elsewhere_is_there(name):
    text = (Path(__file__).parent / CHECKED_ELSEWHERE[name]).read_text(encoding="utf-8")
    assert "estimator_checks_generator" in text
    assert f"{name}(" in text


@pytest.mark.parametrize("name", sorted(n for n, why in NOT_CHECKED.items()
                                        if why == WHOLE_TABLES))
def test_what_has_no_fit_has_none(name):
    assert not hasattr(public_estimators()[name], "fit")


def test_generalizer_says_what_it_needs():
    from unspoken.errors import InputError

    with pytest.raises(InputError, match="nothing would change"):
        Generalizer().fit([[1.0, 2.0], [3.0, 4.0]])
