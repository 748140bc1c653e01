"""Who does what in a run: who owns data, who holds shares, who deals."""

from __future__ import annotations

from collections.abc import Sequence

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.correlated.oblivious_transfer import need_group
from unspoken.joint.session.study import MODES, Study
from unspoken.joint.wire.credentials import check_name
from unspoken.joint.wire.endpoint import Roles

DEALER = "dealer"


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
