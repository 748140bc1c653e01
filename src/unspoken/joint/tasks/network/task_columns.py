"""The study task `network`: the structure of a Bayesian network over columns of several sites.

    unspoken joint new study.toml --name care --task network --set 'order=["age", "smokes", "ill"]'
        --set site.age=north --set site.smokes=south --set site.ill=south
        --set values.age=4 --set values.smokes=2 --set values.ill=2 --set max_parents=2 ...

`order` is the order of K2: parents stand before their children. Values are taken as categories;
cut numbers before. With `ids` rows are aligned first (a site with fewer than `least` of them, 10,
is refused). A node has at most max_parents (2), and a step at most max_cells (2^22) counts.
`expected` (1000) records are for the forecast alone. Everybody learns the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common import primitive_costs as costs
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.primitive_costs import Cost
from unspoken.joint.tasks.common.study_parameters import (
    RECORD_ORDER,
    as_study,
    check_names,
    count,
    learns,
    not_chosen,
    text,
    texts,
)
from unspoken.joint.tasks.network.log_factorials import factorials
from unspoken.joint.tasks.network.params import NetworkParams, NetworkSite, Node, Order, site_of
from unspoken.joint.tasks.network.program_columns import NetworkOverColumns, disclosures
from unspoken.joint.tasks.task import Plan, Task, notes_of, safe_against
from unspoken.models.bayes_net import BayesNet

RULES = ("max_parents", "max_cells")
EXPECTED = 1000


@dataclass(frozen=True)
class Loaded:
    """A site's columns as they are in its file."""

    columns: Mapping[str, Any]

    def take_rows(self, places: Ints) -> Loaded:
        """Return the columns with some of their records."""
        return Loaded({name: values[places] for name, values in self.columns.items()})


class NetworkStudy(NetworkOverColumns):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(order_of(study.parameters), rules_of(study.parameters))
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> BayesNet:
        """Code the columns of this site and learn."""
        return await super().__call__(party, self._coded(party, data))

    async def check_first(self, party: Party, data: Any) -> None:
        """Check a site before its rows are aligned."""
        await super().check_first(party, self._coded(party, data))

    def _coded(self, party: Party, data: Any) -> NetworkSite | None:
        if party.name not in self.order.sites or not isinstance(data, Loaded):
            return None
        return site_of(self.order, party.name, data.columns)


def order_of(parameters: Mapping[str, Any]) -> Order:
    """Return the nodes in their order."""
    return as_study(lambda: Order(tuple(Node(name, text(parameters, f"site.{name}"),
                                             parameters.get(f"values.{name}", 0))
                                        for name in texts(parameters, "order"))))


def rules_of(parameters: Mapping[str, Any]) -> NetworkParams:
    """Return where K2 stops."""
    try:
        return NetworkParams(**{name: parameters[name] for name in RULES if name in parameters})
    except InputError as error:
        raise StudyError(str(error)) from None


def check(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no network."""
    check_names(parameters, ("order", "expected", *RULES, *RECORD_ORDER), "network",
                ("site", "values"))
    names = [node.name for node in order_of(parameters).nodes]
    strange = [key for key in parameters if "." in key and key.partition(".")[2] not in names]
    if strange:
        raise StudyError(explain(f"Parameter '{strange[0]}'", "about one of 'order'",
                                 "another name"))
    rules_of(parameters)
    count(parameters, "expected", EXPECTED)


def told(study: Study) -> tuple[Disclosure, ...]:
    """Return what a study discloses."""
    return disclosures()


def cost_of(order: Order, rows: int, steps: int) -> Cost:
    """Return the cost if every node gets a parent of the middle size in every step."""
    sizes, sites = sorted(order.sizes), len(order.sites)
    middle, every = sizes[len(sizes) // 2], sum(order.sizes)
    root = factorials(rows + sizes[-1]).step
    found = Cost(sites)
    for step in range(steps):
        cells = every * middle**step
        found += costs.matmul(cells, rows, every)
        for _ in range(sites - 1):
            found += costs.multiply(rows * cells)
        found += _factorials(cells * every // 2 * 3 // 2, root, rows)
        found += costs.argmin(len(sizes), len(sizes), 58) + costs.reveal(len(sizes), sites)
    return found


def _factorials(counts: int, root: int, rows: int) -> Cost:
    many = counts * root
    return (costs.less_than(many, rows.bit_length() + 1) + costs.to_numbers(many)
            + costs.less_than(many, root.bit_length() + 1) + costs.to_numbers(many)
            + costs.multiply(many))


def plan(study: Study) -> Plan:
    """Say what a study will cost and who learns what."""
    order, rules = order_of(study.parameters), rules_of(study.parameters)
    not_chosen(study)
    if not study.facts.has_shares or not set(order.sites) <= set(study.having("owner")):
        raise StudyError(explain("Task 'network'", "given shares, and nodes of owners",
                                 f"mode '{study.mode}', nodes of " + ", ".join(order.sites)))
    rows = count(study.parameters, "expected", EXPECTED)
    cost = cost_of(order, rows, rules.max_parents)
    notes = (*notes_of(study), f"cost is for {rows:,} records if every node gets "
             f"{rules.max_parents} parents", *study.facts.cost_notes)
    return Plan(cost.rounds, cost.bytes, learns(study, told(study)), safe_against(study), notes,
                records=rows)


def load(path: Path, study: Study) -> Loaded:
    """Return the columns of a site's file that are nodes; the program checks whose they are."""
    order = order_of(study.parameters)
    rows = party_table(path).arrow()
    columns = {node.name: np.array(rows[node.name].to_pylist(), object) for node in order.nodes
               if node.name in rows.column_names}
    return Loaded(columns)


TASK = Task("network", check, told, plan, load, NetworkStudy, over_columns=True,
            having_columns=lambda study: order_of(study.parameters).sites)
