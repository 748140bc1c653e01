"""What is left of a table's use: how far single columns and pairs of columns stayed the same."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import Labels, Values
from unspoken.audit.people.read_columns import Reading

BINS = 10
MOST = 12
"""Columns of which all pairs are compared."""


def kept_use(reading: Reading) -> dict[str, float]:
    """Return one minus the mean total variation distance, of columns and of pairs of them."""
    binned = {name: _both(reading.original.columns[name], reading.release.columns[name])
              for name in reading.names if reading.scales[name].agree is None}
    single = [_same(*pair) for pair in binned.values()]
    pairs = [_same(a * size + c, b * size + d) for (a, b), (c, d) in
             combinations(list(binned.values())[:MOST], 2)
             for size in [int(max(c.max(initial=0), d.max(initial=0))) + 1]]
    out = {"columns": single, "pairs of columns": pairs}
    return {name: float(np.mean(values)) for name, values in out.items() if values}


def _both(one: Values, other: Values) -> tuple[Ints, Ints]:
    if isinstance(one, Labels) and isinstance(other, Labels):
        return one.codes + 2, np.maximum(other.codes + 2, 0)
    assert not isinstance(one, Labels)
    assert not isinstance(other, Labels)
    held = one.middle[np.isfinite(one.middle)]
    cuts = np.unique(np.quantile(held, np.linspace(0, 1, BINS + 1)[1:-1])) if held.size else held
    return _place(one.middle, cuts), _place(other.middle, cuts)


def _place(values: Floats, cuts: Floats) -> Ints:
    return np.where(np.isnan(values), cuts.size + 1, np.searchsorted(cuts, values, side="right"))


def _same(one: Ints, other: Ints) -> float:
    size = int(max(one.max(initial=0), other.max(initial=0))) + 1
    if size > 4_000_000:
        _, both = np.unique(np.concatenate([one, other]), return_inverse=True)
        one, other = both[:one.size], both[one.size:]
        size = int(both.max()) + 1
    shares = [np.bincount(part, minlength=size) / max(part.size, 1) for part in (one, other)]
    return 1.0 - float(np.abs(shares[0] - shares[1]).sum() / 2)
