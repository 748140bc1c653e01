"""Two holders without a dealer: comparing, cutting and keeping by oblivious transfer.

Products and ANDs are those of masks, which the two make themselves (`transfer_source`).
**truncate** shifts the shares of x + 2^62 and takes off the wrap-around, which happens where
either share has its top bit set (SIRNN, Rathee and others 2021): one transfer, 12 bytes per value.
**keep** needs one transfer in each direction (CrypTFlow2, Rathee and others 2020, section 4.1.3):
each offers its own share or nothing, as its bit says, and the other's bit turns that round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.bit_planes import bits_of, plane_of, plane_words
from unspoken.joint.mpc.correlated.oblivious_transfer import need_group
from unspoken.joint.mpc.correlated.transfer_source import TransferSource
from unspoken.joint.mpc.correlated.transfers import Transfer
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.engines.masked_engine import MaskedEngine
from unspoken.joint.mpc.engines.mode import DEALER, Mode, having, two_of
from unspoken.joint.mpc.engines.two_party import millionaires
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.words.masked_cut import OFFSET
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles


class TransferEngine(MaskedEngine):
    """A party's side; a party other than the two has no transfers and gets zeros."""

    def __init__(self, party: Party) -> None:
        super().__init__(party)
        self.transfer: Transfer | None = None
        self._products: TransferSource | None = None

    async def open(self) -> None:
        """Prepare the links between the two."""
        if self.party.is_holder:
            self.transfer = Transfer(self.party)
            self.source = self._products = TransferSource(self.transfer)

    @property
    def block(self) -> int:
        """Return how many values are compared at a time."""
        return millionaires.BLOCK

    async def truncate(self, words: Words, bits: int) -> Words:
        """Shift the shares and take off the wrap-around."""
        if self.transfer is None:
            return np.zeros(words.shape, np.uint64)
        return await shifted(self.transfer, words, bits)

    async def below_zero(self, words: Words, width: int) -> Words:
        """Compare what one has with what the other has."""
        if self.transfer is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return await millionaires.below_zero(self.transfer, words, width)

    async def is_zero(self, words: Words, width: int) -> Words:
        """Compare what one has with what the other has, for equality."""
        if self.transfer is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return await millionaires.is_zero(self.transfer, words, width)

    async def keep(self, plane: Words, rows: Words) -> Words:
        """Keep by one transfer in each direction."""
        self.party.begin("keep")
        if self.transfer is None:
            return np.zeros_like(rows)
        words = np.ascontiguousarray(rows.T)
        there = await _half(self.transfer, plane, words)
        return np.asarray((there + await _half(self.transfer.back, plane, words)).T)

    def multiplies_own(self, owners: set[str]) -> bool:
        """Return True if the two owners are the two holders."""
        return owners == set(self.party.holders)

    async def own_product(self, own: Words, rows: int, inner: int, columns: int) -> Words:
        """Multiply by transfers for the bits of X (Gilboa 1999)."""
        if self._products is None:
            return np.zeros((rows, columns), np.uint64)
        return await self._products.rows(rows, inner, own, columns)


async def shifted(transfer: Transfer, share: Words, bits: int) -> Words:
    """Return this holder's share, shifted, less the wrap-around a + b - a b of the top bits."""
    moved = share.ravel() + (np.uint64(OFFSET) if transfer.offers else np.uint64(0))
    top, result = moved >> np.uint64(63), moved >> np.uint64(bits)
    own = top[:, None] if transfer.offers else plane_of(top)
    correlated = (await transfer.correlate("truncate", own, top.size))[:, 0]
    wrapped = top + correlated if transfer.offers else top - correlated
    result -= wrapped << np.uint64(64 - bits)
    if transfer.offers:
        # The two shifts lose up to one together; one more makes that one too many instead.
        result += np.uint64((1 - (OFFSET >> bits)) % (1 << 64))
    return result.reshape(share.shape)


async def _half(transfer: Transfer, plane: Words, words: Words) -> Words:
    """Return shares of (b0 xor b1) x, where x is the share of the offering holder."""
    count, length = words.shape
    if not transfer.offers:
        return await transfer.correlate("keep", plane, count, length)
    own = bits_of(plane, count)[:, None]
    # Where its own bit is set, the other's bit takes the share away instead of giving it.
    signed = np.where(own.astype(bool), np.negative(words), words)
    return np.asarray(own * words - await transfer.correlate("keep", signed, count, length))


class TwoParties(Mode):
    """Two hold shares and there is nobody else to trust; more owners may give data."""

    name = "two-party"

    def engine(self, party: Party) -> Engine:
        """Return an engine on transfers between the two."""
        return TransferEngine(party)

    def check(self, members: Sequence[Member]) -> None:
        """Refuse anything but two holders and no dealer."""
        holders, dealers = having(members, "holder"), having(members, DEALER)
        if len(holders) != 2 or dealers:
            raise StudyError("Mode 'two-party' needs exactly two parties with the role 'holder', "
                             f"and no dealer. Got {len(holders)} holders and {len(dealers)} "
                             "dealers.")

    def roles(self, program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
        """Let the chosen two, or the first two, hold shares."""
        if len(program) < 2:
            raise RefusedError("Mode 'two-party' is for 2 parties or more, two of which hold "
                               f"shares. Got {len(program)}.")
        chosen = two_of(program, holders)
        need_group()
        return Roles(program, program, chosen, mode=self.name)
