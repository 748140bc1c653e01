"""What a study says about its rules: read, checked, and turned into what is public."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.study_parameters import as_study
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import RuleParams
from unspoken.joint.tasks.task import Param

LETTERS = 50_000
PREFIX = "items_"
PARAMS = (
    Param("support", "the least part of all baskets that a frequent set is in"),
    Param("confidence", "the least confidence of a rule (0.5)"),
    Param("longest", "the most items of a set (12)"),
    Param("most", "no owner has more baskets (2^24)"),
    Param("supports", "hidden, or shown: also open the counts of frequent sets (hidden)"))
ROWS_PARAMS = (*PARAMS, Param("items", "the agreed names, or a number n for 0 to n - 1"))
COLUMNS_PARAMS = (
    *PARAMS, Param("items_NAME", "the items of owner NAME, as a list, one for every owner"),
    Param("fewest", "a support of fewer baskets is refused (10)"),
    Param("queries", "how many runs each owner allows, counted in FILE.queries"))


def names_of(items: Any, what: str = "Parameter 'items' of task 'rules'") -> tuple[str, ...]:
    """Return the agreed names: a list, or a number n for 0 to n - 1."""
    if isinstance(items, int) and not isinstance(items, bool) and 0 < items <= 1 << 20:
        return tuple(map(str, range(items)))
    if isinstance(items, list) and items and all(isinstance(i, str | int) for i in items):
        if len(json.dumps(items)) > LETTERS:
            raise StudyError(explain(what, f"at most {LETTERS:,} letters long", "more",
                                     "Number the items, and give how many there are."))
        return tuple(map(str, items))
    raise StudyError(explain(what, "a list of names, or how many numbers", type(items).__name__))


def rows_terms(parameters: Mapping[str, Any]) -> RuleParams:
    """Return the terms of a study over rows; what is wrong is a StudyError."""
    return _terms(parameters, names_of(parameters.get("items")))


def columns_terms(parameters: Mapping[str, Any], sites: Sites) -> RuleParams:
    """Return the terms of a study over columns."""
    return _terms(parameters, sites.names)


def _terms(parameters: Mapping[str, Any], items: tuple[str, ...]) -> RuleParams:
    more = {name: parameters[name] for name in ("longest", "most", "supports")
            if name in parameters}
    try:
        terms = RuleParams(items, parameters.get("support"),  # type: ignore[arg-type]
                           parameters.get("confidence", 0.5), **more)
        _ = terms.support, terms.confidence
    except InputError as error:
        raise StudyError(str(error)) from None
    return terms


def sites_of(parameters: Mapping[str, Any], owners: Sequence[str] | None = None) -> Sites:
    """Return who has which items."""
    items = {name.removeprefix(PREFIX): names_of(value, f"Parameter '{name}'")
             for name, value in parameters.items() if name.startswith(PREFIX)}
    if owners is not None and set(items) != set(owners):
        raise StudyError(explain("Parameters 'items_NAME'", "one for each of " + ", ".join(owners),
                                 ", ".join(items) or "none"))
    return as_study(lambda: Sites.of({name: items[name] for name in owners or items}))
