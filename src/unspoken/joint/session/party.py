"""A party in a running study: its name, its peers, its steps, and what it may open to whom.

Programs get one of these and call its methods; every party runs the same program, so that step
numbers, labels and shapes agree everywhere, and a message that is not the expected one ends the
run. Steps follow each other: independent work is put into one array and travels together, it is
not run side by side.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from unspoken.arrays import Words
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import DisclosureError, RefusedError
from unspoken.joint.mpc.functions import Functions
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.session.endpoint import Base, Roles, Seam
from unspoken.joint.session.study import Disclosure
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.correlated.kinds import Need
    from unspoken.joint.mpc.correlated.transfers import Transfer
    from unspoken.joint.mpc.engines.spu.spu_engine import SpuEngine
    from unspoken.joint.mpc.ops.oblivious_polynomial import Side
    from unspoken.joint.mpc.ops.shared_bits import SharedBits
    from unspoken.joint.mpc.sets.alignment import Places
    from unspoken.joint.mpc.sets.encrypted_circle import SetRules
    from unspoken.joint.mpc.shared import Shared
    from unspoken.joint.museum.permuted_sum import Permuted

T = TypeVar("T")


class Source(ABC):
    """Where correlated randomness comes from; a protocol does not know which it is."""

    @abstractmethod
    async def draw(self, needs: Sequence[Need]) -> list[list[Words]] | None:
        """Return this holder's parts of every wish; None to one who only deals."""

    async def ahead(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Prepare for what each of the next steps will draw, where that saves waiting."""
        return


class Party(Functions, Base):
    """One party of a program."""

    def __init__(self, seam: Seam, roles: Roles, disclosures: Sequence[Disclosure] = ()) -> None:
        super().__init__(seam, roles)
        self.disclosures = tuple(disclosures)
        self.names = roles.program
        self.index = roles.program.index(self.name)
        self.peers = tuple(name for name in roles.program if name != self.name)
        self.holders = roles.holders
        self.is_holder = self.name in roles.holders
        self.adds_public = bool(roles.holders) and self.name == roles.holders[0]
        self.source: Source | None = None
        self.transfer: Transfer | None = None
        self.engine: SpuEngine | None = None
        self._pairs: dict[str, bytes] = {}
        self._used: set[tuple[int, str, str]] = set()
        self._task = _running()

    def __repr__(self) -> str:
        return f"Party({self.name!r}, one of {', '.join(self.names)})"

    def begin(self, label: str) -> int:
        """Begin the next step; two at a time would mix up what belongs to which."""
        if _running() is not self._task:
            raise InputError(f"Steps of a program must follow each other. '{label}' was begun in "
                             "another task. Put independent work into one array instead.")
        return super().begin(label)

    @property
    def is_dealt(self) -> bool:
        """Say whether correlated randomness comes from a dealer, who can make every kind."""
        return self.engine is None and not self.roles.by_transfer

    async def agree(self) -> None:
        """Agree on one secret with every peer: X25519, then HKDF over the session."""
        self.begin("agree")
        own = X25519PrivateKey.generate()
        public = np.frombuffer(own.public_key().public_bytes_raw(), np.uint8)
        theirs = await self.swap(self.peers, "agree", public, Purpose.CONTROL)
        for peer, raw in zip(self.peers, theirs, strict=True):
            try:
                secret = own.exchange(X25519PublicKey.from_public_bytes(raw.tobytes()))
            except ValueError:
                self._end(peer, "sent a key of small order")
            pair = sorted((self.name, peer))
            self._pairs[peer] = derive(secret, "pair", *pair, salt=self.seam.session)

    def stream_with(self, peer: str, purpose: str) -> Stream:
        """Return a stream that only this party and a peer know; each one is handed out once."""
        wanted = self.count, peer, purpose
        if wanted in self._used:
            raise RuntimeError(f"the stream '{purpose}' with '{peer}' was used in this step")
        self._used = {used for used in self._used if used[0] == self.count} | {wanted}
        return Stream(derive(self._pairs[peer], purpose, self.count))

    async def draw(self, needs: Sequence[Need]) -> list[list[Words]] | None:
        """Return this holder's parts of correlated randomness; None to who holds no shares."""
        return None if self.source is None else await self.source.draw(needs)

    async def ahead(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Say what each of the next steps will draw: a dealer is then asked once for all.

        `after`: so many steps come first, and draw nothing.
        """
        if self.source is not None:
            await self.source.ahead(steps, after)

    def opening(self, because: str, to: Sequence[str], shape: tuple[int, ...]) -> tuple[str, ...]:
        """Check an opening against what was declared, and put it into the ledger."""
        names = tuple(to) or self.names
        for name in names:
            if name not in self.names:
                raise RefusedError(explain("Who learns a value", "of " + ", ".join(self.names),
                                           name))
        if not any(d.because == because and set(names) <= set(d.to or self.names)
                   for d in self.disclosures):
            known = "; ".join(f"'{d.because}' to {', '.join(d.to or self.names)}"
                              for d in self.disclosures) or "nothing"
            raise DisclosureError(f"'{because}' to {', '.join(names)} must be declared before it "
                                  f"is opened. Declared is: {known}. Nothing was opened.")
        self.ledger.opened(self.count, because, names, shape)
        return names

    async def sum(self, values: Any, *, because: str, to: Sequence[str] = (),
                  method: str = "masks", scale: int = 0) -> Any:
        """Return the sum of every owner's values; None to those who do not learn it."""
        from unspoken.joint.mpc.ops.secure_sum import secure_sum

        return await secure_sum(self, values, because=because, to=to, method=method, scale=scale)

    async def share(self, values: Any, owner: str, shape: tuple[int, ...], low: int, high: int,
                    scale: int = 0) -> Shared:
        """Return one owner's values as a Shared array; the others give None for `values`."""
        from unspoken.joint.mpc.ops.sharing import share

        return await share(self, values, owner, shape, low, high, scale)

    async def share_sum(self, values: Any, shape: tuple[int, ...], low: int, high: int,
                        scale: int = 0) -> Shared:
        """Return the sum of every owner's values as a Shared array."""
        from unspoken.joint.mpc.ops.sharing import share_sum

        return await share_sum(self, values, shape, low, high, scale)

    async def reveal(self, value: Shared | SharedBits, *, because: str,
                     to: Sequence[str] = ()) -> Any:
        """Open a Shared value to some parties (to all if none is named); the only way out."""
        from unspoken.joint.mpc.ops.sharing import reveal

        return await reveal(self, value, because=because, to=to)

    async def multiply(self, one: Shared, other: Shared) -> Shared:
        """Return the products, element by element."""
        from unspoken.joint.mpc.ops.products import multiply

        return await multiply(self, one, other)

    async def matmul(self, one: Shared, other: Shared) -> Shared:
        """Return the matrix product."""
        from unspoken.joint.mpc.ops.products import matmul

        return await matmul(self, one, other)

    async def dot(self, one: Shared, other: Shared) -> Shared:
        """Return the scalar product of two shared vectors, still shared."""
        from unspoken.joint.mpc.ops.products import matmul

        return (await matmul(self, one.reshape(1, -1), other.reshape(-1, 1))).reshape()

    async def truncate(self, value: Shared, bits: int) -> Shared:
        """Return values divided by 2^bits: rounded down, or one more in the last place."""
        from unspoken.joint.mpc.ops.truncation import truncate

        return await truncate(self, value, bits)

    async def less_than(self, one: Shared, other: Shared | int) -> SharedBits:
        """Return shared bits that say where one is less than the other."""
        from unspoken.joint.mpc.ops.less_than import less_than

        return await less_than(self, one, other)

    async def equal(self, one: Shared, other: Shared | int) -> SharedBits:
        """Return shared bits that say where one equals the other."""
        from unspoken.joint.mpc.ops.less_than import equal

        return await equal(self, one, other)

    async def to_numbers(self, bits: SharedBits) -> Shared:
        """Return shared bits as shared numbers 0 and 1."""
        from unspoken.joint.mpc.ops.shared_bits import to_numbers

        return await to_numbers(self, bits)

    async def evaluate(self, values: Any, polynomial: Side, points: Side,
                       scale: int = 0) -> Shared:
        """Return p(x) as shares: one owner has the polynomial, another the points."""
        from unspoken.joint.mpc.ops.oblivious_polynomial import evaluate

        return await evaluate(self, values, polynomial, points, scale)

    async def keep(self, bits: SharedBits, values: Sequence[Shared]) -> list[Shared]:
        """Return each of several values where the bits are set, and 0 elsewhere."""
        from unspoken.joint.mpc.ops.selection import keep

        return await keep(self, bits, values)

    async def argmin(self, values: Shared) -> tuple[Shared, Shared]:
        """Return the first place of the least value along the last axis, and that value."""
        from unspoken.joint.mpc.ops.argmin import argmin

        return await argmin(self, values)

    async def intersection_size(self, ids: Iterable[Any] | None, *, because: str,
                                to: Sequence[str] = (), rules: SetRules | None = None,
                                universe: Sequence[Any] | None = None) -> int | None:
        """Return how many ids all owners have in common; the first of `to` counts."""
        from unspoken.joint.mpc.sets.encrypted_circle import SetRules
        from unspoken.joint.mpc.sets.intersection import intersection_size

        return await intersection_size(self, ids, because=because, to=to, universe=universe,
                                       rules=rules or SetRules())

    async def align(self, ids: Iterable[Any] | None, *, because: str, counter: str | None = None,
                    rules: SetRules | None = None) -> Places | None:
        """Return the places of the rows whose ids all owners have, in one common order."""
        from unspoken.joint.mpc.sets.alignment import align
        from unspoken.joint.mpc.sets.encrypted_circle import SetRules

        return await align(self, ids, because=because, counter=counter,
                           rules=rules or SetRules())

    async def union(self, items: Iterable[Any] | None, universe: Sequence[Any], *, because: str,
                    to: Sequence[str] = (), method: str = "shares",
                    rules: SetRules | None = None) -> list[Any] | None:
        """Return the elements of a public universe that some owner has."""
        from unspoken.joint.mpc.sets.encrypted_circle import SetRules
        from unspoken.joint.mpc.sets.union import union

        return await union(self, items, universe, because=because, to=to, method=method,
                           rules=rules or SetRules(least=0))

    async def dot_encrypted(self, values: Any, owners: Sequence[str], shape: tuple[int, ...],
                            low: int, high: int, scale: int = 0,
                            key_bits: int = 3072) -> Shared:
        """Return the product of two owners' vectors as shares, by homomorphic encryption.

        The first owner has a vector of length n, the second values of `shape` (n,) or (n, m).
        Needs no dealer, and time: for short vectors.
        """
        from unspoken.joint.mpc.ops.encrypted_dot import dot_encrypted

        return await dot_encrypted(self, values, owners, shape, (low, high, scale), key_bits)

    async def permuted_sum(self, values: Any, *, owner: str, adder: str, length: int,
                           key_bits: int = 3072) -> Permuted | None:
        """Return an owner's vector plus an adder's, in an order that only the adder knows."""
        from unspoken.joint.museum.permuted_sum import permuted_sum

        return await permuted_sum(self, values, owner=owner, adder=adder, length=length,
                                  key_bits=key_bits)


def _running() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def declares(*disclosures: str | Disclosure) -> Callable[[T], T]:
    """Say on a program what it discloses; a text alone means to every party."""
    found = tuple(d if isinstance(d, Disclosure) else Disclosure(d) for d in disclosures)

    def keep(program: T) -> T:
        program.disclosures = found  # type: ignore[attr-defined]
        return program

    return keep
