"""The task `rules-columns`: rules over baskets whose items are spread among owners.

    unspoken joint new study.toml --name both --task rules-columns --set support=0.01
        --set 'items_north=["milk", "bread"]' --set 'items_south=["beer"]' ...

Every owner's file has the same baskets in the same order, a line each, with its own items only (an
empty line where a basket has none of them): same_order=true says so. With ids=card every line
begins with the id of its basket, and the first line with "card": then the baskets that all owners
list are aligned first. Parameters: items_NAME for every owner, support, confidence (0.5), longest
(12), most (2^24), supports ("hidden" or "shown"), fewest (10), and queries, for a budget of runs
that each owner keeps beside its file, in FILE.queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.pair_count_ring import ROWS, cross_size
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.party_files import left_out
from unspoken.joint.tasks.common.study_parameters import RECORD_ORDER, as_study
from unspoken.joint.tasks.rules import program_columns as vertical
from unspoken.joint.tasks.rules.baskets_with_ids import basket_ids, read_with_ids
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import PROBLEMS, RuleParams, digest, own_baskets
from unspoken.joint.tasks.rules.task_rows import comparing, load_baskets, names_of
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.table.baskets import Baskets

KNOWN = ("support", "confidence", "longest", "most", "supports", "fewest", "queries")
PREFIX = "items_"
GUESS = 100_000


def _sites(parameters: Mapping[str, Any], owners: Sequence[str] | None = None) -> Sites:
    given = {name.removeprefix(PREFIX): names_of(value, f"Parameter '{name}'")
             for name, value in parameters.items() if name.startswith(PREFIX)}
    if owners is not None and set(given) != set(owners):
        raise StudyError(explain("Parameters 'items_NAME'", "one for each of " + ", ".join(owners),
                                 ", ".join(given) or "none"))
    return as_study(lambda: Sites.of({name: given[name] for name in owners or given}))


def _terms(parameters: Mapping[str, Any], sites: Sites) -> RuleParams:
    given = {name: parameters[name] for name in ("longest", "most", "supports")
             if name in parameters}
    try:
        terms = RuleParams(sites.names, parameters.get("support"),  # type: ignore[arg-type]
                      parameters.get("confidence", 0.5), **given)
        _ = terms.support, terms.confidence
    except InputError as error:
        raise StudyError(str(error)) from None
    return terms


def _check(parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if name not in KNOWN and not name.startswith(PREFIX):
            raise StudyError(f"Task 'rules-columns' has no parameter '{name}'. It has items_NAME, "
                             + ", ".join((*KNOWN, *RECORD_ORDER)) + ".")
    fewest = parameters.get("fewest", vertical.FEWEST)
    if not isinstance(fewest, int) or isinstance(fewest, bool) or fewest < 1:
        raise StudyError(explain("Parameter 'fewest'", "an int >= 1", fewest))
    _budget("check", parameters, None)
    _terms(parameters, _sites(parameters))


def _program(study: Study) -> vertical.RulesOverColumns:
    found = study.parameters
    sites = _sites(found, study.having("owner"))
    return vertical.RulesOverColumns(_terms(found, sites), sites, study.having("receiver"),
                                     found.get("fewest", vertical.FEWEST))


@dataclass(frozen=True)
class Loaded:
    """An owner's baskets, and its budget of runs."""

    baskets: Baskets
    budget: QueryBudget | None

    def take_rows(self, places: Ints) -> Loaded:
        """Return some of the baskets."""
        return Loaded(self.baskets.take(places), self.budget)


class Counted:
    """A program whose runs are counted by each owner."""

    def __init__(self, study: Study) -> None:
        self._inner = _program(study)
        self.disclosures = self._inner.disclosures

    async def check_first(self, party: Party, data: Loaded | None) -> None:
        """Check everything that can be checked before baskets are aligned."""
        terms, sites = self._inner.terms, self._inner.sites
        await vertical.checked(party, terms, sites, None if data is None else data.baskets,
                               digest("align", terms, list(sites.items.items())))

    async def __call__(self, party: Party, data: Loaded | None) -> Any:
        """Spend one run of the budget, then mine."""
        if data is None:
            return await self._inner(party, None)
        if data.budget is not None:
            data.budget.spend([b"run"])
        return await self._inner(party, data.baskets)


def _budget(study: str, parameters: Mapping[str, Any], path: Path | None) -> QueryBudget | None:
    if "queries" not in parameters:
        return None
    return QueryBudget(study, parameters["queries"], 1, path)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return _program(study).disclosures


def _plan(study: Study) -> Plan:
    sites = _sites(study.parameters, study.having("owner"))
    terms = _terms(study.parameters, sites)
    _refuse(study)
    learns = {name: [d.because for d in _disclosures(study) if name in (d.to or study.names)]
              for name in study.names}
    if study.outside_dealer is not None:
        learns[study.outside_dealer] = ["how many baskets, and how many candidates of each size"]
    widths = [len(names) for names in sites.items.values()]
    cost = plan(terms, widths, GUESS)
    return Plan(cost["rounds"], cost["bytes"], learns, safe_against(study), (
        *notes_of(study), f"bytes are for {GUESS:,} baskets, all items frequent and no larger sets",
        *_warnings(study)), records=GUESS)


def _warnings(study: Study) -> tuple[str, ...]:
    found = ["an owner can make up columns to ask about baskets that it knows"]
    if "queries" not in study.parameters:
        found.append("nothing counts the runs: set 'queries' to limit them")
    return tuple(found)


def _refuse(study: Study) -> None:
    owners = study.having("owner")
    if not study.facts.has_shares or len(owners) < 2:
        raise StudyError(explain("Task 'rules-columns'", "given two owners or more, and a mode "
                                 "with shares", f"{len(owners)} owners and mode '{study.mode}'"))


def plan(terms: RuleParams, widths: Sequence[int], rows: int,
         larger: Sequence[int] = ()) -> dict[str, int]:
    """Return rounds and bytes with a dealer: `widths` frequent items, `larger` sets a level."""
    blocks, pairs, items = -(-rows // ROWS), cross_size(widths), sum(widths)
    outside = sum(widths[2:])
    cells = rows * (8 * items + 4 * outside) + 8 * pairs * blocks
    compared = comparing(terms, len(widths)) * (len(terms.items) + items * items // 2 + pairs)
    counted = sum(larger) * (1.5 * rows + comparing(terms, len(widths)))
    return {"rounds": 40 + 3 * blocks + 35 * len(larger),
            "bytes": int(cells + compared + counted)}


def _load(path: Path, study: Study) -> Loaded:
    """Return this owner's baskets; whose items they are is found out by what fits."""
    sites = _sites(study.parameters, study.having("owner"))
    ids = left_out()
    found = load_baskets(path) if ids is None else read_with_ids(path, ids)[0]
    terms = _terms(study.parameters, sites)
    problems = [own_baskets(found, replace(terms, items=names))[1]
                for names in sites.items.values()]
    if all(problems):
        raise RefusedError(f"'{path.name}' {PROBLEMS[min(problems)]}. Nothing was sent.")
    budget = _budget(study.name, study.parameters, path.with_name(f"{path.name}.queries"))
    if budget is not None and budget.left == 0:
        raise RefusedError(f"Study '{study.name}' allows {budget.most} runs. All were made. "
                           "Nothing was sent. Agree on a new study if more is to be disclosed.")
    return Loaded(found, budget)


TASK = Task("rules-columns", _check, _disclosures, _plan, _load, Counted, over_columns=True,
            ids=basket_ids)
