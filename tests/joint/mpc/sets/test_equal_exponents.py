"""Forgeries of the batch proof: what its weights and its challenge do not cover could be chosen."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip("rbcl")

from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.sets import equal_exponents
from unspoken.joint.mpc.sets.equal_exponents import EqualExponents, holds, prove

WHERE = group.domain("test")
MINUS_ONE = (2**252 + 27742317777372353535851937790883648492).to_bytes(32, "little")


def row(point):
    return np.frombuffer(point, np.uint8)


def two_errors_that_cancel():
    """Return lists of which two points are wrong by what the weights of the right ones cancel."""
    key, before = group.fresh_scalar(), group.random_points(3)
    after = group.multiply(before, key)
    one, other, _ = equal_exponents._weights(WHERE, group.base_times(key), before, after)
    error = bytes(group.random_points(1)[0])
    share = group.scalar_product(MINUS_ONE, group.scalar_product(one, group.inverse(other)))
    wrong = after.copy()
    wrong[0] = row(group.point_sum(bytes(after[0]), error))
    wrong[1] = row(group.point_sum(bytes(after[1]), group.point_times(error, share)))
    return holds(prove(WHERE, key, before, wrong), WHERE, before, wrong)


def test_weights_follow_from_both_lists(monkeypatch):
    assert not two_errors_that_cancel()
    real = equal_exponents._weights
    monkeypatch.setattr(equal_exponents, "_weights", lambda where, public, before, after: real(
        where, public, before, before))
    assert two_errors_that_cancel()


def a_challenge_that_was_known(known):
    """Make a proof backwards: answer first, then the commitments that go with the challenge."""
    key, before, wrong = group.fresh_scalar(), group.random_points(3), group.random_points(3)
    public, answer = group.base_times(key), group.fresh_scalar()
    weights = equal_exponents._weights(WHERE, public, before, wrong)
    one, other = (equal_exponents._combined(each, weights) for each in (before, wrong))
    back = group.scalar_product(MINUS_ONE, known(WHERE, public, one, other))
    first = group.point_sum(group.base_times(answer), group.point_times(public, back))
    second = group.point_sum(group.point_times(one, answer), group.point_times(other, back))
    return holds(EqualExponents(public, first, second, answer), WHERE, before, wrong)


def test_the_challenge_follows_from_the_commitments(monkeypatch):
    """Without them in it, whatever is wrong could be proved."""
    known = partial(_of_some, equal_exponents._challenge, 3)
    assert not a_challenge_that_was_known(known)
    monkeypatch.setattr(equal_exponents, "_challenge", known)
    assert a_challenge_that_was_known(known)


def _of_some(real, count, where, *parts):
    return real(where, *parts[:count])


def test_no_two_proofs_have_a_secret_in_common(monkeypatch):
    """Two answers under one nonce give the key away."""
    key, before = group.fresh_scalar(), group.random_points(2)

    def firsts():
        return {prove(WHERE, key, before, group.multiply(before, key)).first for _ in range(2)}

    assert len(firsts()) == 2
    monkeypatch.setattr(group, "fresh_scalar", lambda: key)
    assert len(firsts()) == 1
