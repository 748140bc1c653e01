"""Where correlated randomness comes from: a seam of its own, which protocols do not see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from unspoken.arrays import Words
from unspoken.joint.mpc.correlated.kinds import Need


class Source(ABC):
    """Where correlated randomness comes from; a protocol does not know which it is."""

    asks_ahead = False
    """Whether it asks somebody who answers, and saves waiting by asking ahead."""

    @abstractmethod
    async def draw(self, needs: Sequence[Need]) -> list[list[Words]] | None:
        """Return this holder's parts of every wish; None if it only deals."""

    async def prefetch(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Prepare for what each of the next steps will draw, where that saves waiting."""
        return
