"""How many ids all owners have in common: the task `intersection` (vcz2006 section 6.2.2).

    unspoken joint new study.toml --name patients --task intersection --set column=patient ...

Receivers learn the number; the first of them counts and, with three or more owners, sees the
overlaps of any of the sets. See `primitives.intersection` for who must not work together and what
breaks it. Ids of a CSV file are taken as they are written ("007" is not 7), those of other files
as whole numbers or text; they are compared character by character.

Parameters: column; least, pad_to, duplicates and subsets as in `SetRules`; queries and differ for
a budget that each owner keeps beside its file, in FILE.queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import UNVETTED
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules, encoded, own_set
from unspoken.joint.mpc.sets.intersection import (
    intersection_disclosures,
    intersection_size,
    plain_intersection,
    plan_intersection,
)
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import id_column
from unspoken.joint.tasks.task import Plan, Task

COMMON = "how many ids all owners have in common"
RULES = ("least", "pad_to", "duplicates", "subsets")
BUDGET = ("queries", "differ")
GUESS = 1000


def pooled(tables: Mapping[str, Any]) -> int:
    """Return the same on pooled data: the ids of every owner in one place."""
    return len(plain_intersection([encoded(ids) for ids in tables.values()]))


class CommonIds:
    """The size of the intersection of all owners' ids."""

    def __init__(self, study: Study) -> None:
        self.rules = _rules(study.parameters)
        self.receivers = study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, int] | None:
        """Count; an owner's data are its ids and its budget."""
        ids, budget = (None, None) if data is None else data
        found = await intersection_size(party, ids, because=COMMON, to=self.receivers,
                                        rules=replace(self.rules, budget=budget))
        return None if found is None else {COMMON: found}


def _rules(parameters: Mapping[str, Any]) -> SetRules:
    return SetRules(**{name: parameters[name] for name in RULES if name in parameters})


def _check(parameters: Mapping[str, Any]) -> None:
    column = parameters.get("column")
    if not isinstance(column, str) or not column:
        raise StudyError(explain("Parameter 'column' of task 'intersection'", "a column's name",
                                 column))
    known = ("column", *RULES, *BUDGET)
    for name in parameters:
        if name not in known:
            raise StudyError(f"Task 'intersection' has no parameter '{name}'. It has "
                             + ", ".join(known) + ".")
    if "differ" in parameters and "queries" not in parameters:
        raise StudyError("Parameter 'differ' of task 'intersection' needs 'queries', the number "
                         "of queries that are allowed.")
    try:
        _rules(parameters)
        _budget("check", parameters, None)
    except InputError as error:
        raise StudyError(str(error)) from None


def _budget(study: str, parameters: Mapping[str, Any], path: Path | None) -> QueryBudget | None:
    if "queries" not in parameters:
        return None
    return QueryBudget(study, parameters["queries"], parameters.get("differ", 1), path)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return intersection_disclosures(COMMON, study.having("owner"), study.having("receiver"),
                                    _rules(study.parameters))


def _plan(study: Study) -> Plan:
    owners, receivers = study.having("owner"), study.having("receiver")
    rules = _rules(study.parameters)
    if study.facts.has_shares or len(owners) < 2 or not receivers:
        raise StudyError(explain("Task 'intersection'", "given mode 'sums', two owners or more, "
                                 "and a receiver", f"mode '{study.mode}', {len(owners)} owners and "
                                 f"{len(receivers)} receivers", "It needs no shares."))
    if rules.subsets == "hidden" and len(owners) > 2:
        raise StudyError("Hidden overlaps need a public list of all ids, which a study has no "
                         "place for. Agree on subsets='shown', or ask two at a time.")
    told = _disclosures(study)
    learns = {name: [d.because for d in told if name in d.to] for name in study.names}
    cost = plan_intersection([rules.pad_to or GUESS] * len(owners), len(receivers))
    return Plan(cost["rounds"], cost["bytes"], learns,
                f"any {len(owners) - 1} of the {len(owners)} owners, beyond what is disclosed",
                _notes(study.parameters, rules))


def _notes(parameters: Mapping[str, Any], rules: SetRules) -> tuple[str, ...]:
    """Return what an owner must know before it agrees."""
    notes = [UNVETTED, "a party can make up ids to find out whether others have them"]
    if not rules.pad_to:
        notes.append(f"bytes are for {GUESS:,} ids of each owner")
    if "queries" not in parameters:
        notes.append("nothing counts the queries: set 'queries' to limit them")
    return tuple(notes)


def _load(path: Path, study: Study) -> tuple[list[bytes], QueryBudget | None]:
    """Return this owner's ids and its budget; what the study does not allow is refused here."""
    values = id_column(path, str(study.parameters["column"]), "column")
    if any(value is None or value == "" for value in values):
        raise StudyError(f"Column '{study.parameters['column']}' must have an id in every row. "
                         "Some have none.")
    ids = encoded(values)
    own_set(ids, _rules(study.parameters))
    queries = path.with_name(f"{path.name}.queries")
    return ids, _budget(study.name, study.parameters, queries)


TASK = Task("intersection", _check, _disclosures, _plan, _load, CommonIds)
