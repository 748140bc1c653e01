"""Drawing the codes of one attribute (bu2007 section 5.3, with what its evaluation needs).

A code is a whole number that float32 holds exactly. Inside a piece the code of the i-th value is

    base + i + floor(slack * f(t)),   t = position of the value in its piece, 0 to 1,

so codes increase strictly whatever f is. f is drawn per piece from the families of the paper
(linear, polynomials, log, sqrt(log), their compositions) or is a random step map, which does not
depend on the values at all. How much slack a piece gets is drawn from a Pareto law with tail 0.5,
independent of the width of the input: lighter tails average out to a straight line and make more
pieces *worse* than one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.numerics.label_runs import Pieces

CODE_LIMIT = 1 << 24
"""float32 holds every whole number below this."""
MIDPOINT_LIMIT = 1 << 23
"""Below this the midpoint of two codes is exact in float32 as well."""

Family = Callable[[Floats, Floats], Floats]


def _linear(t: Floats, a: Floats) -> Floats:
    return t


def _polynomial(t: Floats, a: Floats) -> Floats:
    return t ** (2.0 + 3.0 * a)


def _log(t: Floats, a: Floats) -> Floats:
    scale = 10.0 ** (4.0 * a)
    return np.log1p(scale * t) / np.log1p(scale)


def _sqrt_log(t: Floats, a: Floats) -> Floats:
    return np.sqrt(_log(t, a))


SMOOTH: dict[str, Family] = {
    "linear": _linear,
    "polynomial": _polynomial,
    "log": _log,
    "sqrt-log": _sqrt_log,
}
FAMILIES = (*SMOOTH, "composition", "step")


@dataclass(frozen=True)
class Codes:
    """The codes of the distinct values of one attribute, and the range of each piece."""

    codes: Ints
    low: Ints
    high: Ints


def draw_codes(
    values: Floats,
    pieces: Pieces,
    rng: np.random.Generator,
    families: Sequence[str] = FAMILIES,
    tail: float = 0.5,
    room: int | None = None,
) -> Codes:
    """Draw strictly increasing whole codes, the first one 0, piece by piece.

    `room`: how many whole numbers there are for them, if not all that float32 holds.
    """
    if values.size == 0:
        none = np.zeros(0, np.int64)
        return Codes(none, none, none)
    codes, low, high = draw_many(values, [pieces], rng, families, tail, room)
    return Codes(codes[0], low, high)


def draw_many(
    values: Floats,
    cuts: Sequence[Pieces],
    rng: np.random.Generator,
    families: Sequence[str] = FAMILIES,
    tail: float = 0.5,
    room: int | None = None,
) -> tuple[Ints, Ints, Ints]:
    """Draw the codes of one attribute for several keys at once, one row per key.

    The attribute is laid end to end, once for each key and its pieces, so that one pass draws
    all. Also returned are the lowest and highest codes of the pieces, key after key.
    """
    size, keys = values.size, len(cuts)
    laid = _end_to_end(cuts, size)
    drawn = [_slacks(size, one.starts.size, rng, tail, room) for one in cuts]
    slack, gap = (np.concatenate(part) for part in zip(*drawn, strict=True))
    owner, lengths = laid.owner(), laid.lengths
    shape = _shape(np.tile(values, keys), laid, owner, rng, families)
    base = _bases(lengths + slack + gap, [one.starts.size for one in cuts])
    rank = np.arange(keys * size) - laid.starts[owner]
    codes = (base[owner] + rank + (shape * slack[owner]).astype(np.int64)).reshape(keys, size)
    first = codes[:, 0]
    shift = np.repeat(first, [one.starts.size for one in cuts])
    return codes - first[:, None], base - shift, base + lengths - 1 + slack - shift


def _end_to_end(cuts: Sequence[Pieces], size: int) -> Pieces:
    if len(cuts) == 1:
        return cuts[0]
    starts = np.concatenate([one.starts + key * size for key, one in enumerate(cuts)])
    return Pieces(starts, np.concatenate([one.mono for one in cuts]), len(cuts) * size)


def _bases(room: Ints, pieces: Sequence[int]) -> Ints:
    """Return where each piece starts, counted from the first piece of its key."""
    before = np.cumsum(room) - room
    first = np.r_[0, np.cumsum(pieces)[:-1]]
    return np.asarray(before - np.repeat(before[first], pieces))


def _slacks(
    size: int, pieces: int, rng: np.random.Generator, tail: float, wanted: int | None = None
) -> tuple[Ints, Ints]:
    """Share the unused codes out: heavy-tailed widths, gaps of 1 to 30% of them."""
    room = (MIDPOINT_LIMIT if size <= MIDPOINT_LIMIT // 2 else CODE_LIMIT) - 2 - size
    # The span itself is drawn, so that the largest code says nothing about the scale.
    spare = int(room * 2.0 ** -rng.uniform(0.0, 3.0)) if room > 0 else 0
    spare = spare if wanted is None else wanted - size
    # 1 - U is never 0; the cap keeps one draw from swallowing every other piece.
    width = np.minimum((1.0 - rng.random(pieces)) ** (-1.0 / tail), 1e9)
    gap = width * rng.uniform(0.01, 0.3, pieces)
    scale = spare / (width.sum() + gap.sum())
    return (width * scale).astype(np.int64), (gap * scale).astype(np.int64)


def _shape(
    values: Floats,
    pieces: Pieces,
    owner: Ints,
    rng: np.random.Generator,
    families: Sequence[str],
) -> Floats:
    """Return f(t) in [0, 1] for every value, non-decreasing inside its piece."""
    chosen = rng.integers(len(families), size=pieces.starts.size)
    names = np.array(families)[chosen]
    smooth = list(SMOOTH)
    first = _pick(names, smooth, rng)
    second = np.where(names == "composition", rng.integers(len(smooth), size=names.size), 0)
    out = _positions(values, pieces, owner)
    for stage in (first, second):
        out = _apply(out, stage[owner], rng.random(names.size)[owner], smooth)
    steps = names == "step"
    if steps.any():
        out = np.where(steps[owner], _random_steps(pieces, owner, rng), out)
    return np.clip(out, 0.0, 1.0)


def _pick(names: npt.NDArray[np.str_], smooth: list[str], rng: np.random.Generator) -> Ints:
    drawn = rng.integers(len(smooth), size=names.size)
    for index, name in enumerate(smooth):
        drawn[names == name] = index
    return drawn


def _positions(values: Floats, pieces: Pieces, owner: Ints) -> Floats:
    low = values[pieces.starts]
    high = values[pieces.starts + pieces.lengths - 1]
    # Halved before subtracting: the range of a column may exceed the largest double.
    width = high / 2 - low / 2
    width[width == 0] = 1.0
    return np.asarray((values / 2 - low[owner] / 2) / width[owner])


def _apply(t: Floats, family: Ints, a: Floats, smooth: list[str]) -> Floats:
    out = t.copy()
    for index, name in enumerate(smooth):
        mask = family == index
        if index and mask.any():
            out[mask] = SMOOTH[name](t[mask], a[mask])
    return out


def _random_steps(pieces: Pieces, owner: Ints, rng: np.random.Generator) -> Floats:
    """Return cumulative heavy-tailed steps, independent of the values."""
    step = np.minimum((1.0 - rng.random(owner.size)) ** -2.0, 1e9)
    step[pieces.starts] = 0.0
    total = np.cumsum(step)
    low = total[pieces.starts]
    width = total[pieces.starts + pieces.lengths - 1] - low
    width[width == 0] = 1.0
    return np.asarray((total - low[owner]) / width[owner])


def permute_inside(codes: Ints, pieces: Pieces, mono: npt.NDArray[np.bool_],
                   rng: np.random.Generator) -> Ints:
    """Permute the codes inside the chosen pieces: any bijection will do there (section 5.2)."""
    owner = pieces.owner()
    order = np.lexsort((rng.random(codes.size), owner))
    return np.where(mono[owner], codes[order], codes)


def place(codes: Ints, values: Floats, keep_zero: bool, rng: np.random.Generator) -> Ints:
    """Shift codes that start at 0 to where they are released.

    With `keep_zero` negative values get negative codes, zero gets zero and positive values get
    positive codes, because LightGBM gives zero a bin of its own. Otherwise the place is random.
    """
    limit = MIDPOINT_LIMIT if codes.max() < MIDPOINT_LIMIT - 1 else CODE_LIMIT
    offset = int(rng.integers(1, max(2, limit - int(codes.max()))))
    if not keep_zero or values[0] > 0:
        return np.asarray(codes + offset)
    if values[-1] < 0:
        return np.asarray(codes - codes[-1] - offset)
    first = int(np.searchsorted(values, 0.0))
    if values[first] == 0.0:
        return np.asarray(codes - codes[first])
    shifted: Ints = codes - codes[first] + 1
    # Zero itself must fit between the last negative and the first positive code.
    shifted[:first] -= 1
    return shifted
