"""One site of a vertical study: its questions, which nobody else sees, and its aligned rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.common.column_checks import as_numbers, of_site
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout, attributes_of
from unspoken.models.site_tree_part import Asked


@dataclass(frozen=True)
class TreeShape:
    """What is public about a vertical study: sites, classes, and room for questions.

    Every site has `slots` questions of at most `branches` answers; what it does not use is filled
    with questions that have one answer for all, so that nobody learns how many attributes a site
    has, or has left.

    Attributes
    ----------
    classes : tuple of str
        The classes, two or more, in the order that everybody uses.
    class_site : str
        The site that has the class.
    slots : int
        Questions per site, 1 to 4096.
    branches : int
        The most answers of a question, 2 to 4096.
    target : str, default 'class'
        The name of the class column.
    class_known : bool, default False
        Whether all sites know the class, which is cheaper.
    """

    classes: tuple[str, ...]
    class_site: str
    slots: int
    branches: int
    target: str = "class"
    class_known: bool = False

    def __post_init__(self) -> None:
        if len(self.classes) < 2 or len(set(self.classes)) != len(self.classes):
            raise InputError(explain("Classes", "two or more different texts", self.classes))
        if not 1 <= self.slots <= 4096 or not 2 <= self.branches <= 4096:
            raise InputError(explain("'slots' and 'branches'", "1 to 4096 questions a site of 2 "
                                     "to 4096 answers", f"{self.slots} and {self.branches}"))


@dataclass(frozen=True)
class TreeSite:
    """A site's attributes and rows; the class, and ids where rows are not aligned yet.

    Attributes
    ----------
    attributes : tuple of Attribute
        The attributes of the site.
    columns : mapping of str to array-like
        The site's columns by name.
    labels : array-like, optional
        The class of every row, where the site knows it.
    ids : sequence, optional
        The id of every row, where rows are not aligned yet.
    questions : tuple of Asked
        The site's questions, computed from its attributes.
    codes : array of int
        The answer of every row to every question, (questions, rows), computed.
    classes : array of int, optional
        Labels as numbers, if they are given like that; -1 is a record without one.
    """

    attributes: tuple[Attribute, ...]
    columns: Mapping[str, Any]
    labels: Any = None
    ids: Sequence[Any] | None = None
    questions: tuple[Asked, ...] = field(init=False)
    codes: Ints = field(init=False)
    classes: Ints | None = None

    def __post_init__(self) -> None:
        coded = {a.name: _codes(self, a) for a in self.attributes}
        size = self._rows(list(coded.values()))
        asked: list[Asked] = []
        rows: list[Ints] = []
        for attribute, question, routes in _questions(self.attributes):
            cut = attribute.cuts[question] if attribute.cuts else 0.0
            asked.append(Asked(attribute.name, attribute.categories, cut))
            rows.append(routes[coded[attribute.name]])
        object.__setattr__(self, "questions", tuple(asked))
        object.__setattr__(self, "codes", np.array(rows, np.int64).reshape(len(rows), size))

    def _rows(self, columns: Sequence[Ints]) -> int:
        sizes = {len(c) for c in (*columns, self.labels, self.ids, self.classes)
                 if c is not None}
        if len(sizes) != 1:
            raise DataError(explain("The columns of a site", "one or more, of one length",
                                    f"{len(sizes)} lengths"))
        return sizes.pop()

    def fits(self, shape: TreeShape, name: str) -> TreeSite:
        """Check a site against the study before anything is sent, and code its classes."""
        widest = max([q.branches for q in self.questions], default=0)
        if len(self.questions) > shape.slots or widest > shape.branches:
            raise RefusedError(f"A site must have at most {shape.slots} questions of at most "
                               f"{shape.branches} answers, as agreed. This one has "
                               f"{len(self.questions)} of up to {widest}. Agree on more room.")
        knows = shape.class_known or name == shape.class_site
        if knows != (self.labels is not None or self.classes is not None):
            raise RefusedError(explain("The class", f"given by '{shape.class_site}' alone, or by "
                                       "all if it is known to all",
                                       "none" if knows else f"one of '{name}'"))
        if self.labels is not None:
            coded = Attribute(shape.target, shape.classes).code(self.labels)
            object.__setattr__(self, "classes", coded)
        return self

    def take_rows(self, places: Ints) -> TreeSite:
        """Return the site with some of its records, and the same questions."""
        labels, classes = (None if values is None else np.asarray(values)[places]
                           for values in (self.labels, self.classes))
        columns = {name: np.asarray(values)[places] for name, values in self.columns.items()}
        return replace(self, columns=columns, labels=labels, classes=classes, ids=None)


def _questions(attributes: tuple[Attribute, ...]) -> list[tuple[Attribute, int, Ints]]:
    """Return each question of each attribute with its table of branches."""
    if not attributes:
        return []
    layout = TreeLayout(attributes, ("n", "p"), "")
    return [(attributes[q.attribute], q.cut, routes)
            for q, routes in zip(layout.questions, layout.routes, strict=True)]


def _codes(site: TreeSite, attribute: Attribute) -> Ints:
    return attribute.code(of_site(site.columns, attribute.name))


def indicators(codes: Ints, shape: TreeShape) -> Ints:
    """Return (slots, branches - 1, rows): 1 where a question has that answer; the last is left.

    Slots that a site does not use are zero: all records have the last answer.
    """
    out = np.zeros((shape.slots, shape.branches - 1, codes.shape[1]), np.int64)
    for slot, row in enumerate(codes):
        for branch in range(shape.branches - 1):
            out[slot, branch] = row == branch
    return out


def own_attributes(columns: Mapping[str, Any], numeric: Sequence[str],
                   points: int) -> tuple[Attribute, ...]:
    """Return a site's attributes: the categories it has, numbers cut at its own quantiles."""
    cuts = {name: own_cuts(as_numbers(f"Column '{name}'", columns[name]), points)
            for name in numeric}
    return attributes_of(columns, cuts, list(columns))


def own_cuts(values: Any, count: int) -> list[float]:
    """Return a site's own quantiles, halfway between values; the lower one where none is."""
    numbers = np.unique(np.asarray(values, np.float64))
    numbers = numbers[~np.isnan(numbers)]
    if numbers.size < 2:
        return [float(numbers[0])] if numbers.size else [0.0]
    ordered = np.sort(np.asarray(values, np.float64))
    wanted = np.quantile(ordered, np.arange(1, count + 1) / (count + 1))
    place = np.clip(np.searchsorted(numbers, wanted, side="right"), 1, numbers.size - 1)
    return sorted({_between(float(numbers[p - 1]), float(numbers[p])) for p in place.tolist()})


def _between(low: float, high: float) -> float:
    """Return a cut point that parts two values: halfway, but never the greater of them."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def digest(labels: Ints) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a digest of classes that all sites know, to compare them."""
    return np.frombuffer(hashlib.sha256(labels.astype("<i8").tobytes()).digest(), np.uint8)
