"""Inputs against their bounds, on shares: a value outside of them ends the run before an opening.

Owners check their own values before they share them; one that lies could share any word. So what
owners shared is tested before the next value leaves the shares. x is 0 or 1 where x (x - 1) = 0
modulo 2^64: one product. Any other interval takes two signs of 64 bits: where neither x - low nor
high - x is negative in two's complement, both lie below 2^63 and add up to high - low, so that x is
within. What is opened are zeros, and ones for such signs, unless an owner lied; tags are checked
before, because a holder that shifts x in the test would otherwise learn how x lies to the shift.

Long arrays of numbers would cost more this way than most studies. Of these the holders, who toss a
coin after owners are bound, add up 40 random halves on their shares, and test that the sums are
what values within their bounds can add up to: if one of n values lies more than 2 n times the width
of its interval away, every sum is wrong with probability 1/2, so that this is found but with
probability 2^-40. A value that is outside by less is not found, and long arrays whose intervals are
so wide that sums would not fit into 62 bits are not tested at all.
  discloses: nothing of owners that keep to their bounds; of one that does not, where it did not.
  safe against: all holders but one, with any owners, whatever they do; never the dealer with one.
  cost per value: 0 or 1: a product and an opening; otherwise two comparisons of 64 bits, and of
    arrays of more than 1,024 numbers 80 comparisons and a product with a matrix of bits. Before and
    after each opening a check of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic.ring128 import chosen_sums
from unspoken.joint.mpc.authentic.tagged_numbers import TaggedNumbers, numbers
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.wire.hollow_arrays import is_dry

if TYPE_CHECKING:
    from unspoken.joint.mpc.authentic.guarded import Guarded

LABEL = "bounds.open"
OUTSIDE = "shared a value outside its bounds"
WIDTH = 64
EXACT = 1024
"""Longer arrays of numbers are tested by sums."""
SUMS = 40
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
PIECE = 1 << 14


@dataclass(frozen=True)
class BoundedInput:
    """What one owner shared, and between which numbers it has to lie."""

    owner: str
    share: Words
    low: int
    high: int

    @property
    def is_bit(self) -> bool:
        """Return True if only 0 and 1 are allowed."""
        return (self.low, self.high) == (0, 1)


async def check_bounds(guarded: Guarded) -> None:
    """Test what was shared since the last time; refuse whoever shared something else."""
    inputs = [each for each in guarded.taken() if each.share.size and not _fills_the_ring(each)]
    bits = [each for each in inputs if each.is_bit]
    others = [each for each in inputs if not each.is_bit]
    if bits:
        await _check_bits(guarded, bits)
    if any(_is_long(each) for each in others):
        guarded.party.begin("bounds")
        # A coin compares what was opened before: what was dealt for it must have been proved, or
        # where the run ends would tell whoever dealt a wrong tag something about values.
        await guarded.engine.prove()
        seed = b"" if guarded.check is None else await guarded.check.toss()
        others = [_halves(guarded, each, seed + bytes([place % 256, place // 256]))
                  if _is_long(each) else each for place, each in enumerate(others)]
    if others:
        await _check_signs(guarded, others)


def _is_long(each: BoundedInput) -> bool:
    """Return True if sums are tested in place of values."""
    return each.share.size > EXACT


def _fills_the_ring(each: BoundedInput) -> bool:
    """Return True for a long array whose sums would not fit: so wide an interval tells little."""
    return _is_long(each) and each.share.size * (each.high - each.low) >= 1 << 62


def _halves(guarded: Guarded, each: BoundedInput, seed: bytes) -> BoundedInput:
    """Return random sums of how far values lie above the lower bound, with the bounds of those."""
    bounds = 0, each.share.size * (each.high - each.low)
    if guarded.check is None:
        return BoundedInput(each.owner, np.zeros(SUMS, np.uint64), *bounds)
    above, stream = _above(guarded.engine, each), Stream(derive(seed, "bounds"))
    sums: Any = None
    for start in range(0, above.size, PIECE):
        part = _half(above[start:start + PIECE], stream)
        sums = part if sums is None else sums + part
    return BoundedInput(each.owner, sums, *bounds)


def _half(piece: TaggedNumbers, stream: Stream) -> TaggedNumbers:
    """Return sums of about half of the values, each value chosen by bits of a public word."""
    bits = np.unpackbits(stream.words(piece.size).view(np.uint8).reshape(-1, 8)[:, :SUMS // 8],
                         axis=1)
    return numbers(*chosen_sums([piece.long, piece.tags], bits))


async def _check_bits(guarded: Guarded, inputs: Sequence[BoundedInput]) -> None:
    engine, party = guarded.engine, guarded.party
    party.begin("bounds")
    x = np.concatenate([each.share.ravel() for each in inputs])
    below = np.add(x, engine.public_words(_word(-1)))
    product = await engine.multiply(x, below)
    party.begin("bounds")
    opened = await guarded.open_clear(LABEL, product)
    await judge(guarded, opened, np.repeat(range(len(inputs)), [i.share.size for i in inputs]),
                inputs, OUTSIDE)


async def _check_signs(guarded: Guarded, inputs: Sequence[BoundedInput]) -> None:
    engine, party = guarded.engine, guarded.party
    gaps = np.concatenate([side for each in inputs for side in _gaps(engine, each)])
    starts = range(0, gaps.size, engine.block)
    await engine.announce("less than", [min(engine.block, gaps.size - s) for s in starts], WIDTH)
    planes: list[Any] = []
    for start in starts:
        party.begin("bounds")
        planes.append(await engine.below_zero(gaps[start:start + engine.block], WIDTH))
    # Open ones for what is within: two shares of 64 zeros would be one and the same word.
    outside: Any = np.concatenate(planes)
    within = outside ^ engine.public_bits(np.full(outside.shape, ONES))
    opened = await guarded.open_clear_bits(LABEL, within)
    sizes = [2 * each.share.size for each in inputs]
    flags = None if opened is None else np.unpackbits(
        (opened ^ ONES).astype("<u8").view(np.uint8), bitorder="little")
    await judge(guarded, flags, np.repeat(range(len(inputs)), sizes), inputs, OUTSIDE)


def _gaps(engine: Any, each: BoundedInput) -> tuple[Any, Any]:
    """Return how far values lie above the lower and below the upper bound."""
    below = np.add(np.negative(each.share.ravel()), engine.public_words(_word(each.high)))
    return _above(engine, each), below


def _above(engine: Any, each: BoundedInput) -> Any:
    return np.add(each.share.ravel(), engine.public_words(_word(-each.low)))


def _word(number: int) -> Words:
    return np.asarray(np.uint64(number % (1 << 64)))


async def judge(guarded: Guarded, opened: Any, places: Any, inputs: Sequence[Any],
                what: str) -> None:
    """Check the tags of what was opened, and refuse the first owner for whom it is not zero."""
    await guarded.checked()
    if opened is None or guarded.check is None:
        return
    # Blank inputs of a dry run need not lie within their bounds.
    wrong = np.flatnonzero(opened[:len(places)])
    if wrong.size and not is_dry():
        guarded.party.refuse(inputs[int(places[wrong[0]])].owner, what)
