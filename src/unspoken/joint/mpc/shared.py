"""Shared arrays: additive shares in the ring of 64-bit integers, with the range they stay in.

Every holder has one array; their sum modulo 2^64 is the value (two's complement). One share, or
all but one, are uniform words and say nothing. Integers are exact; fixed point has `scale`
fractional bits, stated for each array. Each array carries an interval that its values cannot
leave: it is widened by every operation, and an operation that could reach 2^62 is refused when it
is planned. No overflow is tested at run time, because that would cost a comparison.

Nothing comes out of a Shared value but through `reveal`. unspoken's own engine is not vetted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.authentic.tagged import Tagged
from unspoken.joint.wire.hollow_arrays import hollow, is_dry, is_hollow

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party

LIMIT = 1 << 62
# Unsigned, of any width: arithmetic is modulo 2 to that width.
Numbers = npt.NDArray[Any]


def check_interval(low: int, high: int, what: str) -> None:
    """Refuse what could reach 2^62."""
    if not -LIMIT < low <= high < LIMIT:
        raise RingError(f"{what} must stay between -2^62 and 2^62. It could lie anywhere in "
                        f"[{low}, {high}]. Give tighter bounds, fewer fractional bits, or "
                        "truncate first.")


@dataclass(frozen=True, repr=False, eq=False)
class Shared:
    """An array of which this party has at most a share.

    Shares are additive modulo 2^64. Operators add, subtract, negate, index and multiply by public
    whole numbers without any message; functions such as `multiply` do the rest. Only `reveal` opens
    it.

    Attributes
    ----------
    party : Party
        The party that has this share.
    share : array of uint64
        Its share; zeros if it holds none.
    low, high : int
        An interval that the values cannot leave, in units of 2^-scale.
    scale : int, default 0
        Fractional bits.
    rounded : bool, default False
        Whether `truncate` had a part in it: if it is opened, that is booked (`truncate`).

    Examples
    --------
    >>> weighted = 3 * x[:, 0] + y  # doctest: +SKIP
    """

    party: Party
    share: Words
    low: int
    high: int
    scale: int = 0
    rounded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", int(self.low))
        object.__setattr__(self, "high", int(self.high))
        check_interval(self.low, self.high, "A shared value")
        # Arithmetic on numpy's scalars would warn where arrays wrap, as they shall.
        object.__setattr__(self, "share", np.asanyarray(self.share))

    def __repr__(self) -> str:
        return f"Shared({self.shape}, between {self.low} and {self.high}, scale {self.scale})"

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("A shared value leaves its shares only through: "
                        "await reveal(party, x, because=...).")

    def __bool__(self) -> NoReturn:
        raise TypeError("Nobody knows whether a shared value is true. Reveal it, or compute on.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape, which everybody knows."""
        return self.share.shape

    @property
    def size(self) -> int:
        """Return the number of values."""
        return int(self.share.size)

    def with_share(self, share: Words) -> Shared:
        """Return the same kind of value with another share."""
        return replace(self, share=share)

    def __add__(self, other: Shared | int) -> Shared:
        if isinstance(other, int):
            return self._plus_public(other)
        _same_scale(self, other)
        return replace(self, share=np.add(self.share, other.share), low=self.low + other.low,
                       high=self.high + other.high, rounded=self.rounded or other.rounded)

    def __sub__(self, other: Shared | int) -> Shared:
        if isinstance(other, int):
            return self._plus_public(-other)
        return self + -other

    def __neg__(self) -> Shared:
        return replace(self, share=np.negative(self.share), low=-self.high, high=-self.low)

    def __rsub__(self, other: int) -> Shared:
        return -self + other

    def __mul__(self, factor: int) -> Shared:
        if not isinstance(factor, int):
            raise TypeError("Two shared values are multiplied with: await multiply(party, x, y)")
        ends = self.low * factor, self.high * factor
        check_interval(min(ends), max(ends), "A multiple of a shared value")
        share = np.multiply(self.share, np.uint64(factor % (1 << 64)))
        return replace(self, share=share, low=min(ends), high=max(ends))

    __radd__ = __add__
    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Shared:
        return self.with_share(np.asanyarray(self.share[index]))

    def within(self, low: int, high: int) -> Shared:
        """Promise a narrower interval that interval arithmetic cannot see; it is not checked.

        A promise that is broken gives wrong results and discloses nothing.
        """
        least, most = max(self.low, int(low)), min(self.high, int(high))
        if least > most and self.size:
            raise RingError(f"Values between {self.low} and {self.high} cannot lie within "
                            f"[{low}, {high}].")
        return replace(self, low=least, high=max(least, most))

    @property
    def T(self) -> Shared:
        """Return the transposed array, as numpy calls it."""
        return self.with_share(self.share.T)

    def reshape(self, *shape: int) -> Shared:
        """Return the same values in another shape."""
        return self.with_share(self.share.reshape(shape))

    def sum(self, axis: int | None = None) -> Shared:
        """Return the sum over an axis, or over everything."""
        share = np.asanyarray(self.share.sum(axis=axis, dtype=np.uint64))
        count = self.size // max(1, share.size)
        return replace(self, share=share, low=min(0, self.low * count),
                       high=max(0, self.high * count))

    def _plus_public(self, number: int) -> Shared:
        """Add a public number (in units of the scale): one holder alone does it."""
        words = np.asarray(np.uint64(number % (1 << 64)))
        share = np.add(self.share, self.party.engine.public_words(words))
        return replace(self, share=share, low=self.low + number, high=self.high + number)


def _same_scale(one: Shared, other: Shared) -> None:
    if one.scale != other.scale:
        raise RingError("Only shared values of the same scale can be added or joined. Their "
                        f"scales: {one.scale} and {other.scale}. Truncate one of them.")


def concatenate(parts: Sequence[Shared], axis: int = 0) -> Shared:
    """Return several shared arrays as one, so that one protocol step serves them all.

    Parameters
    ----------
    parts : sequence of Shared
        The arrays, of the same scale.
    axis : int, default 0
        The axis along which they are joined.

    Returns
    -------
    Shared
        The joined array.
    """
    for part in parts[1:]:
        _same_scale(parts[0], part)
    return replace(parts[0], share=np.concatenate([part.share for part in parts], axis=axis),
                   low=min(part.low for part in parts), high=max(part.high for part in parts),
                   rounded=any(part.rounded for part in parts))


def stack(parts: Sequence[Shared]) -> Shared:
    """Return shared arrays of one shape under a new first axis."""
    return concatenate([part.reshape(1, *part.shape) for part in parts])


def public(party: Party, values: Any, scale: int = 0) -> Shared:
    """Return values that everybody knows as a Shared array; nothing is sent.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array
        Floats are rounded to the scale; whole numbers are taken as they are, in units of it.
    scale : int, default 0
        Fractional bits.

    Returns
    -------
    Shared
        The values; the first holder's share has them.
    """
    array = np.asarray(values)
    if array.dtype.kind == "f":
        array = _fixed_point(array, scale, "Public values")
    array = array.astype(np.int64)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    share = party.engine.public_words(array.view(np.uint64))
    return Shared(party, share, low, high, scale)


def to_ring(values: Any, low: int, high: int, scale: int, what: str) -> Words:
    """Return an owner's values as ring words; what does not fit is refused before it is shared.

    Blank values of a dry run need not fit.
    """
    if is_dry():
        blank: Words = hollow(np.shape(values))
        return blank
    array = np.asarray(values)
    if array.dtype.kind not in "iubf":
        raise RingError(explain(what, "numbers", str(array.dtype)))
    shift = 0 if array.dtype.kind == "f" else scale
    if array.dtype.kind == "f":
        array = _fixed_point(array, scale, what)
    if array.size and not (low <= int(array.min()) << shift <= int(array.max()) << shift <= high):
        # The values themselves are private and stay out of the message.
        raise RingError(f"{what} must lie between {low} and {high} (in units of 2^-{scale}). "
                        "Some do not. Give wider bounds, or correct the data.")
    return (np.ascontiguousarray(array).astype(np.int64).reshape(array.shape)
            << np.int64(shift)).view(np.uint64)


def _fixed_point(array: np.ndarray[Any, Any], scale: int, what: str) -> np.ndarray[Any, Any]:
    if not np.isfinite(array).all():
        raise RingError(f"{what} must be finite. Some are not.")
    if scale == 0 and not (array == np.floor(array)).all():
        raise RingError(f"{what} must be whole numbers unless a scale is given. Some have a "
                        "fraction.")
    scaled = np.rint(np.ldexp(array.astype(np.float64), scale))
    if array.size and np.abs(scaled).max() >= LIMIT:
        raise RingError(f"{what} must stay below 2^62 in units of 2^-{scale}. Some do not.")
    whole: np.ndarray[Any, Any] = scaled.astype(np.int64)
    return whole


def from_ring(words: Words, scale: int) -> np.ndarray[Any, Any]:
    """Return opened words as integers, or as floats if they have fractional bits."""
    signed = words.view(np.int64)
    return np.ldexp(signed.astype(np.float64), -scale) if scale else signed


def width_of(low: int, high: int) -> int:
    """Return the least l for which [low, high] fits into two's complement of l bits."""
    return 1 + max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0)


def corners(one: Shared, other: Shared) -> tuple[int, int]:
    """Return the interval of a product."""
    ends = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    return min(ends), max(ends)


def times(one: Words, other: Words) -> Words:
    """Return a matrix product modulo 2^64."""
    if is_hollow(one) or is_hollow(other):
        return np.asanyarray(one @ other)
    # numpy multiplies whole numbers without BLAS: up to four times faster along memory.
    if isinstance(one, Tagged) or isinstance(other, Tagged):
        return np.asanyarray(np.matmul(one, other))
    return np.asarray(np.ascontiguousarray(one) @ np.asfortranarray(other))


def total(values: Iterable[Numbers]) -> Numbers:
    """Return the sum of words in the ring of their type, 2^64; of one alone, itself."""
    first, *rest = values
    out = first + rest[0] if rest else first
    for part in rest[1:]:
        out += part
    return out
