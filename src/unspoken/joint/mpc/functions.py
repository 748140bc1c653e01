"""Functions on shares, as methods of a party; each is a file in `primitives/`.

Bounds on errors, costs and what is disclosed (nothing, unless it says otherwise) stand in those
files and in docs/concepts/joint.md. Everything uses the correlated randomness of `party.draw`
alone, so it runs in every mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from unspoken.arrays import Words
    from unspoken.joint.mpc.multi_limb import Wide
    from unspoken.joint.mpc.ops.shared_bits import SharedBits
    from unspoken.joint.mpc.shared import Shared
    from unspoken.joint.session.party import Party


class Functions:
    """What a party can compute on shares beyond sums, products and comparisons."""

    def public(self, values: Any, scale: int = 0) -> Shared:
        """Return values that everybody knows as a Shared array; floats need a scale."""
        from unspoken.joint.mpc.shared import public

        return public(cast("Party", self), values, scale)

    async def log(self, x: Shared, scale: int = 30) -> Shared:
        """Return ln x to 3.5e-8; ln 0 counts as 0."""
        from unspoken.joint.mpc.ops.logarithm import log

        return await log(cast("Party", self), x, scale)

    async def x_log_x(self, x: Shared, scale: int = 30) -> Shared:
        """Return x ln x to 3.5e-8 x; exactly 0 at 0."""
        from unspoken.joint.mpc.ops.logarithm import x_log_x

        return await x_log_x(cast("Party", self), x, scale)

    async def sqrt(self, x: Shared, scale: int | None = None) -> Shared:
        """Return the square root to 8e-9 of itself, and a unit in the last place."""
        from unspoken.joint.mpc.ops.logarithm import sqrt

        return await sqrt(cast("Party", self), x, scale)

    async def divide(self, a: Shared, b: Shared, scale: int = 30,
                     most: float | None = None) -> Shared:
        """Return a / b to 5e-9 of itself and a unit; 0 as divisor counts as one unit.

        `most` promises a bound on |a / b|, which keeps precision where a is large.
        """
        from unspoken.joint.mpc.ops.division import divide

        return await divide(cast("Party", self), a, b, scale, most)

    async def reciprocal(self, x: Shared, scale: int = 30) -> Shared:
        """Return 1 / x; 0 counts as one unit."""
        from unspoken.joint.mpc.ops.division import reciprocal

        return await reciprocal(cast("Party", self), x, scale)

    async def select(self, bits: SharedBits | Shared, yes: Shared, no: Shared) -> Shared:
        """Return `yes` where a bit is set and `no` elsewhere; nobody learns which."""
        from unspoken.joint.mpc.ops.choice import select

        return await select(cast("Party", self), bits, yes, no)

    async def maximum(self, one: Shared, other: Shared) -> Shared:
        """Return the greater of two, element by element."""
        from unspoken.joint.mpc.ops.choice import maximum

        return await maximum(cast("Party", self), one, other)

    async def minimum(self, one: Shared, other: Shared) -> Shared:
        """Return the lesser of two, element by element."""
        from unspoken.joint.mpc.ops.choice import minimum

        return await minimum(cast("Party", self), one, other)

    async def argmax(self, values: Shared) -> tuple[Shared, Shared]:
        """Return the first place of the greatest value along the last axis, and that value."""
        from unspoken.joint.mpc.ops.choice import argmax

        return await argmax(cast("Party", self), values)

    async def sign(self, value: Shared) -> Shared:
        """Return -1, 0 or 1."""
        from unspoken.joint.mpc.ops.choice import sign

        return await sign(cast("Party", self), value)

    async def absolute(self, value: Shared) -> Shared:
        """Return the magnitude."""
        from unspoken.joint.mpc.ops.choice import absolute

        return await absolute(cast("Party", self), value)

    async def floor(self, value: Shared, bits: int) -> Shared:
        """Return values divided by 2^bits, rounded down for certain."""
        from unspoken.joint.mpc.ops.choice import floor

        return await floor(cast("Party", self), value, bits)

    async def sums_less(self, one: Any, other: Any, shape: tuple[int, ...], low: int, high: int,
                        scale: int = 0) -> SharedBits:
        """Return bits: where all owners' `one` add up to less than their `other`."""
        from unspoken.joint.mpc.ops.choice import sums_less

        return await sums_less(cast("Party", self), one, other, shape, low, high, scale)

    async def split(self, bits: SharedBits | Shared, modulus: int,
                    between: Sequence[str]) -> Words | None:
        """Return this party's number modulo F; those of the two add up to the bit."""
        from unspoken.joint.mpc.ops.split_comparison import split

        return await split(cast("Party", self), bits, modulus, between)

    async def share_wide(self, values: Any, owner: str, shape: tuple[int, ...], most: float,
                         scale: int = 48) -> Wide:
        """Return one owner's values, |values| <= most, as long fixed-point numbers."""
        from unspoken.joint.mpc.ops.limb_sharing import share_wide

        return await share_wide(cast("Party", self), values, owner, shape, most, scale)

    async def share_sum_wide(self, values: Any, shape: tuple[int, ...], most: float,
                             scale: int = 48) -> Wide:
        """Return the sum of every owner's values as long fixed-point numbers."""
        from unspoken.joint.mpc.ops.limb_sharing import share_sum_wide

        return await share_sum_wide(cast("Party", self), values, shape, most, scale)

    async def share_columns(self, values: Any, widths: Mapping[str, int], rows: int, most: float,
                            scale: int = 48) -> Wide:
        """Return a table of which each owner has `widths[owner]` columns; others give None."""
        from unspoken.joint.mpc.ops.limb_sharing import share_columns

        return await share_columns(cast("Party", self), values, widths, rows, most, scale)

    def public_wide(self, values: Any, scale: int = 96) -> Wide:
        """Return values that everybody knows as a Wide array."""
        from unspoken.joint.mpc.multi_limb import public_wide

        return public_wide(cast("Party", self), values, scale)

    async def lift(self, x: Shared) -> Wide:
        """Return a Shared array as a Wide one; exact."""
        from unspoken.joint.mpc.ops.limb_sharing import lift

        return await lift(cast("Party", self), x)

    async def narrow(self, x: Wide, scale: int, most: float | Fraction | None = None) -> Shared:
        """Return wide values as a Shared array of 64 bits, to be revealed or computed with."""
        from unspoken.joint.mpc.ops.limb_sharing import narrow

        return await narrow(cast("Party", self), x, scale, most)

    async def rescale(self, x: Wide, scale: int) -> Wide:
        """Return wide values with another number of fractional bits."""
        from unspoken.joint.mpc.ops.limb_sharing import rescale

        return await rescale(cast("Party", self), x, scale)

    async def wide_matmul(self, one: Wide, other: Wide, scale: int | None = None) -> Wide:
        """Return the product of two wide matrices, exact or cut to `scale` fractional bits."""
        from unspoken.joint.mpc.ops.limb_products import wide_matmul

        return await wide_matmul(cast("Party", self), one, other, scale)

    async def wide_multiply(self, one: Wide, other: Wide, scale: int | None = None) -> Wide:
        """Return products element by element, exact or cut to `scale` fractional bits."""
        from unspoken.joint.mpc.ops.limb_products import wide_multiply

        return await wide_multiply(cast("Party", self), one, other, scale)

    async def gram(self, x: Wide, other: Wide | None = None, scale: int = 96) -> Wide:
        """Return X'X, or X'Y, of shared data with rows along the first axis."""
        from unspoken.joint.mpc.ops.limb_products import gram

        return await gram(cast("Party", self), x, other, scale)

    async def inverse(self, matrix: Wide, most: float, condition: float = 2.0**20) -> Wide:
        """Return the inverse of a positive definite matrix whose eigenvalues `most` bounds.

        Opens one bit, which the program must declare (`inverse.ILL`), and refuses on it.
        """
        from unspoken.joint.mpc.ops.matrix_inverse import inverse

        return await inverse(cast("Party", self), matrix, most, condition)

    async def sum_product(self, one: Any, other: Any, shapes: tuple[Any, Any], low: int,
                          high: int) -> Shared:
        """Return (sum of the owners' `one`) times (sum of their `other`), as matrices."""
        from unspoken.joint.mpc.ops.limb_products import sum_product

        return await sum_product(cast("Party", self), one, other, shapes, low, high)

    async def determinant(self, matrix: Wide, most: float) -> Wide:
        """Return the determinant of a positive definite matrix whose eigenvalues `most` bounds."""
        from unspoken.joint.mpc.ops.determinant import determinant

        return await determinant(cast("Party", self), matrix, most)

    async def log_determinant(self, matrix: Wide, most: float) -> Shared:
        """Return the logarithm of the determinant of a positive definite matrix."""
        from unspoken.joint.mpc.ops.determinant import log_determinant

        return await log_determinant(cast("Party", self), matrix, most)

    async def norm(self, matrix: Wide) -> Shared:
        """Return the Frobenius norm of a matrix, or the length of a vector."""
        from unspoken.joint.mpc.ops.determinant import norm

        return await norm(cast("Party", self), matrix)

    async def matrix_product(self, values: Any, owners: Sequence[str], rows: int,
                             columns: Sequence[int], *, method: str = "commodity",
                             most: float = 1.0) -> Any:
        """Return A'B of two owners: as shares, or by one of the book's weak protocols by name."""
        from unspoken.joint.museum.weak_products import matrix_product

        return await matrix_product(cast("Party", self), values, owners, rows, columns,
                                    method=method, most=most)
