"""Wide shared arrays: fixed point of any length, in limbs of 24 bits that are shared one by one.

A value is the sum of limb_j 2^(24 j - scale). Each limb is a Shared array of the ring of 64 bits
with an interval of its own, and may be negative or a little longer than 24 bits: limbs need no
exact carry, so that a carry costs one truncation of all limbs at once, and dropping fractional
bits is dropping limbs. Shares modulo 2^128 or 2^256 would need correlated randomness of that
width from every source; this runs on what there is, in every mode, with as many bits.

Intervals are kept limb by limb; whatever could reach 2^62 is refused when it is planned. A wide
value leaves its shares only through `narrow` and `reveal`: limbs as such would show where
carries were, and are never opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log2
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.shared import LIMIT, Shared, concatenate, public

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party

WIDTH = 24
BASE = 1 << WIDTH
SMALL = BASE + (1 << 12)
"""What a limb may reach before it must be carried."""
FINE = 96
"""The fractional bits of matrices that are inverted."""


def span(limb: Shared) -> int:
    """Return the greatest magnitude of a limb."""
    return max(abs(limb.low), abs(limb.high))


@dataclass(frozen=True, repr=False, eq=False)
class Wide:
    """A shared array of long fixed-point numbers, for sums and matrices that do not fit 64 bits.

    A value is the sum of limb_j 2^(24 j - scale). It is opened by `narrow`, then `reveal`.

    Attributes
    ----------
    limbs : tuple of Shared
        The limbs, from the lowest to the highest.
    scale : int
        Fractional bits.
    """

    limbs: tuple[Shared, ...]
    scale: int

    def __repr__(self) -> str:
        return f"Wide({self.shape}, {len(self.limbs)} limbs, scale {self.scale})"

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("A shared value leaves its shares only through: "
                        "await reveal(party, x, because=...).")

    def __bool__(self) -> NoReturn:
        raise TypeError("Nobody knows whether a shared value is true. Reveal it, or compute on.")

    @property
    def party(self) -> Party:
        """Return the party that has this share."""
        return self.limbs[0].party

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape, which everybody knows."""
        return self.limbs[0].shape

    @property
    def most(self) -> Fraction:
        """Return the bound on magnitudes that the limbs' intervals give."""
        units = sum(span(limb) << (WIDTH * j) for j, limb in enumerate(self.limbs))
        return Fraction(units) / Fraction(2) ** self.scale

    def _each(self, limbs: Sequence[Shared]) -> Wide:
        return replace(self, limbs=tuple(limbs))

    def __add__(self, other: Wide) -> Wide:
        if self.scale != other.scale:
            raise RingError("Only wide values of the same scale can be added. Their scales: "
                            f"{self.scale} and {other.scale}. Use rescale.")
        short, long = sorted((self.limbs, other.limbs), key=len)
        return self._each([*(a + b for a, b in zip(short, long, strict=False)),
                           *long[len(short):]])

    def __neg__(self) -> Wide:
        return self._each([-limb for limb in self.limbs])

    def __sub__(self, other: Wide) -> Wide:
        return self + -other

    def __mul__(self, factor: int) -> Wide:
        return self._each([limb * factor for limb in self.limbs])

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Wide:
        return self._each([limb[index] for limb in self.limbs])

    @property
    def T(self) -> Wide:
        """Return the transposed array."""
        return self._each([limb.T for limb in self.limbs])

    def reshape(self, *shape: int) -> Wide:
        """Return the same values in another shape."""
        return self._each([limb.reshape(*shape) for limb in self.limbs])

    def sum(self, axis: int | None = None) -> Wide:
        """Return the sum over an axis, or over everything."""
        return self._each([limb.sum(axis) for limb in self.limbs])

    def shifted(self, bits: int) -> Wide:
        """Return the values times 2^-bits; nothing is computed."""
        return replace(self, scale=self.scale + bits)

    def within(self, most: float | Fraction) -> Wide:
        """Promise |values| <= most, which intervals cannot see; high limbs without use go.

        The limbs must have been carried. The promise is not checked.
        """
        units = ceil(Fraction(most) * Fraction(2) ** self.scale)
        limbs = list(self.limbs)
        while len(limbs) > 1 and units < 1 << (WIDTH * (len(limbs) - 1)):
            top, under = limbs.pop(), limbs[-1]
            share = np.add(under.share, np.left_shift(top.share, np.uint64(WIDTH)))
            limbs[-1] = replace(under, share=share, low=1 - LIMIT, high=LIMIT - 1,
                                rounded=under.rounded or top.rounded)
        below = sum(span(limb) << (WIDTH * j) for j, limb in enumerate(limbs[:-1]))
        bound = min(LIMIT - 1, ((units + below) >> (WIDTH * (len(limbs) - 1))) + 1)
        return self._each([*limbs[:-1], limbs[-1].within(-bound, bound)])


def join_wide(parts: Sequence[Wide], axis: int = 0) -> Wide:
    """Return several wide arrays as one; short ones get empty high limbs.

    Parameters
    ----------
    parts : sequence of Wide
        The arrays, of the same scale.
    axis : int, default 0
        The axis along which they are joined.

    Returns
    -------
    Wide
        The joined array.
    """
    if len({part.scale for part in parts}) > 1:
        raise RingError("Only wide values of the same scale can be joined. Their scales: "
                        f"{sorted({part.scale for part in parts})}. Use rescale.")
    count = max(len(part.limbs) for part in parts)
    rows = [[*part.limbs, *[_zero(part)] * (count - len(part.limbs))] for part in parts]
    return Wide(tuple(concatenate(limbs, axis) for limbs in zip(*rows, strict=True)),
                parts[0].scale)


def _zero(part: Wide) -> Shared:
    return public(part.party, np.zeros(part.shape, np.int64))


def limbs_for(most: float, scale: int) -> int:
    """Return how many limbs hold values up to `most` with the highest one within 24 bits."""
    if not most > 0:
        raise RingError(explain("The bound of wide values", "positive", most))
    return max(1, ceil((scale + log2(most)) / WIDTH))


def digits(values: Any, scale: int, count: int) -> np.ndarray[Any, Any]:
    """Return values as limbs, lowest first: exact for whole numbers, rounded once for floats."""
    array = np.asarray(values)
    if array.dtype.kind in "iubO":
        return _whole_digits(array.astype(object) * (1 << scale), count)
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise RingError("Some values are not finite numbers.")
    rest, limbs = array.astype(np.float64), []
    for place in range(count - 1, -1, -1):
        exponent = WIDTH * place - scale
        digit = np.rint(np.ldexp(rest, -exponent))
        rest = rest - np.ldexp(digit, exponent)
        limbs.append(digit)
    return np.stack(limbs[::-1]).astype(np.int64).reshape(count, *array.shape)


def _whole_digits(units: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Return whole numbers of any length as balanced limbs."""
    out = np.zeros((count, *units.shape), np.int64)
    rest = units
    for place in range(count - 1):
        digit = (rest + BASE // 2) % BASE - BASE // 2
        rest = (rest - digit) // BASE
        out[place] = digit
    out[count - 1] = rest
    return out


def public_wide(party: Party, values: Any, scale: int = FINE) -> Wide:
    """Return values that everybody knows as a Wide array; nothing is sent.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array
        The values.
    scale : int, default 96
        Fractional bits.

    Returns
    -------
    Wide
        The values; the first holder's share has them.

    Examples
    --------
    >>> identity = public_wide(party, np.eye(3))  # doctest: +SKIP
    """
    array = np.asarray(values)
    most = float(np.abs(array).max()) if array.size else 0.0
    parts = digits(array, scale, limbs_for(2 * max(most, 2.0**-scale), scale))
    return Wide(tuple(public(party, part) for part in parts), scale)
