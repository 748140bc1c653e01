"""Scalar products under Paillier's encryption: right, masked, re-randomised, and refused if bad.

Keys of 1024 bits here, for time; shorter ones than 2048 are refused outside these tests.
"""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

pytest.importorskip("tno.mpc.encryption_schemes.paillier")

from support.distinguisher import SUSPICIOUS
from support.encrypted_runs import (
    BITS,
    COLUMNS,
    PAIR,
    decrypted_by_the_first,
    frames_between,
    in_full,
    uniform,
)
from support.watching import masked_frames
from unspoken.errors import InputError, MissingExtraError
from unspoken.joint import reveal
from unspoken.joint.joint_errors import PeerGarbageError, RefusedError, RingError
from unspoken.joint.mpc import randomness as streams
from unspoken.joint.mpc.declared import declares
from unspoken.joint.museum import encrypted_dot as homomorphic
from unspoken.joint.museum import paillier
from unspoken.joint.museum.encrypted_dot import dot_encrypted, plain_dot, plan_dot
from unspoken.joint.museum.paillier import BadCiphertextError, Scheme
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_local
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, parse
from unspoken.joint.wire.ledger import SENT

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def short_keys(monkeypatch):
    monkeypatch.setattr(paillier, "LEAST_BITS", BITS)


def dotting(owners, shape, bound=1000, scale=0):
    @declares("product")
    async def program(party, data):
        found = await dot_encrypted(party, data, owners, shape, -bound, bound, scale, BITS)
        return await reveal(party, found, because="product")

    return program


def given_to(parties, owners, x, y):
    return [x if f"p{i}" == owners[0] else y if f"p{i}" == owners[1] else None
            for i in range(parties)]


def arrays(*shape):
    return hnp.arrays(np.int64, shape, elements=st.integers(-1000, 1000))


@pytest.mark.parametrize(("parties", "owners"), [
    (2, ("p0", "p1")), (2, ("p1", "p0")), (3, ("p2", "p1")), (4, ("p3", "p2")), (5, ("p0", "p4"))])
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_the_product_is_the_plain_product(parties, owners, data):
    n = data.draw(st.integers(1, 3))
    m = data.draw(st.integers(0, 2))
    shape = (n, m) if m else (n,)
    x, y = data.draw(arrays(n)), data.draw(arrays(*shape))
    for output, _ in run_local(dotting(owners, shape), given_to(parties, owners, x, y)):
        assert np.array_equal(output, plain_dot(x, y))


def test_two_alone_need_no_dealer_and_the_bytes_are_planned():
    x, y = np.array([3, -4]), np.array([[5, 1], [-6, 0]])
    outcomes = asyncio.run(in_memory(dotting(("p0", "p1"), (2, 2)), [x, y], PAIR))
    assert [outcome.error for outcome in outcomes] == [None] * 2
    assert list(outcomes[0].output) == [39, 3]
    rows = [row for outcome in outcomes for row in outcome.ledger.rows if "paillier" in row.label]
    assert {row.label: row.purpose for row in rows} == {
        "paillier.key": "control", "paillier.values": "encrypted", "paillier.reply": "encrypted"}
    sent = sum(row.bytes for row in rows if row.direction == SENT)
    assert sent == plan_dot(2, 2, BITS)["bytes"]


def test_fixed_point():
    x, y = np.array([0.5, -1.25]), np.array([2.0, 0.125])
    program = dotting(("p0", "p1"), (2,), 2000, 8)
    assert run_local(program, [x, y])[0][0] == x @ y


def test_what_does_not_fit_is_refused():
    owners = ("p0", "p1")
    with pytest.raises(RingError, match="2\\^62"):
        run_local(dotting(owners, (4,), 2**30), [np.ones(4)] * 2)
    with pytest.raises(RingError, match="must lie between"):
        run_local(dotting(owners, (1,), 5), [np.array([6]), np.array([1])])
    with pytest.raises(RingError, match="of shape"):
        run_local(dotting(owners, (2,)), [np.ones(3)] * 2)
    with pytest.raises(RefusedError, match="two different owners"):
        run_local(dotting(("p0", "p0"), (1,)), [np.ones(1)] * 2)
    with pytest.raises(RefusedError, match="need holders"):
        run_local(dotting(owners, (1,)), [np.ones(1)] * 2, "sums")


def test_short_keys_are_refused(monkeypatch):
    monkeypatch.undo()
    assert (paillier.LEAST_BITS, paillier.KEY_BITS) == (2048, 3072)
    with pytest.raises(InputError, match="from 2048 to 8192"):
        run_local(dotting(("p0", "p1"), (1,)), [np.ones(1)] * 2)


def mask_test(monkeypatch):
    program = dotting(("p0", "p1"), (1, COLUMNS))
    given_ = [np.array([7]), np.arange(COLUMNS).reshape(1, -1)]
    seen = decrypted_by_the_first(monkeypatch, program, given_)
    # The whole number, and the share that it becomes in the ring.
    return min(in_full(seen), uniform([number % 2**64 for number, _ in seen], 64))


def test_masked_products_look_uniform(monkeypatch):
    assert mask_test(monkeypatch) > SUSPICIOUS


def narrow(count, _):
    return [int(word) >> 44 for word in streams.fresh_words(count)]


def one_for_all(count, modulus):
    return homomorphic_masks(1, modulus) * count


homomorphic_masks = homomorphic.fresh_masks


@pytest.mark.parametrize("mutant", [
    narrow, one_for_all, lambda count, _: [0] * count,
    *(lambda count, modulus, bits=bits: [mask % 2**bits for mask in homomorphic_masks(
        count, modulus)] for bits in (64, 104, BITS - 40))])
def test_narrow_and_missing_masks_are_caught(monkeypatch, mutant):
    monkeypatch.setattr(homomorphic, "fresh_masks", mutant)
    assert mask_test(monkeypatch) < SUSPICIOUS


def stolen_weights(monkeypatch):
    """Encrypt 2^(112 + 64 i) in the place of x_i; return how many weights the reply tells (e3)."""
    weights, send = np.array([[3, -5], [7, 900], [-1000, 2]]), homomorphic.send_encrypted

    async def out_of_bounds(party, to, scheme, numbers):
        await send(party, to, scheme, [1 << 112 + 64 * i for i in range(len(numbers))])

    with monkeypatch.context() as patch:
        patch.setattr(homomorphic, "send_encrypted", out_of_bounds)
        seen = decrypted_by_the_first(patch, dotting(("p0", "p1"), (3, 2)),
                                      [np.ones(3, np.int64), weights])
    return sum(digit == weight for (number, n), column in zip(seen, weights.T.tolist(), strict=True)
               for digit, weight in zip(digits(number, n), column, strict=True))


def digits(number, n):
    """Return the signed digits of 64 bits above the lower 112."""
    number = ((number if 2 * number < n else number - n) + (1 << 111)) >> 112
    for _ in range(3):
        digit = (number + (1 << 63)) % (1 << 64) - (1 << 63)
        yield digit
        number = (number - digit) >> 64


def test_values_out_of_bounds_read_nothing(monkeypatch):
    assert stolen_weights(monkeypatch) == 0
    monkeypatch.setattr(homomorphic, "fresh_masks", lambda count, modulus: [
        mask % 2**104 for mask in homomorphic_masks(count, modulus)])
    assert stolen_weights(monkeypatch) == 6


def a_guess_is_confirmed():
    """Divide the reply by the guessed product: without new randomness the rest is 1 modulo n."""
    weights = [3, 5]
    got, _ = frames_between(dotting(("p0", "p1"), (2,)), [np.array([8, 9]), np.array(weights)])
    [n] = got["paillier.key"]
    guess = 1
    for ciphertext, weight in zip(got["paillier.values"], weights, strict=True):
        guess = guess * pow(ciphertext, weight, n * n) % (n * n)
    return got["paillier.reply"][0] * pow(guess, -1, n * n) % n == 1


def test_replies_are_rerandomised(monkeypatch):
    assert not a_guess_is_confirmed()
    monkeypatch.setattr(Scheme, "rerandomised", lambda self, ciphertext: ciphertext)
    assert a_guess_is_confirmed()


def blamed(label, change):
    touched = {}

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label != label:
            return frame
        touched[target] = source
        return frame[:HEADER_BYTES] + change(frame[HEADER_BYTES:])

    program, given_ = dotting(("p0", "p1"), (2,)), [np.array([1, 2]), np.array([3, 4])]
    outcomes = asyncio.run(in_memory(program, given_, PAIR, tap=tap))
    [(receiver, sender)] = touched.items()
    error = {o.name: o.error for o in outcomes}[receiver]
    assert isinstance(error, PeerGarbageError)
    return error.party == sender


@pytest.mark.parametrize(("label", "change"), [
    ("paillier.values", lambda body: bytes(len(body))),
    ("paillier.values", lambda body: b"\xff" * len(body)),
    ("paillier.reply", lambda body: bytes(len(body))),
    ("paillier.reply", lambda body: b"\xff" * len(body)),
    ("paillier.key", lambda body: bytes(len(body))),
    ("paillier.key", lambda body: bytes([body[0] ^ 1]) + body[1:]),
    ("paillier.key", lambda body: body[:-1] + b"\x01")])
def test_bad_keys_and_ciphertexts_name_their_sender(label, change):
    assert blamed(label, change)


def test_a_multiple_of_a_factor_is_no_ciphertext():
    primes = paillier.rsa.generate_private_key(65537, BITS).private_numbers()
    scheme = Scheme(primes.p * primes.q)
    with pytest.raises(BadCiphertextError):
        scheme.unpack(scheme.pack([primes.p]))


def test_keys_are_fresh_and_not_kept():
    from tno.mpc.encryption_schemes.paillier import Paillier

    kept = len(Paillier._instances)
    one, two = paillier.fresh_scheme(BITS), paillier.fresh_scheme(BITS)
    assert one.n != two.n
    assert len(Paillier._instances) == kept


def test_primes_are_not_drawn_by_sympy(monkeypatch):
    from sympy.core import random as sympy_random

    monkeypatch.setattr(sympy_random.rng, "randint", None)
    scheme = paillier.fresh_scheme(BITS)
    assert scheme.decrypt(scheme.encrypt(-5)) == scheme.n - 5


def test_lengths_do_not_depend_on_values():
    program = dotting(("p0", "p1"), (2,))
    _, zeros = masked_frames(program, [np.zeros(2, int)] * 2, "dealer")
    _, large = masked_frames(program, [np.full(2, -1000)] * 2, "dealer")
    assert zeros == large


def test_a_missing_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tno.mpc.encryption_schemes", None)
    paillier._package.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match="unspoken\\[paillier\\]"):
            paillier.fresh_scheme(BITS)
    finally:
        paillier._package.cache_clear()


def test_roles_of_a_pair_are_those_of_two_parties_without_a_dealer():
    assert roles_for(["p0", "p1"], "two-party") == PAIR
