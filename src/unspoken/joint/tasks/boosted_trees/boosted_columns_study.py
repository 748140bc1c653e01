"""The study task `boosted-trees-columns`: what it reads, tells, assumes and refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, FineNumbers, Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite, own_questions
from unspoken.joint.tasks.boosted_trees.params import Boost, BoostSettings
from unspoken.joint.tasks.boosted_trees.pooled_columns import pooled_boost_columns
from unspoken.joint.tasks.boosted_trees.program_columns import BoostOverColumns, disclosures
from unspoken.joint.tasks.common.blank_data import choices, scattered
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import learns, not_chosen
from unspoken.joint.tasks.task import Outlook, Task, notes_of, safe_against
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.joint.tasks.tree.column_steps import QUESTION, SITES
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.asked_question import Asked

HELP = """Boosted trees over the columns of several sites, two classes.

    unspoken joint new study.toml --name care --task boosted-trees-columns
        --set class_site=north --set target=outcome --set 'classes=["no", "yes"]'
        --set slots=40 --set rounds=20 --set max_depth=4 --set ids=patient ...

Every column of a site's file but the ids and the class is an attribute of its own. Numbers are cut
at the site's own quantiles; each category is a question for itself; missing numbers go to the side
that is worth more, for which every cut of such a column takes two slots, and one more. All sites
learn which site asks at each node, the class site alone the numbers of leaves. Task
`classify-columns` uses what comes out."""
SIZES = ("kinds and sizes of what is computed; they show the shape of the trees and hint at their "
         "questions, not at the numbers of leaves")


class ColumnsStudy(BoostOverColumns):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        settings = BoostSettings.of(study.parameters)
        super().__init__(shape_of(study.parameters), settings.part(TreeParams),
                         settings.part(Boost), study.having("owner"))
        self.disclosures = study.disclosures


def shape_of(parameters: Mapping[str, Any]) -> TreeShape:
    """Return what is public about the sites."""
    settings = BoostSettings.of(parameters)
    return as_study(lambda: TreeShape(settings.classes, settings.class_site, settings.slots, 2,
                                      settings.target))


def _fits(parameters: Mapping[str, Any]) -> None:
    settings, shape = BoostSettings.of(parameters), shape_of(parameters)
    as_study(lambda: BoostOverColumns(shape, settings.part(TreeParams), settings.part(Boost), ()))


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return disclosures(study.having("owner"), shape_of(study.parameters).class_site)


def _outlook(study: Study) -> Outlook:
    site = shape_of(study.parameters).class_site
    if not study.facts.has_shares or site not in study.having("owner"):
        raise StudyError(explain(f"Task '{study.task}'", "given shares and a class site among the "
                                 "owners", f"mode '{study.mode}' and '{site}'"))
    not_chosen(study)
    settings = BoostSettings.of(study.parameters)
    return Outlook(learns(study, _disclosures(study), SIZES), safe_against(study),
                   notes_of(study), f"{settings.rounds} full trees of depth {settings.max_depth}")


def _load(path: Path, study: Study) -> BoostSite:
    """Return a site's questions and rows."""
    table, settings = party_table(path), BoostSettings.of(study.parameters)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(settings.target, None)
    numeric = [n for n in columns if table.schema[n].kind in ("numeric", "ordinal")]
    columns |= {name: table.numbers([name])[:, 0] for name in numeric}
    return BoostSite(own_questions(columns, numeric, settings.cut_points), columns, labels)


def _blank(study: Study, name: str, records: int) -> BoostSite:
    """Return a blank site with one question, another column than that of other sites."""
    shape, place = shape_of(study.parameters), study.having("owner").index(name)
    labels = choices(records, shape.classes) if name == shape.class_site else None
    return BoostSite((Asked("blank"),), {"blank": scattered(records, place)}, labels)


def _answers(study: Study, records: int, name: str) -> Answers:
    """Assume full trees whose levels sites ask in turn, each its first question."""
    sites, slots = study.having("owner"), shape_of(study.parameters).slots
    depth = max(1, BoostSettings.of(study.parameters).max_depth)
    levels, own = iter(range(1 << 30)), sites.index(name) if name in sites else 0

    def asking(size: tuple[int, ...]) -> Any:
        turn = next(levels) % depth % len(sites)
        return np.broadcast_to(np.arange(len(sites)) == turn, size)

    return {SITES: asking, QUESTION: lambda size: np.full(size, own * slots)}


def _opens(study: Study) -> tuple[Opened, ...]:
    site = shape_of(study.parameters).class_site
    return (Decisions("equality of values in a column", "where only some give these trees"),
            FineNumbers("how many records of each class reach a leaf", (site,)))


def _expected(study: Study) -> int:
    return BoostSettings.of(study.parameters).expected


COLUMNS_TASK = Task(
    "boosted-trees-columns", HELP, declared(BoostSettings, "columns"), _fits, _disclosures,
    _outlook, _load, ColumnsStudy, _blank, pooled_boost_columns, _answers, expected=_expected,
    over_columns=True, opens=_opens)
