"""What all owners know before a tree is grown: attributes, cut points, classes.

A category makes one branch of a question; a number makes one question of two branches for each
cut point, `x <= cut` in float64, at equality too, as the pattern compares it. Questions
have an order, and of equally good ones the first wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.tasks.common.column_checks import all_there, one_length

MAX_CELLS = 1 << 16


@dataclass(frozen=True)
class Attribute:
    """A column: its categories, or the cut points of its numbers; exactly one of the two.

    Attributes
    ----------
    name : str
        The name of the column.
    categories : tuple of str or None, default ()
        All categories that may occur; None is a missing value.
    cuts : tuple of float, default ()
        Cut points, finite and increasing.
    """

    name: str
    categories: tuple[str | None, ...] = ()
    cuts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(explain("An attribute's name", "a text", self.name))
        if bool(self.categories) == bool(self.cuts):
            raise InputError(explain(f"Attribute '{self.name}'", "given categories or cut points, "
                                     "one of the two", "both" if self.cuts else "neither"))
        if len(set(self.categories)) != len(self.categories) or not all(
                c is None or isinstance(c, str) for c in self.categories):
            raise InputError(explain(f"The categories of '{self.name}'", "different texts or None",
                                     "others"))
        cuts = np.asarray(self.cuts, np.float64)
        if not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
            raise InputError(explain(f"The cut points of '{self.name}'", "finite and increasing",
                                     "others"))

    @property
    def cells(self) -> int:
        """Return how many cells of the histogram the attribute has."""
        return len(self.categories) or len(self.cuts) + 1

    def code(self, values: Any) -> Ints:
        """Return the cell of every value; what has none is refused, without saying which."""
        if self.cuts:
            return self._code_numbers(values)
        place = {category: code for code, category in enumerate(self.categories)}
        listed: Any = np.asarray(values, object).tolist()
        codes = np.array([place.get(_text(v), -1) for v in listed], np.int64)
        if (codes < 0).any():
            raise DataError(f"Column '{self.name}' must hold the agreed categories only. Some "
                            "rows have another, or none. Agree on it (None stands for a missing "
                            "value), or leave those rows out.")
        return codes

    def _code_numbers(self, values: Any) -> Ints:
        try:
            numbers = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            raise DataError(f"Column '{self.name}' must hold numbers. It does not.") from None
        if np.isnan(numbers).any():
            raise DataError(f"Column '{self.name}' must have a number in every row. Some have "
                            "none. Leave those rows out, or agree on categories.")
        return np.searchsorted(np.asarray(self.cuts), numbers, side="left").astype(np.int64)


def _text(value: Any) -> str | None:
    missing = value is None or (isinstance(value, float) and np.isnan(value))
    return None if missing else str(value)


@dataclass(frozen=True)
class Question:
    """One way to split: an attribute, and a cut point's place or -1 for all its categories."""

    attribute: int
    cut: int
    branches: int


@dataclass(frozen=True)
class TreeLayout:
    """Attributes and classes, in the order that every owner uses.

    Attributes
    ----------
    attributes : tuple of Attribute
        The attributes, of different names, without the class.
    classes : tuple of str
        The classes, two or more, in the order that everybody uses.
    target : str, default 'class'
        The name of the class column.
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    target: str = "class"

    def __post_init__(self) -> None:
        names = [a.name for a in self.attributes]
        if not names or len(set(names)) != len(names) or self.target in names:
            raise InputError(explain("Attributes", "one or more, of different names, without the "
                                     f"class '{self.target}'", ", ".join(names) or "none"))
        if len(self.classes) < 2 or len(set(self.classes)) != len(self.classes):
            raise InputError(explain("Classes", "two or more different texts", self.classes))
        if self.cells > MAX_CELLS:
            raise InputError(explain("Categories and cut points together", f"at most {MAX_CELLS}",
                                     self.cells))

    @property
    def cells(self) -> int:
        """Return the number of cells of a histogram, before classes."""
        return sum(a.cells for a in self.attributes)

    @cached_property
    def starts(self) -> Ints:
        """Return the first cell of each attribute."""
        return np.cumsum([0, *(a.cells for a in self.attributes)])[:-1].astype(np.int64)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Return every question; an attribute with one category has none."""
        questions: list[Question] = []
        for place, attribute in enumerate(self.attributes):
            if attribute.cuts:
                questions += [Question(place, i, 2) for i in range(len(attribute.cuts))]
            elif attribute.cells > 1:
                questions.append(Question(place, -1, attribute.cells))
        return tuple(questions)

    @cached_property
    def asked(self) -> tuple[Ints, Ints]:
        """Return the attribute and the cut's place of every question."""
        pairs = np.array([(q.attribute, q.cut) for q in self.questions], np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    @cached_property
    def first_branch(self) -> Ints:
        """Return where the branches of each question start, and the number of all of them."""
        return np.cumsum([0, *(q.branches for q in self.questions)]).astype(np.int64)

    @cached_property
    def routes(self) -> Ints:
        """Return the branch of every cell of a question's attribute, -1 beyond its last cell."""
        table = np.full((len(self.questions), max(a.cells for a in self.attributes)), -1, np.int64)
        for row, question in zip(table, self.questions, strict=True):
            cells = np.arange(self.attributes[question.attribute].cells)
            row[:cells.size] = cells if question.cut < 0 else cells > question.cut
        return table

    def codes(self, columns: Mapping[str, Any]) -> Ints:
        """Return the cell of every row in every attribute, (attributes, rows)."""
        all_there((a.name for a in self.attributes), columns)
        coded = [a.code(columns[a.name]) for a in self.attributes]
        one_length(coded)
        return np.stack(coded)

    def labels(self, values: Any) -> Ints:
        """Return the number of every row's class."""
        return Attribute(self.target, self.classes).code(values)


def attributes_of(columns: Mapping[str, Any], cuts: Mapping[str, Sequence[float]],
                  names: Sequence[str]) -> tuple[Attribute, ...]:
    """Return attributes from pooled or public data: given cuts, else the categories found."""
    attributes = []
    for name in names:
        if name in cuts:
            attributes.append(Attribute(name, cuts=tuple(map(float, cuts[name]))))
        else:
            texts = {_text(v) for v in np.asarray(columns[name], object).tolist()}
            ordered = sorted(texts, key=lambda t: (t is None, t or ""))
            attributes.append(Attribute(name, tuple(ordered)))
    return tuple(attributes)
