"""The permutation protocol: right sums, an order that nobody can follow, no carry that shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

pytest.importorskip("tno.mpc.encryption_schemes.paillier")

from support.distinguisher import SUSPICIOUS
from support.encrypted_runs import BITS, COLUMNS, decrypted_by_the_first, frames_between, in_full
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.museum import paillier
from unspoken.joint.museum import permuted_sum as permutation
from unspoken.joint.museum.paillier import Scheme
from unspoken.joint.museum.permuted_sum import permuted_sum, plain_permuted
from unspoken.joint.session.run import run_local

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def short_keys(monkeypatch):
    monkeypatch.setattr(paillier, "LEAST_BITS", BITS)


def permuting(length):
    async def program(party, data):
        return await permuted_sum(party, data, owner="p0", adder="p1", length=length, key_bits=BITS)

    return program


@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_permuted_sums_are_the_plain_ones(data):
    n = data.draw(st.integers(1, 5))
    x = data.draw(hnp.arrays(np.int64, (n,), elements=st.integers(-2**61, 2**61)))
    _, (owner, adder) = frames_between(permuting(n), [x, None])
    assert np.array_equal(owner.sums, plain_permuted(x, adder.added, adder.order))
    assert owner.order is None
    assert owner.added is None
    assert adder.sums is None
    assert sorted(adder.order) == list(range(n))


def test_a_given_vector_is_added():
    _, (owner, adder) = frames_between(permuting(3), [np.array([1, 2, 3]), np.array([10, 20, -30])])
    assert sorted(owner.sums.view(np.int64)) == [-27, 11, 22]
    assert list(owner.sums.view(np.int64)) == [[11, 22, -27][i] for i in adder.order]


def test_every_call_has_its_own_order(monkeypatch):
    drawn = []
    real = permutation.fresh_order
    monkeypatch.setattr(permutation, "fresh_order", lambda n: drawn.append(real(n)) or drawn[-1])
    for calls in (1, 2):
        _, (_, adder) = frames_between(permuting(3), [np.arange(3), None])
        assert len(drawn) == calls
        assert adder.order is drawn[-1]


def places_that_can_be_followed():
    got, _ = frames_between(permuting(5), [np.arange(5), None])
    [n] = got["paillier.key"]
    sent = {ciphertext % n for ciphertext in got["paillier.values"]}
    return sum(ciphertext % n in sent for ciphertext in got["paillier.permuted"])


def test_no_ciphertext_can_be_followed_to_its_place(monkeypatch):
    assert places_that_can_be_followed() == 0
    monkeypatch.setattr(Scheme, "rerandomised", lambda self, ciphertext: ciphertext)
    assert places_that_can_be_followed() == 5


def carry_test(monkeypatch):
    x = np.full(COLUMNS, -1)
    seen = decrypted_by_the_first(monkeypatch, permuting(COLUMNS), [x, None])
    return in_full(seen)


def test_no_carry_shows(monkeypatch):
    assert carry_test(monkeypatch) > SUSPICIOUS
    monkeypatch.setattr(permutation, "fresh_masks", lambda count, _: [0] * count)
    assert carry_test(monkeypatch) < SUSPICIOUS


def places_found(monkeypatch):
    """Encrypt x_i + i 2^128, and look for i in what is decrypted (e3)."""
    send = permutation.send_encrypted

    async def marked(party, to, scheme, numbers):
        await send(party, to, scheme, [x + (i << 128) for i, x in enumerate(numbers)])

    with monkeypatch.context() as patch:
        patch.setattr(permutation, "send_encrypted", marked)
        seen = decrypted_by_the_first(patch, permuting(6), [np.arange(6), None])
    return len({number >> 128 for number, _ in seen} & set(range(6)))


def test_marked_values_do_not_tell_the_order(monkeypatch):
    assert places_found(monkeypatch) == 0
    real = permutation.fresh_masks
    monkeypatch.setattr(permutation, "fresh_masks", lambda count, modulus: [
        mask % 2**40 for mask in real(count, modulus)])
    assert places_found(monkeypatch) == 6


def test_a_permuted_sum_needs_two():
    with pytest.raises(RefusedError, match="two different parties"):
        run_local(permuting(1), [np.ones(1)], "sums")
