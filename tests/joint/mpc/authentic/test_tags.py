"""Numbers modulo 2^128, shares that keep their tags, and what would lose them."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken.joint.mpc.authentic import auth_dealing, ring128
from unspoken.joint.mpc.authentic.auth_dealing import TYPES, keys_of, whole_keys
from unspoken.joint.mpc.authentic.tagged import LostTagError, bare
from unspoken.joint.mpc.authentic.tagged_bits import TaggedBits, tag_words
from unspoken.joint.mpc.authentic.tagged_numbers import TaggedNumbers
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.randomness import Stream, fresh_words

RING = 1 << 128
SEEDS = [b"a" * 32, b"b" * 32, b"c" * 32]


def whole(long):
    """Return long numbers as Python's."""
    low, high = (np.asarray(part).astype(object) for part in long)
    return low + high * (1 << 64)


def random_long(*shape):
    size = int(np.prod(shape))
    return fresh_words(size).reshape(shape), fresh_words(size).reshape(shape)


def test_long_numbers_are_exact():
    a, b, c = random_long(50), random_long(50), fresh_words(50)
    assert (whole(ring128.add(a, b)) == (whole(a) + whole(b)) % RING).all()
    assert (whole(ring128.subtract(a, b)) == (whole(a) - whole(b)) % RING).all()
    assert (whole(ring128.negative(a)) == -whole(a) % RING).all()
    assert (whole(ring128.times_words(a, c)) == whole(a) * c.astype(object) % RING).all()
    for bits in (0, 1, 63):
        assert (whole(ring128.shifted(a, bits)) == whole(a) * (1 << bits) % RING).all()
    key = int(c[0]), int(c[1])
    assert (whole(ring128.times(a, key)) == whole(a) * (key[0] + key[1] * 2**64) % RING).all()
    assert whole(ring128.total(a, None)) == whole(a).sum() % RING


def test_chosen_sums_are_exact():
    a = random_long(1300)
    chosen = (fresh_words(5200) & np.uint64(1)).reshape(1300, 4)
    [sums] = ring128.chosen_sums([a], chosen.astype(np.uint8))
    assert (whole(sums) == chosen.T.astype(object) @ whole(a) % RING).all()


@pytest.mark.parametrize("bits", [1, 40, 64])
def test_long_matrices_are_exact(bits):
    a, factor = random_long(3, 1500), fresh_words(3000).reshape(1500, 2) >> np.uint64(64 - bits)
    [product] = ring128.matrix([a], factor, left=False)
    assert (whole(product) == whole(a) @ factor.astype(object) % RING).all()
    [product] = ring128.matrix([(a[0].T, a[1].T)], factor.T, left=True)
    assert (whole(product) == factor.T.astype(object) @ whole(a).T % RING).all()


def dealt(need, holders=2):
    """Return all holders' shares of one wish, the last one's as it is sent them."""
    seeds = SEEDS[:holders]
    *others, last = (Stream(seed) for seed in seeds)
    draws = [*(auth_dealing.draw(need, stream, last=False) for stream in others),
             auth_dealing.draw(need, last, last=True)]
    out = np.empty(auth_dealing.sent_length(need), np.uint64)
    auth_dealing.deal(need, draws, whole_keys(seeds), {0: Stream(b"d" * 32)}, out)
    auth_dealing.complete(need, draws[-1], out)
    return [[part.tagged() for part in row] for row in draws]


def fits(parts, keys):
    """Say whether all holders' tags add up to the value times the key."""
    if isinstance(parts[0], TaggedBits):
        value = np.bitwise_xor.reduce([bare(part) for part in parts])
        tags = np.bitwise_xor.reduce([tag_words(part.parts[0]) for part in parts])
        return np.array_equal(tags, value[..., None] & keys.bit)
    value = sum(whole(part.long) for part in parts)
    tags = sum(whole(part.tags) for part in parts)
    key = keys.number[0] + keys.number[1] * (1 << 64)
    return bool(np.all((value * key - tags) % RING == 0))


NEEDS = [Need("triple", (5,)), Need("matrix", (2, 3, 4)), Need("edabits", (9, 70)),
         Need("ladders", (9, 70)), Need("dabits", (70,)), Need("ands", (3,)), Need("pairs", (3,)),
         Need("cuts", (5, 16)), Need("masks", (4, 0)), Need("bitmasks", (4, 0)),
         Need("tops", (5,)), Need("veils", (5, 3))]


@pytest.mark.parametrize("need", NEEDS, ids=str)
@pytest.mark.parametrize("holders", [2, 3])
def test_every_dealt_part_has_its_tag(need, holders):
    keys = whole_keys(SEEDS[:holders])
    for parts in zip(*dealt(need, holders), strict=True):
        assert fits(parts, keys)


def test_every_kind_with_tags_is_tried():
    assert {need.kind for need in NEEDS} == set(TYPES)


def test_one_party_knows_its_masks():
    rows = dealt(Need("masks", (4, 0)))
    assert (bare(rows[0][0]) + bare(rows[1][0])
            == Stream(b"d" * 32).words(4)).all()


def test_keys_are_shared():
    keys = [keys_of(seed) for seed in SEEDS]
    assert len({key.number for key in keys}) == 3
    # Forty bits, not all of them equal.
    assert {len(key.bit) for key in keys} == {40}
    assert 0 < (whole_keys(SEEDS).bit > 0).sum() < 40


LINEAR = {
    "sum": lambda x: x + x, "difference": lambda x: x[::-1] - x, "negative": np.negative,
    "multiple": lambda x: x * np.uint64(2**64 - 3), "shift": lambda x: np.left_shift(x, 24),
    "by element": lambda x: x * fresh_one[:x.size].reshape(x.shape), "total": lambda x: x.sum(),
    "columns": lambda x: x.reshape(2, 6).sum(axis=0), "turned": lambda x: x.reshape(3, 4).T,
    "joined": lambda x: np.concatenate([x, x]), "stacked": lambda x: np.stack([x, x]),
    "picked": lambda x: x[[3, 1, 1]], "spread": lambda x: np.broadcast_to(x, (2, 12)),
    "repeated": lambda x: np.repeat(x, 2), "padded": lambda x: np.pad(x, (0, 3)),
    "running": np.cumsum, "steps": lambda x: np.diff(x, prepend=np.uint64(0)),
    "split": lambda x: np.split(x, [5])[1],
    "groups": lambda x: np.add.reduceat(x.reshape(2, 6), [0, 2], axis=1),
    "matrix": lambda x: x.reshape(4, 3) @ fresh_one[:6].reshape(3, 2),
    "vector": lambda x: fresh_one[:4] @ x.reshape(4, 3)}
fresh_one = fresh_words(12)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_operations_keep_the_tags(name):
    parts = [row[0] for row in dealt(Need("masks", (12, 0)))]
    results = [LINEAR[name](part) for part in parts]
    assert fits(results, whole_keys(SEEDS[:2]))
    plain = LINEAR[name](bare(parts[0]) + bare(parts[1]))
    assert np.array_equal(bare(results[0]) + bare(results[1]), plain)


def test_public_bits_choose_among_tags():
    parts = [row[0] for row in dealt(Need("bitmasks", (12, 0)))]
    words = fresh_words(12)
    results = [(part & words) ^ part[::-1] for part in parts]
    assert fits(results, whole_keys(SEEDS[:2]))


def test_changes_in_place_keep_the_tags():
    parts = [row[0].copy() for row in dealt(Need("masks", (12, 0)))]
    for part in parts:
        part[3:5] += part[:2]
        part[7] = part[8]
    assert fits(parts, whole_keys(SEEDS[:2]))


def lose(kind):
    number = dealt(Need("masks", (4, 0)))[0][0]
    bits = dealt(Need("bitmasks", (4, 0)))[0][0]
    words = np.ones(4, np.uint64)
    return {"plain number": lambda: number + words, "plain bits": lambda: bits ^ words,
            "product": lambda: number * number, "and": lambda: bits & bits,
            "not": lambda: ~bits, "right shift": lambda: number >> np.uint64(1),
            "sorting": lambda: np.sort(number), "joining": lambda: np.concatenate([number, words]),
            "other type": lambda: number.astype(np.float64),
            "lost": lambda: number.view(TaggedNumbers) + number}[kind]


@pytest.mark.parametrize("kind", ["plain number", "plain bits", "product", "and", "not",
                                  "right shift", "sorting", "joining", "other type", "lost"])
def test_what_would_lose_a_tag_raises(kind):
    with pytest.raises(LostTagError):
        lose(kind)()
