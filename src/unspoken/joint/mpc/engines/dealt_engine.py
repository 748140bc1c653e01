"""Holders with a dealer or a third owner that deals, and a single holder that deals to itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import InputError
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.correlated.sources import SEED, DealerSource, OwnSource, ThirdSource
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.engines.masked_engine import MaskedEngine
from unspoken.joint.mpc.engines.mode import DEALER, UNVETTED, Mode, having, two_of
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import SEED_BYTES
from unspoken.joint.mpc.words.kept_by_own_bits import kept_words
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.frames import Purpose

SEMI_HONEST = (f"{UNVETTED}: mode 'dealer' is semi-honest, and one holder that deviates can read "
               "other owners' values unnoticed; mode 'authenticated' ends the run instead")


class DealtEngine(MaskedEngine):
    """A party's side where a dealer makes correlated randomness of every kind."""

    has_tables = True
    finds_bits = True
    chooses_own = True

    async def keep_own(self, owner: str, bits: Words | None, rows: Words) -> Words:
        """Draw masks of the holder's bits and of the others' shares, and their products."""
        count, size = rows.shape
        place = self.party.holders.index(owner)
        drawn = await self.draw([Need("choices", (size, count, place))])
        if drawn is None:
            return np.zeros(rows.shape, np.uint64)
        return await kept_words(self.party, owner, bits, rows, drawn[0])

    async def open(self) -> None:
        """Send or receive the seeds of a run."""
        party, dealer = self.party, self.party.roles.dealer
        if party.name == dealer:
            self.source = third = ThirdSource(party)
            await third.open()
        elif party.holders == (party.name,):
            self.source = OwnSource()
        elif party.is_holder and dealer is None:
            raise RefusedError("Several holders need a dealer in this mode, and there is none. Add "
                               "one, or use a mode without a dealer.")
        elif party.is_holder:
            seed = await party.receive(str(dealer), SEED, "|u1", (SEED_BYTES,), Purpose.SHARE)
            self.source = DealerSource(party, seed.tobytes())


class NoShares(Mode):
    """Secure sums only: no party holds shares, and there is no dealer."""

    name = "sums"
    has_shares = False
    first_holders = 0
    vetting = "Nothing computes on shares."

    def engine(self, party: Party) -> Engine:
        """Return an engine that nothing is computed on."""
        return DealtEngine(party)

    def check(self, members: Sequence[Member]) -> None:
        """Take any parties."""

    def roles(self, program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
        """Let everybody own data."""
        return Roles(program, program, mode=self.name)


class WithDealer(Mode):
    """Two or more hold shares; a dealer that runs no program serves them."""

    name = "dealer"
    dealer_outside = True

    def engine(self, party: Party) -> Engine:
        """Return an engine on dealt randomness."""
        return DealtEngine(party)

    def check(self, members: Sequence[Member]) -> None:
        """Refuse a dealer that holds anything, and a single holder among several owners."""
        dealers, holders = having(members, DEALER), having(members, "holder")
        owners = having(members, "owner")
        if len(holders) > 1 and len(dealers) != 1:
            raise StudyError(f"Mode 'dealer' needs exactly one dealer. There are {len(dealers)}.")
        if len(holders) < min(2, len(owners)) or not holders:
            raise StudyError("Mode 'dealer' needs two parties with the role 'holder'. There are "
                             f"{len(holders)}. A single holder would see every value.")
        both = set(dealers) & {*holders, *owners}
        if both:
            raise StudyError(f"The dealer must not hold shares or data. '{min(both)}' does. A "
                             "dealer that also holds a share learns every value.")

    def roles(self, program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
        """Let the chosen ones, or the first two, hold shares, and add a dealer."""
        chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:2]
        for name in chosen:
            if name not in program:
                raise InputError(f"There is no party '{name}' to hold shares. Parties: "
                                 f"{', '.join(program)}.")
        if len(chosen) < min(2, len(program)):
            raise RefusedError("Shares need two different holders where there are several "
                               f"parties. Got {len(chosen)}. A single holder would see every "
                               "value.")
        return Roles(program, program, chosen, DEALER if len(chosen) > 1 else None, self.name)

    def safe_against(self, holders: int) -> str:
        """Return who may collude: all holders but one, never with the dealer."""
        if holders < 2:
            return super().safe_against(holders)
        return (f"any {holders - 1} of the {holders} holders, with any other owners, but "
                "never a holder with the dealer")

    def notes(self, holders: int) -> tuple[str, ...]:
        """Return that nothing checks whether holders follow the protocol."""
        return (SEMI_HONEST,) if holders > 1 else super().notes(holders)


class ThreeParties(Mode):
    """Exactly three owners: two hold shares, the third deals (honest majority)."""

    name = "three-party"
    dealing_owner = 2

    def engine(self, party: Party) -> Engine:
        """Return an engine on randomness that the third owner deals."""
        return DealtEngine(party)

    def check(self, members: Sequence[Member]) -> None:
        """Refuse anything but two holders and a third party that deals."""
        holders, dealers = having(members, "holder"), having(members, DEALER)
        if len(members) != 3 or len(holders) != 2 or len(dealers) != 1 or set(dealers) <= set(
                holders):
            raise StudyError(f"Mode '{self.name}' needs exactly three parties: two with the role "
                             f"'holder' and the third with 'dealer'. Got {len(members)} parties, "
                             f"{len(holders)} holders and {len(dealers)} dealers.")

    def roles(self, program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
        """Let two hold shares and the third deal."""
        if len(program) != 3:
            raise RefusedError(f"Mode '{self.name}' is for exactly 3 parties. Got {len(program)}. "
                               "With an honest majority of two, nobody would be protected.")
        chosen = two_of(program, holders)
        third = next(name for name in program if name not in chosen)
        return Roles(program, program, chosen, third, self.name)

    def safe_against(self, holders: int) -> str:
        """Return who may be curious: any one of the three."""
        return "any one of the three who compute, with any other owners"
