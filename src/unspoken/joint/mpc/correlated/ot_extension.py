"""Millions of oblivious transfers from 128 (IKNP 2003; SoftSpokenOT, Roy 2022, with k = 4).

Local mathematics only; `transfer` sends the messages. At each of 32 places the chooser has sixteen
streams r_x, x in the field of 16 elements, and the offerer all but r_D, for a secret D of its own.

    chooser   u = sum r_x,  v = sum x r_x      sends  d = u + c,  c its choices
    offerer   w = sum (x + D) r_x + D d  =  v + c D

The 32 values of one transfer are 128 bits. The pad of entry j is a hash of w + jD; for j = c that
is a hash of v. For any other j it is (c - j) D away, 128 bits that the chooser does not know.
Choices among two take one bit a place (4 bytes a transfer), among up to sixteen four (16 bytes):
a quarter of what IKNP sends for the same. Everything is planes: bits of 64 transfers a word.

The hash is p(s(x) xor i) xor s(x) (Guo, Katz, Wang and Yu 2020) with p AES under a public key of
this run, s(a, b) = (a xor b, a), and i the number of the transfer and of the block in it. Without
i, equal rows would give equal pads; without p the pads of all transfers differ by the same jD.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import words_of
from unspoken.joint.mpc.correlated.oblivious_transfer import BITS, LEAVES, PLACES
from unspoken.joint.mpc.randomness import Stream
from unspoken.joint.wire.hollow_arrays import hollow, is_dry

if TYPE_CHECKING:
    from unspoken.joint.mpc.correlated.oblivious_transfer import Keys

ROWS = PLACES * BITS
# Words of a constant that are xored at once; numpy is slow on rows of two.
_TILE = 1024


def times(a: int, b: int) -> int:
    """Return the product of two elements of the field, modulo x^4 + x + 1."""
    wide = 0
    for bit in range(BITS):
        wide ^= (a << bit) * (b >> bit & 1)
    for bit in (6, 5, 4):
        wide ^= (wide >> bit & 1) * (0b10011 << (bit - BITS))
    return wide


def combined(parts: Words) -> Words:
    """Return the sum of x^b parts[b], planes of elements in and four planes out."""
    wide = np.zeros((2 * BITS - 1, parts.shape[2]), np.uint64)
    for bit in range(BITS):
        wide[bit:bit + parts.shape[1]] ^= parts[bit]
    wide[0:3] ^= wide[4:7]
    wide[1:4] ^= wide[4:7]
    return wide[:BITS]


class Leaves:
    """The streams of one side; a leaf that this side does not have counts as nothing."""

    def __init__(self, keys: Keys) -> None:
        self._streams = [[Stream(key) if key else None for key in place] for place in keys]
        self._room = np.empty(0, np.uint64)

    def expand(self, planes: int, words: int) -> tuple[Words, Words]:
        """Return sums u (places, planes, words) and rows v (128, words) of the next transfers."""
        if is_dry():
            return hollow((PLACES, planes, words)), hollow((ROWS, words))
        if self._room.size != LEAVES * planes * words:
            self._room = np.empty(LEAVES * planes * words, np.uint64)
        room = self._room.reshape(LEAVES, planes, words)
        sums = np.empty((PLACES, planes, words), np.uint64)
        rows = np.empty((PLACES, BITS, words), np.uint64)
        parts = np.empty((BITS, planes, words), np.uint64)
        for place, streams in enumerate(self._streams):
            _fill(room, streams)
            sums[place] = _folded(room, parts)
            rows[place] = combined(parts)
        return sums, rows.reshape(ROWS, words)


def _fill(room: Words, streams: list[Stream | None]) -> None:
    for own, stream in zip(room, streams, strict=True):
        if stream is None:
            own[:] = 0
        else:
            stream.fill(own.reshape(-1))


def _folded(room: Words, parts: Words) -> Words:
    """Return the sum of all leaves; parts[b] becomes the sum of those whose number has bit b."""
    half = LEAVES // 2
    for bit in reversed(range(BITS)):
        np.bitwise_xor.reduce(room[half:2 * half], axis=0, out=parts[bit])
        room[:half] ^= room[half:2 * half]
        half //= 2
    return np.asarray(room[0])


def add_choice(rows: Words, secret: npt.NDArray[np.uint8], sent: Words) -> None:
    """Add D d to the offerer's rows, place by place."""
    if is_dry():
        return
    for place, factor in enumerate(secret):
        has = (factor >> np.arange(BITS) & 1).astype(bool)
        parts = np.where(has[:, None, None], sent[place], np.uint64(0))
        rows[place * BITS:(place + 1) * BITS] ^= combined(parts)


def multiples(secret: npt.NDArray[np.uint8]) -> Words:
    """Return jD for every j, as two words each."""
    bits = np.array([[times(j, int(d)) >> b & 1 for d in secret for b in range(BITS)]
                     for j in range(LEAVES)], np.uint8)
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


class Pads:
    """The hash of a run of transfers, of rows (128, words); `first` numbers the first of them."""

    def __init__(self, cipher: bytes, rows: Words, first: int) -> None:
        self._cipher = Cipher(AES(cipher), ECB()).encryptor()  # noqa: S305
        self.count = 64 * rows.shape[1]
        if is_dry():
            return
        low, high = words_of(rows[:64]), words_of(rows[64:])
        self._number = np.arange(first, first + self.count, dtype=np.uint64)
        # s(x), of which every block of every entry needs a few bits.
        self._moved = np.empty((self.count, 2), np.uint64)
        np.bitwise_xor(low, high, out=self._moved[:, 0])
        self._moved[:, 1] = low
        self._input = self._moved.copy()
        self._input[:, 0] ^= self._number
        self._work = np.empty_like(self._input)
        self._out = np.empty(2 * self.count + 2, np.uint64)

    def _hashed(self, offset: Words, block: int) -> Words:
        """Return p(s(x + offset) xor i), shape (count, 2)."""
        moved = _moved(offset)
        moved[1] ^= np.uint64(block)
        wide = math.gcd(_TILE, self._input.size)
        np.bitwise_xor(self._input.reshape(-1, wide), np.tile(moved, wide // 2),
                       out=self._work.reshape(-1, wide))
        self._cipher.update_into(self._work.view(np.uint8).data, self._out.view(np.uint8).data)
        return self._out[:2 * self.count].reshape(-1, 2)

    def planes(self, offset: Words, width: int) -> Words:
        """Return the lowest bits of every pad as planes (width, words)."""
        if is_dry():
            dry: Words = hollow((width, self.count // 64))
            return dry
        low = self._hashed(offset, 0).astype("<u8", copy=False).view(np.uint8)[:, 0]
        low = low ^ self._moved.astype("<u8", copy=False).view(np.uint8)[:, 0]
        low ^= np.uint8(int(_moved(offset)[0]) & 0xFF)
        out = np.empty((width, self.count // 8), np.uint8)
        for bit in range(width):
            out[bit] = np.packbits(low & np.uint8(1 << bit), bitorder="little")
        return out.view("<u8").astype(np.uint64, copy=False)

    def words(self, offset: Words, length: int) -> Words:
        """Return pads of `length` words, shape (count, length)."""
        if is_dry():
            dry: Words = hollow((self.count, length))
            return dry
        moved = _moved(offset)
        out = np.empty((self.count, length), np.uint64)
        for block in range(-(-length // 2)):
            part = self._hashed(offset, block)
            for half in range(min(2, length - 2 * block)):
                column = out[:, 2 * block + half]
                np.bitwise_xor(part[:, half], self._moved[:, half], out=column)
                column ^= moved[half]
        return out


def _moved(x: Words) -> Words:
    return np.array([x[0] ^ x[1], x[0]], np.uint64)
