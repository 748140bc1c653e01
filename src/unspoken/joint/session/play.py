"""One party of a run, from its first step to its end; and all of them in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from unspoken.joint.joint_errors import PartyError, PeerAbortedError, RefusedError
from unspoken.joint.mpc.checkpoints import Checkpoints
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.endpoint import Roles, Seam
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.limits import Limits
from unspoken.joint.wire.transports.memory import Tap, memory_transports

Program = Callable[[Party, Any], Awaitable[Any]]
Entering = Callable[[Seam, Roles, Sequence[Disclosure]], Party]


@runtime_checkable
class LinksRecords(Protocol):
    """A program whose records a linkage unit links before it begins."""

    async def link(self, seam: Seam, roles: Roles) -> None:
        """Be the linkage unit."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended for one party. Its output is not part of its repr, which may end up in logs.

    Attributes
    ----------
    name : str
        The party.
    output : object
        What its program returned; None if it failed.
    ledger : Ledger
        What it received and sent.
    error : BaseException, optional
        Why it failed.
    """

    name: str
    output: Any = field(repr=False)
    ledger: Ledger = field(repr=False)
    error: BaseException | None = None


def party_of(seam: Seam, roles: Roles, disclosures: Sequence[Disclosure]) -> Party:
    """Return a party with the engine of the study's mode."""
    party = Party(seam, roles, disclosures)
    party.engine = mode_of(roles.mode).engine(party)
    return party


async def play(seam: Seam, roles: Roles, program: Program, data: Any,
               disclosures: Sequence[Disclosure], enter: Entering = party_of,
               before_end: Callable[[Any], None] | None = None,
               checkpoints: Checkpoints | None = None) -> Any:
    """Run one party from its first step to its end; a failure is reported to every peer.

    `before_end` is given the output while the ledger is still open. With `checkpoints`, which all
    parties must have or none, the program goes on where an earlier attempt ended.
    """
    seam.ledger.mode = roles.mode
    output, results = None, dict[str, bytes]()
    try:
        if seam.name in roles.program:
            party = enter(seam, roles, disclosures)
            party.checkpoints = checkpoints
            async with _computing(party):
                output = await program(party, data)
            results = party.common_results()
        elif seam.name == roles.linker:
            await linking(program).link(seam, roles)
        else:
            await mode_of(roles.mode).dealer(seam, roles).serve()
        failure = await seam.finish(results)
        if failure is not None:
            raise failure
        if before_end is not None:
            before_end(output)
    except BaseException as error:
        seam.ledger.status = _status(error)
        if not isinstance(error, PartyError):
            # What went wrong inside may name private values: the others learn only who and when.
            seam.fail(PeerAbortedError(seam.name, seam.step, "ended because its program failed"))
        raise
    finally:
        await seam.close()
    seam.ledger.status = "complete"
    return output


def linking(program: Program) -> LinksRecords:
    """Return a program that links records, or refuse one that does not."""
    if not isinstance(program, LinksRecords):
        raise RefusedError("This run has a linkage unit, and its program links no records.")
    return program


@asynccontextmanager
async def _computing(party: Party) -> AsyncIterator[None]:
    """Let a party compute: secrets are agreed on, and its engine is open."""
    await party.agree()
    engine = party.engine
    try:
        await engine.open()
        if party.checkpoints is not None:
            await party.checkpoints.agree(party)
        yield
        await engine.finish()
    except PartyError as error:
        raise engine.in_own_words(error) from None
    finally:
        await engine.close()


def _status(error: BaseException) -> str:
    if isinstance(error, PartyError):
        return f"failed: '{error.party}' {error.what} at step {error.step}"
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit):
        return "failed: ended by this party's operator"
    return f"failed: {type(error).__name__} in this party's program"


async def in_memory(program: Program, inputs: Sequence[Any], roles: Roles,
                    limits: Limits | None = None, tap: Tap | None = None,
                    wrap: Callable[[Seam], Seam] | None = None,
                    checkpoints: Mapping[str, Checkpoints] | None = None) -> list[Outcome]:
    """Run every party as a task of one loop; `wrap` may put something around its transport."""
    names = roles.everybody
    ends = memory_transports(names, limits, tap)
    declared = tuple(getattr(program, "disclosures", ()))

    async def one(name: str, data: Any) -> Outcome:
        seam = ends[name] if wrap is None else wrap(ends[name])
        try:
            output = await play(seam, roles, program, data, declared,
                                checkpoints=(checkpoints or {}).get(name))
        except Exception as error:
            return Outcome(name, None, seam.ledger, error)
        return Outcome(name, output, seam.ledger)

    every_input = [*inputs, *[None] * (len(names) - len(inputs))]
    return list(await asyncio.gather(*(one(n, d) for n, d in zip(names, every_input, strict=True))))
