"""Every release method passes the contract, and the contract can fail."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from unspoken import checks
from unspoken.errors import InputError, UnseenValueError
from unspoken.protect import PiecewiseEncoder

METHODS = {
    "strict": lambda **k: PiecewiseEncoder(**{"mode": "strict", **k}),
    "max-mono": lambda **k: PiecewiseEncoder(**{"mode": "max-mono", **k}),
    "max-mono per record": lambda **k: PiecewiseEncoder(
        **{"mode": "max-mono", "monochromatic": "record", **k}
    ),
    "anti": lambda **k: PiecewiseEncoder(**{"mode": "anti", **k}),
    "neutral": lambda **k: PiecewiseEncoder(**{"neutral_names": True, **k}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract(name, check):
    check(METHODS[name])


class KeepsIdentifiers(PiecewiseEncoder):
    def protect(self, table):
        schema = table.schema.declare({"plain": ["patient_id"]}, {"patient_id": "categorical"})
        self.categorical = "relabel"
        return super().protect(table.with_frame(table.frame, schema))


class Predictable(PiecewiseEncoder):
    def protect(self, table):
        import numpy as np

        self.random_state, kept = int(np.random.randint(1 << 30)), self.random_state
        try:
            return super().protect(table)
        finally:
            self.random_state = kept


class FillsMissing(PiecewiseEncoder):
    def protect(self, table):
        release, key = super().protect(table)
        engine = release.table.engine
        filled = engine.collect(release.table.frame)
        for i, name in enumerate(filled.column_names[:-1]):
            filled = filled.set_column(i, name, filled[name].fill_null(0))
        from unspoken.table.read import read

        table = release.table.with_frame(read(filled, show=False).frame)
        return type(release)(table, release.mechanism, release.guarantee, release.release_id,
                             release.details), key


class Leaks(PiecewiseEncoder):
    def protect(self, table):
        release, key = super().protect(table)
        details = {**release.details, "hint": key.secrets["order_seed"]}
        return type(release)(release.table, release.mechanism, release.guarantee,
                             release.release_id, details), key


MUTANTS = {
    checks.identifiers_never_leave: KeepsIdentifiers,
    checks.global_randomness_is_left_alone: Predictable,
    checks.missing_stays_missing: FillsMissing,
    checks.secrets_stay_in_the_key: Leaks,
}


@pytest.mark.parametrize("check", MUTANTS, ids=lambda check: check.__name__)
def test_the_contract_catches_mutants(check):
    with pytest.raises(AssertionError):
        check(MUTANTS[check])


EXPECTED_FAILURES = {
    "check_fit_idempotent": "it transforms values that were not fitted, which the default refuses "
                            "(unseen='error'); with unseen='nearest' it passes",
}


def scikit_learn_checks(**parameters):
    for mode in ("strict", "max-mono", "anti"):
        encoder = PiecewiseEncoder(mode, **parameters)
        for estimator, check in estimator_checks_generator(encoder, legacy=True):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            yield pytest.param(estimator, check, name, id=f"{mode}-{name}")


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check", "name"), list(scikit_learn_checks()))
def test_scikit_learn_estimator_checks(estimator, check, name):
    if name in EXPECTED_FAILURES:
        with pytest.raises(UnseenValueError):
            check(estimator)
    else:
        check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check", "name"),
    [p for p in scikit_learn_checks(unseen="nearest") if p.values[2] in EXPECTED_FAILURES],
)
def test_expected_failures_pass_where_unseen_values_are_allowed(estimator, check, name):
    check(estimator)


def test_the_words_of_a_wrong_parameter():
    with pytest.raises(InputError) as caught:
        PiecewiseEncoder(breakpoints=0).fit([[1.0], [2.0]])
    assert str(caught.value) == (
        "PiecewiseEncoder: 'breakpoints' must be None or an int >= 1. Got 0. "
        "Use 1 for a single piece."
    )
