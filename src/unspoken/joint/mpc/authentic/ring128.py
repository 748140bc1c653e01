"""Numbers modulo 2^128 as two arrays of words, (low, high): numpy has no wider integers.

Products of words come from halves of 32 bits; matrix products from limbs of 22 bits in floating
point, exact below 2^53, because BLAS is faster than whole numbers even at eighteen limb products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Words

Long = tuple[Words, Words]
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
LIMB, INNER, CHUNKS = 22, 512, 256
LIMB_MASK = np.uint64((1 << LIMB) - 1)
BLOCK = 1 << 13
SMALL = 512


def add(one: Long, other: Long) -> Long:
    """Return the sum."""
    low = np.asarray(np.add(one[0], other[0]))
    return low, np.asarray(np.add(one[1], other[1])) + np.asarray(low < other[0])


def subtract(one: Long, other: Long) -> Long:
    """Return the difference."""
    return (np.asarray(np.subtract(one[0], other[0])),
            np.asarray(np.subtract(one[1], other[1])) - np.asarray(np.asarray(one[0]) < other[0]))


def negative(one: Long) -> Long:
    """Return the number below zero."""
    zero = np.asarray(np.asarray(one[0]) == 0)
    return np.asarray(np.negative(one[0])), np.asarray(np.invert(one[1])) + zero


def times_words(one: Long, factor: Words) -> Long:
    """Return products with words; shapes broadcast."""
    low, high = np.asarray(one[0]), np.asarray(one[1])
    factor = np.asarray(factor, np.uint64)
    if factor.ndim == 0 and (shift := _power(int(factor))) is not None:
        return shifted((low, high), shift)
    if factor.ndim:
        low, high, factor = np.broadcast_arrays(low, high, factor)
    return _in_blocks(low, high, factor)


def _in_blocks(low: Words, high: Words, factor: Words, upper: int = 0) -> Long:
    """Multiply piece by piece, so that what is between stays near the processor.

    `upper` is the upper word of the factor.
    """
    a, b, c = (np.ascontiguousarray(part).ravel() for part in (low, high, factor))
    whole, above = np.empty(low.size, np.uint64), np.empty(low.size, np.uint64)
    work = np.empty((4, min(BLOCK, low.size)), np.uint64)
    for start in range(0, low.size, BLOCK):
        span = slice(start, start + BLOCK)
        part = c[span] if factor.ndim else c[0]
        np.multiply(a[span], part, out=whole[span])
        np.multiply(b[span], part, out=above[span])
        _add_upper(a[span], part, above[span], work[:, :a[span].size])
        if upper:
            above[span] += np.multiply(a[span], np.uint64(upper), out=work[0, :a[span].size])
    return whole.reshape(low.shape), above.reshape(low.shape)


def _add_upper(one: Words, other: Any, out: Words, work: Words) -> None:
    """Add the upper words of products of words to `out`, from products of halves."""
    first, second, third, fourth = work
    low, high = other & LOW, other >> HALF
    np.bitwise_and(one, LOW, out=first)
    np.right_shift(one, HALF, out=second)
    np.multiply(first, low, out=third)
    third >>= HALF
    np.multiply(second, low, out=fourth)
    third += fourth
    second *= high
    out += second
    first *= high
    np.bitwise_and(third, LOW, out=fourth)
    first += fourth
    first >>= HALF
    third >>= HALF
    out += first
    out += third


def times(one: Long, key: tuple[int, int]) -> Long:
    """Return products with one long number."""
    return _in_blocks(np.asarray(one[0]), np.asarray(one[1]), np.asarray(np.uint64(key[0])),
                      key[1])


def times_long(one: Long, other: Long) -> Long:
    """Return products of long numbers of one shape."""
    low, high = times_words(one, other[0])
    return low, high + np.asarray(one[0]) * np.asarray(other[1])


def _power(factor: int) -> int | None:
    return factor.bit_length() - 1 if factor and not factor & (factor - 1) else None


def shifted(one: Long, bits: int) -> Long:
    """Return numbers times 2^bits, for fewer than 64 bits."""
    if bits == 0:
        return one
    shift, back = np.uint64(bits), np.uint64(64 - bits)
    low, high = np.asarray(one[0]), np.asarray(one[1])
    return low << shift, (high << shift) | (low >> back)


def total(one: Long, axis: int | tuple[int, ...] | None) -> Long:
    """Return the sum along an axis of fewer than 2^32 numbers."""
    low, high = np.asarray(one[0]), np.asarray(one[1])
    first = np.asarray((low & LOW).sum(axis=axis, dtype=np.uint64))
    second = np.asarray((low >> HALF).sum(axis=axis, dtype=np.uint64))
    whole = first + (second << HALF)
    carry = (whole < first).astype(np.uint64)
    return whole, np.asarray(high.sum(axis=axis, dtype=np.uint64)) + (second >> HALF) + carry


def chosen_sums(parts: list[Long], chosen: np.ndarray[Any, np.dtype[np.uint8]]) -> list[Long]:
    """Return sums of the numbers that columns of ones and zeros choose, of at most 2^20 numbers.

    Halves of 32 bits add up exactly in floating point. Small products one after the other keep
    BLAS from waiting for threads that other parties on the same machine hold up.
    """
    words = [np.ascontiguousarray(each) for part in parts for each in part]
    count, rows = len(words[0]), -(-len(words[0]) // SMALL)
    halves = np.zeros((rows * SMALL, 2 * len(words)))
    for place, each in enumerate(words):
        halves[:count, 2 * place:2 * place + 2] = each.view(np.uint32).reshape(-1, 2)
    factors = np.zeros((rows * SMALL, chosen.shape[1]))
    factors[:count] = chosen
    products = np.matmul(factors.reshape(rows, SMALL, -1).transpose(0, 2, 1),
                         halves.reshape(rows, SMALL, -1))
    sums = products.sum(axis=0).astype(np.uint64)
    return [add((sums[:, at].copy(), sums[:, at + 2].copy()), _from_halves(sums, at))
            for at in range(0, sums.shape[1], 4)]


def _from_halves(sums: Words, at: int) -> Long:
    """Return the upper halves of a number's words, moved to their places."""
    low, high = sums[:, at + 1], sums[:, at + 3]
    return low << HALF, (low >> HALF) + (high << HALF)


def matrix(parts: list[Long], factor: Words, *, left: bool) -> list[Long]:
    """Return matrices times one matrix of words; `left`: the words stand on the left."""
    if left:
        turned = [(low.T, high.T) for low, high in parts]
        return [(low.T, high.T) for low, high in matrix(turned, factor.T, left=False)]
    inner = factor.shape[0]
    sums: list[Long] | None = None
    for start in range(0, max(inner, 1), INNER * CHUNKS):
        span = slice(start, start + INNER * CHUNKS)
        piece = _product([(low[:, span], high[:, span]) for low, high in parts], factor[span])
        sums = piece if sums is None else [add(a, b) for a, b in zip(sums, piece, strict=True)]
    return sums or []


def _product(parts: list[Long], factor: Words) -> list[Long]:
    rows, columns = parts[0][0].shape[0], factor.shape[1]
    widest = int(factor.max()).bit_length() if factor.size else 1
    right = _limbs((factor, None), max(1, -(-widest // LIMB)))
    left = np.concatenate([_limbs(part, 6) for part in parts])
    weights = np.zeros((len(parts), 6, rows, columns), np.uint64)
    for start in range(0, factor.shape[0], INNER):
        span = slice(start, start + INNER)
        a = left[:, :, span].reshape(-1, left[:, :, span].shape[2])
        b = right[:, span].transpose(1, 0, 2).reshape(a.shape[1], -1)
        limb_products = (a @ b).reshape(len(parts), 6, rows, len(right), columns)
        for j in range(len(right)):
            weights[:, j:] += limb_products[:, :6 - j, :, j].astype(np.uint64)
    return [_weighed(part) for part in weights]


def _limbs(number: tuple[Words, Words | None], count: int) -> np.ndarray[tuple[int, ...],
                                                                         np.dtype[np.float64]]:
    """Return the lowest limbs of numbers under a new first axis, in floating point."""
    low, high = number
    out = np.empty((count, *low.shape))
    for place in range(count):
        bits = LIMB * place
        limb = low >> np.uint64(bits) if bits < 64 else np.zeros_like(low)
        if high is not None and bits + LIMB > 64:
            limb = limb | (high << np.uint64(64 - bits) if bits < 64
                           else high >> np.uint64(bits - 64))
        out[place] = limb & LIMB_MASK
    return out


def _weighed(weights: Words) -> Long:
    """Return the sum of weights[t] 2^(22 t)."""
    whole = np.zeros_like(weights[0]), np.zeros_like(weights[0])
    for place, words in enumerate(weights):
        bits = LIMB * place
        part = ((words << np.uint64(bits), words >> np.uint64(64 - bits)) if 0 < bits < 64 else
                (words, np.zeros_like(words)) if bits == 0 else
                (np.zeros_like(words), words << np.uint64(bits - 64)))
        whole = add(whole, part)
    return whole
