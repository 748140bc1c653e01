"""Running one program for every party: in memory, or each in a process of its own over TLS.

    async def program(party, data):
        total = await party.share_sum(data, shape=(3,), low=0, high=1000)
        return await party.reveal(total, because="total per month")

    run_local(declares("total per month")(program), [x, y, z])

Modes: "sums" has no shares (secure sums only, no helper). "dealer" has holders of shares and a
dealer, who is a party and a process of its own. In "three-party" there are exactly three owners:
two hold shares, the third deals (honest majority: safe against any one of them). "two-party" has
two holders and no dealer: they use oblivious transfer, which costs more and trusts nobody else.

In memory nobody is protected from anybody; it is for trying out and for tests. unspoken's own
engine is not vetted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import PartyError, PeerAbortedError, RefusedError
from unspoken.joint.mpc.correlated.oblivious_transfer import need_group
from unspoken.joint.mpc.correlated.sources import Dealer, open_source
from unspoken.joint.session.endpoint import Roles, Seam
from unspoken.joint.session.identity import check_name
from unspoken.joint.session.ledger import Ledger
from unspoken.joint.session.party import Party
from unspoken.joint.session.study import MODES, Disclosure, Study
from unspoken.joint.wire.transports.base import Limits
from unspoken.joint.wire.transports.memory import Tap, memory_transports

Program = Callable[[Party, Any], Awaitable[Any]]
DEALER = "dealer"


@dataclass(frozen=True)
class Outcome:
    """How a run ended for one party; what came out stays out of logs, and asyncio prints tasks."""

    name: str
    output: Any = field(repr=False)
    ledger: Ledger = field(repr=False)
    error: BaseException | None = None


def roles_for(names: Sequence[str], mode: str, holders: Sequence[str] | None = None) -> Roles:
    """Return who does what: by default the first two hold shares, and a dealer is added."""
    if mode not in MODES:
        raise InputError(explain("'mode'", "one of " + ", ".join(MODES), mode))
    for name in names:
        check_name(name)
    program = tuple(names)
    if len(set(program)) != len(program) or not program or DEALER in program:
        raise InputError(explain("'names'", "different names, none of them 'dealer'", program))
    if mode == "sums":
        return Roles(program, program)
    kinds = {"two-party": _two, "three-party": _three, "spu": _spu}
    return kinds.get(mode, _dealt)(program, holders)


def _dealt(program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
    """Two or more hold shares; a dealer who runs no program is added."""
    chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:2]
    for name in chosen:
        if name not in program:
            raise InputError(explain("'holders'", "of " + ", ".join(program), name))
    if len(set(chosen)) < min(2, len(program)):
        raise RefusedError(f"Shares need two different holders where there are several parties. "
                           f"Got {len(set(chosen))}. A single holder would see every value.")
    return Roles(program, program, chosen, DEALER if len(chosen) > 1 else None)


def _two(program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
    """Two hold shares and there is nobody else to trust; more owners may give data."""
    if len(program) < 2:
        raise RefusedError("Mode 'two-party' is for 2 parties or more, two of which hold shares. "
                           f"Got {len(program)}.")
    chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:2]
    if len(chosen) != 2 or not set(chosen) <= set(program):
        raise InputError(explain("'holders'", "two of " + ", ".join(program), chosen))
    need_group()
    return Roles(program, program, chosen)


def _three(program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
    """Two hold shares, the third deals."""
    if len(program) != 3:
        raise RefusedError(f"Mode 'three-party' is for exactly 3 parties. Got {len(program)}. "
                           "With an honest majority of two, nobody would be protected.")
    chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:2]
    if len(chosen) != 2 or not set(chosen) <= set(program):
        raise InputError(explain("'holders'", "two of " + ", ".join(program), chosen))
    return Roles(program, program, chosen, next(n for n in program if n not in chosen))


def _spu(program: tuple[str, ...], holders: Sequence[str] | None) -> Roles:
    """Two hold shares (CHEETAH), or three (ABY3)."""
    chosen = tuple(dict.fromkeys(holders)) if holders is not None else program[:3]
    if len(chosen) not in (2, 3) or not set(chosen) <= set(program):
        raise RefusedError(f"Mode 'spu' needs two or three of {', '.join(program)} as holders. "
                           f"Got {len(chosen)}.")
    return Roles(program, program, chosen, engine="spu")


def roles_of(study: Study) -> Roles:
    """Return who does what in a study."""
    outside = () if study.mode == "three-party" else (study.dealer,)
    program = tuple(name for name in study.names if name not in outside)
    holders = study.having("holder") if study.mode != "sums" else ()
    engine = "spu" if study.mode == "spu" else ""
    return Roles(program, study.having("owner"), holders, study.dealer, engine)


async def play(seam: Seam, roles: Roles, program: Program, data: Any,
               disclosures: Sequence[Disclosure]) -> Any:
    """Run one party from its first step to its end; a failure is told to every peer."""
    try:
        output = await _act(seam, roles, program, data, disclosures)
        await seam.finish()
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


async def _act(seam: Seam, roles: Roles, program: Program, data: Any,
               disclosures: Sequence[Disclosure]) -> Any:
    if seam.name not in roles.program:
        await Dealer(seam, roles).serve()
        return None
    party = Party(seam, roles, disclosures)
    await party.agree()
    if roles.engine == "spu":
        return await _with_spu(party, program, data)
    await open_source(party)
    return await program(party, data)


async def _with_spu(party: Party, program: Program, data: Any) -> Any:
    """Run a program on SPU; a party without shares needs none."""
    from unspoken.joint.mpc.engines.spu.spu_engine import SpuEngine
    from unspoken.joint.mpc.engines.spu.spu_source import SpuSource

    if not party.is_holder:
        return await program(party, data)
    engine = SpuEngine(party)
    try:
        await engine.open()
        party.engine, party.source = engine, SpuSource(engine)
        output = await program(party, data)
        await engine.finish()
    except PartyError as error:
        raise engine.in_own_words(error) from None
    finally:
        await engine.close()
    return output


def _status(error: BaseException) -> str:
    if isinstance(error, PartyError):
        return f"failed: '{error.party}' {error.what} at step {error.step}"
    return f"failed: {type(error).__name__} in this party's program"


def run_local(program: Program, inputs: Sequence[Any], mode: str = "dealer",
              processes: bool = False, names: Sequence[str] | None = None, *,
              holders: Sequence[str] | None = None, limits: Limits | None = None,
              folder: Path | None = None) -> list[tuple[Any, Ledger]]:
    """Run a program for every input; return each party's output and ledger.

    The first real error is raised (that of the party whose program failed, before the errors of
    those who only heard of it). With a folder every ledger is saved there, the dealer's too.
    """
    outcomes = run_outcomes(program, inputs, mode, processes, names, holders=holders,
                            limits=limits, folder=folder)
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, PartyError))
    return [(outcome.output, outcome.ledger) for outcome in outcomes if outcome.name != DEALER]


def run_outcomes(program: Program, inputs: Sequence[Any], mode: str = "dealer",
                 processes: bool = False, names: Sequence[str] | None = None, *,
                 holders: Sequence[str] | None = None, limits: Limits | None = None,
                 folder: Path | None = None) -> list[Outcome]:
    """Run a program for every input; return how it ended for each, the dealer last."""
    names = list(names) if names is not None else [f"p{i}" for i in range(len(inputs))]
    if len(names) != len(inputs):
        raise InputError(explain("'names'", f"{len(inputs)} names, one an input", len(names)))
    roles = roles_for(names, mode, holders)
    if processes and "<" in getattr(program, "__qualname__", ""):
        raise InputError(explain("A program for processes", "a function of a module, which the "
                                 "others can import", program.__qualname__))
    if processes:
        from unspoken.joint.session.processes import run_processes

        outcomes = run_processes(program, list(inputs), mode, roles, limits)
    else:
        outcomes = asyncio.run(in_memory(program, inputs, roles, limits))
    for outcome in outcomes:
        outcome.ledger.mode = mode
        if folder is not None:
            outcome.ledger.save(Path(folder) / f"{outcome.name}.ledger")
    return outcomes


async def in_memory(program: Program, inputs: Sequence[Any], roles: Roles,
                    limits: Limits | None = None, tap: Tap | None = None,
                    wrap: Callable[[Seam], Seam] | None = None) -> list[Outcome]:
    """Run every party as a task of one loop; `wrap` may put something around its transport."""
    names = roles.everybody
    ends = memory_transports(names, limits, tap)
    declared = tuple(getattr(program, "disclosures", ()))

    async def one(name: str, data: Any) -> Outcome:
        seam = ends[name] if wrap is None else wrap(ends[name])
        try:
            output = await play(seam, roles, program, data, declared)
        except Exception as error:
            return Outcome(name, None, seam.ledger, error)
        return Outcome(name, output, seam.ledger)

    given = [*inputs, *[None] * (len(names) - len(inputs))]
    return list(await asyncio.gather(*(one(n, d) for n, d in zip(names, given, strict=True))))
