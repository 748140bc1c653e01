"""The group: RFC 9496's own vectors, and everything that is no point refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rbcl")

from unspoken.errors import MissingExtraError
from unspoken.joint.mpc import randomness as streams
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.ristretto import BadPointError

# RFC 9496, appendix A.1: the generator and its double.
ONE = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"
TWO = "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919"
# Appendix A.2: not canonical, negative, not a square.
BAD = ["00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
       "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
       "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
       "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
       "0100000000000000000000000000000000000000000000000000000000000000",
       "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
       "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371"]
IDENTITY = "00" * 32
# Appendix A.3: SHA-512 of the text, then the map to the group.
TEXT = b"Ristretto is traditionally a short shot of espresso coffee"
POINT = "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46"


def points(*texts):
    return np.array([list(bytes.fromhex(text)) for text in texts], np.uint8)


def test_multiples_and_hashes_are_those_of_the_standard():
    two = (2).to_bytes(32, "little")
    assert group.multiply(points(ONE), two).tobytes().hex() == TWO
    assert group.multiply(points(TWO), group.inverse(two)).tobytes().hex() == ONE
    assert group.hash_points(b"", [TEXT]).tobytes().hex() == POINT


@pytest.mark.parametrize("text", [*BAD, IDENTITY])
def test_what_is_no_point_is_refused(text):
    with pytest.raises(BadPointError):
        group.multiply(points(ONE, text), group.fresh_scalar())
    with pytest.raises(BadPointError):
        group.check_points(points(ONE, text))


def test_a_point_twice_is_refused():
    group.check_points(points(ONE, TWO))
    with pytest.raises(BadPointError, match="twice"):
        group.check_points(points(ONE, TWO, ONE))


def test_keys_commute_and_come_off_in_any_order():
    a, b = group.fresh_scalar(), group.fresh_scalar()
    hashed = group.hash_points(group.domain("x"), [b"1", b"2", b"3"])
    both = group.multiply(group.multiply(hashed, a), b)
    assert np.array_equal(both, group.multiply(group.multiply(hashed, b), a))
    back = group.multiply(group.multiply(both, group.inverse(a)), group.inverse(b))
    assert np.array_equal(back, hashed)


def test_long_lists_in_threads_are_the_same(monkeypatch):
    key = group.fresh_scalar()
    some = group.random_points(300)
    expected = group.multiply(some, key)
    monkeypatch.setattr(group, "THREADED", 10)
    monkeypatch.setattr(group, "_workers", lambda: 3)
    group.check_points(some)
    with pytest.raises(BadPointError):
        group.check_points(np.concatenate([some, points(IDENTITY)]))
    with pytest.raises(BadPointError):
        group.multiply(np.concatenate([some, points(BAD[0])]), key)
    assert np.array_equal(group.multiply(some, key), expected)


def test_domains_keep_parts_apart():
    assert group.domain("ab", "c") != group.domain("a", "bc")
    assert group.domain("a", 1) != group.domain("a", 2)


def test_orders_are_permutations_and_fresh():
    one, two = group.fresh_order(200), group.fresh_order(200)
    assert sorted(one) == list(range(200))
    assert not np.array_equal(one, two)


def test_secrets_come_from_the_operating_system(monkeypatch):
    drawn = []
    real = streams.secrets.token_bytes
    monkeypatch.setattr(streams.secrets, "token_bytes", lambda n: drawn.append(n) or real(n))
    for name in ("default_rng", "permutation", "shuffle"):
        monkeypatch.setattr(np.random, name, None)
    group.fresh_scalar()
    assert drawn == [32, 32]
    group.shuffled(group.random_points(3))
    assert drawn == [32] * 4


def test_a_missing_package_is_named(monkeypatch):
    import sys

    group._sodium.cache_clear()
    monkeypatch.setitem(sys.modules, "rbcl", None)
    try:
        with pytest.raises(MissingExtraError, match="unspoken\\[joint\\]"):
            group.fresh_scalar()
    finally:
        group._sodium.cache_clear()
