"""The study task `network`: the structure of a Bayesian network over columns of several sites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import choices
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    about_known,
    not_chosen,
    outlined,
)
from unspoken.joint.tasks.network import program_columns
from unspoken.joint.tasks.network.params import (
    NetworkParams,
    NetworkSettings,
    NetworkSite,
    Node,
    Order,
    site_of,
)
from unspoken.joint.tasks.network.parent_counts import Family, candidates
from unspoken.joint.tasks.network.pooled import pooled
from unspoken.joint.tasks.network.program_columns import PARENTS, NetworkOverColumns
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.models.bayes_net import BayesNet

HELP = """The structure of a Bayesian network over columns of several sites.

    unspoken joint new study.toml --name care --task network --set 'order=["age", "smokes", "ill"]'
        --set site.age=north --set site.smokes=south --set site.ill=south
        --set values.age=4 --set values.smokes=2 --set values.ill=2 --set max_parents=2 ...

Values are taken as categories; cut numbers before. With `ids` rows are aligned first. Everybody
learns the network."""


def _expected(study: Study) -> int:
    return NetworkSettings.of(study.parameters).expected


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
    settings = NetworkSettings.of(parameters)
    for name in settings.order:
        if name not in settings.site or name not in settings.values:
            raise StudyError(f"Node '{name}' must have an owner and a number of values. Add "
                             f"--set site.{name}=OWNER and --set values.{name}=NUMBER.")
    return as_study(lambda: Order(tuple(Node(name, settings.site[name], settings.values[name])
                                        for name in settings.order)))


def rules_of(parameters: Mapping[str, Any]) -> NetworkParams:
    """Return where K2 stops."""
    return NetworkSettings.of(parameters).part(NetworkParams)


def _fits(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no network."""
    about_known(parameters, [node.name for node in order_of(parameters).nodes], "order")


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return program_columns.disclosures()


def _outlook(study: Study) -> Outlook:
    order, rules = order_of(study.parameters), rules_of(study.parameters)
    not_chosen(study)
    if not study.facts.has_shares or not set(order.sites) <= set(study.having("owner")):
        raise StudyError(explain("Task 'network'", "given shares, and nodes of owners",
                                 f"mode '{study.mode}', nodes of " + ", ".join(order.sites)))
    return outlined(study, _disclosures(study),
                    assumes=f"{rules.max_parents} parents of every node, those of fewest values")


def _blank(study: Study, name: str, records: int) -> Loaded:
    order = order_of(study.parameters)
    return Loaded({node.name: choices(records, [str(i) for i in range(node.size)], place)
                   for place, node in enumerate(order.nodes) if node.site == name})


def _answers(study: Study, records: int, name: str) -> Answers:
    """Assume that every node that may have a parent gets the one of fewest values."""
    order = order_of(study.parameters)
    families = [Family((place,)) for place in range(len(order.nodes))]

    def parents(shape: tuple[int, ...]) -> Any:
        places = []
        for node, family in enumerate(families):
            if left := candidates(family):
                least = min(left, key=lambda place: order.sizes[place])
                families[node] = Family((*family.places, least))
                places.append(left.index(least) + 1)
        return np.array(places)

    return {PARENTS: parents}


def _load(path: Path, study: Study) -> Loaded:
    """Return the columns of a site's file that are nodes; the program checks whose they are."""
    order = order_of(study.parameters)
    rows = party_table(path).arrow()
    columns = {node.name: np.array(rows[node.name].to_pylist(), object) for node in order.nodes
               if node.name in rows.column_names}
    return Loaded(columns)


def _opens(study: Study) -> tuple[Opened, ...]:
    return (Decisions("equality of values in a column", "where only some give that network",
                    about=order_of(study.parameters).sites),)


TASKS = (Task("network", HELP, declared(NetworkSettings), _fits, _disclosures, _outlook, _load,
              NetworkStudy, _blank, pooled, _answers, expected=_expected, over_columns=True,
              opens=_opens,
              having_columns=lambda study: order_of(study.parameters).sites),)
