"""The study task `vote`: local models vote on records that they must not see."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.program_bayes import Sides
from unspoken.joint.tasks.classify.program_tree import FullTree, full_tree
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import outlined, read_columns
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Given, layout_of
from unspoken.joint.tasks.naive_bayes.score_tables import Table, table_of
from unspoken.joint.tasks.naive_bayes.task import blank_given
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared
from unspoken.joint.tasks.votes.params import VoteSettings
from unspoken.joint.tasks.votes.pooled import pooled
from unspoken.joint.tasks.votes.program_rows import VOTED, VoteOverRows, local_table
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.mixed_bayes import MixedBayes

HELP = """Local models of several owners vote on another party's records; only the vote comes out.

    unspoken joint new study.toml --name scoring --task vote --set asks=shop --receivers shop
        --set target=income --set 'classes=["<=50K", ">50K"]' --set 'columns=["age", "sex"]'
        --set 'range.age=[0, 120]' --set 'categories.sex=["Female", "Male"]' ...

Who asks joins with a table without the class. Every other owner joins with a table that has it,
from which its naive Bayes model is learned at home, or with a model in a JSON file; with 'depth'
with a tree in a JSON file. Receivers learn the class for which most models vote; of equally many
votes the class that stands first in 'classes' wins. Nobody learns whose model votes for what."""


class VoteStudy:
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        settings = VoteSettings.of(study.parameters)
        models = models_of(study)
        self.inner = VoteOverRows(layout_of(study.parameters), models, Sides(
            models[0], settings.asks, study.having("receiver"), settings.most), settings.depth)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Return the classes as a list."""
        labels = await self.inner(party, data)
        return None if labels is None else {VOTED: labels.tolist()}


def models_of(study: Study) -> tuple[str, ...]:
    """Return the owners of models; fewer than two, or nobody who asks, are refused."""
    asks, owners = VoteSettings.of(study.parameters).asks, study.having("owner")
    models = tuple(name for name in owners if name != asks)
    if asks not in owners or len(models) < 2:
        raise StudyError(explain("Task 'vote'", "given an owner that asks and two or more that "
                                 "have models", f"'{asks}' asking, among {', '.join(owners)}",
                                 "Of one model, see task 'classify'."))
    return models


def _fits(parameters: Mapping[str, Any]) -> None:
    layout_of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return Disclosure(VOTED, study.having("receiver")), Disclosure(ROWS)


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    models_of(study)
    most = VoteSettings.of(study.parameters).most
    counted = "nothing counts the records that are asked for" if most is None else \
        f"at most {most:,} records are asked for"
    return outlined(study, _disclosures(study), (f"{counted}: votes on many give the models away "
                                                 "together, though not whose is which",))


def _load(path: Path, study: Study) -> Table | FullTree | Given:
    """Return a model from a JSON file or from a table with the class, records from any other."""
    layout, depth = layout_of(study.parameters), VoteSettings.of(study.parameters).depth
    names = [column.name for column in layout.columns]
    if path.suffix.lower() == ".json":
        return table_of(MixedBayes.load(path), layout) if depth is None else full_tree(
            CategoricalTree.load(path), layout, depth)
    if layout.target not in party_table(path).schema.names:
        return layout.records(read_columns(path, names))
    if depth is not None:
        raise DataError(f"With 'depth' models are trees, which are given as JSON files. A table "
                        f"with the class '{layout.target}' is for naive Bayes; who asks leaves "
                        "that column out.")
    return local_table(layout, read_columns(path, [*names, layout.target]))


def _blank(study: Study, name: str, records: int) -> Table | FullTree | Given:
    """Return records, or a model that prefers the last class, so that no rounding decides."""
    layout, settings = layout_of(study.parameters), VoteSettings.of(study.parameters)
    if name == settings.asks:
        return blank_given(layout, records)
    return _blank_table(layout) if settings.depth is None else _blank_tree(layout, settings.depth)


def _blank_table(layout: BayesLayout) -> Table:
    kinds, numbers = len(layout.classes), len(layout.numeric)
    return Table(np.arange(kinds, dtype=np.float64), np.zeros((sum(layout.sizes), kinds)),
                 np.zeros((numbers, kinds)), np.ones((numbers, kinds)))


def _blank_tree(layout: BayesLayout, depth: int) -> FullTree:
    size = 2**depth - 1
    return FullTree(np.zeros((sum(layout.sizes), size), np.int64),
                    np.zeros((len(layout.numeric), size), np.int64), np.zeros(size),
                    np.zeros(size + 1, np.int64))


def _expected(study: Study) -> int:
    return VoteSettings.of(study.parameters).expected


def _opens(study: Study) -> tuple[Opened, ...]:
    to = study.having("receiver")
    return (Decisions("values of records", "where only one value gets that vote", to,
                      (VoteSettings.of(study.parameters).asks,)),
            Decisions("the class that its model gives", "where all models must have voted so", to,
                      models_of(study)))


TASKS = (Task("vote", HELP, declared(VoteSettings), _fits, _disclosures, _outlook, _load, VoteStudy,
              _blank, pooled, expected=_expected, opens=_opens),)
