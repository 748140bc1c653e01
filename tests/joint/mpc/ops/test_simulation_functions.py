"""Functions and matrices on shares: views look uniform, and broken variants are caught.

The openings are those of products, truncations and comparisons, whose own mutants (63 bits,
masks used again, one seed for two) are in test_simulation; here it is what is put together.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.watching import frames_to
from unspoken.joint import divide, floor, gram, inverse, log, share, share_wide, truncate
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import matrix_inverse, truncation
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.session.run import run_local

pytestmark = pytest.mark.slow

RUNS, WORDS = 4, 96
OPENED = ("multiply.open", "truncate.open", "matmul.open", "compare.level0")


@declares("answer", ILL)
async def functions(party, data):
    """Compute on constants, so that whatever is not masked shows."""
    drawn = []
    if party.is_holder:
        real = party.source.draw

        async def draw(needs):
            found = await real(needs)
            drawn.append([(need.kind, parts) for need, parts in zip(needs, found, strict=True)])
            return found

        party.source.draw = draw
    x = await share(party, data if party.index == 0 else None, "p0", (WORDS,), 0, 1000)
    await log(party, x)
    await divide(party, x, x + 1)
    await floor(party, x, 3)
    w = await share_wide(party, data[:, None] / 1000 if party.index == 0 else None, "p0",
                         (WORDS, 1), 1.0)
    await gram(party, w.reshape(8, 12))
    return drawn


GIVEN = [np.full(WORDS, 7)] * 2


def views(me, other):
    """Return what a holder is sent, alone and with its own masks added and taken off."""
    runs = []
    for _ in range(RUNS):
        got, outputs = frames_to(functions, GIVEN, {me}, "dealer")
        frames = [frame for label in OPENED for frame in got[other, me, label]
                  if frame.size >= WORDS]
        own = _masks(outputs[int(me[1])])
        with_own = [(f + m)[:WORDS] for f in frames for m in own if m.size == f.size][:40]
        without = [(f - m)[:WORDS] for f in frames for m in own if m.size == f.size][:40]
        # The last words too: a mask that was forgotten at the end.
        plain = [np.concatenate([f[:WORDS // 2], f[-(WORDS // 2):]]) for f in frames]
        runs.append((plain, with_own, without))
    return [np.array([run[i] for run in runs]) for i in range(3)]


def _masks(drawn):
    """Return a holder's own parts of what masks an opening."""
    by_kind = {"triple": 2, "matrix": 2, "cuts": 1}
    return [np.concatenate(parts[:by_kind[kind]]) for needs in drawn for kind, parts in needs
            if kind in by_kind]


def looks_uniform(view):
    return tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize(("me", "other"), [("p0", "p1"), ("p1", "p0")])
def test_openings_of_functions_look_uniform(me, other):
    plain, *with_masks = views(me, other)
    assert looks_uniform(plain)
    for view in with_masks:
        # Pairs with the wrong mask repeat words of the right one; only bytes are compared.
        assert all(looks_uniform(view[:, i:i + 1]) for i in range(0, view.shape[1], 7))


@pytest.mark.parametrize("name", ["left out", "left out on the last", "32 bits"])
def test_broken_masks_are_caught(monkeypatch, name):
    monkeypatch.setattr(sources, "Stream", spoiled(BROKEN[name]))
    assert not looks_uniform(views("p0", "p1")[0])


def test_a_truncation_without_its_mask_is_caught(monkeypatch):
    real = truncation.open_sum

    async def unmasked(party, label, words, width=64):
        # The mask is drawn afresh here and cannot be taken off: the result is wrong, and public.
        return await real(party, label, np.zeros_like(words) + np.uint64(7), width)

    monkeypatch.setattr(truncation, "open_sum", unmasked)
    got, _ = frames_to(functions_of_one_cut, GIVEN, {"p0"}, "dealer")
    view = np.array(got["p1", "p0", "truncate.open"])[None]
    assert not looks_uniform(view)


@declares("answer")
async def functions_of_one_cut(party, data):
    """Truncate and stop."""
    x = await share(party, data if party.index == 0 else None, "p0", (WORDS,), 0, 1000)
    await truncate(party, x, 3)
    await truncate(party, x, 3)


@declares("answer", ILL)
async def inverted(party, matrix):
    """Invert a matrix of the first party."""
    m = await share_wide(party, matrix if party.index == 0 else None, "p0", (2, 2), 1.0, 96)
    await inverse(party, m, 1.0, 4.0)


def openings(matrix):
    """Return what an inversion opens: reason and shape, and how many messages there were."""
    try:
        results = run_local(inverted, [matrix, None])
    except matrix_inverse.RefusedError:
        return None
    ledger = results[0][1]
    return [(opening.because, opening.shape) for opening in ledger.openings]


def test_an_inversion_opens_one_bit_and_nothing_else():
    assert openings(np.eye(2)) == openings(np.diag([0.5, 1.0])) == [(ILL, ())]


def test_the_bit_is_a_bit_however_bad_the_matrix_is(monkeypatch):
    """A mutant that opens how many entries are too large would tell the worst from the bad."""
    seen = []
    real = matrix_inverse.reveal

    async def watching(party, value, **more):
        found = await real(party, value, **more)
        seen.append(int(found))
        return found

    monkeypatch.setattr(matrix_inverse, "reveal", watching)
    for matrix in (np.eye(2), np.diag([1.0, 2.0**-20]), np.diag([2.0**-20, 2.0**-30])):
        openings(matrix)
    assert seen == [1, 1, 0, 0, 0, 0]
