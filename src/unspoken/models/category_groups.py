"""Categories that a model holds as numbers: which categories each number stands for.

A learner sees a column of categories as numbers 0, 1, ...; what they stand for is kept beside the
trees, so that a model predicts from texts by name and says `marital-status in {Divorced, Widowed}`.
A number may stand for several categories, where rare ones were merged. A category that the model
has never seen counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Bools, Floats
from unspoken.errors import DataError, ModelError
from unspoken.models.hostile_json import Fields, Limits, parse_json, refuse
from unspoken.models.labels import Label
from unspoken.models.tree_text import category_answer

Groups = Mapping[str, tuple[tuple[str, ...], ...]]
"""Column by column: the categories behind each number."""
NONE: Groups = {}


def category_texts(column: Any) -> Any:
    """Return a column of categories as Arrow texts, null where missing."""
    found = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(
        column if isinstance(column, list) else np.asarray(column), from_pandas=True)
    if pa.types.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    return found.cast(pa.string())


def indicator(label: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of a column that says whether a record has one label: 0 no, 1 yes."""
    return ((), tuple(label))


def is_indicator(groups: Sequence[Sequence[str]]) -> bool:
    """Return True if a column says whether a record has one label."""
    return len(groups) == 2 and not groups[0] and bool(groups[1])


def indicator_name(column: str, label: Sequence[str]) -> str:
    """Return the name of that column: colour == red."""
    return f"{column} == {'|'.join(label)}"


def column_of(name: str, groups: Sequence[Sequence[str]]) -> str:
    """Return the column of the data that a model's column is made of."""
    return name.removesuffix(indicator_name("", groups[1])) if is_indicator(groups) else name


def category_numbers(column: Any, groups: Sequence[Sequence[str]]) -> Floats:
    """Return the number of each record's category, NaN where it is missing or not known.

    An indicator is 1 for its label and 0 for everything else.
    """
    if is_indicator(groups):
        return np.where(np.isnan(category_numbers(column, groups[1:])), 0.0, 1.0)
    members = pa.array([text for group in groups for text in group], pa.string())
    numbers = np.repeat(np.arange(len(groups), dtype=np.float64), [len(g) for g in groups])
    place = pc.index_in(category_texts(column), members)
    place = place.combine_chunks() if isinstance(place, pa.ChunkedArray) else place
    known = pc.is_valid(place).to_numpy(zero_copy_only=False)
    out = np.full(len(known), np.nan)
    if len(members) and not known.any() and _numeric(column) and len(known):
        raise DataError("A column of categories must hold the categories themselves. Got numbers "
                        "that are none of them. Pass the column as it was before it was encoded.")
    if numbers.size:
        out[known] = numbers[place.drop_null().to_numpy(zero_copy_only=False)]
    return out


def _numeric(column: Any) -> bool:
    kind = column.type if isinstance(column, pa.Array | pa.ChunkedArray) else None
    if kind is not None:
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    return np.asarray(column).dtype.kind in "iuf"


def answer_of(
    name: str, groups: Sequence[Sequence[str]], there: Bools, missing: bool, full: bool
) -> str:
    """Return "colour in {blue, red}" for the numbers that take one side, with "or missing"."""
    if is_indicator(groups):
        column = column_of(name, groups)
        return name if there[1] else f"{column} != {'|'.join(groups[1])}"
    labels: list[str] = [text for group, inside in zip(groups, there.tolist(), strict=True)
                         if inside for text in group]
    return category_answer(name, labels, full) + " or missing" * missing


def names_of(groups: Sequence[Sequence[str]]) -> list[str]:
    """Return one name for each number, for libraries that know one: merged ones joined by |."""
    return ["|".join(group) for group in groups]


def groups_to_json(groups: Groups) -> dict[str, Any]:
    """Return the field "categories", nothing where a model has none."""
    listed = {name: [list(group) for group in each] for name, each in groups.items()}
    return {"categories": listed} if listed else {}


def groups_from_json(fields: Fields, features: Sequence[str]) -> Groups:
    """Read the field "categories"; anything malformed is refused by its name."""
    if "categories" not in fields.data:
        return NONE
    inside = fields.fields("categories")
    known = frozenset(features)
    return {name: _groups(inside, name, known) for name in inside.data}


def _groups(
    inside: Fields, name: str, features: frozenset[str]
) -> tuple[tuple[str, ...], ...]:
    if name not in features:
        refuse(inside.at(str(name)[:40]), "one of the model's columns", "another")
    listed = inside.items(name, inside.limits.max_features)
    texts = [text for group in listed if isinstance(group, list) for text in group]
    whole = all(isinstance(group, list) for group in listed)
    if not whole or not all(isinstance(text, str) for text in texts):
        refuse(inside.at(name), "lists of texts", "something else")
    if len(set(texts)) != len(texts):
        refuse(inside.at(name), "every category once", "one twice")
    return tuple(tuple(group) for group in listed)


@dataclass(frozen=True)
class Remark:
    """What a library's own file has no place for: names of classes, columns and categories."""

    classes: tuple[Label, ...] = ()
    columns: tuple[str, ...] = ()
    groups: Groups = field(default_factory=dict)


def remark_of(remark: Remark) -> str:
    """Return a remark as one line of text, empty if there is nothing to say."""
    if not (remark.classes or remark.columns or remark.groups):
        return ""
    text = json.dumps({"classes": list(remark.classes), "columns": list(remark.columns),
                       **groups_to_json(remark.groups)}, ensure_ascii=True,
                      separators=(",", ":"))
    # LightGBM refuses a line with a second equals sign.
    return text.replace("=", "\\u003d")


def read_remark(text: str | None, features: Sequence[str], limits: Limits) -> Remark:
    """Read what `remark_of` wrote."""
    if text is None:
        return Remark()
    fields = Fields(parse_json(text.encode(), limits), "unspoken", limits)
    classes = tuple(fields.items("classes", limits.max_classes))
    if not all(type(label) in (str, int, float, bool) for label in classes):
        refuse("unspoken.classes", "texts, numbers or booleans", "something else")
    columns = fields.texts("columns", limits.max_features)
    if columns and (len(columns) != len(features) or len(set(columns)) != len(columns)):
        refuse("unspoken.columns", f"{len(features)} different names", "others")
    return Remark(classes, columns, groups_from_json(fields, columns or features))


def check_classes(classes: Sequence[Label], outputs: int) -> None:
    """Refuse names of classes that are more or fewer than a model distinguishes."""
    wanted = 2 if outputs == 1 else outputs
    if classes and len(classes) != wanted:
        raise ModelError(f"The model distinguishes {wanted} classes, and {len(classes)} are named.")
