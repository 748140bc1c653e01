"""Keeping what a party receives, for tests and audits only.

Nothing is recorded unless a run is started through `joint.audit.run_recorded`. A recording holds
shares and masked values of a real run in memory: those of several parties together give the data.
It is never written to a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.joint.wire.endpoint import Base, Seam
from unspoken.joint.wire.frames import Array, Message, Purpose


@dataclass(frozen=True, repr=False)
class Received:
    """One message as it came, with its sender."""

    source: str
    to: str
    label: str
    step: int
    purpose: Purpose
    array: Array

    def __repr__(self) -> str:
        return f"Received({self.label!r} from {self.source!r}, {self.array.shape})"


@dataclass
class Transcript:
    """The view of a party or of several: what they received, and what they know themselves."""

    parties: tuple[str, ...]
    received: list[Received] = field(default_factory=list, repr=False)
    own: dict[tuple[str, int], np.ndarray[Any, Any]] = field(default_factory=dict, repr=False)
    """What a party computed with, by label and step."""

    def labelled(self, label: str) -> list[Received]:
        """Return what came under a label, except from members."""
        return [one for one in self.received
                if one.label == label and one.source not in self.parties]


class Recording:
    """A seam that keeps what is received through it; everything else is the inner seam's."""

    def __init__(self, inside: Seam) -> None:
        object.__setattr__(self, "inside", inside)
        object.__setattr__(self, "transcript", Transcript((inside.name,)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Steps are set from outside, and the links' errors name them.
        setattr(self.inside, name, value)

    def _keep(self, source: str, message: Message | None) -> None:
        if message is not None:
            self.transcript.received.append(Received(
                source, self.inside.name, message.label, message.step, message.purpose,
                np.array(message.array)))

    async def receive(self, peer: str) -> Message:
        """Return and keep the next message of a peer."""
        message: Message = await self.inside.receive(peer)
        self._keep(peer, message)
        return message

    async def receive_or_end(self, peer: str) -> Message | None:
        """Return and keep the next message of a peer, if there is one."""
        message: Message | None = await self.inside.receive_or_end(peer)
        self._keep(peer, message)
        return message

    async def swap(self, peers: tuple[str, ...], message: Message) -> list[Message]:
        """Send to some peers; return and keep what they send."""
        received: list[Message] = await self.inside.swap(peers, message)
        for peer, one in zip(peers, received, strict=True):
            self._keep(peer, one)
        return received


def remember(party: Base, label: str, array: np.ndarray[Any, Any]) -> None:
    """Put something that a party knows itself into its recording, if there is one."""
    if isinstance(party.seam, Recording):
        party.seam.transcript.own[label, party.count] = np.array(array)
