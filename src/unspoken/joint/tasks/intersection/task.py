"""The study task `intersection`: how many ids all owners have in common, or which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import UNVETTED
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import encoded, own_set
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import id_column, kept_beside
from unspoken.joint.tasks.intersection.params import IntersectionParams
from unspoken.joint.tasks.intersection.pooled import pooled
from unspoken.joint.tasks.intersection.program_rows import CommonIds, disclosures
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """How many ids all owners have in common (vcz2006 section 6.2.2).

    unspoken joint new study.toml --name patients --task intersection --set column=patient ...

Receivers learn the number; the first of them counts and, with three or more owners, sees the
overlaps of any of the sets. With members=true every owner learns which of its own ids all have, and
the first owner counts. `joint.mpc.sets.intersection` says who must not work together and what
breaks it. Ids of a CSV file are taken as they are written ("007" is not 7), those of other
files as whole numbers or text; they are compared character by character."""


def _fits(parameters: Mapping[str, Any]) -> None:
    IntersectionParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return disclosures(study)


def _outlook(study: Study) -> Outlook:
    owners, receivers = study.having("owner"), study.having("receiver")
    params = IntersectionParams.of(study.parameters)
    if study.facts.has_shares or len(owners) < 2 or not receivers:
        raise StudyError(explain("Task 'intersection'", "given mode 'sums', two owners or more, "
                                 "and a receiver", f"mode '{study.mode}', {len(owners)} owners and "
                                 f"{len(receivers)} receivers", "It needs no shares."))
    if params.rules.subsets == "hidden" and len(owners) > 2:
        raise StudyError("Hidden overlaps need a public list of all ids, which a study has no "
                         "place for. Agree on subsets='shown', or ask two at a time.")
    if params.members and set(receivers) != set(owners):
        raise StudyError("With members=true every owner learns which of its own ids all have. "
                         f"Receivers were chosen: {', '.join(receivers)}. Leave them out, or agree "
                         "on a public list of ids: task 'intersection-members'.")
    learns = {name: [d.because for d in _disclosures(study) if name in d.to]
              for name in study.names}
    return Outlook(learns, f"any {len(owners) - 1} of the {len(owners)} owners, beyond what is "
                   "disclosed", _notes(params))


def _notes(params: IntersectionParams) -> tuple[str, ...]:
    """Return what an owner must know before it agrees."""
    notes = [UNVETTED, "a party can make up ids to find out whether others have them"]
    if params.queries is None:
        notes.append("nothing counts the queries: set 'queries' to limit them")
    return tuple(notes)


def _load(path: Path, study: Study) -> tuple[list[bytes], QueryBudget | None]:
    """Return this owner's ids and its budget; what the study does not allow is refused here."""
    params = IntersectionParams.of(study.parameters)
    values = id_column(path, params.column, "column")
    if any(value is None or value == "" for value in values):
        raise StudyError(f"Column '{params.column}' must have an id in every row. Some have none.")
    ids = encoded(values)
    own_set(ids, params.rules)
    if params.queries is None:
        return ids, None
    return ids, params.budget(study.name, kept_beside(path, "queries", "queries"))


def _blank(study: Study, name: str, records: int) -> tuple[list[bytes], None]:
    rules = IntersectionParams.of(study.parameters).rules
    return encoded(range(min(records, rules.pad_to) if rules.pad_to else records)), None


def _opens(study: Study) -> tuple[Opened, ...]:
    """Return the number in common: of one id it is whether the others have it."""
    words, to = "membership of single ids", study.having("receiver")
    params = IntersectionParams.of(study.parameters)
    if params.members:
        alone = len(study.having("owner")) == 2
        return (Decisions(words, "those of its own, as far as all have them", to,
                          certainty=Certainty.ALWAYS if alone else Certainty.SOMETIMES),)
    if params.least <= 1:
        return (Decisions(words, "a list of one id is allowed, 'least' being below 2", to,
                          certainty=Certainty.USUALLY),)
    return (Decisions(words, "where all or none of one's own are in common", to),)


TASKS = (Task("intersection", HELP, declared(IntersectionParams), _fits, _disclosures, _outlook,
              _load, CommonIds, _blank, pooled, opens=_opens),)
