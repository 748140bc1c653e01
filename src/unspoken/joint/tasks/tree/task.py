"""The study tasks `tree` and `tree-columns`: ID3 over rows or columns of several owners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import Decisions, Opened
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.blank_data import choices, part_of, scattered
from unspoken.joint.tasks.common.column_files import with_shares
from unspoken.joint.tasks.common.party_files import party_table
from unspoken.joint.tasks.common.study_parameters import (
    learns,
    not_chosen,
    read_columns,
)
from unspoken.joint.tasks.common.unlabelled_rows import blank_codes, codes_of
from unspoken.joint.tasks.task import Outlook, Task, notes_of, safe_against
from unspoken.joint.tasks.task_params import as_study, declared
from unspoken.joint.tasks.tree import program_columns, program_rows
from unspoken.joint.tasks.tree.agreed_layout import (
    expected_of,
    fits_rows,
    layout_of,
    refuse_other_sites,
    rules_of,
    shape_of,
)
from unspoken.joint.tasks.tree.assumed_trees import ASSUMES, AssumedRows, columns_answers
from unspoken.joint.tasks.tree.hidden_part import leaves
from unspoken.joint.tasks.tree.hidden_study import (
    HiddenStudy,
    Loaded,
    hidden_answers,
    hidden_disclosures,
    hidden_outlook,
)
from unspoken.joint.tasks.tree.params import Attribute, GrowthSettings, TreeSettings
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.joint.tasks.tree.program_columns import TreeOverColumns
from unspoken.joint.tasks.tree.program_rows import Given, TreeOverRows, code_rows
from unspoken.joint.tasks.tree.tree_sites import TreeSite, own_attributes

ROWS_HELP = """ID3 over the rows of several owners.

    unspoken joint new study.toml --name adult --task tree --set target=income
        --set 'classes=["<=50K", ">50K"]' --set 'attributes=["age", "sex"]'
        --set 'cuts.age=[25.5, 40.5]' --set 'categories.sex=["Female", "Male"]' ...

Each attribute has categories, cuts or a range. Receivers learn the classes of leaves; owners and
holders learn the questions. A dealer is shown none of them, but sizes show it the shape of the
tree, and hint at questions."""
COLUMNS_HELP = """ID3 over the columns of several sites.

    unspoken joint new study.toml --name care --task tree-columns --set class_site=north
        --set target=outcome --set 'classes=["no", "yes"]' --set slots=40 --set branches=4
        --set ids=patient ...

Every column of a site's file but the ids and the class is an attribute of its own. Numbers are cut
at the site's own quantiles, which nobody else learns; text is taken as categories. With `ids` rows
are aligned first; with same_order=true all files list the records in one order. Task
`classify-columns` uses what comes out.

With structure=hidden nobody sees the tree: the sites grow a full one of `max_depth` levels on
shares, from the records that have a class, and what comes out is the class of those that have none
in the class site's file. Take few branches and a small depth."""
SIZES = ("kinds and sizes of what is computed; they show the shape of the tree and hint at its "
         "questions, not at the classes of leaves")


class RowsStudy(TreeOverRows):
    """The program of a study over rows."""

    def __init__(self, study: Study) -> None:
        layout, spans = layout_of(study.parameters)
        super().__init__(layout, rules_of(study.parameters), study.having("receiver"), spans)
        self.disclosures = study.disclosures


class ColumnsStudy(TreeOverColumns):
    """The program of a study over columns whose tree is known."""

    def __init__(self, study: Study) -> None:
        super().__init__(shape_of(study.parameters), rules_of(study.parameters),
                         study.having("owner"))
        self.disclosures = study.disclosures


def _columns_program(study: Study) -> ColumnsStudy | HiddenStudy:
    if hides(study.parameters):
        return HiddenStudy(study, shape_of(study.parameters))
    return ColumnsStudy(study)


def hides(parameters: Mapping[str, Any]) -> bool:
    """Return True if nobody shall see the tree."""
    return TreeSettings.of(parameters).structure == "hidden"


def _fits_columns(parameters: Mapping[str, Any]) -> None:
    shape, rules = shape_of(parameters), rules_of(parameters)
    if hides(parameters):
        as_study(lambda: leaves(shape, rules.max_depth))


def rows_disclosures(study: Study) -> tuple[Disclosure, ...]:
    """Return what a tree over rows discloses."""
    _, spans = layout_of(study.parameters)
    return program_rows.disclosures(study.having("receiver"), bool(spans))


def _columns_disclosures(study: Study) -> tuple[Disclosure, ...]:
    if hides(study.parameters):
        return hidden_disclosures(study)
    return program_columns.disclosures(study.having("owner"), shape_of(study.parameters))


def rows_outlook(study: Study, declared: tuple[Disclosure, ...]) -> Outlook:
    """Return the outlook of any tree over rows."""
    with_shares(study)
    return Outlook(learns(study, declared, SIZES), safe_against(study), notes_of(study), ASSUMES)


def _rows_outlook(study: Study) -> Outlook:
    return rows_outlook(study, rows_disclosures(study))


def _columns_outlook(study: Study) -> Outlook:
    refuse_other_sites(study)
    shape, rules = shape_of(study.parameters), rules_of(study.parameters)
    if hides(study.parameters):
        return hidden_outlook(study, shape, rules)
    not_chosen(study)
    return Outlook(learns(study, _columns_disclosures(study), SIZES), safe_against(study),
                   notes_of(study), f"two answers to every question, and {ASSUMES}")


def load_rows(path: Path, study: Study) -> Given:
    """Return an owner's rows; what the study does not know is refused here."""
    layout, spans = layout_of(study.parameters)
    names = [*(a.name for a in layout.attributes), layout.target]
    return code_rows(layout, read_columns(path, names), spans)


def _load_columns(path: Path, study: Study) -> TreeSite | Loaded:
    """Return a site's attributes and rows; numbers are cut at its own quantiles."""
    return load_new(path, study) if hides(study.parameters) else TreeSite(*_read(path, study)[:3])


def load_new(path: Path, study: Study) -> Loaded:
    """Return the same where records without a class are new."""
    shape, points = shape_of(study.parameters), _points(study)
    attributes, columns, labels, numeric = _read(path, study)
    codes = None if labels is None else codes_of(labels, shape.classes, shape.target)
    return Loaded(TreeSite(attributes, columns, classes=codes), numeric, points)


def _points(study: Study) -> int:
    return GrowthSettings.of(study.parameters).cut_points


def _read(path: Path, study: Study) -> tuple[tuple[Attribute, ...], dict[str, Any], Any,
                                             tuple[str, ...]]:
    """Return attributes, columns, the class if it is there, and which columns are numbers."""
    table = party_table(path)
    rows = table.arrow()
    columns = {name: np.array(rows[name].to_pylist(), object) for name in rows.column_names}
    labels = columns.pop(str(study.parameters["target"]), None)
    numeric = tuple(n for n in columns if table.schema[n].kind in ("numeric", "ordinal"))
    attributes = own_attributes(columns, numeric, _points(study))
    return attributes, columns, labels, numeric


def blank_rows(study: Study, name: str, records: int) -> Given:
    """Return blank rows of an owner."""
    (layout, spans), most = layout_of(study.parameters), rules_of(study.parameters).most
    each = min(part_of(records, study), most)
    codes = np.stack([np.arange(each) * (place + 1) % a.cells
                      for place, a in enumerate(layout.attributes)])
    labels = np.arange(each) % len(layout.classes)
    return Given(codes, labels, {n: scattered(each, place, span.low, span.high)
                                 for place, (n, span) in enumerate(spans.items())})


def _blank_columns(study: Study, name: str, records: int) -> TreeSite | Loaded:
    if hides(study.parameters):
        return blank_new(study, name, records)
    shape = shape_of(study.parameters)
    knows = shape.class_known or name == shape.class_site
    return TreeSite((Attribute("blank", cuts=(0.0,)),), {"blank": scattered(records)},
                    choices(records, shape.classes) if knows else None)


def blank_new(study: Study, name: str, records: int) -> Loaded:
    """Return a blank site, some of whose records are new."""
    shape = shape_of(study.parameters)
    knows = shape.class_known or name == shape.class_site
    codes = blank_codes(records, len(shape.classes)) if knows else None
    return Loaded(TreeSite((Attribute("blank", cuts=(0.0,)),), {"blank": scattered(records)},
                           classes=codes), ("blank",), 1)


def _rows_answers(study: Study, records: int, name: str) -> Answers:
    layout, spans = layout_of(study.parameters)
    return AssumedRows(layout, rules_of(study.parameters), spans).answers()


def _columns_answers(study: Study, records: int, name: str) -> Answers:
    if hides(study.parameters):
        return hidden_answers(study, records, name)
    return columns_answers(shape_of(study.parameters), study.having("owner"), name)


def rows_opens(study: Study) -> tuple[Opened, ...]:
    """Return what a tree over rows opens: questions and classes that counts decide."""
    return (Decisions("the counts of classes in a node", "where a node is pure, or empty at "
                    "everybody else"),)


def hidden_opens(study: Study) -> tuple[Opened, ...]:
    """Return what comes out of a hidden tree: classes of new records."""
    return (Decisions("equality of values with those of new records", "where only some give "
                      "these classes", study.having("receiver")),)


def _columns_opens(study: Study) -> tuple[Opened, ...]:
    if hides(study.parameters):
        return hidden_opens(study)
    return (Decisions("equality of values in a column", "where only some give that tree"),)


TASKS = (
    Task("tree", ROWS_HELP, declared(TreeSettings, "rows"), fits_rows, rows_disclosures,
         _rows_outlook, load_rows, RowsStudy, blank_rows, pooled, _rows_answers,
         opens=rows_opens),
    Task("tree-columns", COLUMNS_HELP, declared(TreeSettings, "columns"), _fits_columns,
         _columns_disclosures, _columns_outlook, _load_columns, _columns_program, _blank_columns,
         pooled, _columns_answers, expected=expected_of, over_columns=True,
         opens=_columns_opens))
