"""A question of one node of a tree whose questions are spread over sites, and its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.tree_text import category_answer, number, threshold_answer


@dataclass(frozen=True)
class Asked:
    """A question of one node: a column, and its categories or the one cut point.

    `alone`: the first answer is the one category, the second everything else. `missing_first`: a
    missing number has the first answer, as if it were below the cut point.
    """

    column: str
    categories: tuple[str | None, ...] = ()
    cut: float = 0.0
    alone: bool = False
    missing_first: bool = False

    @property
    def branches(self) -> int:
        """Return how many answers there are."""
        return 2 if self.alone else len(self.categories) or 2

    def answers(self, values: Any) -> Ints:
        """Return the branch of every value; an unknown category goes to the first."""
        if not self.categories:
            numbers = np.asarray(values, np.float64)
            first = (numbers <= self.cut) | (self.missing_first & np.isnan(numbers))
            return np.where(first, 0, 1).astype(np.int64)
        listed: Any = np.asarray(values, object).tolist()
        if self.alone:
            return np.array([text_of(v) != self.categories[0] for v in listed]).astype(np.int64)
        place = {category: i for i, category in enumerate(self.categories)}
        return np.array([place.get(None if v is None else str(v), 0) for v in listed], np.int64)

    def answer(self, side: int, full: bool) -> str:
        """Return what leads to a child, such as "age <= 30"."""
        if self.alone:
            none = self.categories[0] is None
            other = "is there" if none else "is another"
            return f"{self.column} {other}" if side else category_answer(
                self.column, self.categories, full)
        if self.categories:
            return category_answer(self.column, self.categories[side:side + 1], full)
        missing = True if self.missing_first else None
        return threshold_answer(self.column, side, number(self.cut, full), missing)

    def to_json(self) -> dict[str, Any]:
        """Return the question as plain data; what is not said is not so."""
        said = {name: True for name in ("alone", "missing_first") if getattr(self, name)}
        return {"column": self.column, "categories": list(self.categories), "cut": self.cut} | said

    @classmethod
    def from_fields(cls, each: Fields) -> Asked:
        """Read `to_json`'s object."""
        labels = each.items("categories", each.limits.max_features)
        known = isinstance(each.raw("column"), str) and all(
            label is None or isinstance(label, str) for label in labels)
        if not known or type(each.raw("cut")) not in (int, float):
            refuse(each.at("column"), "a column with categories or a cut", "something else")
        alone, missing = (each.data.get(name, False) for name in ("alone", "missing_first"))
        if not isinstance(alone, bool) or not isinstance(missing, bool) or (
                alone and len(labels) != 1) or (missing and labels):
            refuse(each.at("alone"), "one category against all others, or a cut", "something else")
        return cls(str(each.raw("column")), tuple(labels), float(each.raw("cut")), alone, missing)


def text_of(value: Any) -> str | None:
    """Return a value as a category is written; None for a missing one."""
    missing = value is None or (isinstance(value, float) and np.isnan(value))
    return None if missing else str(value)
