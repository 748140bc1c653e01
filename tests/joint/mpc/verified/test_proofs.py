"""Proofs of what was dealt, without a network: right things pass, and one wrong bit does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.joint.mpc.authentic import auth_dealing, ring128
from unspoken.joint.mpc.authentic.auth_dealing import keys_of, whole_keys
from unspoken.joint.mpc.authentic.auth_sources import dealt_with_tags
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.randomness import Stream, derive, fresh_seed
from unspoken.joint.mpc.verified import bit_proof, number_proof, proof, tag_proof
from unspoken.joint.mpc.verified.proof import Part, Sizes, claims_with, fitted, opened, rests

NEEDS = {"triple": (3,), "matrix": (2, 3, 4), "edabits": (5, 70), "ladders": (9, 70),
         "dabits": (70,), "ands": (2,), "pairs": (2,), "cuts": (70, 7), "masks": (3, 0),
         "bitmasks": (2, 1), "tops": (3,)}
# What a kind has that nothing but its tags ties down.
FREE = ("masks", "bitmasks", "tops")
LAST = 1


class Dealt:
    """One wish as a dealer and two holders have it."""

    def __init__(self, needs):
        self.needs, self.seeds = needs, [fresh_seed(), fresh_seed()]
        self.keys = whole_keys(self.seeds)
        own = [fresh_seed(), fresh_seed()]
        _, self.rows = dealt_with_tags((self.seeds, own, self.keys), 1, needs)

    def tag_again(self, need, place):
        """Give a part that was changed the tags that belong to it."""
        parts = [row[place] for row in self.rows[need]]
        auth_dealing._TAGS[parts[0].kind](parts, self.keys)

    def shown(self, coin, change=lambda words: None):
        """Return the sizes of a proof, everybody's parts, and what the prover opens."""
        sizes, pairs = Sizes.of(self.needs), list(zip(self.needs, self.rows, strict=True))
        parts = [Part.drawn(sizes, seed, 1, last=place == LAST)
                 for place, seed in enumerate(self.seeds)]
        change(fitted(sizes, parts, self.keys, pairs))
        claims = [claims_with([(need, rows[place]) for need, rows in pairs], parts[place], sizes,
                              first=place == 0) for place in range(2)]
        return sizes, parts, claims, opened(claims, parts, coin)

    def passes(self, change=lambda words: None, answer=lambda words: words):
        """Say whether both holders are left with the same words."""
        coin = fresh_seed()
        sizes, parts, claims, shown = self.shown(coin, change)
        left = [rests(claims[place], parts[place], sizes, coin, answer(shown.copy()),
                      keys_of(self.seeds[place]), first=place == 0) for place in range(2)]
        return all(np.array_equal(a, b) for a, b in zip(*left, strict=True))


def need(kind):
    return Need(kind, NEEDS[kind])


def test_every_kind_with_tags_is_covered():
    assert set(NEEDS) == set(auth_dealing.TYPES) - {"veils"}


@pytest.mark.parametrize("kind", NEEDS)
def test_what_is_dealt_rightly_passes(kind):
    assert Dealt([need(kind)]).passes()


def test_many_kinds_are_proved_at_once():
    assert Dealt([need(kind) for kind in NEEDS] * 2).passes()


@settings(max_examples=25, deadline=None)
@pytest.mark.slow
@given(st.data())
def test_sizes_do_not_matter(data):
    sizes = st.integers(1, 130)
    width, cut = data.draw(st.integers(1, 64)), data.draw(st.integers(1, 61))
    n, k, m = (data.draw(st.integers(1, 9)) for _ in range(3))
    assert Dealt([Need("ladders", (width, data.draw(sizes))), Need("cuts", (data.draw(sizes), cut)),
                  Need("dabits", (data.draw(sizes),)), Need("matrix", (n, k, m))]).passes()


PARTS = [(kind, place) for kind in NEEDS for place in range(len(auth_dealing.TYPES[kind]))]
ALL = np.uint64(2**64 - 1)
# Which bit of a number is wrong: one that the relation depends on, whatever the other parts are.
BITS = {("triple", 0): (0,), ("triple", 1): (0,), ("matrix", 0): (0,), ("matrix", 1): (0,),
        ("edabits", 0): (0,), ("ladders", 0): (0,), ("cuts", 0): (63,)}
WRONG = [(kind, place, bit) for kind, place in PARTS if kind not in FREE
         for bit in BITS.get((kind, place), (0, 63))]


@pytest.mark.parametrize(("kind", "place", "bit"), WRONG)
def test_a_wrong_value_with_the_right_tag_is_noticed(kind, place, bit):
    dealt = Dealt([need(kind)])
    part = dealt.rows[0][LAST][place]
    part.words, part.tags = part.words.copy(), part.tags.copy()
    part.words[0] ^= ALL if part.bits else np.uint64(1 << bit)
    dealt.tag_again(0, place)
    assert not dealt.passes()


@pytest.mark.parametrize(("kind", "place"), PARTS)
@pytest.mark.parametrize("word", [0, -1])
def test_a_wrong_tag_is_noticed(kind, place, word):
    """Of numbers the uppermost bit, which every even factor would hide."""
    dealt = Dealt([need(kind)])
    part = dealt.rows[0][LAST][place]
    part.tags = part.tags.copy()
    part.tags[word] ^= np.uint64(1 << 63)
    assert not dealt.passes()


@pytest.mark.slow
def test_no_word_of_what_the_prover_sends_can_be_changed():
    dealt = Dealt([need(kind) for kind in ("triple", "matrix", "cuts", "pairs")])
    sizes = Sizes.of(dealt.needs)
    for place in np.linspace(0, sizes.opened - 1, 24).astype(int):
        def flip(words, place=place):
            words[place] ^= np.uint64(1)
            return words

        assert not dealt.passes(answer=flip), place
    for place in np.linspace(0, sizes.sent - 1, 24).astype(int):
        def spoil(words, place=place):
            words[place] ^= np.uint64(1)

        assert not dealt.passes(change=spoil), place


def test_without_coefficients_two_errors_cancel(monkeypatch):
    """The mutant that draws no coin: the prover's own mask takes the error back."""
    def ones(count, coin):
        return np.full((count, 40), ALL)

    def passes():
        dealt = Dealt([need("ands")])
        part = dealt.rows[0][LAST][2]
        part.words, part.tags = part.words.copy(), part.tags.copy()
        part.words[0] ^= np.uint64(1)
        dealt.tag_again(0, 2)
        sizes = Sizes.of(dealt.needs)

        def take_back(words):
            words[sizes.hidden:sizes.hidden + 40] ^= np.uint64(1)

        return dealt.passes(change=take_back)

    assert not passes()
    monkeypatch.setattr(bit_proof, "coefficients", ones)
    monkeypatch.setattr(proof, "coefficients", ones)
    assert passes()


def test_with_one_random_factor_a_wrong_tag_passes_half_the_time():
    wrong = np.array([0], np.uint64), np.array([1 << 63], np.uint64)
    factors = Stream(fresh_seed()).words(200)
    hidden = sum(not any(ring128.times_words(wrong, factor)[1].any() for factor in [each])
                 for each in factors.reshape(-1, 1))
    assert 60 < hidden < 140


def test_groups_have_the_power_that_is_stated():
    assert tag_proof.GROUPS**tag_proof.THROWS == 2**tag_proof.HALVES == 2**40


def test_what_is_opened_is_masked(monkeypatch):
    """Of dealt zeros nothing but masks would be seen; without masks it would be zeros."""
    def zeros():
        dealt = Dealt([need(kind) for kind in ("triple", "matrix", "ladders", "cuts")])
        for rows in dealt.rows:
            for row in rows:
                for part in row:
                    part.words, part.high = part.words * np.uint64(0), part.high * np.uint64(0)
        return int((dealt.shown(fresh_seed())[3] == 0).sum())

    assert zeros() == 0
    drawn = number_proof.NumberMasks.drawn
    monkeypatch.setattr(number_proof.NumberMasks, "drawn", lambda *a, **k: _bare(drawn(*a, **k)))
    assert zeros() > 0
    monkeypatch.undo()
    bits = bit_proof.BitMasks.drawn
    monkeypatch.setattr(bit_proof.BitMasks, "drawn", lambda *a, **k: _bare_bits(bits(*a, **k)))
    assert zeros() > 0


def unmoved():
    """Return which parts of a proof are the same for two coins: their factors are public."""
    dealt = Dealt([need(kind) for kind in ("triple", "ladders", "cuts")])
    rows = []
    for _ in range(2):
        sizes, _, _, shown = dealt.shown(fresh_seed())
        (x, _), ((p, _), _), (low, _), bits = proof._pieces(sizes, shown)
        rows.append({"bits": x, "numbers": p, "values": low, "planes": bits})
    return [name for name in rows[0] if np.array_equal(rows[0][name], rows[1][name])]


@pytest.mark.parametrize("purpose", ["bits", "numbers", "values", "planes"])
def test_every_part_of_a_proof_follows_the_coin(monkeypatch, purpose):
    """Whoever knew factors, halves or groups before it dealt could let its errors cancel."""
    assert unmoved() == []
    monkeypatch.setattr(proof, "derive", lambda coin, *what: derive(
        bytes(32) if what == (purpose,) else coin, *what))
    assert unmoved() == [purpose]


def _bare(masks):
    zero = tuple(part * np.uint64(0) for part in masks.a)
    return number_proof.NumberMasks(zero, zero, masks.product)


def _bare_bits(masks):
    return bit_proof.BitMasks(masks.x * np.uint64(0), masks.y * np.uint64(0), masks.joined)


def test_masks_serve_one_proof():
    sizes, seed = Sizes.of([need("triple"), need("ands")]), fresh_seed()
    one, other = (Part.drawn(sizes, seed, turn, last=False) for turn in (1, 2))
    assert not np.intersect1d(one.bits.x, other.bits.x).size
    assert not np.intersect1d(one.numbers.a[0], other.numbers.a[0]).size
    assert not np.intersect1d(one.veils[0].words, other.veils[0].words).size


@given(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=5), st.integers(0, 2**128 - 1))
def test_long_numbers_are_multiplied_modulo_2_to_the_128(values, factor):
    def long(numbers):
        return (np.array([n % 2**64 for n in numbers], np.uint64),
                np.array([n >> 64 for n in numbers], np.uint64))

    low, high = ring128.times_long(long(values), long([factor] * len(values)))
    assert [int(a) + (int(b) << 64) for a, b in zip(low, high, strict=True)] == [
        value * factor % 2**128 for value in values]
