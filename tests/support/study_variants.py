"""Studies that differ from the usual ones in who takes part, and in what mode."""

from __future__ import annotations

from dataclasses import replace

from support.study_cases import study_case
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member

WEST = Member("west", "west.example:7700", ("receiver",), "", b"")


def _roles(members, change):
    return tuple(replace(m, roles=tuple(change(m))) for m in members)


def nobody_named(members):
    """Return members of whom none is a receiver."""
    return _roles(members, lambda m: [r for r in m.roles if r != "receiver"])


def all_named(members):
    """Return members whose owners are all receivers."""
    return _roles(nobody_named(members),
                  lambda m: [*m.roles, *(["receiver"] if "owner" in m.roles else [])])


def one_outside(members):
    """Return members with a receiver that owns nothing."""
    return (*nobody_named(members), WEST)


def two_owners(members):
    """Return members without the third owner."""
    return tuple(m for m in all_named(members) if m.name != "east")


def one_idle(members):
    """Return members of whom the third owns nothing, and receives."""
    return _roles(members, lambda m: ["receiver"] if m.name == "east" else m.roles)


VARIANTS = {"nobody is named": nobody_named, "all are named": all_named,
            "one outside": one_outside, "two owners": two_owners, "one owns nothing": one_idle}


def varied(name: str, mode: str, variant: str, **more) -> tuple[Study, int]:
    """Return a study of a task with other members, with what it then discloses."""
    study, _, records = study_case(name, mode, **more)
    study = replace(study, members=VARIANTS[variant](study.members), disclosures=())
    return study, records


def planned(study: Study, records: int) -> Study:
    """Return a study as it is made: outlined, planned, with its disclosures."""
    task = task_of(study)
    task.outlook(study)
    study = replace(study, disclosures=task.disclosures(study))
    task.plan(study, records)
    return study
