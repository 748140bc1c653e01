"""Asking a dealer ahead: the next operations are rehearsed alone, and what they draw is announced.

The party that asks carries out the same operations once more as one that holds no shares does: it
takes the same steps, draws the same and gets zeros, without a message. What is drawn depends on
public sizes alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from copy import copy
from dataclasses import replace
from typing import Any

from unspoken.joint.mpc.correlated.kinds import MAX_WORDS, Need
from unspoken.joint.mpc.correlated.source import Source
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.wire.endpoint import Seam
from unspoken.joint.wire.hollow_arrays import blank_words, dry_running

Work = Callable[[Party], Awaitable[Any]]


class _Alone:
    """A seam to nobody."""

    def __init__(self, inside: Seam) -> None:
        self.name, self.step = inside.name, "rehearsal"
        self.peers, self.session = inside.peers, inside.session


class _Noting(Source):
    """A source that notes what is drawn, step by step, and gives nothing."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self.drawn: list[tuple[int, list[Need]]] = []

    async def draw(self, needs: Sequence[Need]) -> None:
        """Note, and return what a party without shares gets."""
        self.drawn.append((self._party.count, list(needs)))


async def ask_ahead(party: Party, work: Work, after: int = 0) -> None:
    """Announce what some operations will draw; `after` steps come first and draw nothing."""
    if not party.engine.asks_ahead:
        return
    try:
        drawn = rehearsed(party, work)
    except Exception:
        # Asking ahead only saves time; what is wrong shows when the work is done in earnest.
        return
    consecutive = [step for step, _ in drawn] == list(range(1, len(drawn) + 1))
    steps = [needs for _, needs in drawn]
    if consecutive and sum(sum(n.lengths) for needs in steps for n in needs) <= MAX_WORDS:
        await party.prefetch(steps, after)


def rehearsed(party: Party, work: Work) -> list[tuple[int, list[Need]]]:
    """Return what operations draw, with the number of the step, counted from 1."""
    alone = Party(_Alone(party.seam), party.roles)  # type: ignore[arg-type]
    alone.engine = copy(party.engine)
    alone.engine.party, alone.engine.source = alone, (noting := _Noting(alone))
    # A context of its own: nothing outside of this call draws blanks.
    copy_context().run(_carried_out, work, alone)
    return noting.drawn


def _carried_out(work: Work, alone: Party) -> None:
    with dry_running():
        steps = work(alone).__await__()
        try:
            next(steps)
        except StopIteration:
            return
    raise RuntimeError("A rehearsal waits for nobody. This one did.")


def blank(party: Party, value: Shared) -> Shared:
    """Return a value of the same shape and interval for a party that rehearses."""
    return replace(value, party=party, share=blank_words(value.size).reshape(value.shape))
