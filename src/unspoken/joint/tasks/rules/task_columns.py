"""The task `rules-columns`: rules over baskets whose items are spread among owners.

    unspoken joint new study.toml --name both --task rules-columns --set support=0.01
        --set 'items_north=["milk", "bread"]' --set 'items_south=["beer"]' ...

Every owner's file has the same baskets in the same order, a line each, with its own items only (an
empty line where a basket has none of them). With ids=true every line begins with the id of its
basket: then the baskets that all owners list are aligned first (`primitives.alignment`), which
shows every owner which of its ids are in common. Parameters: items_NAME for every owner, support,
confidence (0.5), longest (12), most (2^24), supports ("hidden" or "shown"), fewest (10), ids,
method ("bitmaps"; by name "intersection" and "encrypted", see `encrypted`), and queries, for a
budget of runs that each owner keeps beside its file, in FILE.queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.pair_count_ring import ROWS, cross_size
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import align, align_disclosures
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.museum import encrypted_rules as encrypted
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import as_study
from unspoken.joint.tasks.rules import program_columns as vertical
from unspoken.joint.tasks.rules.baskets_with_ids import read_with_ids
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import PROBLEMS, Terms, digest, own_baskets
from unspoken.joint.tasks.rules.task_rows import comparing, load_baskets, names_of
from unspoken.joint.tasks.task import UNVETTED, Plan, Task, notes_of, safe_against
from unspoken.table.baskets import Baskets

KNOWN = ("support", "confidence", "longest", "most", "supports", "fewest", "ids", "method",
         "queries")
PREFIX = "items_"
METHODS = ("bitmaps", "intersection", "encrypted")
GUESS = 100_000
ALIGNED = "which baskets all owners have"


def _sites(parameters: Mapping[str, Any], owners: Sequence[str] | None = None) -> Sites:
    given = {name.removeprefix(PREFIX): names_of(value, f"Parameter '{name}'")
             for name, value in parameters.items() if name.startswith(PREFIX)}
    if owners is not None and set(given) != set(owners):
        raise StudyError(explain("Parameters 'items_NAME'", "one for each of " + ", ".join(owners),
                                 ", ".join(given) or "none"))
    return as_study(lambda: Sites.of({name: given[name] for name in owners or given}))


def _terms(parameters: Mapping[str, Any], sites: Sites) -> Terms:
    given = {name: parameters[name] for name in ("longest", "most", "supports")
             if name in parameters}
    try:
        terms = Terms(sites.names, parameters.get("support"),  # type: ignore[arg-type]
                      parameters.get("confidence", 0.5), **given)
        _ = terms.support, terms.confidence
    except InputError as error:
        raise StudyError(str(error)) from None
    return terms


def _check(parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if name not in KNOWN and not name.startswith(PREFIX):
            raise StudyError(f"Task 'rules-columns' has no parameter '{name}'. It has items_NAME, "
                             + ", ".join(KNOWN) + ".")
    fewest = parameters.get("fewest", vertical.FEWEST)
    if not isinstance(fewest, int) or isinstance(fewest, bool) or fewest < 1:
        raise StudyError(explain("Parameter 'fewest'", "an int >= 1", fewest))
    if parameters.get("method", "bitmaps") not in METHODS:
        raise StudyError(explain("Parameter 'method'", "one of " + ", ".join(METHODS),
                                 parameters["method"]))
    if not isinstance(parameters.get("ids", False), bool):
        raise StudyError(explain("Parameter 'ids'", "true or false", parameters["ids"]))
    _budget("check", parameters, None)
    _terms(parameters, _sites(parameters))


def _program(study: Study) -> Any:
    """Return the program of the method that was agreed on."""
    found = study.parameters
    sites = _sites(found, study.having("owner"))
    made = {"bitmaps": vertical.RulesOverColumns, "intersection": encrypted.ByIntersection,
            "encrypted": encrypted.EncryptedColumns}[found.get("method", "bitmaps")]
    return made(_terms(found, sites), sites, study.having("receiver"),
                found.get("fewest", vertical.FEWEST))


class Counted:
    """A program whose runs are counted by each owner, and whose baskets may have to be aligned."""

    def __init__(self, study: Study) -> None:
        self._inner = _program(study)
        self._ids = study.parameters.get("ids", False)
        self.disclosures = _disclosures(study)

    async def __call__(self, party: Party, data: Any) -> Any:
        """Spend one run of the budget, align, then mine."""
        baskets, ids, budget = (None, None, None) if data is None else data
        if budget is not None:
            budget.spend([b"run"])
        if self._ids:
            baskets = await self._aligned(party, baskets, ids)
        return await self._inner(party, baskets)

    async def _aligned(self, party: Party, baskets: Any, ids: Any) -> Any:
        """Check everything that can be checked before, then keep what all owners have."""
        terms, sites = self._inner.terms, self._inner.sites
        await vertical.checked(party, terms, sites, baskets,
                               digest("align", terms, list(sites.items.items())))
        places = await align(party, ids, because=ALIGNED, rules=_set_rules(self._inner.fewest))
        return baskets if places is None or baskets is None else baskets.take(places)


def _set_rules(fewest: int) -> SetRules:
    return SetRules(least=fewest)


def _budget(study: str, parameters: Mapping[str, Any], path: Path | None) -> QueryBudget | None:
    if "queries" not in parameters:
        return None
    return QueryBudget(study, parameters["queries"], 1, path)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    program, owners = _program(study), study.having("owner")
    aligned = align_disclosures(ALIGNED, owners, owners[0], _set_rules(program.fewest)) \
        if study.parameters.get("ids", False) else ()
    return (*aligned, *program.disclosures)


def _plan(study: Study) -> Plan:
    sites = _sites(study.parameters, study.having("owner"))
    terms, method = _terms(study.parameters, sites), study.parameters.get("method", "bitmaps")
    _refuse(study, method)
    learns = {name: [d.because for d in _disclosures(study) if name in (d.to or study.names)]
              for name in study.names}
    if study.mode == "dealer" and study.dealer is not None:
        learns[study.dealer] = ["how many baskets, and how many candidates of each size"]
    widths = [len(names) for names in sites.items.values()]
    if method != "bitmaps":
        cost, safe = encrypted.plan(method, widths, GUESS), encrypted.safe(study.having("owner"))
        notes: tuple[str, ...] = (UNVETTED, *encrypted.notes(method))
    else:
        cost = plan(terms, widths, GUESS)
        safe, notes = safe_against(study), notes_of(study)
    return Plan(cost["rounds"], cost["bytes"], learns, safe, (
        *notes, f"bytes are for {GUESS:,} baskets, all items frequent and no larger sets",
        *_warnings(study)))


def _warnings(study: Study) -> tuple[str, ...]:
    found = ["an owner can make up columns to ask about baskets that it knows"]
    if "queries" not in study.parameters:
        found.append("nothing counts the runs: set 'queries' to limit them")
    return tuple(found)


def _refuse(study: Study, method: str) -> None:
    owners = study.having("owner")
    if (study.mode == "sums") != (method != "bitmaps") or len(owners) < 2:
        raise StudyError(explain("Task 'rules-columns'", "given two owners or more, mode 'sums' "
                                 "for the methods by encryption and a mode with shares else",
                                 f"{len(owners)} owners, method '{method}', mode '{study.mode}'"))
    if method != "bitmaps":
        encrypted.refuse_owner(owners, study.having("receiver"))


def plan(terms: Terms, widths: Sequence[int], rows: int,
         larger: Sequence[int] = ()) -> dict[str, int]:
    """Return rounds and bytes with a dealer: `widths` frequent items, `larger` sets a level."""
    blocks, pairs, items = -(-rows // ROWS), cross_size(widths), sum(widths)
    outside = sum(widths[2:])
    cells = rows * (8 * items + 4 * outside) + 8 * pairs * blocks
    compared = comparing(terms, len(widths)) * (len(terms.items) + items * items // 2 + pairs)
    counted = sum(larger) * (1.5 * rows + comparing(terms, len(widths)))
    return {"rounds": 40 + 3 * blocks + 35 * len(larger),
            "bytes": int(cells + compared + counted)}


def _load(path: Path, study: Study) -> tuple[Baskets, list[str] | None, QueryBudget | None]:
    """Return this owner's baskets; whose items they are is found out by what fits."""
    sites = _sites(study.parameters, study.having("owner"))
    found, ids = read_with_ids(path) if study.parameters.get("ids", False) else (
        load_baskets(path), None)
    terms = _terms(study.parameters, sites)
    problems = [own_baskets(found, replace(terms, items=names))[1]
                for names in sites.items.values()]
    if all(problems):
        raise RefusedError(f"'{path.name}' {PROBLEMS[min(problems)]}. Nothing was sent.")
    budget = _budget(study.name, study.parameters, path.with_name(f"{path.name}.queries"))
    if budget is not None and budget.left == 0:
        raise RefusedError(f"Study '{study.name}' allows {budget.most} runs. All were made. "
                           "Nothing was sent. Agree on a new study if more is to be disclosed.")
    return found, ids, budget


TASK = Task("rules-columns", _check, _disclosures, _plan, _load, Counted)
