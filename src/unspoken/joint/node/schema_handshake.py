"""Catalogues are compared before a study is written; what does not fit together is named.

For every column that a study over rows uses, the owners' names, kinds, units, categories, ranges
and missing values are held against each other. Where they fit, the parameters follow: categories
and classes are the union of what the owners list, ranges span those of all owners, and cut points
of numbers are left to the study, which finds quantiles within the range without showing a value.
Nobody types a list of categories. What owners do not want to list is united privately by a study of
task `schema`, whose result takes the place of what the catalogues leave open.

For a study over columns, those that it names at an owner, and those by which records are aligned or
linked, must be in that owner's table. How many records there are, no catalogue says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node.catalogue import ColumnView, TableView
from unspoken.joint.tasks.common.study_parameters import naming_columns
from unspoken.joint.tasks.task import Task

LISTS = ("columns", "attributes")
ONE = ("target", "response")
SITES = {"target": "class_site", "response": "held"}
"""Over columns: which parameter says who has the one column that is named."""
NUMBERS = ("numeric", "ordinal")
GRID = (7, 8)
"""Where a task finds cut points itself: seven quantiles, on a grid of 2^8 steps of the range."""


@dataclass(frozen=True)
class Agreement:
    """What the catalogues of all owners say together about the columns of a study."""

    columns: Mapping[str, ColumnView]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return problems and notes for people."""
        return "\n".join([*(f"PROBLEM: {one}" for one in self.problems),
                          *(f"note: {one}" for one in self.notes)]) or "The catalogues agree."


def columns_of(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that a study over rows names."""
    listed = [name for key in LISTS for name in parameters.get(key, ())]
    single = [parameters[key] for key in ONE if isinstance(parameters.get(key), str)]
    return tuple(dict.fromkeys(str(name) for name in (*listed, *single)))


def compare(tables: Mapping[str, TableView], columns: Sequence[str]) -> Agreement:
    """Hold the owners' tables against each other, column by column."""
    joint: dict[str, ColumnView] = {}
    problems: list[str] = []
    notes: list[str] = []
    for name in columns:
        views = {owner: table.column(name) for owner, table in tables.items()}
        lacking = [owner for owner, view in views.items() if view is None]
        if lacking:
            problems.append(f"column '{name}' is not in the table of {', '.join(lacking)}")
            continue
        present = {owner: view for owner, view in views.items() if view is not None}
        problems += _problems(name, present)
        notes += _notes(name, present)
        joint[name] = _united(name, present)
    return Agreement(joint, tuple(problems), tuple(notes))


def compare_owned(tables: Mapping[str, TableView], parameters: Mapping[str, Any]) -> Agreement:
    """Hold a study over columns against the owners' tables; one without columns is no table."""
    listed = {owner: table for owner, table in tables.items() if table.columns}
    problems = [f"column '{name}' is not in the table of {owner}"
                for owner, table in listed.items() for name in named_at(owner, parameters)
                if table.column(name) is None]
    views = {name: view for owner, table in listed.items() for name in _held(owner, parameters)
             if (view := table.column(name)) is not None}
    return Agreement(views, tuple(problems))


def named_at(owner: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that a study over columns names at an owner."""
    words = (str(word).partition(":") for key in LISTS for word in parameters.get(key, ()))
    own = (name for site, _, name in words if site == owner)
    return tuple(dict.fromkeys((*naming_columns(parameters), *own, *_held(owner, parameters))))


def _held(owner: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return the target or the response that an owner has."""
    return [str(parameters[key]) for key, site in SITES.items()
            if key in parameters and parameters.get(site) == owner]


def with_schema(agreement: Agreement, schema: Mapping[str, Any]) -> Agreement:
    """Return an agreement with the categories and ranges that a study of task `schema` found."""
    columns = dict(agreement.columns)
    for name, words in schema.get("categories", {}).items():
        if name in columns:
            columns[name] = replace(columns[name], kind="categorical", categories=tuple(words))
    for name, (low, high) in schema.get("range", {}).items():
        if name in columns:
            columns[name] = replace(columns[name], range=(low, high))
    return replace(agreement, columns=columns)


def _problems(name: str, views: Mapping[str, ColumnView]) -> list[str]:
    problems = []
    kinds = {owner: view.kind for owner, view in views.items()}
    units = {owner: view.unit for owner, view in views.items() if view.unit}
    if len({kind in NUMBERS for kind in kinds.values()}) > 1:
        problems.append(f"column '{name}' is of different kinds: {_each(kinds)}")
    if len(set(units.values())) > 1:
        problems.append(f"column '{name}' is in different units: {_each(units)}")
    return problems + [f"column '{name}' names people at '{owner}' and cannot be computed with"
                       for owner, view in views.items() if view.role == "identifier"]


def _notes(name: str, views: Mapping[str, ColumnView]) -> list[str]:
    notes = [f"column '{name}' has missing values at {', '.join(missing)}"] if (
        missing := [owner for owner, view in views.items() if view.missing]) else []
    lists = {owner: set(view.categories) for owner, view in views.items() if view.categories}
    if len({frozenset(words) for words in lists.values()}) > 1:
        every = set().union(*lists.values())
        notes += [f"column '{name}': '{owner}' lists no {', '.join(sorted(every - words))}"
                  for owner, words in lists.items() if every - words]
    return notes


def _each(words: Mapping[str, str]) -> str:
    return ", ".join(f"{word} at {owner}" for owner, word in words.items())


def _united(name: str, views: Mapping[str, ColumnView]) -> ColumnView:
    kind = "numeric" if all(view.kind in NUMBERS for view in views.values()) else "categorical"
    shown = [view.categories for view in views.values()]
    words = None if any(one is None for one in shown) else tuple(sorted(
        set().union(*(set(one or ()) for one in shown))))
    spans = [view.range for view in views.values() if view.range is not None]
    span = None if len(spans) < len(views) else (min(s[0] for s in spans), max(s[1] for s in spans))
    return ColumnView(name, kind, missing=any(view.missing for view in views.values()),
                      unit=next((view.unit for view in views.values() if view.unit), ""),
                      range=span, categories=words)


def filled(task: Task, parameters: Mapping[str, Any], agreement: Agreement) -> dict[str, Any]:
    """Return the parameters with what the catalogues say; what they leave open is refused."""
    if agreement.problems:
        raise StudyError("The tables of the owners do not fit together: "
                         + "; ".join(agreement.problems) + ".")
    whole, names = dict(parameters), {param.name for param in task.params}
    if "classes" in names and "classes" not in whole and "target" in whole:
        whole["classes"] = _categories(agreement, str(whole["target"]))
    if task.over_columns:
        return whole
    for name in (name for key in LISTS for name in parameters.get(key, ())):
        if not {f"{word}.{name}" for word in ("categories", "cuts", "range", "edges")} & set(whole):
            whole |= _about(task, names, whole, agreement, str(name))
    return whole


def _about(task: Task, names: set[str], parameters: Mapping[str, Any], agreement: Agreement,
           name: str) -> dict[str, Any]:
    """Return what the catalogues say about one column, as this task asks for it."""
    column = agreement.columns[name]
    asks = "categories.NAME" in names or "epsilon" in parameters or any(
        param.required for param in task.params if param.name == "range.NAME")
    if "categories.NAME" in names and column.kind == "categorical":
        return {f"categories.{name}": _categories(agreement, name)}
    if "range.NAME" not in names or not asks:
        return {}
    if column.range is None:
        raise StudyError(f"Not every owner declares a range of column '{name}'. Ask them to write "
                         f"range = [LOWEST, HIGHEST] under [table.column.{name}] in node.toml, "
                         "from public knowledge, or find one privately: unspoken node propose "
                         "--task schema")
    rule = next(param.declared.rule for param in task.params if param.name == "range.NAME")
    span = list(column.range)
    return {f"range.{name}": span if rule.admits(span) else [*span, *GRID]}


def _categories(agreement: Agreement, name: str) -> list[str]:
    column = agreement.columns.get(name)
    if column is None or not column.categories:
        raise StudyError(f"Not every owner lists the categories of column '{name}'. Ask them to "
                         f"write categories = [...] or categories = \"data\" under "
                         f"[table.column.{name}] in node.toml, or unite them privately: unspoken "
                         "node propose --task schema")
    return list(column.categories)
