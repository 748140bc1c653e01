"""Shared bits: exclusive-or shares, 64 values a word, and their way back to numbers.

AND needs correlated randomness and an opening (Goldreich, Micali and Wigderson; vcz2006 section
3.3.1, whose printed table has two columns swapped); XOR and NOT are local.

**to_numbers** (daBits): the holders open beta xor b for a random bit b that they have both as a
bit and as a number; beta = v + b - 2 v b.
  discloses: nothing. Safe against all holders but one; never the dealer with a holder.
  cost: 1 round; 1 bit per value from each holder to each other, 8 bytes from the dealer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.input_digest import note_input

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party


@dataclass(frozen=True, repr=False, eq=False)
class SharedBits:
    """An array of bits of which this party has at most a share, packed 64 to a word."""

    party: Party
    share: Words
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"SharedBits({self.shape})"

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("Shared bits leave their shares only through: "
                        "await reveal(party, x, because=...).")

    def __bool__(self) -> NoReturn:
        raise TypeError("Nobody knows whether a shared bit is true. Reveal it, or compute on.")

    @property
    def size(self) -> int:
        """Return the number of bits."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __invert__(self) -> SharedBits:
        ones = np.full(self.share.shape, ~np.uint64(0))
        return replace(self, share=self.share ^ self.party.engine.public_bits(ones))

    def __xor__(self, other: SharedBits) -> SharedBits:
        _same_shape(self, other)
        return replace(self, share=self.share ^ other.share)


def _same_shape(one: SharedBits, other: SharedBits) -> None:
    if one.shape != other.shape:
        raise RingError("Two arrays of shared bits must be of the same shape. Got shapes "
                        f"{one.shape} and {other.shape}.")


async def words_from(party: Party, words: Words | None, owner: str, count: int) -> Words:
    """Return this party's share of an owner's packed bits: as `share`, with exclusive or."""
    if words is not None:
        note_input(party.ledger, words)
    if party.engine.guarded is not None:
        return await party.engine.guarded.input(words, owner, count)
    keeper = owner if owner in party.holders else party.holders[-1]
    if party.name == owner and words is not None:
        rest = words.ravel()
        for holder in party.holders:
            if holder not in (keeper, owner):
                rest = rest ^ party.stream_with(holder, f"bits {owner}").words(count)
        if keeper == owner:
            return rest
        await party.send(keeper, "bits", rest, Purpose.SHARE)
    elif party.name == keeper:
        return await party.receive(owner, "bits", "<u8", (count,), Purpose.SHARE)
    elif party.is_holder:
        return party.stream_with(owner, f"bits {owner}").words(count)
    return np.zeros(count, np.uint64)


async def both(party: Party, one: SharedBits, other: SharedBits) -> SharedBits:
    """Return where both bits are set; 1 round, 2 bits per value."""
    _same_shape(one, other)
    party.begin("and")
    return replace(one, share=await party.engine.both(one.share, other.share, one.size))


async def to_numbers(party: Party, bits: SharedBits) -> Shared:
    """Return shared bits as shared numbers 0 and 1.

    1 round. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    bits : SharedBits
        The bits.

    Returns
    -------
    Shared
        Whole numbers 0 and 1.

    Examples
    --------
    >>> count = (await to_numbers(party, await less_than(party, x, 10))).sum()  # doctest: +SKIP
    """
    party.begin("to numbers")
    share = await party.engine.to_numbers(bits.share, bits.size)
    return Shared(party, share.reshape(bits.shape), 0, 1)
