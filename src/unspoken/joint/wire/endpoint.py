"""Between a transport and a program: what is needed of the one, and checked for the other."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import numpy as np

from unspoken.joint.joint_errors import PartyError, PeerGarbageError
from unspoken.joint.wire.frames import Array, Message, Purpose
from unspoken.joint.wire.ledger import Ledger

if TYPE_CHECKING:
    from unspoken.joint.wire.transports.base import Transport

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

    async def swap(self, peers: tuple[str, ...], message: Message) -> list[Message]:
        """Send one message to some peers, and return the next of each."""

    async def receive_or_end(self, peer: str) -> Message | None:
        """Return the next message of a peer, or None when it has finished."""

    async def visit(self, job: Callable[[Transport], Coroutine[Any, Any, T]]) -> T:
        """Run a job where the links live."""

    async def broken(self) -> PartyError | None:
        """Wait until the run has failed; return why."""

    async def finish(self, results: Mapping[str, bytes] | None = None) -> PartyError | None:
        """End together with the others; return why the run failed after all, if it did."""

    def fail(self, error: PartyError) -> None:
        """End the run."""

    async def close(self) -> None:
        """Give everything back."""


@dataclass(frozen=True)
class Roles:
    """Who does what: everybody in `program` runs the program; a dealer outside it only deals.

    A linkage unit, outside the program too, compares encodings of records before it begins.
    """

    program: tuple[str, ...]
    owners: tuple[str, ...]
    holders: tuple[str, ...] = ()
    dealer: str | None = None
    mode: str = "dealer"
    linker: str | None = None

    @property
    def everybody(self) -> tuple[str, ...]:
        """Return every name, a linkage unit and a dealer outside the program last."""
        outside = [name for name in (self.linker, self.dealer)
                   if name is not None and name not in self.program]
        return (*self.program, *outside)


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

    async def receive(self, source: str, label: str, dtype: str, shape: tuple[int, ...],
                      purpose: Purpose) -> np.ndarray[Any, Any]:
        """Return the array that is expected from one party, or end the run.

        The purpose is checked with the rest, because the receiver's ledger repeats it.
        """
        message = await self.seam.receive(source)
        return self._expected(source, message, (label, np.dtype(dtype), shape, purpose))

    def _expected(self, source: str, message: Message,
                  what: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """Return the array of a message if it is the one that this step expects."""
        label, dtype, shape, purpose = what
        expected = (label, dtype, shape, self.count, purpose)
        got = (message.label, message.array.dtype, message.array.shape, message.step,
               message.purpose)
        if expected != got:
            self._end(source, f"sent '{message.label}' of step {message.step}, not '{label}' of "
                              "this step")
        return message.array

    def refuse(self, source: str, what: str) -> NoReturn:
        """End the run because of what a party sent."""
        self._end(source, what)
        raise AssertionError

    def _end(self, source: str, what: str) -> None:
        error = PeerGarbageError(source, self.seam.step, what)
        self.seam.fail(error)
        raise error

    async def swap(self, peers: Iterable[str], label: str, array: Array,
                   purpose: Purpose) -> list[np.ndarray[Any, Any]]:
        """Send an array to some peers, and return the like-shaped ones that they send."""
        peers = tuple(peers)
        got = await self.seam.swap(peers, Message(label, array, purpose, self.count))
        what = label, array.dtype, array.shape, purpose
        return [self._expected(peer, message, what)
                for peer, message in zip(peers, got, strict=True)]
