"""The study tasks `forest` and `forest-columns`: random forests of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.forest.params import ForestSettings
from unspoken.joint.tasks.forest.pooled import pooled_forest
from unspoken.joint.tasks.forest.program_rows import Attributes, ForestOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.joint.tasks.tree.agreed_layout import (
    expected_of,
    fits_rows,
    layout_of,
    refuse_other_sites,
    rules_of,
    shape_of,
)
from unspoken.joint.tasks.tree.assumed_trees import AssumedRows
from unspoken.joint.tasks.tree.hidden_part import leaves
from unspoken.joint.tasks.tree.hidden_study import (
    HiddenStudy,
    hidden_answers,
    hidden_disclosures,
    hidden_outlook,
)
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest, pooled_forest_columns
from unspoken.joint.tasks.tree.task import (
    blank_new,
    blank_rows,
    hidden_opens,
    load_new,
    load_rows,
    rows_disclosures,
    rows_opens,
    rows_outlook,
)

ROWS_HELP = """A random forest over the rows of several owners.

Parameters of task `tree`, and those of the forest."""
COLUMNS_HELP = """A random forest over the columns of several sites, in one run.

    unspoken joint new study.toml --name care --task forest-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set slots=16 --set branches=2
        --set max_depth=4 --set trees=20 ...

Nobody sees the trees: they are full and stay on shares. Records whose class is missing in the class
site's file are new; the others are drawn with replacement, by the class site, for every tree. What
comes out is the class that most trees say of each new record."""


def _over_rows(study: Study) -> ForestOverRows:
    program = _forest(study.parameters, study.having("receiver"))
    program.disclosures = study.disclosures
    return program


def _forest(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> ForestOverRows:
    (layout, spans), settings = layout_of(parameters), ForestSettings.of(parameters)
    return ForestOverRows(layout, rules_of(parameters), settings.trees,
                          attributes=settings.attributes_at_a_node, seed=settings.seed,
                          receivers=receivers, spans=spans)


def _over_columns(study: Study) -> HiddenStudy:
    return HiddenStudy(study, shape_of(study.parameters), _votes(study.parameters))


def _votes(parameters: Mapping[str, Any]) -> HiddenForest:
    """Return how many trees there are, and what counts at their nodes."""
    settings = ForestSettings.of(parameters)
    return as_study(lambda: HiddenForest(settings.trees, settings.questions_at_a_node,
                                         settings.seed))


def _fits_rows(parameters: Mapping[str, Any]) -> None:
    fits_rows(parameters)
    as_study(lambda: _forest(parameters))


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    shape, rules, forest = shape_of(parameters), rules_of(parameters), _votes(parameters)
    as_study(lambda: leaves(shape, rules.max_depth, forest.trees))


def _rows_outlook(study: Study) -> Outlook:
    return rows_outlook(study, rows_disclosures(study))


def _columns_outlook(study: Study) -> Outlook:
    refuse_other_sites(study)
    return hidden_outlook(study, shape_of(study.parameters), rules_of(study.parameters),
                          _votes(study.parameters).trees)


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    forest = _forest(study.parameters)
    return AssumedRows(forest.layout, forest.rules, forest.spans, forest.trees,
                       lambda layout: Attributes(layout, forest.count, forest.seed)).answers()


TASKS = (
    Task("forest", ROWS_HELP, declared(ForestSettings, "rows"), _fits_rows, rows_disclosures,
         _rows_outlook, load_rows, _over_rows, blank_rows, pooled_forest, _rows_answers,
         opens=rows_opens),
    Task("forest-columns", COLUMNS_HELP, declared(ForestSettings, "columns"), _fits_columns,
         hidden_disclosures, _columns_outlook, load_new, _over_columns, blank_new,
         pooled_forest_columns, hidden_answers, expected=expected_of, over_columns=True,
         opens=hidden_opens))
