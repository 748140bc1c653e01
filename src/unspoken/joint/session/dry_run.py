"""The dry run: a program is carried out with shapes in place of values, and what it takes is noted.

Every party runs the program itself, in one process, over links that count. Masks and shares are
hollow arrays, encryption does nothing, and nothing is sent. What comes out is exact for the course
that was taken: every message with its frames, the rounds, every opening and every request for
correlated randomness. Where a program's course depends on opened values, the dry run is given what
to assume for them; anything else that is opened counts as zeros.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.correlated.source import Source
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.play import Program, linking, play
from unspoken.joint.wire.endpoint import Roles, Seam
from unspoken.joint.wire.hollow_arrays import dry_running
from unspoken.joint.wire.ledger import SENT, Ledger
from unspoken.joint.wire.transports.counting import counting_transports
from unspoken.joint.wire.transports.round_meter import RoundMeter

Answer = Callable[[tuple[int, ...]], Any]
Answers = Mapping[str, Answer]
AnswersOf = Callable[[str], Answers]


@dataclass(frozen=True)
class Drawn:
    """What one step draws of correlated randomness."""

    step: int
    needs: tuple[Need, ...]


@dataclass(frozen=True)
class DryRun:
    """What a program takes: rounds, messages, openings, and correlated randomness."""

    rounds: int
    ledgers: Mapping[str, Ledger] = field(repr=False)
    drawn: tuple[Drawn, ...] = field(repr=False)

    @property
    def bytes(self) -> int:
        """Return the bytes that all parties send."""
        return sum(row.bytes for ledger in self.ledgers.values() for row in ledger.rows
                   if row.direction == SENT)

    def learned(self, name: str) -> list[str]:
        """Return why values were opened to a party, each reason once."""
        return list(dict.fromkeys(o.because for o in self.ledgers[name].learned()))

    def rounded(self) -> list[str]:
        """Return why values were opened of which rounding tells something more."""
        return list(dict.fromkeys(o.because for ledger in self.ledgers.values()
                                  for o in ledger.openings if o.rounded))


class DryParty(Party):
    """A party of a dry run: what is opened to it is what the run assumes."""

    answers: Answers

    def learned(self, to: Sequence[str], value: Any) -> None:
        """Keep nothing: hollow values are not compared."""

    def opened(self, because: str, values: Any) -> Any:
        """Return what is assumed for an opening, zeros by default."""
        shape, kind = np.shape(values), np.asarray(values).dtype
        assumed = np.zeros(shape) if because not in self.answers else self.answers[because](shape)
        return np.broadcast_to(np.asarray(assumed), shape).astype(kind)


class NotedSource(Source):
    """A source that notes what is drawn from it."""

    def __init__(self, inside: Source, party: Party, drawn: list[Drawn]) -> None:
        self._inside, self._party, self._drawn = inside, party, drawn
        self.asks_ahead = inside.asks_ahead

    async def draw(self, needs: Sequence[Need]) -> list[list[Words]] | None:
        """Note and draw."""
        self._drawn.append(Drawn(self._party.count, tuple(needs)))
        return await self._inside.draw(needs)

    async def prefetch(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Prepare for what the next steps draw."""
        await self._inside.prefetch(steps, after)


class NotedProgram:
    """A program of which is noted what the last holder draws: what a dealer is asked for."""

    def __init__(self, program: Program, drawn: list[Drawn]) -> None:
        self._program, self._drawn = program, drawn

    async def __call__(self, party: Party, data: Any) -> Any:
        """Run the program."""
        if party.engine.source is not None and party.name == party.holders[-1]:
            party.engine.source = NotedSource(party.engine.source, party, self._drawn)
        return await self._program(party, data)

    async def link(self, seam: Seam, roles: Roles) -> None:
        """Be the linkage unit."""
        await linking(self._program).link(seam, roles)


def _nothing(name: str) -> Answers:
    return {}


def _entering(answers: AnswersOf) -> Callable[[Seam, Roles, Sequence[Disclosure]], Party]:
    def enter(seam: Seam, roles: Roles, disclosures: Sequence[Disclosure]) -> Party:
        party = DryParty(seam, roles, disclosures)
        party.answers = answers(seam.name)
        party.engine = mode_of(roles.mode).dry_engine(party)
        return party
    return enter


async def dry(program: Program, inputs: Mapping[str, Any], roles: Roles,
              disclosures: Sequence[Disclosure], answers: AnswersOf) -> DryRun:
    """Carry a program out for all parties, each with the blank input of its name.

    `answers` returns what is assumed for openings to a party, by reason: a function of the shape,
    which may count how often it was called.
    """
    meter, drawn = RoundMeter(), list[Drawn]()
    ends = counting_transports(roles.everybody, meter)
    run = NotedProgram(program, drawn)
    with dry_running():
        done = await asyncio.gather(
            *(play(end, roles, run, inputs.get(name), disclosures, _entering(answers))
              for name, end in ends.items()), return_exceptions=True)
    errors = [error for error in done if isinstance(error, BaseException)]
    if errors:
        # The first that is not only the news of another's failure says what went wrong.
        raise next((e for e in errors if not hasattr(e, "party")), errors[0])
    return DryRun(meter.rounds, {name: end.ledger for name, end in ends.items()}, tuple(drawn))


def dry_run(program: Program, inputs: Mapping[str, Any], roles: Roles,
            disclosures: Sequence[Disclosure], answers: AnswersOf | None = None) -> DryRun:
    """Return what a program takes; see `dry`. It may be called where an event loop runs."""
    from concurrent.futures import ThreadPoolExecutor

    work = partial(asyncio.run, dry(program, inputs, roles, disclosures, answers or _nothing))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()
