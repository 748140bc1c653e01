"""A circle of parties that encrypt each other's sets: what intersection, alignment and union share.

Every member has a set of ids and a secret scalar of its own, drawn afresh for each call. An id is
hashed to a point of ristretto255 in a domain of this study, session and step, so that nothing can
be compared between two calls. Each list goes once round the circle: its owner multiplies,
shuffles and sends it on, every other member checks it, multiplies, **shuffles** and sends it on.
Then it bears all keys, equal ids are equal points, and no place says anything (vcz2006 section
6.2.2; Agrawal, Evfimievski and Srikant 2003; Vaidya and Clifton 2005).

Before any list travels, each member says how long its own is (or all are padded to one length
with points of no id) and sends a hash of it, which the next member checks: nobody can make its
set fit what it has seen.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.ristretto import POINT_BYTES, BadPointError, Points
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party
    from unspoken.joint.mpc.sets.answer_budget import QueryBudget

MOST = 1 << 24
DUPLICATES = ("refuse", "drop")
SUBSETS = ("shown", "hidden")


@dataclass(frozen=True)
class SetRules:
    """What the parties agreed on about their sets.

    Attributes
    ----------
    least : int, default 10
        Smaller sets are refused, this party's and (unless padded) the others': a set of one id asks
        whether another party has it.
    pad_to : int, default 0
        Pad every list to this length, which hides the number of ids of a party; minimum sizes of
        others cannot be checked then. 0: no padding.
    duplicates : {'refuse', 'drop'}, default 'refuse'
        Whether repeated ids are refused or counted once.
    subsets : {'shown', 'hidden'}, default 'shown'
        With three or more owners: whether the counter may see the sizes of the overlaps of some
        sets.
    budget : QueryBudget, optional
        How many queries this party makes.

    Examples
    --------
    >>> rules = SetRules(least=50, pad_to=10_000)  # doctest: +SKIP
    """

    least: int = 10
    pad_to: int = 0
    duplicates: str = "refuse"
    subsets: str = "shown"
    budget: QueryBudget | None = None

    def __post_init__(self) -> None:
        for name, value in (("least", self.least), ("pad_to", self.pad_to)):
            if not isinstance(value, int) or not 0 <= value <= MOST:
                raise InputError(explain(f"SetRules: '{name}'", f"a whole number from 0 to {MOST}",
                                         value))
        for name, text, known in (("duplicates", self.duplicates, DUPLICATES),
                                  ("subsets", self.subsets, SUBSETS)):
            if text not in known:
                raise InputError(explain(f"SetRules: '{name}'", "one of " + ", ".join(known), text))


def encoded(ids: Iterable[Any]) -> list[bytes]:
    """Return ids as bytes: whole numbers as decimal text, text as UTF-8, compared as they are."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    return [_encoded(value) for value in values]


def _encoded(value: Any) -> bytes:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return b"%d" % int(value)
    raw = value.encode() if isinstance(value, str) else value
    if not isinstance(raw, bytes) or not raw:
        raise InputError("An id must be text, bytes or a whole number, and not empty. Got "
                         f"{type(value).__name__}.")
    return raw


def own_set(ids: Iterable[Any] | None, rules: SetRules) -> list[bytes]:
    """Return a party's ids, each once, in the order of their first place; checked and counted."""
    all_ids = encoded(() if ids is None else ids)
    unique = list(dict.fromkeys(all_ids))
    if len(unique) < len(all_ids) and rules.duplicates == "refuse":
        raise RefusedError("The ids of a party must be different. Some stand twice. Correct them; "
                           "where only their number matters, SetRules(duplicates='drop') counts "
                           "each once.")
    if len(unique) < rules.least:
        raise RefusedError(f"The study asks for sets of at least {rules.least} ids. This party "
                           "has fewer. Small sets disclose single records.")
    if rules.pad_to and len(unique) > rules.pad_to:
        raise RefusedError(f"The study pads sets to {rules.pad_to} ids. This party has more. "
                           "Agree on a longer list.")
    if len(unique) > MOST:
        raise RefusedError(f"A set must have at most {MOST} ids. This party has more.")
    if rules.budget is not None:
        rules.budget.spend(unique)
    return unique


class Circle:
    """One call's circle, as seen by one member or by a party that only watches."""

    def __init__(self, party: Party, members: Sequence[str], rules: SetRules) -> None:
        self.party, self.rules = party, rules
        self.members = tuple(members)
        self.is_member = party.name in self.members
        self.place = self.members.index(party.name) if self.is_member else 0
        self.key = group.fresh_scalar()
        self.where = group.domain("set", party.ledger.study, party.seam.session, party.count)
        self.sizes: dict[str, int] = {}
        self._commitments: dict[str, bytes] = {}

    @property
    def before(self) -> str:
        """Return the member whose lists come here."""
        return self.members[self.place - 1]

    @property
    def after(self) -> str:
        """Return the member to whom this one sends."""
        return self.members[(self.place + 1) % len(self.members)]

    async def first_layer(self, ids: Sequence[bytes]) -> Points:
        """Return the own ids under the own key, in their own order."""
        points = await group.in_threads(group.hash_points, self.where, ids)
        return await self.times(points, self.key, self.party.name)

    def padded(self, layer: Points) -> Points:
        """Return the list as it travels: filled up with points of no id, shuffled."""
        fill = max(0, self.rules.pad_to - len(layer)) if self.owns(self.party.name) else 0
        return group.shuffled(np.concatenate([layer, group.random_points(fill)]))

    def owns(self, name: str) -> bool:
        """Return True if a member has a set of its own."""
        return name in self.party.roles.owners

    async def times(self, points: Points, scalar: bytes, sender: str) -> Points:
        """Return points times a scalar; a bad point ends the run with its sender named."""
        try:
            return await group.in_threads(group.multiply, points, scalar)
        except BadPointError as error:
            self.party._end(sender, f"sent {error}")
            raise

    async def announce(self, own: Points, watchers: Sequence[str]) -> None:
        """Announce lengths (unless they are agreed) and commit to the own list."""
        if self.rules.pad_to:
            self.sizes = {n: self.rules.pad_to if self.owns(n) else 0 for n in self.members}
        else:
            await self._tell_sizes(len(own), watchers)
        if self.is_member:
            await self._commit(own)

    async def _tell_sizes(self, size: int, watchers: Sequence[str]) -> None:
        party, audience = self.party, dict.fromkeys([*self.members, *watchers])
        announced = np.array([size], np.uint64)
        sends = [party.send(name, "set.size", announced, Purpose.DISCLOSURE)
                 for name in audience if self.is_member and name != party.name]
        sources = [name for name in self.members if name != party.name]
        takes = [party.receive(name, "set.size", "<u8", (1,), Purpose.DISCLOSURE)
                 for name in sources] if party.name in audience else []
        done = await asyncio.gather(*takes, *sends)
        announced_sizes = {name: int(array[0]) for name, array in zip(sources, done, strict=False)
                           if array is not None}
        self.sizes = {party.name: size, **announced_sizes} if self.is_member else announced_sizes
        for name in announced_sizes:
            self._check_size(name, announced_sizes[name])

    def _check_size(self, name: str, size: int) -> None:
        if size > MOST or (not self.owns(name) and size):
            self.party._end(name, "announced a set of impossible size")
        if self.owns(name) and size < self.rules.least:
            raise RefusedError(f"The study asks for sets of at least {self.rules.least} ids. "
                               f"'{name}' has {size}. Small sets disclose single records.")

    async def _commit(self, own: Points) -> None:
        others = [name for name in self.members if name != self.party.name]
        digest = np.frombuffer(self._digest(self.party.name, own), np.uint8)
        got = await self.party.swap(others, "set.commit", digest, Purpose.CONTROL)
        self._commitments = {name: raw.tobytes() for name, raw in zip(others, got, strict=True)}

    def _digest(self, owner: str, points: Points) -> bytes:
        return hashlib.sha256(self.where + owner.encode() + b"\0" + points.tobytes()).digest()

    async def encrypt(self, own: Points) -> Points:
        """Send the own list once round; return the next member's list, which bears all keys."""
        current = own
        for hop in range(1, len(self.members)):
            owner = self.members[self.place - hop]
            current = await self.passed(f"set.hop{hop}", current, self.sizes[owner])
            if hop == 1 and self._digest(owner, current) != self._commitments[owner]:
                self.party._end(owner, "sent a list other than the one it had committed to")
            current = await self.hop(current)
        return current

    async def hop(self, points: Points) -> Points:
        """Put the own key on a list that came from the member before, and shuffle it."""
        self.check(points, self.before, group.check_different)
        return group.shuffled(await self.times(points, self.key, self.before))

    async def passed(self, label: str, points: Points, size: int) -> Points:
        """Send a list to the next member while the one before sends its own."""
        came: Points
        came, _ = await asyncio.gather(
            self.take(self.before, label, size),
            self.party.send(self.after, label, points, Purpose.ENCRYPTED))
        return came

    async def take(self, source: str, label: str, size: int) -> Points:
        """Receive a list of points."""
        return await self.party.receive(source, label, "|u1", (size, POINT_BYTES),
                                        Purpose.ENCRYPTED)

    async def take_checked(self, source: str, label: str, size: int) -> Points:
        """Receive a list of points that will not be multiplied, and check every point."""
        points = await self.take(source, label, size)
        self.check(points, source, group.check_points)
        return points

    def check(self, points: Points, source: str, test: Any) -> None:
        """Apply a test to a list; a failure ends the run with the sender named."""
        try:
            test(points)
        except BadPointError as error:
            self.party._end(source, f"sent {error}")
