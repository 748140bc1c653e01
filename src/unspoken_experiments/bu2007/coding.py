"""Drawing many codes of one attribute at once, the way that fits section 6 of bu2007.

A piece keeps the shape of one function on the attribute's own axis (sqrt(log x) by default). Its
output width is its input width times a Pareto(0.5) number (the form that starts at 0), and gaps
of 1 to 30% of that follow it. All pieces increase; codes inside monochromatic pieces are
permuted. Heavy tails matter: with equal, uniform or input-proportional widths many pieces average
out to a line, and more pieces protect less.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.encoding.draw_codes import draw_many, permute_inside
from unspoken.numerics.label_runs import Pieces, choose_bp, cut_mixed
from unspoken_experiments.bu2007.setting import BREAKPOINTS, Attribute

TAIL = 0.5
GAPS = (0.01, 0.30)
FAMILIES: dict[str, Callable[[Floats], Floats]] = {
    "polynomial": lambda x: x**2,
    "log": np.log,
    "sqrt(log)": lambda x: np.sqrt(np.log(x)),
}
OWN_NAMES = {"polynomial": "polynomial", "log": "log", "sqrt(log)": "sqrt-log"}
LAWS = ("unspoken", "fitted")
METHODS = ("none", "ChooseBP", "ChooseMaxMP")


def draw(attribute: Attribute, method: str, trials: int, rng: np.random.Generator,
         family: str = "sqrt(log)", heavy: bool = True, law: str = "fitted") -> Floats:
    """Return the codes of the distinct values, one row a trial.

    Law "unspoken" is the encoder of the package; "fitted" is the law above. Without `heavy` the
    output width of a piece is just its input width.
    """
    if law == "unspoken":
        return encoded(attribute, method, trials, rng, family)
    starts = choose(attribute, method, trials, rng)
    axis = FAMILIES[family](attribute.values + attribute.shift)
    codes, owner = _place(attribute.values, axis, starts, rng, heavy)
    if method == "ChooseMaxMP" and attribute.runs.mono.any():
        return _permuted(codes, owner, _mono_values(attribute), rng)
    return codes


def encoded(attribute: Attribute, method: str, trials: int, rng: np.random.Generator,
            family: str) -> Floats:
    """Return the codes that `PiecewiseEncoder` draws, one row a trial."""
    wanted = max(BREAKPOINTS + 1, attribute.runs.starts.size)
    cuts = [_cuts(attribute, method, wanted, rng) for _ in range(trials)]
    codes, _, _ = draw_many(attribute.values, cuts, rng, (OWN_NAMES[family],), TAIL)
    if method == "ChooseMaxMP":
        codes = np.stack([permute_inside(row, cut, cut.mono, rng)
                          for row, cut in zip(codes, cuts, strict=True)])
    return codes.astype(np.float64)


def _cuts(attribute: Attribute, method: str, wanted: int, rng: np.random.Generator) -> Pieces:
    if method == "ChooseMaxMP":
        return cut_mixed(attribute.runs, wanted, rng)
    return choose_bp(None, attribute.values.size, 1 if method == "none" else wanted, rng)


def choose(attribute: Attribute, method: str, trials: int, rng: np.random.Generator) -> Bools:
    """Return where pieces start: a mask of values, one row a trial.

    ChooseBP and ChooseMaxMP (Figures 5 and 6) get the same number of pieces, which is that of the
    monochromatic pieces and what lies between them, and at least w + 1.
    """
    size, runs = attribute.values.size, attribute.runs
    wanted = max(BREAKPOINTS + 1, runs.starts.size)
    if method == "none":
        fixed, free, extra = np.zeros(1, np.int64), np.zeros(0, np.int64), 0
    elif method == "ChooseBP":
        fixed, free, extra = np.zeros(1, np.int64), np.arange(1, size), wanted - 1
    else:
        mixed = np.repeat(~runs.mono, runs.lengths)
        mixed[runs.starts] = False
        fixed, free, extra = runs.starts, np.flatnonzero(mixed), wanted - runs.starts.size
    starts = np.zeros((trials, size), np.bool_)
    starts[:, fixed] = True
    if extra > 0 and free.size:
        np.put_along_axis(starts, free[some_of(free.size, extra, trials, rng)], True, axis=1)
    return starts


def some_of(size: int, count: int, trials: int, rng: np.random.Generator) -> Ints:
    """Return `count` different numbers below `size` for every trial."""
    count = min(count, size)
    drawn = rng.random((trials, size), dtype=np.float32)
    return np.asarray(np.argpartition(drawn, count - 1, axis=1)[:, :count])


def _place(values: Floats, axis: Floats, starts: Bools,
           rng: np.random.Generator, heavy: bool) -> tuple[Floats, Ints]:
    """Lay the pieces of every trial one after the other; return codes and the piece of each."""
    trial, first = np.nonzero(starts)
    opening = np.r_[True, trial[1:] != trial[:-1]]
    last = np.where(np.r_[opening[1:], True], values.size, np.r_[first[1:], 0]) - 1
    owner = np.cumsum(starts.ravel()).reshape(starts.shape) - 1
    width = values[last] - values[first] + 1.0
    if heavy:
        width *= (1.0 - rng.random(first.size)) ** (-1.0 / TAIL) - 1.0
    step = width * (1.0 + rng.uniform(*GAPS, first.size))
    before = np.cumsum(step) - step
    before -= before[opening][trial]
    rise = axis[last] - axis[first]
    slope = np.divide(width, rise, out=np.zeros_like(width), where=rise > 0)
    return (before - slope * axis[first])[owner] + slope[owner] * axis, owner


def _mono_values(attribute: Attribute) -> Ints:
    return np.flatnonzero(np.repeat(attribute.runs.mono, attribute.runs.lengths))


def _permuted(codes: Floats, owner: Ints, mono: Ints, rng: np.random.Generator) -> Floats:
    """Shuffle codes inside the monochromatic pieces (section 5.2)."""
    piece = owner[:, mono] - owner[:, :1]
    order = np.argsort(piece + rng.random(piece.shape), axis=1)
    codes[:, mono] = np.take_along_axis(codes[:, mono], order, axis=1)
    return codes
