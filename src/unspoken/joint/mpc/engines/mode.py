"""What a study's mode means: who holds shares, who deals, what it is safe against, its engine.

A mode is chosen by name in a study and looked up once (`modes.mode_of`). Everything else asks the
mode for a fact and never for its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from unspoken.errors import InputError, explain
from unspoken.joint.mpc.correlated.sources import Dealer
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles, Seam

UNVETTED = "unspoken's own engine is not vetted and assumes that everybody follows the protocol"
DEALER = "dealer"
LINKER = "linker"


class Mode(ABC):
    """The facts about one mode."""

    name: str
    has_shares = True
    dealer_outside = False
    """Whether there is a dealer that owns no data and runs no program."""
    dealing_owner: int | None = None
    """The place of the owner that deals while it runs the program."""
    first_holders = 2
    """How many of the first owners hold shares by default."""
    finds_deviation = False
    """Whether a party that deviates from what is computed on shares ends the run."""
    vetting = "unspoken's own engine computes on shares: not vetted."
    """What computes, and who outside has looked at it."""
    own_ways: tuple[str, ...] = ("secure sum by masks",)
    """Which of our own primitives run beside shares and their openings."""
    cost_notes: tuple[str, ...] = ()
    """What must be said about forecasts in this mode."""

    @abstractmethod
    def engine(self, party: Party) -> Engine:
        """Return a party's engine."""

    def dry_engine(self, party: Party) -> Engine:
        """Return a party's engine in a dry run: the same, unless it cannot be run dry."""
        return self.engine(party)

    @abstractmethod
    def check(self, members: Sequence[Member]) -> None:
        """Refuse a study whose parties cannot run in this mode."""

    @abstractmethod
    def roles(self, program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
        """Return the roles of owners that all run the program."""

    def dealer(self, seam: Seam, roles: Roles) -> Dealer:
        """Return the dealer of a run, where one serves outside the program."""
        return Dealer(seam, roles)

    def roles_of(self, members: Sequence[Member]) -> Roles:
        """Return the roles of the parties of a study."""
        dealer = next(iter(having(members, DEALER)), None)
        outside = None if self.dealing_owner is not None else dealer
        linker = next(iter(having(members, LINKER)), None)
        program = tuple(m.name for m in members if m.name not in (outside, linker))
        holders = having(members, "holder") if self.has_shares else ()
        return Roles(program, having(members, "owner"), holders, dealer, self.name, linker)

    def safe_against(self, holders: int) -> str:
        """Return which coalitions learn nothing from the shares of this many holders."""
        if holders == 2:
            return "either of the two holders, with any other owners, but never both"
        return "any one of the three who compute, with any other owners"

    def notes(self, holders: int) -> tuple[str, ...]:
        """Return a note about the engine."""
        return (UNVETTED,)

    def any_two_break(self, holders: int) -> bool:
        """Return True if two of these holders together see every value."""
        return holders == 2

    def can_run(self) -> bool:
        """Return True if this machine has what the engine needs."""
        return True


def having(members: Sequence[Member], role: str) -> tuple[str, ...]:
    """Return the names of the parties with a role."""
    return tuple(member.name for member in members if role in member.roles)


def two_of(program: tuple[str, ...], holders: Sequence[str] | None) -> tuple[str, str]:
    """Return the two holders that were chosen, or the first two."""
    chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:2]
    if len(chosen) != 2 or not set(chosen) <= set(program):
        raise InputError(explain("'holders'", "two of " + ", ".join(program), chosen))
    return chosen
