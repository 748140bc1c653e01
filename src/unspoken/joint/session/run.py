"""Running one program for every party: in memory, or each in a process of its own over TLS.

    async def program(party, data):
        total = await share_sum(party, data, shape=(3,), low=0, high=1000)
        return await reveal(party, total, because="total per month")

    run_local(declares("total per month")(program), [x, y, z])

Modes: "sums" has no shares (secure sums only, no helper). "dealer" has holders of shares and a
dealer, which is a party and a process of its own; it is semi-honest, and the default here, where
one machine has all data. "authenticated", the default of a study with a dealer, is the same with
tags: a holder that deviates ends the run. In "three-party" there are exactly three owners: two hold
shares, the third deals (honest majority: safe against any one of them); "three-party-verified" is
the same with tags and proofs: whichever of the three deviates, the run ends. "two-party" has two
holders and no dealer: they use oblivious transfer, which costs more and needs no third party.

In memory parties are not protected from each other; it is for trying out and for tests. unspoken's
own engine is not vetted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.joint.joint_errors import LedgerError, PartyError
from unspoken.joint.mpc.engines.mode import DEALER
from unspoken.joint.session.own_loop import finished
from unspoken.joint.session.play import Outcome, Program, in_memory
from unspoken.joint.session.processes import run_processes
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports.limits import Limits
from unspoken.table.atomic_files import named_path


def run_local(program: Program, inputs: Sequence[Any], mode: str = "dealer",
              processes: bool = False, names: Sequence[str] | None = None, *,
              holders: Sequence[str] | None = None, limits: Limits | None = None,
              folder: Path | None = None) -> list[tuple[Any, Ledger]]:
    """Run a program for every input on this machine; return each party's output and ledger.

    For trying out and for tests: parties on one machine are not protected from each other. The
    first real error is raised: that of the party whose program failed, before errors of parties
    that were only informed of it.

    Parameters
    ----------
    program : async callable
        Called as `program(party, data)`, decorated with `declares`.
    inputs : sequence
        One input per owner.
    mode : str, default 'dealer'
        'dealer', 'authenticated', 'sums', 'two-party', 'three-party', 'three-party-verified' or
        'spu': who holds shares and who deals; see docs/concepts/joint.md.
    processes : bool, default False
        Whether each party is a process of its own, connected over TLS.
    names : sequence of str, optional
        The parties' names. Default: p0, p1, and so on.
    holders : sequence of str, optional
        The parties that hold shares. Default: as the mode says.
    limits : Limits, optional
        How long parties wait for each other.
    folder : Path, optional
        Where to save every ledger, the dealer's too.

    Returns
    -------
    list of tuple
        Output and ledger of each party, in the order of the inputs.

    Examples
    --------
    >>> [(total, ledger), *others] = run_local(program, [north, south, east])  # doctest: +SKIP
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
    """Run a program as `run_local` does, but return how it ended for each party, errors included.

    Parameters
    ----------
    program : async callable
        Called as `program(party, data)`, decorated with `declares`.
    inputs : sequence
        One input per owner.
    mode : str, default 'dealer'
        'dealer', 'authenticated', 'sums', 'two-party', 'three-party', 'three-party-verified' or
        'spu': who holds shares and who deals.
    processes : bool, default False
        Whether each party is a process of its own, connected over TLS.
    names : sequence of str, optional
        The parties' names. Default: p0, p1, and so on.
    holders : sequence of str, optional
        The parties that hold shares. Default: as the mode says.
    limits : Limits, optional
        How long parties wait for each other.
    folder : Path, optional
        Where to save every ledger.

    Returns
    -------
    list of Outcome
        One per party, the dealer last.

    Examples
    --------
    >>> errors = [outcome.error for outcome in run_outcomes(program, inputs)]  # doctest: +SKIP
    """
    names = list(names) if names is not None else [f"p{i}" for i in range(len(inputs))]
    if len(names) != len(inputs):
        raise InputError(f"'names' must have one name per input. There are {len(names)} names and "
                         f"{len(inputs)} inputs.")
    roles = roles_for(names, mode, holders)
    if processes and "<" in getattr(program, "__qualname__", ""):
        raise InputError(f"'{program.__qualname__}' cannot run in processes. Use a function of a "
                         "module, which the other processes can import.")
    if folder is not None:
        new_ledgers_in(named_path(folder), roles.everybody)
    if processes:
        return run_processes(program, list(inputs), mode, roles, limits,
                             None if folder is None else named_path(folder))
    outcomes = finished(in_memory(program, inputs, roles, limits))
    for outcome in outcomes:
        if folder is not None:
            outcome.ledger.save(named_path(folder) / f"{outcome.name}.ledger")
    return outcomes


def new_ledgers_in(folder: Path, names: Sequence[str]) -> None:
    """Refuse a folder to which ledgers cannot be written, or that has them already."""
    for name in names:
        if (folder / f"{name}.ledger").exists():
            raise LedgerError(f"The ledger '{folder / name}.ledger' exists already, and a ledger "
                              "is never overwritten. Name another folder. Nothing was run.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LedgerError(f"No ledger can be written to '{folder}'. Name another folder. Nothing "
                          "was run.")
