"""A party in a running study: its name, its peers, its steps, and what it may open to whom.

Programs get one of these and call its methods; every party runs the same program, so that step
numbers, labels and shapes agree everywhere, and a message that is not the expected one ends the
run. Steps follow each other: independent work is put into one array and travels together, it is
not run side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from tacit.errors import explain
from tacit.joint.errors import DisclosureError, PartyError, PeerGarbageError, RefusedError
from tacit.joint.frames import Array, Message, Purpose
from tacit.joint.ledger import Ledger
from tacit.joint.streams import Stream, derive
from tacit.joint.study import Disclosure

T = TypeVar("T")


class Seam(Protocol):
    """What a party needs of a transport."""

    step: str

    @property
    def name(self) -> str:
        """Return this party's name."""

    @property
    def peers(self) -> tuple[str, ...]:
        """Return the others' names."""

    @property
    def ledger(self) -> Ledger:
        """Return what went over the links."""

    @property
    def session(self) -> bytes:
        """Return the run's number."""

    async def send(self, peer: str, message: Message) -> None:
        """Send a message."""

    async def receive(self, peer: str) -> Message:
        """Return the next message of a peer."""

    async def receive_or_end(self, peer: str) -> Message | None:
        """Return the next message of a peer, or None when it has finished."""

    async def finish(self) -> None:
        """Say that everything was sent."""

    def fail(self, error: PartyError) -> None:
        """End the run."""

    async def close(self) -> None:
        """Give everything back."""


@dataclass(frozen=True)
class Roles:
    """Who does what: everybody in `program` runs the program, the dealer does not."""

    program: tuple[str, ...]
    owners: tuple[str, ...]
    holders: tuple[str, ...] = ()
    dealer: str | None = None


class Base:
    """Steps and checked messages, for programs and for the dealer."""

    def __init__(self, seam: Seam, roles: Roles) -> None:
        self.seam = seam
        self.roles = roles
        self.name = seam.name
        self.count = 0

    @property
    def ledger(self) -> Ledger:
        """Return what this party received and sent."""
        return self.seam.ledger

    def begin(self, label: str) -> int:
        """Begin the next step; errors name it from now on."""
        self.count += 1
        self.seam.step = f"{self.count} {label}"
        return self.count

    async def send(self, to: str, label: str, array: Array, purpose: Purpose) -> None:
        """Send an array to one party."""
        await self.seam.send(to, Message(label, array, purpose, self.count))

    async def receive(self, source: str, label: str, dtype: str,
                      shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Return the array that is expected from one party, or end the run."""
        message = await self.seam.receive(source)
        expected = (label, np.dtype(dtype), shape, self.count)
        got = (message.label, message.array.dtype, message.array.shape, message.step)
        if expected != got:
            self._end(source, f"sent '{message.label}' of step {message.step}, not '{label}'")
        return message.array

    def _end(self, source: str, what: str) -> None:
        error = PeerGarbageError(source, self.seam.step, what)
        self.seam.fail(error)
        raise error

    async def swap(self, peers: Iterable[str], label: str, array: Array,
                   purpose: Purpose) -> list[np.ndarray[Any, Any]]:
        """Send an array to some peers, and return the like-shaped ones that they send."""
        peers = list(peers)
        sends = [self.send(peer, label, array, purpose) for peer in peers]
        takes = [self.receive(peer, label, array.dtype.str, array.shape) for peer in peers]
        done = await asyncio.gather(*takes, *sends)
        return [found for found in done[:len(peers)] if found is not None]


class Party(Base):
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
        self.source: Any = None
        self._pairs: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"Party({self.name!r}, one of {', '.join(self.names)})"

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
        """Return a stream that only this party and a peer know, fresh for this step."""
        return Stream(derive(self._pairs[peer], purpose, self.count))

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
        from tacit.joint.primitives.sums import secure_sum

        return await secure_sum(self, values, because=because, to=to, method=method, scale=scale)

    async def share(self, values: Any, owner: str, shape: tuple[int, ...], low: int, high: int,
                    scale: int = 0) -> Any:
        """Return one owner's values as a Shared array; the others give None for `values`."""
        from tacit.joint.primitives.sharing import share

        return await share(self, values, owner, shape, low, high, scale)

    async def share_sum(self, values: Any, shape: tuple[int, ...], low: int, high: int,
                        scale: int = 0) -> Any:
        """Return the sum of every owner's values as a Shared array."""
        from tacit.joint.primitives.sharing import share_sum

        return await share_sum(self, values, shape, low, high, scale)

    async def reveal(self, value: Any, *, because: str, to: Sequence[str] = ()) -> Any:
        """Open a Shared value to some parties (to all if none is named); the only way out."""
        from tacit.joint.primitives.sharing import reveal

        return await reveal(self, value, because=because, to=to)

    async def multiply(self, one: Any, other: Any) -> Any:
        """Return the products, element by element."""
        from tacit.joint.primitives.products import multiply

        return await multiply(self, one, other)

    async def matmul(self, one: Any, other: Any) -> Any:
        """Return the matrix product."""
        from tacit.joint.primitives.products import matmul

        return await matmul(self, one, other)

    async def dot(self, one: Any, other: Any) -> Any:
        """Return the scalar product of two shared vectors, still shared."""
        from tacit.joint.primitives.products import matmul

        return (await matmul(self, one.reshape(1, -1), other.reshape(-1, 1))).reshape()

    async def truncate(self, value: Any, bits: int) -> Any:
        """Return values divided by 2^bits: rounded down, or one more in the last place."""
        from tacit.joint.primitives.truncation import truncate

        return await truncate(self, value, bits)

    async def less_than(self, one: Any, other: Any) -> Any:
        """Return shared bits that say where one is less than the other."""
        from tacit.joint.primitives.comparison import less_than

        return await less_than(self, one, other)

    async def equal(self, one: Any, other: Any) -> Any:
        """Return shared bits that say where one equals the other."""
        from tacit.joint.primitives.comparison import equal

        return await equal(self, one, other)

    async def to_numbers(self, bits: Any) -> Any:
        """Return shared bits as shared numbers 0 and 1."""
        from tacit.joint.primitives.bits import to_numbers

        return await to_numbers(self, bits)

    async def argmin(self, values: Any) -> Any:
        """Return the first place of the least value along the last axis, and that value."""
        from tacit.joint.primitives.argmin import argmin

        return await argmin(self, values)


def declares(*disclosures: str | Disclosure) -> Callable[[T], T]:
    """Say on a program what it discloses; a text alone means to every party."""
    found = tuple(d if isinstance(d, Disclosure) else Disclosure(d) for d in disclosures)

    def keep(program: T) -> T:
        program.disclosures = found  # type: ignore[attr-defined]
        return program

    return keep
