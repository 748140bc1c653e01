"""Drawing again until a policy holds."""

from __future__ import annotations

import pytest

import unspoken
from support.people import people
from unspoken.errors import InputError
from unspoken.risk import Policy, redraw

CURVES = ["polyline", "line", "ignorant"]


def policy(limit, against="expert"):
    return Policy.parse('allow_seeded = true\n'
                        f'[columns]\nmax_recovered = {limit}\nagainst = "{against}"')


def run(limit, **options):
    encoder = unspoken.protect.PiecewiseEncoder()
    options = {"trials": 20, "random_state": 1, "adversaries": CURVES, "subspaces": 1, **options}
    return encoder, redraw(encoder, people(), policy(limit), **options)


def test_the_first_draw_that_holds_is_taken():
    encoder, found = run(1.0)
    assert found.passed
    assert len(found.tries) == 1
    assert not hasattr(encoder, "book_")
    found.key.fits(found.release)


@pytest.mark.slow
def test_draws_go_on_until_the_policy_holds_and_are_reported():
    _, first = run(0.0, tries=1)
    worst = max(row.value for row in first.audit.select(measure="records"))
    _, found = run(worst - 0.05, tries=12)
    assert len(found.tries) > 1
    assert not any(found.tries[:-1])
    assert found.passed == found.tries[-1].passed
    assert f"{len(found.tries)} draws" in found.summary()


@pytest.mark.slow
def test_tries_are_bounded_and_the_best_is_returned():
    _, found = run(0.0, tries=3)
    assert not found.passed
    assert len(found.tries) == 3
    assert len(found.judgement.reasons) == min(len(one.reasons) for one in found.tries)
    assert "does not hold" in found.summary()


def test_what_order_decides_is_not_drawn_again():
    found = redraw(unspoken.protect.PiecewiseEncoder(), people(), policy(0.1, "histogram"),
                   trials=2,
                   random_state=1, adversaries=["frequency"], subspaces=1)
    assert not found.passed
    assert len(found.tries) == 1


@pytest.mark.slow
def test_the_same_seed_draws_the_same():
    _, first = run(0.0, tries=2)
    _, second = run(0.0, tries=2)
    assert first.audit == second.audit
    assert first.release.release_id == second.release.release_id


def test_at_least_one_try_is_needed():
    with pytest.raises(InputError, match="tries"):
        run(0.5, tries=0)
