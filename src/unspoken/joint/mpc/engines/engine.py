"""The one interface behind operations on shares: how holders compute, and on whose randomness.

An operation knows intervals, scales and shapes; an engine knows words of the ring and nothing
else. Every party of a program has one, even if it holds no shares: it takes the same steps and gets
zeros. An operation asks for what it needs (`has_tables`) and never which engine it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import JointError, PartyError, RefusedError

if TYPE_CHECKING:
    from unspoken.joint.mpc.authentic.guarded import Guarded
    from unspoken.joint.mpc.correlated.kinds import Need
    from unspoken.joint.mpc.correlated.source import Source
    from unspoken.joint.mpc.party import Party


class Engine(ABC):
    """How one party computes on its shares."""

    has_tables = False
    """Whether correlated randomness of every kind can be drawn: tables, windows, small rings."""
    finds_bits = False
    """Whether the bits of a value cost less than comparing it with every power of two."""
    reuses_masks = True
    """Whether an operand can be masked and opened once for several products."""

    chooses_own = False
    """Whether keeping values by bits that one holder has in the clear costs less than a product."""

    sums_on_shares = False
    """Whether an owner's values are never its share, because nobody could check what it adds."""

    shares_last = True
    """Whether shares mean the same in a later run; those with tags do not, whatever this says."""

    totals_by_dealer = False
    """Whether a dealer that is trusted to deal rightly hands out the sum of masks of a total."""

    def __init__(self, party: Party) -> None:
        self.party = party
        self.guarded: Guarded | None = None
        self.source: Source | None = None

    @property
    def asks_ahead(self) -> bool:
        """Return True if this party asks a dealer, and may do so ahead."""
        return self.source is not None and self.source.asks_ahead

    @property
    def block(self) -> int:
        """Return how many values are compared at a time."""
        return 1 << 22

    async def open(self) -> None:
        """Prepare for the first operation."""
        return

    async def before_opening(self) -> None:
        """Do what has to be done before a value leaves the shares."""
        return

    async def finish(self) -> None:
        """End together with the others, after the last operation."""
        return

    async def close(self) -> None:
        """Give everything back, whatever happened."""
        return

    def in_own_words(self, error: PartyError) -> JointError:
        """Return what this party says of the error that ended its run."""
        return error

    def public_words(self, words: Any) -> Any:
        """Return this party's share of words that everybody knows: one holder has them."""
        return words if self.party.adds_public else np.zeros_like(words)

    def public_bits(self, words: Any) -> Any:
        """Return this party's share of packed bits that everybody knows."""
        return words if self.party.adds_public else np.zeros_like(words)

    def draw(self, needs: Sequence[Need]) -> Coroutine[Any, Any, list[list[Words]] | None]:
        """Return this holder's parts of correlated randomness; None if it holds no shares."""
        return _nothing() if self.source is None else self.source.draw(needs)

    async def prefetch(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Prepare for what each of the next steps will draw, where that saves waiting."""
        if self.source is not None:
            await self.source.prefetch(steps, after)

    async def announce(self, kind: str, sizes: Sequence[int], width: int) -> None:
        """Prepare for comparisons of one kind in the next steps, one for each size."""
        return

    @abstractmethod
    async def multiply(self, one: Words, other: Words) -> Words:
        """Return shares of the products, element by element, of arrays of one shape."""

    @abstractmethod
    async def matmul(self, one: Words, other: Words) -> Words:
        """Return shares of the product of two matrices."""

    @abstractmethod
    async def truncate(self, words: Words, bits: int) -> Words:
        """Return shares of values divided by 2^bits: rounded down, or one more."""

    @abstractmethod
    async def below_zero(self, words: Words, width: int) -> Words:
        """Return a plane of shared bits: where values of a width are negative."""

    @abstractmethod
    async def is_zero(self, words: Words, width: int) -> Words:
        """Return a plane of shared bits: where values of a width are zero."""

    @abstractmethod
    async def both(self, one: Words, other: Words, size: int) -> Words:
        """Return a plane: where the bits of two planes of `size` bits are set."""

    @abstractmethod
    async def to_numbers(self, plane: Words, size: int) -> Words:
        """Return the bits of a plane as shared numbers 0 and 1."""

    async def keep(self, plane: Words, rows: Words) -> Words:
        """Return rows of values where the bits of a plane are set, and zeros elsewhere."""
        self.party.begin("to numbers")
        numbers = await self.to_numbers(plane, rows.shape[1])
        self.party.begin("multiply")
        return await self.multiply(np.broadcast_to(numbers, rows.shape), rows)

    async def keep_own(self, owner: str, bits: Words | None, rows: Words) -> Words:
        """Return rows of values where the bits of a holder are 1, and zeros elsewhere."""
        raise RefusedError("This engine knows no bits in the clear. Share them first.")

    def multiplies_own(self, owners: set[str]) -> bool:
        """Return True if two owners can multiply what each has in the clear, without sharing."""
        return False

    async def own_product(self, own: Words, rows: int, inner: int, columns: int) -> Words:
        """Return a share of X Y: the last holder gives X, rows x inner, the first one Y."""
        raise RefusedError("This engine multiplies shared values only. Share them first.")


async def _nothing() -> None:
    """Draw nothing, as a party does that holds no shares."""
