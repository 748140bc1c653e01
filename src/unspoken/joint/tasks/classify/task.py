"""The study tasks `classify` and `classify-columns`: a model meets records that it must not see."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.classify.params import ClassifySettings
from unspoken.joint.tasks.classify.parts_study import (
    PartsStudy,
    blank_part,
    load_part,
    parts_program,
)
from unspoken.joint.tasks.classify.pooled import pooled
from unspoken.joint.tasks.classify.program_bayes import (
    PREDICTED,
    ClassifyPrivately,
    Sides,
)
from unspoken.joint.tasks.classify.program_tree import (
    ClassifyByTree,
    FullTree,
    full_tree,
)
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.common.study_parameters import (
    everybody,
    learns,
    outlined,
    read_columns,
)
from unspoken.joint.tasks.naive_bayes.params import Given, layout_of
from unspoken.joint.tasks.naive_bayes.score_tables import Table, table_of
from unspoken.joint.tasks.naive_bayes.task import blank_given
from unspoken.joint.tasks.task import Outlook, Task, notes_of, safe_against
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.mixed_bayes import MixedBayes

RECORDS_HELP = """One owner has a model, another the records; the class comes out.

    unspoken joint new study.toml --name scoring --task classify --set model=bank --set asks=shop
        --set target=income --set 'classes=["<=50K", ">50K"]' --set 'columns=["age", "sex"]'
        --set 'range.age=[0, 120]' --set 'categories.sex=["Female", "Male"]' ...

The owner of the model joins with its JSON file, the other with a table. Receivers learn the class
of every record. An owner who has neither may join with any such file: it does not count."""
COLUMNS_HELP = """New records meet a tree, or boosted trees, whose questions are spread over sites.

    unspoken joint new study.toml --name care --task classify-columns --set class_site=north
        --set ids=patient ...

Each site joins with a table of its columns of the new records. Its part of the tree, as the task
`tree-columns` or `boosted-trees-columns` gave it, lies beside the table: `north.part.json` beside
`north.csv`. With way=together nobody learns a path, and receivers learn the classes. way=walking is
the book's, for one tree: all sites see every record's path, the class site alone learns classes,
and no shares are needed (mode sums). With `ids` rows are aligned first."""
COPYING = "who learns the classes of many records can copy the tree"


class RecordsStudy:
    """The program of a study in which one owner has the model."""

    def __init__(self, study: Study) -> None:
        layout = layout_of(study.parameters)
        sides = _sides(study.parameters, study.having("receiver"))
        depth = ClassifySettings.of(study.parameters).depth
        self.inner: ClassifyPrivately | ClassifyByTree = ClassifyPrivately(layout, sides) \
            if depth is None else ClassifyByTree(layout, sides, depth)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Return the classes as a list."""
        labels = await self.inner(party, data)
        return None if labels is None else {PREDICTED: labels.tolist()}


def _sides(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> Sides:
    """Return who has what."""
    settings = ClassifySettings.of(parameters)
    return as_study(lambda: Sides(settings.model, settings.asks, receivers, settings.most))


def _fits_records(parameters: Mapping[str, Any]) -> None:
    layout_of(parameters)
    _sides(parameters)


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    settings = ClassifySettings.of(parameters)
    if settings.trees and settings.way == "walking":
        raise StudyError("Records walk through one tree. The study is about boosted trees. Use "
                         "way=together, or leave 'trees' out.")


def _records_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return Disclosure(PREDICTED, study.having("receiver")), Disclosure(ROWS)


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    return parts_program(study).disclosures


def _records_outlook(study: Study) -> Outlook:
    sides = _sides(study.parameters)
    if not study.facts.has_shares or not {sides.model, sides.records} <= set(study.having("owner")):
        raise StudyError(explain("Task 'classify'", "given shares, and model and records with two "
                                 "of the owners", f"mode '{study.mode}', '{sides.model}' and "
                                 f"'{sides.records}'"))
    return outlined(study, _records_disclosures(study), (_counting(sides.most),))


def _counting(most: int | None) -> str:
    if most is None:
        return "nothing counts the records that are asked for: classes of many give the model away"
    return f"at most {most:,} records are classified: classes of many give the model away"


def _columns_outlook(study: Study) -> Outlook:
    sites, settings = study.having("owner"), ClassifySettings.of(study.parameters)
    way = settings.way
    if (way == "walking") == study.facts.has_shares:
        raise StudyError(explain("Task 'classify-columns'", "given shares, or way=walking and mode "
                                 "'sums'", f"way={way} and mode '{study.mode}'"))
    for name in (settings.class_site, *everybody(study)):
        if name not in sites:
            raise StudyError(f"Everybody who takes part in task 'classify-columns' must be an "
                             f"owner with a part of the tree. '{name}' is none. Leave it out.")
    safe = "nobody: paths are shown to all sites" if way == "walking" else safe_against(study)
    return Outlook(learns(study, _columns_disclosures(study)), safe, (*notes_of(study), COPYING),
                   _assumed(settings))


def _assumed(settings: ClassifySettings) -> str:
    if settings.trees:
        return f"{settings.trees} full boosted trees of depth {settings.part_depth}"
    return f"a full tree of two answers and depth {settings.part_depth}"


def _load_records(path: Path, study: Study) -> Table | FullTree | Given:
    """Return a model from a JSON file, records from any other."""
    layout, depth = layout_of(study.parameters), ClassifySettings.of(study.parameters).depth
    if path.suffix.lower() == ".json" and depth is not None:
        return full_tree(CategoricalTree.load(path), layout, int(depth))
    if path.suffix.lower() == ".json":
        return table_of(MixedBayes.load(path), layout)
    columns = read_columns(path, [column.name for column in layout.columns])
    return layout.records(columns)


def _blank_records(study: Study, name: str, records: int) -> Table | FullTree | Given:
    layout, depth = layout_of(study.parameters), ClassifySettings.of(study.parameters).depth
    cells, numbers, kinds = sum(layout.sizes), len(layout.numeric), len(layout.classes)
    if name != _sides(study.parameters).model:
        return blank_given(layout, records)
    if depth is None:
        return Table(np.zeros(kinds), np.zeros((cells, kinds)), np.zeros((numbers, kinds)),
                     np.ones((numbers, kinds)))
    size = 2**int(depth) - 1
    return FullTree(np.zeros((cells, size), np.int64), np.zeros((numbers, size), np.int64),
                    np.zeros(size), np.zeros(size + 1, np.int64))


def _expected_records(study: Study) -> int:
    return ClassifySettings.of(study.parameters).records


def _expected_columns(study: Study) -> int:
    return ClassifySettings.of(study.parameters).expected


def _records_opens(study: Study) -> tuple[Opened, ...]:
    sides, to = _sides(study.parameters), study.having("receiver")
    why = "where only one value is given that class"
    return (Decisions("values of records", why, to, (sides.records,)),
            Decisions("parts of the model", "where a record decides between two models", to,
                    (sides.model,)))


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    settings = ClassifySettings.of(study.parameters)
    to = study.having("receiver") if settings.way == "together" else ()
    return (Decisions("values of records", "where only one value is given that class", to),)


TASKS = (
    Task("classify", RECORDS_HELP, declared(ClassifySettings, "rows"), _fits_records,
         _records_disclosures, _records_outlook, _load_records, RecordsStudy, _blank_records,
         pooled, expected=_expected_records, opens=_records_opens),
    Task("classify-columns", COLUMNS_HELP, declared(ClassifySettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, load_part, PartsStudy, blank_part, pooled,
         expected=_expected_columns, over_columns=True, opens=_columns_opens))
