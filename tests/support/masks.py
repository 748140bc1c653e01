"""Masked words of runs against uniform ones, and masks that are broken on purpose."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.broken_streams import BROKEN, spoiled
from support.distinguisher import tell_apart, uniform_like
from support.watching import masked_frames
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc.correlated import sources

broken_masks = pytest.mark.parametrize("name", ["left out", "32 bits", "one word for all"])


def masked_views(program, given_, shape, fits, runs=3):
    """Return masked 64-bit words that anybody received, run by run, as arrays of `shape`.

    `fits` says by their length in bytes which frames hold such words.
    """
    found = []
    for _ in range(runs):
        frames, _ = masked_frames(program, given_, "dealer")
        words = np.concatenate([np.frombuffer(f, np.uint64) for f in frames if fits(len(f))])
        found.append(words[:math.prod(shape)].reshape(shape))
    return np.array(found)


def against_uniform(view):
    """Return the p-value of a view against uniform words; below SUSPICIOUS it is none."""
    return tell_apart(view, uniform_like(view))


def break_masks(monkeypatch, name):
    """Spoil every mask that parties or their dealer draw."""
    for module in (sources, party_module):
        monkeypatch.setattr(module, "Stream", spoiled(BROKEN[name]))
