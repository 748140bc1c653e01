"""Correlated randomness between two holders without a dealer, made by oblivious transfer.

Each holder draws its own parts; what the products of both have in common comes from transfers:

    ands, pairs        a table of all values of the other's bits (GMW, by one of 4 or 8 entries)
    dabits             b0 + b1 - 2 b0 b1, of which b0 b1 is one correlated transfer
    edabits, cuts      64 dabits of one value, put together
    triple, matrix     Gilboa 1999: a transfer for each bit of one factor, correlated by the other

  discloses: nothing but sizes. Safe against either of the two holders.
  cost, bytes between the two: AND 10 a bit, pair 18 a bit, daBit 12, triple 1,536, and a matrix
    triple n x k x m 1,024 n k m + 256 (n k + k m).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.bit_planes import bits_of, plane_words
from unspoken.joint.mpc.correlated.kinds import Need, Parts
from unspoken.joint.mpc.correlated.source import Source
from unspoken.joint.mpc.correlated.transfers import Transfer, pieces
from unspoken.joint.mpc.randomness import fresh_words

_SHIFTS = np.arange(64, dtype=np.uint64)
# Words that one piece of Gilboa's products may have on either side.
_ROOM = 1 << 21


class TransferSource(Source):
    """A holder's side of what two make together."""

    def __init__(self, transfer: Transfer) -> None:
        self._transfer = transfer

    async def draw(self, needs: Sequence[Need]) -> list[Parts]:
        """Make this holder's parts, one wish after the other."""
        make: dict[str, Callable[..., Awaitable[Parts]]] = {
            "triple": self._triple, "matrix": self._matrix, "ands": self._ands,
            "pairs": self._pairs, "dabits": self._dabits, "edabits": self._edabits,
            "cuts": self._cuts}
        for need in needs:
            if need.kind not in make:
                raise RefusedError(f"Two parties alone cannot make correlated randomness of kind "
                                   f"'{need.kind}'. Use mode 'dealer' or 'three-party'.")
        return [await make[need.kind](*need.sizes) for need in needs]

    async def _ands(self, w: int) -> Parts:
        """Two ANDs in one transfer: the chooser's four bits name the entry."""
        half = -(-w // 2)
        a, b, c = fresh_words(6 * half).reshape(3, 2, half)
        choice = np.stack([a[0], b[0], a[1], b[1]])
        if self._transfer.offers:
            table = np.stack([np.stack([_flip(a[k], j >> 2 * k) & _flip(b[k], j >> 2 * k + 1)
                                        ^ c[k] for k in range(2)]) for j in range(16)])
            await self._transfer.pick("ands", table, 16, 2)
        else:
            c = await self._transfer.pick("ands", choice, 16, 2)
        return [part.reshape(-1)[:w] for part in (a, b, c)]

    async def _pairs(self, w: int) -> Parts:
        a, b, both, c, d = fresh_words(5 * w).reshape(5, w)
        if self._transfer.offers:
            table = np.stack([np.stack([_flip(a, j) & _flip(b, j >> 1) ^ c,
                                        _flip(a, j) & _flip(both, j >> 2) ^ d])
                              for j in range(8)])
            await self._transfer.pick("pairs", table, 8, 2)
        else:
            c, d = await self._transfer.pick("pairs", np.stack([a, b, both]), 8, 2)
        return [a, b, both, c, d]

    async def _dabits(self, n: int) -> Parts:
        plane = fresh_words(plane_words(n))
        bits = bits_of(plane, n)
        own = bits[:, None] if self._transfer.offers else plane
        # b0 b1 is what the chooser has less what the offerer has.
        product_shares = (await self._transfer.correlate("dabits", own, n))[:, 0]
        twice = product_shares << np.uint64(1)
        return [bits + twice if self._transfer.offers else bits - twice, plane]

    async def _bits(self, width: int, n: int) -> tuple[Words, Words]:
        """Return `width` shared bits of n values: as numbers (width, n) and planes."""
        lanes = plane_words(n) * 64
        numbers, planes = await self._dabits(width * lanes)
        if n % 64:
            # Bits of values that are not there are 0, as from a dealer.
            planes.reshape(width, -1)[:, -1] &= np.uint64((1 << n % 64) - 1)
        return numbers.reshape(width, lanes)[:, :n], planes

    async def _edabits(self, width: int, n: int) -> Parts:
        numbers, planes = await self._bits(width, n)
        return [_weighed(numbers), planes]

    async def _cuts(self, n: int, f: int) -> Parts:
        numbers, _ = await self._bits(64, n)
        return [_weighed(numbers), _weighed(numbers[f:]), numbers[63].copy()]

    async def _triple(self, n: int) -> Parts:
        a, b = fresh_words(2 * n).reshape(2, n)
        first, second = (a, b) if self._transfer.offers else (b, a)
        # Of a0 b1 the chooser has b, of a1 b0 it has a: both in one run of transfers.
        cross = await self._products(np.concatenate([first, second])[:, None])
        return [a, b, a * b + cross[:n, 0] + cross[n:, 0]]

    async def _matrix(self, n: int, k: int, m: int) -> Parts:
        words = fresh_words(n * k + k * m)
        a, b = words[:n * k].reshape(n, k), words[n * k:].reshape(k, m)
        c = a @ b
        if self._transfer.offers:
            c += await self.rows(n, k, b) + (await self.rows(m, k, a.T)).T
        else:
            c += await self.rows(n, k, a, m) + (await self.rows(m, k, b.T, n)).T
        return [a.ravel(), b.ravel(), c.ravel()]

    async def rows(self, n: int, k: int, own: Words, columns: int = 0) -> Words:
        """Return a share of X Y; the chooser has X, n x k, and the offerer Y, k rows."""
        columns = columns or own.shape[1]
        out = np.zeros((n, columns), np.uint64)
        for wide in pieces(columns, 4096):
            width = wide.stop - wide.start
            for some in pieces(n * k, max(1, _ROOM // (64 * width))):
                place = np.arange(some.start, some.stop)
                factors = (own[place % k, wide] if self._transfer.offers
                           else np.broadcast_to(own.ravel()[some, None], (place.size, width)))
                rows = np.arange(some.start // k, (some.stop - 1) // k + 1)
                starts = np.maximum(rows * k, some.start) - some.start
                out[rows, wide] += np.add.reduceat(await self._products(factors), starts, axis=0)
        return out

    async def _products(self, own: Words) -> Words:
        """Return shares of x y, where the chooser has x (the same in a row) and the offerer y."""
        count, length = own.shape
        out = np.empty((count, length), np.uint64)
        for part in pieces(count, max(1, _ROOM // (64 * max(1, length)))):
            some = own[part]
            # The 64 bits of a value are one word of a plane of choices.
            inputs = ((some[:, None, :] << _SHIFTS[:, None]).reshape(-1, length)
                      if self._transfer.offers else np.ascontiguousarray(some[:, 0]))
            correlated = await self._transfer.correlate("product", inputs, 64 * len(some), length)
            out[part] = correlated.reshape(len(some), 64, length).sum(axis=1, dtype=np.uint64)
        return np.negative(out) if self._transfer.offers else out


def _flip(plane: Words, bit: int) -> Words:
    return np.asarray(~plane) if bit & 1 else plane


def _weighed(numbers: Words) -> Words:
    """Return the values of bits, the lowest first."""
    shifts = np.arange(len(numbers), dtype=np.uint64)
    return np.asarray((numbers << shifts[:, None]).sum(axis=0, dtype=np.uint64))
