"""One site of boosted trees over columns: its questions of two answers, which nobody else sees.

A number is cut at the site's own quantiles, `x <= cut` in float64, at equality too. A category is
one bin: is it this one, or another? Where numbers are missing, every cut is asked twice, with the
missing ones on either side, and whether it is missing is a question, too: so the side of missing
values is learned. A number that is missing in new records alone goes the second way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.tasks.common.column_checks import as_numbers
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.joint.tasks.tree.tree_sites import TreeShape, own_cuts
from unspoken.models.asked_question import Asked, text_of


@dataclass(frozen=True)
class BoostSite:
    """A site's questions and rows; the class where the site has it.

    Attributes
    ----------
    questions : tuple of Asked
        Questions of two answers about the site's columns, as `own_questions` makes them.
    columns : mapping of str to array-like
        The site's columns by name.
    labels : array-like, optional
        The class of every row, where the site has it.
    ids : sequence, optional
        The id of every row, where rows are not aligned yet.
    codes : array of int
        The answer of every row to every question, 0 or 1, (questions, rows), computed.
    classes : array of int, optional
        Labels as numbers, computed when the study is known.
    """

    questions: tuple[Asked, ...]
    columns: Mapping[str, Any]
    labels: Any = None
    ids: Sequence[Any] | None = None
    codes: Ints = field(init=False)
    classes: Ints | None = None

    def __post_init__(self) -> None:
        sizes = {len(c) for c in (*self.columns.values(), self.labels, self.ids)
                 if c is not None}
        if len(sizes) != 1:
            raise DataError(explain("The columns of a site", "one or more, of one length",
                                    f"{len(sizes)} lengths"))
        if any(q.branches != 2 for q in self.questions):
            raise DataError("Questions of boosted trees must have two answers. Some have more.")
        answers = [q.answers(self.columns[q.column]).astype(np.int8) for q in self.questions]
        codes = np.array(answers, np.int8).reshape(len(answers), sizes.pop())
        object.__setattr__(self, "codes", codes)

    def fits(self, shape: TreeShape, name: str) -> BoostSite:
        """Check a site against the study before anything is sent, and code its classes."""
        if len(self.questions) > shape.slots:
            raise RefusedError(f"A site must have at most {shape.slots} questions, as agreed. This "
                               f"one has {len(self.questions)}. Agree on more slots, or on fewer "
                               "cut points.")
        if (name == shape.class_site) != (self.labels is not None):
            raise RefusedError(explain("The class", f"given by '{shape.class_site}' alone",
                                       "none" if self.labels is None else f"one of '{name}'"))
        if self.labels is not None:
            coded = Attribute(shape.target, shape.classes).code(self.labels)
            object.__setattr__(self, "classes", coded)
        return self

    def take_rows(self, places: Ints) -> BoostSite:
        """Return the site with some of its records, and the same questions."""
        labels = None if self.labels is None else np.asarray(self.labels)[places]
        columns = {name: np.asarray(values)[places] for name, values in self.columns.items()}
        return replace(self, columns=columns, labels=labels, classes=None, ids=None)


def own_questions(columns: Mapping[str, Any], numeric: Sequence[str],
                  points: int) -> tuple[Asked, ...]:
    """Return a site's questions: numbers at its own quantiles, every category for itself."""
    return tuple(asked for name, values in columns.items() for asked in (
        _about_numbers(name, values, points) if name in numeric
        else _about_categories(name, values)))


def _about_numbers(name: str, values: Any, points: int) -> list[Asked]:
    numbers = as_numbers(f"Column '{name}'", values)
    missing = np.isnan(numbers)
    asked = [Asked(name, cut=cut) for cut in own_cuts(numbers[~missing], points)]
    if not missing.any():
        return asked
    other_side = [replace(each, missing_first=True) for each in asked]
    return [*asked, *other_side, Asked(name, (None,), alone=True)]


def _about_categories(name: str, values: Any) -> list[Asked]:
    texts = {text_of(v) for v in np.asarray(values, object).tolist()}
    ordered = sorted(texts, key=lambda text: (text is None, text or ""))
    # Of two categories one question says it all.
    return [Asked(name, (each,), alone=True) for each in (
        ordered[:1] if len(ordered) == 2 else ordered)]
