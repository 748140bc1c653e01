"""A'B of two owners by the book's protocols, by name (vcz2006 section 5.2.1; Du, Han and Chen).

`commodity` is the book's commodity server over the ring instead of over the reals: shares and a
matrix triple of `party.draw`. It discloses nothing and is what you want.

`protocol-1` and `protocol-2` need no third party, work on floats, and **give half of each owner's
equations away**. They are here to be compared and attacked, never as a default:

  protocol-1: both draw a random orthogonal M (N x N). Alice sends A'M_left to Bob, Bob sends
    M_right'B to Alice; their parts of the product stay with them. Each learns N/2 linear
    equations on every column of the other.
  protocol-2: Alice sends N x g vectors U orthogonal to her columns, g = (N - m) / 2 rounded down;
    Bob answers W = B - U U'B. Alice learns (N + m) / 2 equations on each column of B, Bob that
    Alice's columns are orthogonal to U; both learn A'B. (As printed, U is orthogonal to Bob's
    columns too: then W is B itself.)

That the matrices are k-secure (every N/2 rows of M_left are independent, which random ones are
with probability one) means that no equation can be solved for fewer than k + 1 entries. It does
not help against what is known otherwise: a linear program with 0 <= x <= 1 finds binary columns
exactly in many cases (`museum.message_equations` has the rates). So columns whose values repeat are
refused. A column of continuous values still loses half of its freedom, and a second run with
another M the rest.
  discloses: that, to the other owner; it must be declared (`WEAK`).
  safe against: nobody who knows more than the equations.
  cost: protocol-1 2 messages of N/2 floats per column; protocol-2 N (g + n) + m n floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.limb_products import gram
from unspoken.joint.mpc.ops.limb_sharing import share_wide
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import Stream, fresh_seed
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.transports.recording import remember

WEAK = "half of the linear equations on every column (weak protocol)"
METHODS = ("commodity", "protocol-1", "protocol-2")


async def matrix_product(party: Party, values: Any, owners: Sequence[str], rows: int,
                         columns: Sequence[int], *, method: str = "commodity",
                         most: float = 1.0) -> Any:
    """Return A'B for A (rows x columns[0]) of the first and B (rows x columns[1]) of the second.

    `commodity` returns a Wide value and takes |values| <= most; protocol-1 this owner's part, so
    that the two add up; protocol-2 the product, to both. Others give None and get None.
    """
    if method not in METHODS:
        raise RefusedError(explain("matrix_product: 'method'", "one of " +
                                   ", ".join(METHODS), method))
    alice, bob = owners
    if method == "commodity":
        a = await share_wide(party, values if party.name == alice else None, alice,
                             (rows, columns[0]), most)
        b = await share_wide(party, values if party.name == bob else None, bob,
                             (rows, columns[1]), most)
        return await gram(party, a, b)
    party.begin(method)
    if party.name not in (alice, bob):
        return None
    mine = checked(values, rows, columns[party.name == bob])
    run = _first if method == "protocol-1" else _second
    return await run(party, mine, (alice, bob), rows, tuple(columns))


def checked(values: Any, rows: int, columns: int) -> Floats:
    """Return an owner's columns; those that a linear program would find are refused."""
    array = np.asarray(values, np.float64)
    if array.shape != (rows, columns) or not np.isfinite(array).all():
        raise RefusedError(f"Columns for a matrix product must be finite and of shape {rows} x "
                           f"{columns}. They are of shape {array.shape}.")
    for column in array.T:
        if 2 * np.unique(column).size <= rows:
            # Which column it is, and how many values it has, is private.
            raise RefusedError(
                "Columns for protocols I and II must have values that seldom repeat. Some repeat, "
                "as counts, categories and yes or no do: half of the equations, with the few "
                "values that are possible, let a linear program find them. Use method "
                "'commodity', which discloses nothing.")
    return array


def common_rotation(stream: Stream, size: int) -> Floats:
    """Return a random orthogonal matrix from a stream; any of its columns are size/2-secure."""
    words = stream.words(2 * size * size).reshape(2, size, size)
    first, second = (np.ldexp((w >> np.uint64(11)).astype(np.float64) + 0.5, -53) for w in words)
    normal = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
    q, r = np.linalg.qr(normal)
    return np.asarray(q * np.sign(np.diag(r)))


def is_k_secure(matrix: Floats, k: int) -> bool:
    """Return True if every way to leave out k rows keeps the rank; for small matrices."""
    from itertools import combinations

    rows, rank = matrix.shape
    return all(np.linalg.matrix_rank(np.delete(matrix, gone, axis=0)) == rank
               for gone in combinations(range(rows), k))


async def _first(party: Party, mine: Floats, owners: tuple[str, str], rows: int,
                 columns: tuple[int, ...]) -> Floats:
    """Protocol I: A'B = (A'M_left)(M_left'B) + (A'M_right)(M_right'B)."""
    alice, bob = owners
    half = rows // 2
    other = bob if party.name == alice else alice
    shape = (columns[0], half) if party.name == alice else (rows - half, columns[1])
    party.opening(WEAK, [other], shape)
    m = common_rotation(party.stream_with(other, "protocol 1"), rows)
    remember(party, "protocol1.matrix", m)
    left, right = m[:, :half], m[:, half:]
    if party.name == alice:
        await party.send(bob, "protocol1.left", mine.T @ left, Purpose.DISCLOSURE)
        got = await party.receive(bob, "protocol1.right", "<f8", (rows - half, columns[1]),
                                  Purpose.DISCLOSURE)
        return np.asarray(mine.T @ right @ got)
    await party.send(alice, "protocol1.right", right.T @ mine, Purpose.DISCLOSURE)
    got = await party.receive(alice, "protocol1.left", "<f8", (columns[0], half),
                              Purpose.DISCLOSURE)
    return np.asarray(got @ (left.T @ mine))


async def _second(party: Party, mine: Floats, owners: tuple[str, str], rows: int,
                  columns: tuple[int, ...]) -> Floats:
    """Protocol II: W = (I - U U')B keeps A'W = A'B because U'A = 0."""
    alice, bob = owners
    g = (rows - columns[0]) // 2
    if party.name == alice:
        party.opening(WEAK, [bob], (rows, g))
        u = _orthogonal_to(mine, g)
        remember(party, "protocol2.directions", u)
        await party.send(bob, "protocol2.directions", u, Purpose.DISCLOSURE)
        w = await party.receive(bob, "protocol2.projected", "<f8", (rows, columns[1]),
                                Purpose.DISCLOSURE)
        product = np.ascontiguousarray(mine.T @ w)
        await party.send(bob, "protocol2.product", product, Purpose.DISCLOSURE)
        return product
    party.opening(WEAK, [alice], (rows, columns[1]))
    remember(party, "protocol2.mine", mine)
    u = await party.receive(alice, "protocol2.directions", "<f8", (rows, g), Purpose.DISCLOSURE)
    await party.send(alice, "protocol2.projected", mine - u @ (u.T @ mine), Purpose.DISCLOSURE)
    return await party.receive(alice, "protocol2.product", "<f8", columns, Purpose.DISCLOSURE)


def _orthogonal_to(mine: Floats, g: int) -> Floats:
    """Return g random orthonormal directions in the complement of some columns."""
    columns = mine.shape[1]
    basis = np.linalg.qr(mine, mode="complete")[0][:, columns:]
    turn = common_rotation(Stream(fresh_seed()), basis.shape[1])
    return np.ascontiguousarray((basis @ turn)[:, :g])
