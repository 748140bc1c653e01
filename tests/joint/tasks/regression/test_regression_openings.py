"""What Newton's steps, selections and residuals open is what their reasons say, and no more.

Every program is run against the same in the clear. Broken forms, with the same reasons, must be
caught.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.regression_data import made
from support.regression_runs import (
    BOTH,
    ONE,
    crossing_run,
    groups_run,
    lengths_of,
    logistic_columns_run,
    logistic_run,
    opened_for,
    selecting_run,
    turned,
    yes_and_no,
)
from unspoken.joint import narrow, reveal
from unspoken.joint.tasks.logistic import cross_products as crossing
from unspoken.joint.tasks.logistic import program_columns as over_columns
from unspoken.joint.tasks.logistic import program_rows as logistic
from unspoken.joint.tasks.logistic.program_rows import LogisticOverRows
from unspoken.joint.tasks.regression import term_selection as selecting
from unspoken.joint.tasks.regression.fitting import SPREADS
from unspoken.joint.tasks.regression.params import Selection
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.residuals import program_rows as diagnostics
from unspoken.numerics.logistic_fit import probabilities

pytestmark = pytest.mark.slow


def newton(table, start):
    """Return Newton's steps in the clear until they are small."""
    x, y = np.column_stack([np.ones(len(table)), table[:, :-1]]), table[:, -1]
    beta, found = start, []
    while not found or np.abs(found[-1]).max() > 1e-13:
        p = probabilities(x @ beta)
        found.append(np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (y - p)))
        beta = beta + found[-1]
    return found


def logistic_is_told():
    """Say whether every step over rows is Newton's, column first, then the intercept's halves."""
    data = yes_and_no(130, 1)
    seen = opened_for(logistic_run, logistic.STEP)
    steps = newton(ONE.table(data), np.zeros(2))
    unit = seen[0][0] / steps[0][1]
    wanted = [value for _, step in zip(seen[::3], steps, strict=False)
              for value in (step[1] * unit, step[0], 0.0)]
    return np.log2(unit) == pytest.approx(round(np.log2(unit)), abs=1e-9) and (
        len(wanted) == len(seen) and np.allclose(np.ravel(seen), wanted, atol=1e-8))


def test_only_steps_are_opened_of_a_logistic_model():
    assert logistic_is_told()


def test_a_gradient_that_is_opened_is_caught(monkeypatch):
    real = LogisticOverRows._solved

    async def leaking(self, party, total, inverse, moments):
        await reveal(party, await narrow(party, total[-1, 1:], 40, 16), because=logistic.STEP)
        return await real(self, party, total, inverse, moments)

    monkeypatch.setattr(LogisticOverRows, "_solved", leaking)
    with pytest.raises((AssertionError, ValueError)):
        assert logistic_is_told()


def logistic_columns_are_told():
    """Say whether every step over columns is Newton's in standard units."""
    data = yes_and_no(130, 2)
    seen = opened_for(logistic_columns_run, logistic.STEP)
    table = np.column_stack([data["x0"], data["x1"]])
    table = (table - table.mean(axis=0)) / 2.0 ** np.frexp(table.std(axis=0))[1]
    steps = newton(np.column_stack([table, data["y"]]), np.zeros(3))
    return len(seen) <= len(steps) and all(
        one.shape == plain.shape and np.allclose(one, plain, atol=1e-4)
        for one, plain in zip(seen, steps, strict=False))


def test_only_steps_are_opened_of_a_logistic_model_over_columns():
    assert logistic_columns_are_told()


def test_probabilities_that_are_opened_are_caught(monkeypatch):
    real = over_columns.slopes

    async def leaking(party, table, y, likely):
        await reveal(party, likely, because=logistic.STEP)
        return await real(party, table, y, likely)

    monkeypatch.setattr(over_columns, "slopes", leaking)
    assert not logistic_columns_are_told()


def unit_is_told():
    """Say whether of a product the power of two next to its spread is opened, and no more."""
    data = yes_and_no(160, 2)
    seen = opened_for(crossing_run, SPREADS)
    table = np.column_stack([data["x0"], data["x1"]])
    table = (table - table.mean(axis=0)) / 2.0 ** np.frexp(table.std(axis=0))[1]
    spread = np.sqrt((table.prod(axis=1) ** 2).mean())
    # How many of 4^-8 ... 4^4 are above its mean square.
    return [value.size for value in seen] == [3, 1] and (
        seen[1][0] == 5 - np.floor(np.log2(spread)) - 1)


def test_only_the_unit_of_a_product_is_opened():
    assert unit_is_told()


def test_a_mean_square_that_is_opened_is_caught(monkeypatch):
    real = crossing.matmul

    async def leaking(party, *given, **how):
        found = await real(party, *given, **how)
        await reveal(party, found.reshape(1), because=SPREADS)
        return found

    monkeypatch.setattr(crossing, "matmul", leaking)
    assert not unit_is_told()


def test_what_logistic_models_send_does_not_depend_on_records():
    data = yes_and_no(130, 2)
    assert lengths_of(logistic_columns_run, data) == lengths_of(logistic_columns_run,
                                                                turned(data, data))


def selection_is_told():
    """Say whether places of terms are opened, those of the plain choice, and nothing else."""
    seen = opened_for(selecting_run, selecting.STEP)
    exact = pooled(BOTH, made(90, 2, 1), selection=Selection("forward", "bic"))
    places = [BOTH.features.index(name) + 1 for name in exact.features]
    return all(step.size == 1 and step[0] == round(step[0]) for step in seen) and (
        len(seen) == len(places) + (len(places) < 2) and len(places) > 0)


def test_only_places_are_opened_of_a_selection():
    assert selection_is_told()


def test_a_score_that_is_opened_is_caught(monkeypatch):
    real = selecting._scores

    async def leaking(party, score, sums, full, sizes):
        found = await real(party, score, sums, full, sizes)
        await reveal(party, found[:1], because=selecting.STEP)
        return found

    monkeypatch.setattr(selecting, "_scores", leaking)
    assert not selection_is_told()


def groups_are_told():
    """Say whether sums over groups are opened, and nothing of single records."""
    seen = opened_for(groups_run, diagnostics.GROUPS)
    return [value.size for value in seen] == [6, 3, 6, 3]


def test_only_groups_are_opened_of_residuals():
    assert groups_are_told()


def test_residuals_that_are_opened_are_caught(monkeypatch):
    real = diagnostics.shared_residuals

    async def leaking(party, *given):
        found = await real(party, *given)
        await reveal(party, found, because=diagnostics.GROUPS)
        return found

    monkeypatch.setattr(diagnostics, "shared_residuals", leaking)
    assert not groups_are_told()
