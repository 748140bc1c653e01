"""x ln x of shared whole numbers in few rounds, where a dealer serves (vcz2006 section 4.3).

x = m 2^K with m in [0.75, 1.5). `leading` gives the bits [x >= 0.75 2^k], of which K's own bits
are exclusive ors; they are turned into numbers, 2^(top - K) modulo 2^16 (or 2^32, for larger x)
and K modulo 2^64. One product in the small ring gives the whole number m 2^top, one opening its
logarithm (`windows`), and a last product x ln x.

  error: that of `logarithm`: x times 3.5e-8 at most, and exactly 0 at x = 0.
  discloses: nothing; the dealer learns the number of values and their bound.
  safe against: all holders but one; never the dealer with a holder.
  cost: 2 log2(l) + 7 rounds for numbers of l bits; for l = 16 about 115 bytes per value between two
    holders and 250 from the dealer.
"""

from __future__ import annotations

import math

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.masked_log import SCALE, TOPS, evaluated, quarter
from unspoken.joint.mpc.ops import normalise as normal
from unspoken.joint.mpc.ops.leading_bit import leading_needs, leading_planes
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.packed_small_ints import Lanes, lane_type, lanes_of
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.mpc.words.masked_cut import cut_words
from unspoken.joint.mpc.words.masked_products import numbers_from, product_of, product_words, turned
from unspoken.joint.mpc.words.opening import open_numbers, open_sum, open_xor

# K ln 2 has to be a multiple of one number, so that its bits need no table.
LN2 = round(math.log(2) * 2**FRACTION)


def last_exponent(high: int) -> int:
    """Return the greatest k with 0.75 2^k <= high, at least 2: a quarter must be whole."""
    return normal.last_exponent(max(3, high))


def serves(party: Party, x: Shared) -> bool:
    """Return True if this method applies: whole numbers of at most 31 bits, and a dealer."""
    return party.engine.has_tables and x.scale == 0 and x.low >= 0 and last_exponent(x.high) in TOPS


def steps(size: int, high: int) -> list[list[Need]]:
    """Return what x ln x of `size` values up to a bound draws, in two steps.

    Holders work with the first, which is small, while a dealer prepares the second.
    """
    size, top = 64 * plane_words(size), last_exponent(high)
    return [leading_needs(size, _width(high), top),
            [Need("flags", (top * size, top + 1)), Need("dabits", (top.bit_length() * size,)),
             Need("lanes", (size, top + 1)), Need("windows", (size, top)),
             Need("cuts", (size, SCALE - FRACTION)), Need("triple", (size,))]]


def _width(high: int) -> int:
    return max(3, high).bit_length()


async def whole_x_log_x(party: Party, x: Shared) -> Shared:
    """Return x ln x with 30 fractional bits."""
    most = math.ceil(x.high * math.log(max(2, x.high)) * 2**FRACTION) + 64 * (x.high + 1)
    blank = Shared(party, np.zeros(x.shape, np.uint64), -64 * x.high, most, FRACTION, True)
    first, second = steps(x.size, x.high)
    top, share = last_exponent(x.high), np.pad(x.share.ravel(), (0, -x.size % 64))
    party.begin("x ln x")
    drawn = await party.draw(first)
    starts = None if drawn is None else (
        await leading_planes(party, share, _width(x.high), top, drawn))[1:]
    party.begin("x ln x")
    drawn = await party.draw(second)
    if drawn is None or starts is None:
        return blank
    flags, bits, lanes, windows, cut, triple = drawn
    power, exponent = await _powers(party, starts, flags, bits)
    mantissa = await _small_product(party, share, power, lanes, top + 1)
    fraction = await _log_of(party, mantissa, windows, top)
    log = await cut_words(party, fraction, SCALE - FRACTION, cut) + exponent * np.uint64(LN2)
    product = await product_words(party, share, log, triple)
    return blank.with_share(product[:x.size].reshape(x.shape))


async def _powers(party: Party, starts: Words, flags: list[Words],
                  bits: list[Words]) -> tuple[Lanes, Words]:
    """Return shares of 2^(top - K) in the small ring, and of K, from [x >= 0.75 2^k], k >= 1."""
    top, size = len(starts), 64 * starts.shape[1]
    # As many thresholds are reached as K says; the parity of every 2^j-th of them is its bit j.
    own = np.stack([np.bitwise_xor.reduce(starts[(1 << j) - 1::1 << j], axis=0)
                    for j in range(top.bit_length())])
    masked = np.concatenate([starts.ravel() ^ flags[1], own.ravel() ^ bits[1]])
    opened = await open_xor(party, "log.bits", masked)
    reached = _lane_bits(party, opened[:starts.size], flags[0], top)
    weights = np.array([1 << (top - k) for k in range(1, top + 1)], reached.dtype)
    power = -(reached.reshape(top, size) * weights[:, None]).sum(axis=0, dtype=reached.dtype)
    if party.adds_public:
        power = power + reached.dtype.type(1 << top)
    digits = numbers_from(party, opened[starts.size:], bits[0]).reshape(-1, size)
    scaled = digits << np.arange(len(digits), dtype=np.uint64)[:, None]
    return power, scaled.sum(axis=0, dtype=np.uint64)


def _lane_bits(party: Party, opened: Words, words: Words, top: int) -> Lanes:
    """Return shares of bits in the small ring."""
    count = 64 * opened.size
    own = lanes_of(words, count, top + 1)
    seen = np.unpackbits(opened.astype("<u8", copy=False).view(np.uint8),
                         bitorder="little").astype(own.dtype)
    return turned(party, seen, own)


async def _small_product(party: Party, share: Words, power: Lanes, triple: list[Words],
                         width: int) -> Lanes:
    """Return shares of the products modulo 2^16 or 2^32."""
    a, b, c = (lanes_of(words, power.size, width) for words in triple)
    own = np.concatenate([share.astype(lane_type(width)) - a, power - b])
    return product_of(party, await open_numbers(party, "log.product", own), (a, b, c))


async def _log_of(party: Party, mantissa: Lanes, windows: list[Words], top: int) -> Words:
    """Return shares of ln m with SCALE fractional bits, of which half a unit is rounded."""
    masked = mantissa.astype(np.uint64) + windows[0]
    if party.adds_public:
        masked = masked - np.uint64(quarter(top))
    opened = await open_sum(party, "log.window", masked, top + 1)
    logs = evaluated(opened, windows[1].reshape(2, -1, mantissa.size), top)
    if party.adds_public:
        logs = logs + np.uint64(1 << (SCALE - FRACTION - 1))
    return logs
