"""Texts in a model that are values of few people: rare categories, and names where none belong.

A model that lists its categories says of everybody who alone has one that somebody like this was
among its people. A category that the original does not have cannot be scored. A text of a column
that the model has nothing to do with is hidden there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

from unspoken.arrays import Bools
from unspoken.audit.people.membership import EVERYBODY
from unspoken.disclosure.attribute_disclosure import wilson
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.people_risk import MEMBER, Risk
from unspoken.models.readers.lightgbm_core import frame_lists
from unspoken.models.readers.lightgbm_text import LightGBMModel
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

NOTHING = "only the model"
KNOWS = "the category of a person"
RARE = "rare categories"
SHORTEST = 4
"""Letters of a text that is not met by chance."""
FEWEST = 3
"""Texts of a column without identifiers that must be met."""


def texts_in(document: Any) -> set[str]:
    """Return every text of a document, names of fields included, joined and nested ones apart."""
    found: set[str] = set()
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            waiting += [each for each in one if not isinstance(each, int | float)]
        elif isinstance(one, str) and one not in found:
            found.add(one)
            waiting += _inside(one)
    return found


def _inside(text: str) -> list[Any]:
    """Return what a text holds: another document, or words that are joined by signs."""
    start = text.find("[") if text[:1] != "{" else 0
    if start >= 0 and text[start:start + 1]:
        try:
            return [json.loads(text[start:])]
        except (ValueError, RecursionError):
            pass
    for mark in "|;,":
        text = text.replace(mark, "\n")
    return [part.strip(" []{}()'\"") for part in text.split("\n")] if "\n" in text else []


def category_lists(model: Any) -> dict[str, set[str]]:
    """Return the categories that a model names, by column; those of no known column under ""."""
    groups: Mapping[str, Any] = getattr(model, "categories", None) or {}
    named = {name: {str(text) for one in each if one is not None
                    for text in (one if isinstance(one, list | tuple) else [one])}
             for name, each in groups.items()} if isinstance(groups, Mapping) else {}
    loose = {text for texts in frame_lists(model.core) for text in texts} \
        if isinstance(model, LightGBMModel) and not named else set()
    return named | ({"": loose} if loose else {})


def text_columns(table: Table) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield every column of texts, and how many people have each of its values."""
    for column in table.schema.columns:
        if column.kind == "basket":
            continue
        found = coded(table.arrow([column.name])[column.name])
        if not is_number(found.labels.type):
            counts = np.bincount(found.codes, minlength=found.missing + 1)[:-1].tolist()
            yield column.name, {str(v): n for v, n in zip(found.values(), counts, strict=True)}


def named_rows(model: Any, texts: Set[str], table: Table, k: int) -> Iterator[Row]:
    """Yield for every column which share of the values named in a model few people have."""
    used = _used(model, table)
    for name, values in text_columns(table):
        named = [text for text in values if text in texts]
        if name in used and named:
            rare = sum(values[text] < k for text in named)
            share = (rare / len(named), *wilson(rare, len(named)))
            yield Row(RARE, NOTHING, name, "memorised", *share, 0.0, len(named))


def named_risk(model: Any, texts: Set[str], table: Table, control: Table | None,
               k: int) -> list[Risk]:
    """Return how many people have a rare category that a model names, beside outsiders."""
    used = _used(model, table) - {table.target}
    rare = {name: {text for text, people in values.items() if people < k and text in texts}
            for name, values in text_columns(table) if name in used}
    rare = {name: some for name, some in rare.items() if some}
    if not rare:
        return []
    hits = [int(_having(group, rare).sum()) for group in (table, control) if group is not None]
    outside = (hits[1], control.rows) if control is not None else (None, 0)
    return [Risk(MEMBER, EVERYBODY, RARE, KNOWS, hits[0], table.rows, 0.0, *outside)]


def _having(group: Table, rare: Mapping[str, set[str]]) -> Bools:
    out = np.zeros(group.rows, np.bool_)
    for name, texts in rare.items():
        if name in group.schema.names:
            found = coded(group.arrow([name])[name])
            there = np.array([str(value) in texts for value in found.values()] + [False], np.bool_)
            out |= there[found.codes]
    return out


def unknown_categories(model: Any, table: Table) -> dict[str, str]:
    """Return the columns of whose categories a model names some that the original does not have."""
    known = {name: set(values) for name, values in text_columns(table)}
    everything = set().union(*known.values()) if known else set()
    out = {}
    for name, texts in category_lists(model).items():
        strange = len(texts - known.get(name, everything)) if name in known or not name else 0
        if strange:
            out[f"{name or 'model'} (categories)"] = (
                f"the model names {strange:,} that the original does not have, so nothing tells "
                "whose they are")
    return out


def misplaced_texts(model: Any, texts: Set[str], table: Table, k: int) -> Iterator[str]:
    """Yield the columns whose texts stand in a model that has nothing to do with them."""
    used, columns = _used(model, table), dict(text_columns(table))
    explained = {text for name in used for text in columns.get(name, ())} | set(table.schema.names)
    for name, values in columns.items():
        met = sum(n < k and text in texts and text not in explained and len(text) >= SHORTEST
                  for text, n in values.items())
        least = 1 if table.schema[name].role == "identifier" else FEWEST
        if name not in used and met >= least:
            yield f"the model holds {met:,} values of '{name}', which it has nothing to do with"


def _used(model: Any, table: Table) -> set[str]:
    """Return the columns that a model is about; one that predicts nothing may be about all."""
    features = getattr(model, "features", None)
    if features is None:
        return {c.name for c in table.schema.columns if c.role != "identifier"}
    target = getattr(model, "target", None) or getattr(model, "response", None) or table.target
    return {*features, target}
