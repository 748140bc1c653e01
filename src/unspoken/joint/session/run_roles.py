"""The roles of a run: who owns data, who holds shares, who deals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unspoken.errors import InputError, explain
from unspoken.joint.mpc.engines.mode import DEALER, Mode
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member, check_name
from unspoken.joint.wire.endpoint import Roles


def roles_for(names: Sequence[str], mode: str, holders: Sequence[str] | None = None) -> Roles:
    """Return the roles: by default the first two hold shares, and a dealer is added."""
    chosen = mode_of(mode)
    for name in names:
        check_name(name)
    program = tuple(names)
    if len(set(program)) != len(program) or not program or DEALER in program:
        raise InputError(explain("'names'", "different names, none of them 'dealer'", program))
    return chosen.roles(program, holders)


def roles_of(study: Study) -> Roles:
    """Return the roles of the parties of a study."""
    return mode_of(study.mode).roles_of(study.members)


def with_roles(members: Sequence[Member], mode: Mode, receivers: Sequence[str]) -> list[Member]:
    """Let the first owners hold shares if the mode has any, and receivers get the result."""
    known = [member.name for member in members]
    for name in receivers:
        if name not in known:
            raise InputError(f"'receivers': '{name}' is not an owner. Owners: {', '.join(known)}.")
    return [replace(member, roles=(
        *member.roles, *(["holder"] if place < mode.first_holders else []),
        *(["dealer"] if place == mode.dealing_owner else []),
        *(["receiver"] if member.name in receivers else [])))
        for place, member in enumerate(members)]
