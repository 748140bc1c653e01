"""SPU behind the interface of every engine: planes become bits and back, and SPU computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import JointError, PartyError, RefusedError, StudyError
from unspoken.joint.mpc.bit_planes import bits_of, plane_of, plane_words
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.engines.mode import DEALER, Mode, having
from unspoken.joint.mpc.engines.spu.spu_forecast import ESTIMATED, SpuForecast
from unspoken.joint.mpc.engines.spu.spu_handle import NAMES, SpuHandle, spu_python
from unspoken.joint.mpc.engines.spu.spu_source import SpuSource
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles


class SpuEngine(Engine):
    """A party's side; a party without shares has no SPU and gets zeros."""

    reuses_masks = False
    shares_last = False

    def __init__(self, party: Party) -> None:
        super().__init__(party)
        self.handle = SpuHandle(party) if party.is_holder else None

    async def open(self) -> None:
        """Start SPU and let it meet the others."""
        if self.handle is not None:
            await self.handle.open()
            self.source = SpuSource(self.handle)

    async def finish(self) -> None:
        """End together with the others' SPU."""
        if self.handle is not None:
            await self.handle.finish()

    async def close(self) -> None:
        """End SPU, whatever state it is in."""
        if self.handle is not None:
            await self.handle.close()

    def in_own_words(self, error: PartyError) -> JointError:
        """Return what a party that ended the run because of its own SPU says here."""
        return error if self.handle is None else self.handle.in_own_words(error)

    async def multiply(self, one: Words, other: Words) -> Words:
        """Let SPU multiply."""
        if self.handle is None:
            return np.zeros(one.shape, np.uint64)
        return await self.handle.multiply(one, other)

    async def matmul(self, one: Words, other: Words) -> Words:
        """Let SPU multiply matrices."""
        if self.handle is None:
            return np.zeros((one.shape[0], other.shape[1]), np.uint64)
        return await self.handle.matmul(one, other)

    async def truncate(self, words: Words, bits: int) -> Words:
        """Let SPU shift."""
        if self.handle is None:
            return np.zeros(words.shape, np.uint64)
        return await self.handle.shift(words, bits)

    async def below_zero(self, words: Words, width: int) -> Words:
        """Let SPU compare with zero."""
        if self.handle is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return plane_of(await self.handle.below_zero(words))

    async def is_zero(self, words: Words, width: int) -> Words:
        """Let SPU test for zero."""
        if self.handle is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return plane_of(await self.handle.is_zero(words))

    async def both(self, one: Words, other: Words, size: int) -> Words:
        """Let SPU AND bits."""
        if self.handle is None:
            return one
        return plane_of(await self.handle.both(bits_of(one, size), bits_of(other, size)))

    async def to_numbers(self, plane: Words, size: int) -> Words:
        """Let SPU turn bits into numbers."""
        if self.handle is None:
            return np.zeros(size, np.uint64)
        return await self.handle.numbers(bits_of(plane, size))


class OnSpu(Mode):
    """SecretFlow's SPU: two hold shares (CHEETAH), or three (ABY3)."""

    name = "spu"
    first_holders = 3
    vetting = ("SecretFlow SPU computes on shares. Its design is published (Ma et al., USENIX ATC "
               "2023); no audit of its code is known to us, so it is not vetted either.")
    cost_notes = (ESTIMATED,)

    def engine(self, party: Party) -> Engine:
        """Return an engine that hands everything to SPU."""
        return SpuEngine(party)

    def dry_engine(self, party: Party) -> Engine:
        """Return the same engine with estimates in place of SPU."""
        engine = SpuEngine(party)
        engine.handle = SpuForecast(party) if party.is_holder else None
        return engine

    def check(self, members: Sequence[Member]) -> None:
        """Refuse anything but two or three holders and no dealer."""
        holders, dealers = having(members, "holder"), having(members, DEALER)
        if len(holders) not in NAMES or dealers:
            raise StudyError("Mode 'spu' needs two or three parties with the role 'holder' and no "
                             f"dealer. Got {len(holders)} holders and {len(dealers)} dealers.")

    def roles(self, program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
        """Let the chosen two or three, or the first three, hold shares."""
        chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:3]
        if len(chosen) not in NAMES or not set(chosen) <= set(program):
            raise RefusedError(f"Mode 'spu' needs two or three of {', '.join(program)} as "
                               f"holders. Got {len(chosen)}.")
        return Roles(program, program, chosen, mode=self.name)

    def notes(self, holders: int) -> tuple[str, ...]:
        """Return which of SPU's protocols computes."""
        name = NAMES[2] if holders == 2 else NAMES[3]
        return (f"SecretFlow's SPU computes ({name}) and assumes that everybody follows the "
                "protocol",)

    def any_two_break(self, holders: int) -> bool:
        """Return True: CHEETAH has two holders, and ABY3 is safe against one of three."""
        return True

    def can_run(self) -> bool:
        """Return True if SPU is installed."""
        return spu_python() is not None
