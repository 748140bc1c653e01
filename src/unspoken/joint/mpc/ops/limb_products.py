"""Products of wide values (limb by limb, all pairs in one matrix triple), and X'X.

The limbs of one matrix are put below each other and those of the other beside each other: one
matrix triple gives every product of two limbs, and opens each limb once. Long inner axes are cut
so that no sum of limb products reaches 2^62.
  error: products are exact; `scale` says to how many fractional bits they are then cut.
  discloses: nothing. Safe against all holders but one; never the dealer with a holder.
  cost: 1 round for each piece of the inner axis (8192 rows at two limbs), 2 or 3 for the carry;
    8 L (n k + k m) bytes from each holder to each other for L limbs, dealer 8 L^2 n m.

`gram` is X'X for data whose columns lie with several owners (vcz2006 section 5.2.1): with 48
fractional bits and |x| <= 1 each entry is off by at most N 2^-48.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.multi_limb import FINE, Wide, span
from unspoken.joint.mpc.ops import products
from unspoken.joint.mpc.ops.limb_sharing import carry, rescale
from unspoken.joint.mpc.ops.sharing import share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT, Shared, concatenate

ANY = (1 - LIMIT, LIMIT - 1)


async def wide_matmul(party: Party, one: Wide, other: Wide, scale: int | None = None) -> Wide:
    """Return the matrix product of two wide matrices; exact before it is cut to `scale`.

    Discloses nothing; a dealer learns the shapes.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one : Wide
        A matrix n x k.
    other : Wide
        A matrix k x m.
    scale : int, optional
        Fractional bits of the result. Default: all of them (the scales add).

    Returns
    -------
    Wide
        The product, n x m.

    Examples
    --------
    >>> product = await wide_matmul(party, x, y, scale=48)  # doctest: +SKIP
    """
    _check(one, other)
    one, other = await carry(party, one), await carry(party, other)
    rows = concatenate(one.limbs, 0)
    columns = concatenate(other.limbs, 1)
    step = _piece(one, other)
    parts = [await _part(party, rows[:, start:start + step], columns[start:start + step],
                         (one, other))
             for start in range(0, one.shape[1], step)]
    return await _added(party, parts, one.scale + other.scale, scale)


async def wide_multiply(party: Party, one: Wide, other: Wide, scale: int | None = None) -> Wide:
    """Return the products of wide values, element by element.

    Discloses nothing; a dealer learns the shapes.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : Wide
        The factors, of the same shape.
    scale : int, optional
        Fractional bits of the result. Default: all of them (the scales add).

    Returns
    -------
    Wide
        The products.

    Examples
    --------
    >>> squares = await wide_multiply(party, x, x, scale=48)  # doctest: +SKIP
    """
    one, other = await carry(party, one), await carry(party, other)
    if one.shape != other.shape:
        raise RingError("Only wide values of the same shape can be multiplied. Got shapes "
                        f"{one.shape} and {other.shape}.")
    pairs = [(i, j) for i in range(len(one.limbs)) for j in range(len(other.limbs))]
    left = concatenate([one.limbs[i].reshape(1, -1) for i, _ in pairs])
    right = concatenate([other.limbs[j].reshape(1, -1) for _, j in pairs])
    product = await products.multiply(party, left, right, within=ANY)
    cells = {pair: product[at].reshape(*one.shape) for at, pair in enumerate(pairs)}
    return await _added(party, [_by_weight(cells, (one, other), 1)], one.scale + other.scale, scale)


def _check(one: Wide, other: Wide) -> None:
    fits = len(one.shape) == len(other.shape) == 2 and one.shape[1] == other.shape[0]
    if not fits:
        raise RingError("Only matrices of shapes n x k and k x m can be multiplied. Got shapes "
                        f"{one.shape} and {other.shape}.")


def _piece(one: Wide, other: Wide) -> int:
    """Return how many terms of the inner axis can be added before a limb could reach 2^62."""
    weights = [sum(span(a) * span(other.limbs[t - i]) for i, a in enumerate(one.limbs)
                   if 0 <= t - i < len(other.limbs))
               for t in range(len(one.limbs) + len(other.limbs) - 1)]
    step = (LIMIT - 1) // max(1, *weights)
    if step < 1:
        raise RingError("A wide product could exceed 2^62 in a limb. "
                        "Promise tighter bounds (x.within(most)), or use fewer bits.")
    return step


async def _part(party: Party, rows: Shared, columns: Shared,
                whole: tuple[Wide, Wide]) -> list[Shared]:
    """Return the limbs of one piece of the product."""
    one, other = whole
    n, m = one.shape[0], other.shape[1]
    product = await products.matmul(party, rows, columns, within=ANY)
    cells = {(i, j): product[i * n:(i + 1) * n, j * m:(j + 1) * m]
             for i in range(len(one.limbs)) for j in range(len(other.limbs))}
    return _by_weight(cells, whole, rows.shape[1])


def _by_weight(cells: dict[tuple[int, int], Shared], whole: tuple[Wide, Wide],
               terms: int) -> list[Shared]:
    """Add the limb products of equal weight; each has the interval of its own two limbs."""
    one, other = whole
    limbs: list[Shared | None] = [None] * (len(one.limbs) + len(other.limbs) - 1)
    for (i, j), cell in cells.items():
        bound = terms * span(one.limbs[i]) * span(other.limbs[j])
        part = replace(cell, low=-bound, high=bound)
        before = limbs[i + j]
        limbs[i + j] = part if before is None else before + part
    return [limb for limb in limbs if limb is not None]


async def _added(party: Party, parts: list[list[Shared]], scale: int, wanted: int | None) -> Wide:
    """Carry all pieces together, add them, and cut to the wanted scale."""
    limbs = [concatenate([part[t].reshape(1, *part[t].shape) for part in parts])
             for t in range(len(parts[0]))]
    carried = await carry(party, Wide(tuple(limbs), scale))
    total = await carry(party, carried.sum(0))
    return total if wanted is None else await rescale(party, total, wanted)


async def gram(party: Party, x: Wide, other: Wide | None = None, scale: int = FINE) -> Wide:
    """Return X'X, or X'Y, of shared data with its rows along the first axis.

    For data split by columns (vcz2006 section 5.2.1). Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    x : Wide
        The data, n x p.
    other : Wide, optional
        Y, n x q. Default: X itself.
    scale : int, default 96
        Fractional bits of the result.

    Returns
    -------
    Wide
        The cross products, p x p or p x q.

    Examples
    --------
    >>> moments = await gram(party, x)  # doctest: +SKIP
    """
    return await wide_matmul(party, x.T, x if other is None else other, scale)


async def sum_product(party: Party, one: Any, other: Any, shapes: tuple[Any, Any], low: int,
                      high: int) -> Shared:
    """Return (sum of the owners' first matrices) times (sum of their second ones).

    vcz2006 section 5.2.1. Discloses nothing but the shapes and bounds, which are public.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    one, other : array or None
        This owner's two matrices of whole numbers; None if this party owns no data.
    shapes : tuple of two tuples of int
        The shapes of both, which are public: n x k and k x m.
    low, high : int
        Bounds on the values of each owner.

    Returns
    -------
    Shared
        The product, n x m.

    Examples
    --------
    >>> product = await sum_product(party, a, b, ((3, 4), (4, 2)), 0, 1000)  # doctest: +SKIP
    """
    first = await share_sum(party, one, shapes[0], low, high)
    second = await share_sum(party, other, shapes[1], low, high)
    return await products.matmul(party, first, second)
