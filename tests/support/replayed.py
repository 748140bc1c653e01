"""A real run in memory whose rounds are counted and whose openings are kept, and its dry run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from unittest.mock import patch

from unspoken.joint.mpc.party import Party
from unspoken.joint.session.dry_run import dry_run
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for, roles_of
from unspoken.joint.wire.transports.round_meter import RoundMeter


class Metered:
    """A seam that counts rounds; everything else is the inner seam's."""

    def __init__(self, inside, end):
        object.__setattr__(self, "inside", inside)
        object.__setattr__(self, "end", end)

    def __getattr__(self, name):
        return getattr(self.inside, name)

    def __setattr__(self, name, value):
        setattr(self.inside, name, value)
        if name == "step":
            self.end.begin()

    async def send(self, peer, message):
        self.end.sent(peer)
        await self.inside.send(peer, message)

    async def receive(self, peer):
        message = await self.inside.receive(peer)
        self.end.received(peer)
        return message

    async def receive_or_end(self, peer):
        message = await self.inside.receive_or_end(peer)
        if message is not None:
            self.end.received(peer)
        return message

    async def swap(self, peers, message):
        for peer in peers:
            self.end.sent(peer)
        got = await self.inside.swap(peers, message)
        for peer in peers:
            self.end.received(peer)
        return got


@dataclass(frozen=True)
class RealRun:
    """What a run took, and what was opened to whom, by reason and in order."""

    rounds: int
    ledgers: dict
    opened: dict
    outputs: dict

    @property
    def bytes(self):
        return sum(row.bytes for ledger in self.ledgers.values() for row in ledger.rows
                   if row.direction == "sent")


def real_run(program, inputs, roles):
    """Run a program in memory on inputs by name."""
    seen = defaultdict(lambda: defaultdict(list))

    def opened(party, because, values):
        seen[party.name][because].append(values)
        return values

    meter = RoundMeter()
    with patch.object(Party, "opened", opened):
        outcomes = asyncio.run(in_memory(
            program, [inputs.get(name) for name in roles.program], roles,
            wrap=lambda seam: Metered(seam, meter.end(seam.name))))
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return RealRun(meter.rounds, {o.name: o.ledger for o in outcomes}, seen,
                   {o.name: o.output for o in outcomes})


def replayed(program, inputs, roles, real):
    """Return the dry run that takes the course of a real one."""
    def answers(name):
        turns = {because: iter(values) for because, values in real.opened[name].items()}
        return {because: lambda shape, turn=turn: next(turn) for because, turn in turns.items()}

    return dry_run(program, inputs, roles, program.disclosures, answers)


def assert_same(real, dry):
    """Assert that a dry run says of every party what a real run did."""
    assert (dry.rounds, dry.bytes) == (real.rounds, real.bytes)
    for name, ledger in real.ledgers.items():
        assert shown(dry.ledgers[name]) == shown(ledger), name
        assert dry.ledgers[name].purposes() == ledger.purposes(), name


def shown(ledger):
    """Return what a ledger says was opened."""
    return [(o.step, o.because, o.to, o.shape) for o in ledger.openings]


def forecast_holds(program, inputs, mode="dealer"):
    """Assert that the dry run of a program is right, given what is opened; return the real run."""
    roles = roles_for(list(inputs), mode)
    real = real_run(program, inputs, roles)
    assert_same(real, replayed(program, inputs, roles, real))
    return real


def study_runs(study, task, records):
    """Return the real run of a study on blank data, and the dry run that takes its course."""
    roles, program = roles_of(study), task.program(study)
    inputs = {name: task.blank(study, name, records) for name in study.having("owner")}
    real = real_run(program, inputs, roles)
    return real, replayed(task.program(study), inputs, roles, real)
