"""How much of a release can be read once a result of it was shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truth, Truths
from unspoken.methods.encoding.adversaries.ignorant import chance
from unspoken.methods.encoding.adversaries.shown_model import LEVEL, ShownModel
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.model_facts import design_for
from unspoken.methods.encoding.results.model_equations import Equations, equations
from unspoken.models.category_groups import column_of, is_indicator
from unspoken.models.forest import Forest
from unspoken.models.tree import Tree
from unspoken.release.key import Key

CLOSE = 1e-9
"""A value is read exactly if it is off by less than this share of the range: rounding."""


@dataclass(frozen=True)
class Shown:
    """One column after a result was shown: shares of people and values read, beside a guess."""

    column: str
    records: float
    domain: float
    exact: float
    guess: float
    equations: int

    def rows(self) -> Iterator[Row]:
        """Yield the rows of an audit."""
        for measure, value, base in (("records", self.records, self.guess),
                                     ("domain", self.domain, self.guess),
                                     ("exact records", self.exact, 0.0)):
            yield Row(ShownModel.name, LEVEL, self.column, measure, value, value, value, base, 1)


def shown_columns(mined: Any, shown: Any, key: Key, view: View, truths: Truths,
                  radius: float) -> list[Shown]:
    """Return what a miner reads off a shown model, column by column.

    `mined` and `shown` have the same nodes; `shown` None stands for predictions alone, which say
    nothing of the features, but name the classes.
    """
    book = PiecewiseBook.from_key(key)
    design = design_for(book, mined)
    pairs = {} if shown is None else equations(mined, shown)
    by_name = {design.features[place]: each for place, each in pairs.items()}
    numeric = [_numeric(truth, view, by_name.get(truth.name), radius)
               for truth in truths.columns.values() if truth.values.size]
    groups = getattr(shown, "categories", None) or {}
    listed = sorted({name for name in groups if groups[name]}
                    | ({column_of(part.original, part.groups) for part in design.parts
                        if is_indicator(part.groups)} if shown is not None else set()))
    labelled = [Shown(name, 1.0, 1.0, 1.0, 1.0 / max(len(book.groups(name)), 1), 0)
                for name in listed if name in (book.categories or {})]
    return [*numeric, *labelled, *_target(book, mined)]


def _numeric(truth: Truth, view: View, pairs: Equations | None, radius: float) -> Shown:
    seen, reach = view[truth.released], radius * truth.width
    low, high = float(truth.values[0]), float(truth.values[-1])
    blind = chance(truth.truth, low, high, reach)
    guess = float(blind @ truth.record_share)
    if pairs is None or pairs.codes.size == 0:
        return Shown(truth.name, guess, float(blind @ truth.share), 0.0, guess, 0)
    read = ShownModel().read(seen, pairs.codes, pairs.values)[truth.where]
    near, exact = (np.abs(read - truth.truth) <= limit + CLOSE * truth.width
                   for limit in (reach, 0.0))
    return Shown(truth.name, float(near @ truth.record_share), float(near @ truth.share),
                 float(exact @ truth.record_share), guess, int(np.unique(pairs.codes).size))


def _target(book: PiecewiseBook, mined: Any) -> list[Shown]:
    """Return that a result gives the target away: by names of classes, or by two predictions.

    Every form names the classes, in the order of those of the mined model, which undoes new names.
    Two predictions in the original unit undo secret units.
    """
    if book.target is not None and book.classes:
        classes = len(book.classes)
        return [Shown(book.target[0], 1.0, 1.0, 1.0, 1.0 / classes, classes)]
    if book.units is None or book.target is None or _predictions(mined) < 2:
        return []
    return [Shown(book.target[0], 1.0, 1.0, 1.0, 0.0, 2)]


def _predictions(model: Any) -> int:
    """Return how many different numbers a model predicts, at least."""
    values: list[Floats] = []
    if isinstance(model, Tree):
        values = [model.value[model.shape.leaves]]
    elif isinstance(model, Forest):
        values = [tree.value[tree.shape.leaves] for tree in model.trees]
    return 2 if not values else int(np.unique(np.concatenate(values)).size)
