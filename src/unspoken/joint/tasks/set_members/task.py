"""The study tasks `intersection-members` and `union`: sets themselves, to whom a study names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.sets.encrypted_circle import encoded
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.party_files import id_column
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.set_members.params import MemberParams
from unspoken.joint.tasks.set_members.pooled import pooled_common, pooled_union
from unspoken.joint.tasks.set_members.program_rows import ANY, COMMON, CommonMembers, UnionMembers
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

COMMON_HELP = """Which ids all owners have, out of a public list (vcz2006 section 6.2).

    unspoken joint new study.toml --name wells --task intersection-members --set column=well
        --set 'universe=["w1", "w2", "w3"]' --receivers north ...

Receivers learn which ids of the list all owners have, and nothing about ids that some lack. Where
ids cannot be listed, task `intersection` with members=true shows every owner which of its own all
have. Ids of a CSV file are taken as they are written ("007" is not 7)."""
UNION_HELP = """Which ids some owner has, out of a public list, and not whose (vcz2006 section 6.2).

    unspoken joint new study.toml --name recalls --task union --set column=part
        --set 'universe=["p1", "p2", "p3"]' --receivers north ...

Receivers learn which ids of the list any owner has. Whose they are does not show, but for two
owners: each knows which it lacks itself. Where ids cannot be listed, task `schema` unites texts."""
MADE_UP = "an owner can bring made-up ids of the list"


class CommonStudy(CommonMembers):
    """The program of a study of what all have."""

    def __init__(self, study: Study) -> None:
        super().__init__(MemberParams.of(study.parameters), study.having("receiver"))
        self.disclosures = study.disclosures


class UnionStudy(UnionMembers):
    """The program of a study of what any has."""

    def __init__(self, study: Study) -> None:
        super().__init__(MemberParams.of(study.parameters), study.having("receiver"))
        self.disclosures = study.disclosures


def _fits(parameters: Mapping[str, Any]) -> None:
    MemberParams.of(parameters)


def _common_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(COMMON, study.having("receiver")),)


def _union_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(ANY, study.having("receiver")),)


def _common_outlook(study: Study) -> Outlook:
    _two_or_more(study)
    return outlined(study, _common_disclosures(study), (MADE_UP,))


def _union_outlook(study: Study) -> Outlook:
    _two_or_more(study)
    return outlined(study, _union_disclosures(study), (MADE_UP,))


def _two_or_more(study: Study) -> None:
    with_shares(study)
    if len(study.having("owner")) < 2:
        raise StudyError(explain(f"Task '{study.task}'", "given two owners or more",
                                 len(study.having("owner"))))


def _load(path: Path, study: Study) -> list[bytes]:
    """Return this owner's ids; what the study does not allow is refused here."""
    params = MemberParams.of(study.parameters)
    return params.own(id_column(path, params.column, "column"))


def _blank(study: Study, name: str, records: int) -> list[bytes]:
    return encoded(MemberParams.of(study.parameters).universe)


def _common_opens(study: Study) -> tuple[Opened, ...]:
    return _opens(study, "membership of single ids", "of its own ids, which all have")


def _union_opens(study: Study) -> tuple[Opened, ...]:
    return _opens(study, "ids that it lacks itself", "the union less its own")


def _opens(study: Study, words: str, why: str) -> tuple[Opened, ...]:
    """Return what one of two owners always works out, and others where nobody or all have an id."""
    owners, to = study.having("owner"), study.having("receiver") or study.names
    inside = tuple(name for name in to if name in owners)
    outside = tuple(name for name in to if name not in owners)
    alone = len(owners) == 2
    lines = [Decisions(words, why if alone else "where nobody has any, or all have all", inside,
                       certainty=Certainty.ALWAYS if alone else Certainty.SOMETIMES)]
    return (*(lines if inside else []), *([Decisions(
        "membership of single ids", "where nobody has any, or all have all", outside)]
        if outside else []))


TASKS = (
    Task("intersection-members", COMMON_HELP, declared(MemberParams), _fits, _common_disclosures,
         _common_outlook, _load, CommonStudy, _blank, pooled_common, opens=_common_opens),
    Task("union", UNION_HELP, declared(MemberParams), _fits, _union_disclosures, _union_outlook,
         _load, UnionStudy, _blank, pooled_union, opens=_union_opens))
