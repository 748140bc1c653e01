"""Views of shares with tags: every mask that holders open under, or owners send under, is needed.

Mutants are generated for every kind of `auth_dealing`: a part that masks is zero or lacks
bits, in what holders draw and in what the dealer works with alike, so that
tags fit and results stay right.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from support.view_programs import N, compare, cut, products, same
from unspoken.joint import share
from unspoken.joint.mpc.authentic import auth_dealing, auth_sources
from unspoken.joint.mpc.authentic.auth_dealing import KNOWN, TYPES
from unspoken.joint.mpc.correlated.kinds import GAP
from unspoken.joint.mpc.ops.leading_bit import leading_bits
from unspoken.joint.mpc.ops.shared_bits import words_from
from unspoken.joint.session.joint_views import joint_views

ONE = [np.arange(N) % 7, np.arange(N) % 5 + 1]
OTHER = [(np.arange(N) * 77_777) % 1000, (np.arange(N) * 12_345) % 999]


async def given(party, data):
    """Share numbers, and compute nothing."""
    await share(party, data if party.index == 0 else None, "p0", (N,), 0, 1000)


async def given_bits(party, data):
    """Share packed bits, and compute nothing."""
    await words_from(party, data.astype(np.uint64) if party.index == 0 else None, "p0", N)


async def leading(party, data):
    """Find the leading bits of numbers."""
    x = await share(party, data if party.index == 0 else None, "p0", (N,), 0, 1023)
    await leading_bits(party, x, 9)


# The parts that mask what is opened or sent, and a program that needs them.
MASKS = {"triple": ((0, 1), products), "matrix": ((0, 1), products), "ladders": ((0,), compare),
         "pairs": ((0, 1, 2), compare), "ands": ((0, 1), same), "dabits": ((1,), compare),
         "cuts": ((0,), cut), "edabits": ((0,), leading), "masks": ((0,), given),
         "bitmasks": ((0,), given_bits)}
SPOIL = {"zero": lambda words: words * np.uint64(0),
         "few bits": lambda words: words & np.uint64(0xF0F0F0F0F0F0F0F0)}


def complaints(program, mode="authenticated"):
    return joint_views(program, ONE, OTHER, mode, runs=2)


def test_every_kind_has_its_mutants():
    # What lies above 64 bits, and what hides sums in a proof, have tests of their own.
    assert set(MASKS) == set(TYPES) - {"tops", "veils"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["authenticated", "dealer"])
@pytest.mark.parametrize("program", [given, given_bits, leading])
def test_what_is_given_hides_the_input(program, mode):
    assert complaints(program, mode) == []


def spoil_drawn(monkeypatch, kind, part, how):
    """Spoil a part for all holders and the dealer alike."""
    real = auth_dealing.draw

    def draw(need, stream, *, last):
        parts = real(need, stream, last=last)
        if need.kind == kind and parts[part].words is not GAP:
            parts[part].words = SPOIL[how](parts[part].words)
        return parts

    monkeypatch.setattr(auth_dealing, "draw", draw)


def spoil_known(monkeypatch, kind, how):
    """Spoil what one party knows of a mask, for it and the dealer alike."""
    own, fitting = auth_sources.TagSource._known, auth_dealing._fitting

    def known(self, needs):
        kinds = [need.kind for need in needs if need.kind in KNOWN]
        return [SPOIL[how](words) if kind in kinds else words for words in own(self, needs)]

    def fitted(need, draws, streams):
        if need.kind != kind:
            return fitting(need, draws, streams)
        stream = streams[need.sizes[1]]
        return fitting(need, draws, {need.sizes[1]: SimpleNamespace(
            words=lambda count: SPOIL[how](stream.words(count)))})

    monkeypatch.setattr(auth_sources.TagSource, "_known", known)
    monkeypatch.setattr(auth_dealing, "_fitting", fitted)


@pytest.mark.slow
@pytest.mark.parametrize("how", SPOIL)
@pytest.mark.parametrize(("kind", "part"), [(kind, part) for kind, (parts, _) in MASKS.items()
                                            for part in parts])
def test_a_spoiled_mask_is_caught(monkeypatch, kind, part, how):
    if kind in KNOWN:
        spoil_known(monkeypatch, kind, how)
    else:
        spoil_drawn(monkeypatch, kind, part, how)
    assert complaints(MASKS[kind][1])
