"""The study tasks `rules` and `rules-columns`: association rules over baskets of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import UnspokenError, explain
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.secure_sum import refuse_two
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.result_control.opened_forms import Decisions, Opened, Totals
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import part_of
from unspoken.joint.tasks.common.party_files import kept_beside, left_out, party_options
from unspoken.joint.tasks.common.study_parameters import learns
from unspoken.joint.tasks.rules import program_columns, program_rows
from unspoken.joint.tasks.rules.baskets_with_ids import basket_ids, read_with_ids
from unspoken.joint.tasks.rules.params import (
    PROBLEMS,
    SETS,
    RuleSettings,
    columns_terms,
    digest,
    own_baskets,
    rows_terms,
    sites_of,
)
from unspoken.joint.tasks.rules.pooled import pooled, pooled_columns
from unspoken.joint.tasks.rules.program_columns import RulesOverColumns
from unspoken.joint.tasks.rules.program_rows import RulesOverRows
from unspoken.joint.tasks.task import Outlook, Task, notes_of, safe_against
from unspoken.joint.tasks.task_params import declared
from unspoken.table.baskets import Baskets

ROWS_HELP = """Association rules over the baskets of several owners.

    unspoken joint new study.toml --name shops --task rules --set support=0.01 ...

A list of items must fit into 50,000 letters: the study is compared in one message. Files as
`unspoken.read_baskets` reads them."""
COLUMNS_HELP = """Rules over baskets whose items are spread among owners.

    unspoken joint new study.toml --name both --task rules-columns --set support=0.01
        --set 'items_north=["milk", "bread"]' --set 'items_south=["beer"]' ...

Every owner's file has the same baskets in the same order, a line each, with its own items only (an
empty line where a basket has none of them): same_order=true says so. With ids=card every line
begins with the id of its basket, and the first line with "card": then the baskets that all owners
list are aligned first."""
BASKETS = 100_000
FREQUENT = 100
ASSUMES = (f"all items frequent ({FREQUENT} of them at most), and no larger sets; how many there "
           "are is not known before")


class ColumnsStudy:
    """A program over columns whose runs are counted by each owner."""

    def __init__(self, study: Study) -> None:
        self._inner = _over_columns(study)
        self.disclosures = self._inner.disclosures

    async def check_first(self, party: Party, data: Loaded | None) -> None:
        """Check everything that can be checked before baskets are aligned."""
        terms, sites = self._inner.terms, self._inner.sites
        await program_columns.checked(party, terms, sites, None if data is None else data.baskets,
                                      digest("align", terms, list(sites.items.items())))

    async def __call__(self, party: Party, data: Loaded | None) -> Any:
        """Spend one run of the budget, then mine."""
        if data is None:
            return await self._inner(party, None)
        if data.budget is not None:
            data.budget.spend([b"run"])
        return await self._inner(party, data.baskets)


@dataclass(frozen=True)
class Loaded:
    """An owner's baskets, and its budget of runs."""

    baskets: Baskets
    budget: QueryBudget | None

    def take_rows(self, places: Ints) -> Loaded:
        """Return some of the baskets."""
        return Loaded(self.baskets.take(places), self.budget)


def _over_rows(study: Study) -> RulesOverRows:
    return RulesOverRows(rows_terms(study.parameters), study.having("receiver"))


def _over_columns(study: Study) -> RulesOverColumns:
    sites = sites_of(study.parameters, study.having("owner"))
    return RulesOverColumns(columns_terms(study.parameters, sites), sites,
                            study.having("receiver"), RuleSettings.of(study.parameters).fewest)


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    rows_terms(parameters)


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    columns_terms(parameters, sites_of(parameters))


def _budget(study: Study, path: Path) -> QueryBudget | None:
    """Return the budget of runs that is kept beside an owner's file."""
    queries = RuleSettings.of(study.parameters).queries
    return None if queries is None else QueryBudget(study.name, queries, 1,
                                                    kept_beside(path, "queries", "queries"))


def _rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_rows.disclosures(rows_terms(study.parameters), study.having("receiver"))


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return _over_columns(study).disclosures


def _rows_outlook(study: Study) -> Outlook:
    if not study.facts.has_shares or len(study.having("owner")) < 2:
        raise StudyError(explain("Task 'rules'", "given two owners or more, and a mode with shares",
                                 f"mode '{study.mode}'", "Name a dealer, or use three-party."))
    if rows_terms(study.parameters).shown:
        refuse_two(study.having("owner"), study.having("receiver"))
    learned = learns(study, _rows_disclosures(study),
                     "how many candidates and rules there are of each size")
    return Outlook(learned, safe_against(study), notes_of(study), ASSUMES)


def _columns_outlook(study: Study) -> Outlook:
    sites_of(study.parameters, study.having("owner"))
    owners = study.having("owner")
    if not study.facts.has_shares or len(owners) < 2:
        raise StudyError(explain("Task 'rules-columns'", "given two owners or more, and a mode "
                                 "with shares", f"{len(owners)} owners and mode '{study.mode}'"))
    learned = learns(study, _columns_disclosures(study),
                     "how many baskets, and how many candidates of each size")
    notes = ["an owner can make up columns to ask about baskets that it knows"]
    if "queries" not in study.parameters:
        notes.append("nothing counts the runs: set 'queries' to limit them")
    return Outlook(learned, safe_against(study), (*notes_of(study), *notes), ASSUMES)


def load_baskets(path: Path) -> Baskets:
    """Read a file of baskets; what is no such file is refused by name."""
    from unspoken.table.basket_files import baskets_with

    try:
        return baskets_with(path, party_options())
    except UnspokenError as error:
        raise StudyError(f"'{path.name}' must be a file of baskets. {error}") from None


def _load_rows(path: Path, study: Study) -> Baskets:
    """Return this owner's baskets; what the study does not allow is refused here."""
    terms, listed = rows_terms(study.parameters), load_baskets(path)
    baskets, problem = own_baskets(listed, terms)
    if baskets is None:
        raise RefusedError(f"'{path.name}' {PROBLEMS[problem]}. Nothing was sent.")
    return baskets


def _load_columns(path: Path, study: Study) -> Loaded:
    """Return this owner's baskets; whose items they are is found out by what fits."""
    sites = sites_of(study.parameters, study.having("owner"))
    ids = left_out()
    listed = load_baskets(path) if ids is None else read_with_ids(path, ids)[0]
    terms = columns_terms(study.parameters, sites)
    problems = [own_baskets(listed, replace(terms, items=names))[1]
                for names in sites.items.values()]
    if all(problems):
        raise RefusedError(f"'{path.name}' {PROBLEMS[min(problems)]}. Nothing was sent.")
    budget = _budget(study, path)
    if budget is not None and budget.left == 0:
        raise RefusedError(f"Study '{study.name}' allows {budget.most} runs. All were made. "
                           "Nothing was sent. Agree on a new study if more is to be disclosed.")
    return Loaded(listed, budget)


def _baskets(records: int, items: tuple[str, ...]) -> Baskets:
    """Return blank baskets, each with one item."""
    rows = np.arange(records, dtype=np.int64)
    return Baskets.from_rows(rows, rows % len(items), records, items)


def _blank_rows(study: Study, name: str, records: int) -> Baskets:
    terms = rows_terms(study.parameters)
    return _baskets(min(part_of(records, study), terms.most), terms.items)


def _blank_columns(study: Study, name: str, records: int) -> Loaded:
    return Loaded(_baskets(records, sites_of(study.parameters).items[name]), None)


def _expected(study: Study) -> int:
    """Return as many baskets as make the threshold of a study one that is not refused."""
    least = _over_columns(study).terms.support
    return max(BASKETS, int(RuleSettings.of(study.parameters).fewest / least) + 1)


def _answers(study: Study, records: int, name: str) -> Answers:
    levels = iter(range(1 << 30))

    def frequent(shape: tuple[int, ...]) -> Any:
        every = max(1, -(-shape[0] // FREQUENT))
        return (np.arange(shape[0]) % every == 0) & (next(levels) == 0)

    return {SETS: frequent}


def _rows_opens(study: Study) -> tuple[Opened, ...]:
    counts = "the number of baskets with a set"
    if rows_terms(study.parameters).shown:
        return Totals(counts, study.having("receiver")), Totals("the number of baskets")
    return (Decisions(counts),)


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("items of single baskets", "where a set is in as many baskets as its "
                    "items of one owner, or a threshold is met by one basket"),)


TASKS = (
    Task("rules", ROWS_HELP, declared(RuleSettings, "rows"), _fits_rows, _rows_disclosures,
         _rows_outlook, _load_rows, _over_rows, _blank_rows, pooled, _answers,
         opens=_rows_opens),
    Task("rules-columns", COLUMNS_HELP, declared(RuleSettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, _load_columns, ColumnsStudy, _blank_columns,
         pooled_columns, _answers, expected=_expected, over_columns=True, ids=basket_ids,
         opens=_columns_opens))
