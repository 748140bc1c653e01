"""Views of all sides together: nothing differs as it is, and every broken mask is noticed.

Mutants are generated: for every kind of correlated randomness and every part that masks an
opening, the part is zero, lacks a bit, or is used twice. Results stay right all the while.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.view_programs import ONE, OTHER, PROGRAMS
from unspoken.errors import InputError
from unspoken.joint.mpc.correlated import kinds, sources
from unspoken.joint.mpc.correlated.kinds import KINDS, Need
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.session.joint_views import joint_views

# The parts that mask what is opened, and a program that opens under them.
MASKS = {"triple": ((0, 1), "products"), "matrix": ((0, 1), "products"),
         "edabits": ((0,), "compare"), "dabits": ((1,), "compare"), "pairs": ((0, 1, 2), "compare"),
         "ands": ((0, 1), "same"), "cuts": ((0,), "cut"), "lanes": ((0, 1), "log"),
         "flags": ((1,), "log"), "windows": ((0,), "log"), "zeros": ((0,), "zero"),
         "crosses": ((0,), "pairs"), "choices": ((0, 1), "own")}
MUTANTS = [(kind, part, how) for kind, (parts, _) in MASKS.items() for part in parts
           for how in ("zero", "one word", "few bits")]


def complaints(name, runs=2):
    return joint_views(PROGRAMS[name], ONE, OTHER, runs=runs)


def test_every_kind_has_its_mutants():
    # These are drawn where shares have tags only.
    tagged = {"masks", "bitmasks", "tops", "totals", "release", "ladders", "veils"}
    assert set(MASKS) == set(KINDS) - tagged


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_joint_view_is_the_same_for_both_inputs(name):
    assert complaints(name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compare", "same", "products", "cut", "opened twice"])
def test_so_is_the_joint_view_of_shares_with_tags(name):
    assert joint_views(PROGRAMS[name], ONE, OTHER, "authenticated", runs=2) == []


def few_bits(words):
    """Leave out the lower half of every byte."""
    return words & np.uint64(0xF0F0F0F0F0F0F0F0)


SPOIL = {"zero": lambda words: words * np.uint64(0), "few bits": few_bits,
         "one word": lambda words: words * np.uint64(0) + words[:1]}


def spoil_part(monkeypatch, kind, part, how):
    """Spoil one part for all holders and their dealer alike."""
    real = Need.draw

    def draw(self, stream, *, last=False):
        parts = real(self, stream, last=last)
        if self.kind == kind and parts[part].size:
            parts[part] = SPOIL[how](parts[part])
        return parts

    monkeypatch.setattr(Need, "draw", draw)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "part", "how"), MUTANTS)
def test_a_spoiled_mask_is_caught(monkeypatch, kind, part, how):
    spoil_part(monkeypatch, kind, part, how)
    assert complaints(MASKS[kind][1])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "one", "other"), [
    ("pairs", 0, 1), ("pairs", 0, 2), ("pairs", 1, 2), ("ands", 0, 1), ("triple", 0, 1)])
def test_one_mask_for_two_operands_is_caught(monkeypatch, kind, one, other):
    real = Need.draw

    def draw(self, stream, *, last=False):
        parts = real(self, stream, last=last)
        if self.kind == kind:
            parts[other] = parts[one].copy()
        return parts

    monkeypatch.setattr(Need, "draw", draw)
    assert complaints(MASKS[kind][1])


@pytest.mark.slow
def test_masks_of_one_level_used_for_the_next_are_caught(monkeypatch):
    real = Need.draw

    def draw(self, stream, *, last=False):
        first = getattr(stream, "first", None)
        if self.kind == "pairs" and first is not None:
            again = [part[:size].copy() for part, size in zip(first, self.lengths, strict=True)]
            return [kinds.GAP if last and i in self.sent else part for i, part in enumerate(again)]
        parts = real(self, stream, last=last)
        if self.kind == "pairs":
            stream.first = parts
        return parts

    monkeypatch.setattr(Need, "draw", draw)
    assert complaints("compare")


@pytest.mark.slow
def test_a_stream_number_that_wraps_is_caught(monkeypatch):
    real = sources.wish_key
    monkeypatch.setattr(sources, "wish_key",
                        lambda seed, number, needs: real(seed, number % 64, needs))
    assert complaints("often")


@pytest.mark.slow
def test_a_missing_share_of_zero_is_caught(monkeypatch):
    monkeypatch.setattr(sharing, "with_zero", lambda party, words, purpose, *, xors: words)
    assert complaints("opened twice")


@pytest.mark.slow
def test_a_share_of_zero_used_again_is_caught(monkeypatch):
    def stream_with(self, peer, purpose):
        number = 0 if purpose == "zero" else self.count
        return Stream(derive(self._pairs[peer], purpose, number))

    monkeypatch.setattr(Party, "stream_with", stream_with)
    assert complaints("opened twice")


def test_different_outputs_cannot_be_compared():
    async def program(party, data):
        return int(data[0])

    with pytest.raises(InputError, match="returns the same"):
        joint_views(program, [ONE[0] + 1, ONE[1]], OTHER)
