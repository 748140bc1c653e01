"""The study tasks `forest` and `forest-columns`: random forests of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    ORDER_PARAMS,
    as_study,
    check_names,
    count,
)
from unspoken.joint.tasks.forest.pooled import pooled_forest
from unspoken.joint.tasks.forest.program_rows import Attributes, ForestOverRows
from unspoken.joint.tasks.task import Outlook, Param, Task
from unspoken.joint.tasks.tree.assumed_trees import AssumedRows
from unspoken.joint.tasks.tree.hidden_part import leaves
from unspoken.joint.tasks.tree.hidden_study import (
    HiddenStudy,
    hidden_answers,
    hidden_disclosures,
    hidden_outlook,
)
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest, pooled_forest_columns
from unspoken.joint.tasks.tree.study_layout import (
    COLUMNS_PARAMS,
    CUT_POINTS,
    EXPECTED,
    ROWS_PARAMS,
    check_rows,
    expected_of,
    layout_of,
    refuse_other_sites,
    rules_of,
    shape_of,
)
from unspoken.joint.tasks.tree.task import (
    blank_new,
    blank_rows,
    load_new,
    load_rows,
    rows_disclosures,
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
TREES = Param("trees", "the number of trees (10)")
ROWS_OWN = (TREES, Param("attributes_at_a_node", "how many attributes count at a node (the root)"),
            Param("seed", "public: which attributes count where (0)"))
COLUMNS_OWN = (TREES, Param("questions_at_a_node", "how many slots count at a node (half of all)"),
               Param("seed", "public: which slots count where (0)"))


def _over_rows(study: Study) -> ForestOverRows:
    program = _forest(study.parameters, study.having("receiver"))
    program.disclosures = study.disclosures
    return program


def _forest(parameters: Mapping[str, Any], receivers: tuple[str, ...] = ()) -> ForestOverRows:
    layout, spans = layout_of(parameters)
    return ForestOverRows(layout, rules_of(parameters), parameters.get("trees", 10),
                          attributes=parameters.get("attributes_at_a_node", 0),
                          seed=parameters.get("seed", 0), receivers=receivers, spans=spans)


def _over_columns(study: Study) -> HiddenStudy:
    return HiddenStudy(study, shape_of(study.parameters), _votes(study.parameters))


def _votes(parameters: Mapping[str, Any]) -> HiddenForest:
    """Return how many trees there are, and what counts at their nodes."""
    return as_study(lambda: HiddenForest(parameters.get("trees", 10),
                                         parameters.get("questions_at_a_node", 0),
                                         parameters.get("seed", 0)))


def _check_rows(parameters: Mapping[str, Any]) -> None:
    check_rows(parameters, "forest", ROWS_OWN)
    as_study(lambda: _forest(parameters))


def _check_columns(parameters: Mapping[str, Any]) -> None:
    check_names(parameters, (*COLUMNS_PARAMS, *COLUMNS_OWN, *ORDER_PARAMS), "forest-columns")
    shape, rules, forest = shape_of(parameters), rules_of(parameters), _votes(parameters)
    as_study(lambda: leaves(shape, rules.max_depth, forest.trees))
    count(parameters, "cut_points", CUT_POINTS)
    count(parameters, "expected", EXPECTED)


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
    Task("forest", ROWS_HELP, (*ROWS_PARAMS, *ROWS_OWN), _check_rows, rows_disclosures,
         _rows_outlook, load_rows, _over_rows, blank_rows, pooled_forest, _rows_answers),
    Task("forest-columns", COLUMNS_HELP, (*COLUMNS_PARAMS, *COLUMNS_OWN), _check_columns,
         hidden_disclosures, _columns_outlook, load_new, _over_columns, blank_new,
         pooled_forest_columns, hidden_answers, expected=expected_of, over_columns=True))
