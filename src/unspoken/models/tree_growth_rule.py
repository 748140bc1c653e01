"""Growth: how a tree is grown and when it stops, so that somebody else finds the same tree.

unspoken's own learner splits categories as well as numbers. Anyone who gets a Growth and the
number of its steps grows the same tree from the same table: candidates have an order, and of
equally good ones the first wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError, InputError, SchemaError, explain
from unspoken.models.labels import Label, Task
from unspoken.numerics.splitting import CRITERIA, NUMERIC
from unspoken.numerics.tree_grower import (
    ORDERS,
    Attribute,
    Growing,
    Labels,
    Parts,
    Response,
    start,
)
from unspoken.release.parameters import OneOf, Rule, Whole, check
from unspoken.table.arrow_arrays import to_labels, to_numbers
from unspoken.table.integer_columns import Coded, Steps, code_column, in_steps
from unspoken.table.table import Table

Groups = Mapping[str, Sequence[tuple[str | None, Sequence[str | None]]]]
UNSPOKEN, SKLEARN = LEARNERS = ("unspoken", "scikit-learn")
MAX_CLASSES, MOST_CLASSES = 100, 1000
"""A target of more whole numbers is a quantity; of more classes nothing is grown at all."""
TIES = ("Of equally good splits the first wins: columns in their order, in a column the lowest "
        "cut, missing values to the right first, categories in the order of the response and "
        "then of their labels; of equally urgent leaves the oldest is expanded.")
SCORES: Mapping[str, str] = {
    "gini": "sum over children of (sum of squared class counts / records), less that of the node",
    "variance": "sum over children of (squared sum of the target / records), less that of the "
                "node; the target in whole steps, see grow_tree.py",
    "entropy": "n log2 n of the node, less that of its children, plus n log2 n of each class in "
               "each child, less that of each class in the node",
    "gain-ratio": "that of entropy, divided by n log2 n of the node less that of its children",
}
ARITHMETIC = "Scores are exact (logarithms to 50 digits), rounded once, and compared as float64."
FLOOR = ("A split must score more than 1e-10 times the node's own sum of the score (gain-ratio: "
         "more than 1e-10).")
PRIORITY = ("best-first: each step splits the leaf whose best split has the highest score "
            "(gain-ratio: score times records); level: each step splits all leaves that can be.")
SKLEARN_TIES = "scikit-learn's own, from random_state; no tie may decide, or nothing is released."

_RULES: Mapping[str, tuple[Rule, str]] = {
    "criterion": (OneOf((None, *CRITERIA)), "Leave it out to follow the target."),
    "learner": (OneOf(LEARNERS), ""),
    "categories": (OneOf(("two-way", "multiway")), ""),
    "order": (OneOf(ORDERS), ""),
    "max_leaves": (Whole(1), "Use 32."),
    "min_leaf": (Whole(1), "Use 1."),
    "random_state": (Whole(0), "Use 0."),
}


@dataclass(frozen=True)
class Growth:
    """How one tree is grown.

    Attributes
    ----------
    criterion : {"gini", "entropy", "gain-ratio", "variance"} or None, default None
        None follows the target. "entropy" is information gain; "gain-ratio" is the plain one:
        C4.5's filter by the average gain looks at all columns, which a release no longer has.
    learner : {"unspoken", "scikit-learn"}, default "unspoken"
        scikit-learn splits numbers only.
    categories : {"two-way", "multiway"}, default "two-way"
        Two groups of categories, or a child per category.
    order : {"best-first", "level"}, default "best-first"
        Which node is split next.
    target : str or None, default None
        The column to predict, if not the table's target.
    max_leaves : int, default 32
        The most leaves.
    min_leaf : int, default 1
        The fewest records per leaf.
    random_state : int, default 0
        The seed of scikit-learn's learner.
    """

    criterion: str | None = None
    learner: str = UNSPOKEN
    categories: str = "two-way"
    order: str = "best-first"
    target: str | None = None
    max_leaves: int = 32
    min_leaf: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        check("Growth", _RULES, asdict(self))
        if self.target is not None and not isinstance(self.target, str):
            raise InputError(explain("Growth: 'target'", "None or a column name", self.target))
        if self.learner == SKLEARN and (self.criterion == "gain-ratio"
                                        or self.order != "best-first"):
            raise InputError("Growth: scikit-learn grows best-first and knows no gain ratio. Use "
                             "learner='unspoken', or another criterion and order.")

    @classmethod
    def of(cls, rule: Any) -> Growth:
        """Return a Growth from a Growth, a mapping of its fields, or None."""
        if rule is None or isinstance(rule, Growth):
            return rule or cls()
        known = {f.name for f in fields(cls)}
        if not isinstance(rule, Mapping) or set(rule) - known:
            raise InputError(explain("'tree'", "a Growth or a mapping with some of "
                                     + ", ".join(sorted(known)), rule))
        return cls(**rule)

    def for_table(self, table: Table) -> Growth:
        """Return the growth with target and criterion filled in from a table."""
        target = self.target or table.target
        table.schema[target]
        regression = self._is_regression(table, target)
        criterion = self.criterion or ("variance" if regression else "gini")
        return replace(self, target=target, criterion=criterion)

    def _is_regression(self, table: Table, target: str) -> bool:
        if self.criterion is not None or table.schema[target].kind not in ("numeric", "ordinal"):
            return False
        values = np.asarray(to_numbers(table.arrow([target])[target]))
        whole = bool(np.all(values == np.rint(values)))
        return not whole or np.unique(values).size > MAX_CLASSES

    @property
    def task(self) -> Task:
        """Return what is predicted: a class or a number."""
        return "regression" if self.criterion == "variance" else "classification"

    def rule(self, steps: int, leaves: int) -> dict[str, Any]:
        """Return the stopping rule: everything that a miner must use to find the same tree."""
        known = {**asdict(self), "steps": steps, "leaves": leaves}
        if self.learner != UNSPOKEN:
            return {**known, "ties": SKLEARN_TIES}
        return {**known, "ties": TIES, "score": SCORES[str(self.criterion)],
                "arithmetic": ARITHMETIC, "floor": FLOOR, "priority": PRIORITY}

    @classmethod
    def of_rule(cls, rule: Mapping[str, Any]) -> tuple[Growth, int]:
        """Read a stopping rule: the growth and the number of its steps."""
        stated = {f.name: rule[f.name] for f in fields(cls) if f.name in rule}
        steps = rule.get("steps")
        if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
            raise InputError(explain("'steps' of a stopping rule", "a whole number", steps))
        return cls(**stated), steps


@dataclass(frozen=True)
class Learning:
    """A table ready to be grown from: predictors and response in codes."""

    growth: Growth
    columns: tuple[Coded, ...]
    rows: int
    labels: npt.NDArray[np.integer] | None
    classes: tuple[Label, ...]
    steps: Steps | None

    def response(self) -> Response:
        """Return what is counted at a node."""
        if self.steps is not None:
            return Parts(self.steps.parts)
        assert self.labels is not None
        return Labels(self.labels, len(self.classes))

    def start(self, response: Response | None = None,
              attributes: Sequence[Attribute] | None = None) -> Growing:
        """Return the tree of one node, over these rows or over cells of them."""
        growth = self.growth
        return start(response or self.response(), attributes or self.attributes(),
                     str(growth.criterion), rows=self.rows, min_leaf=growth.min_leaf,
                     scale=float(1 << self.steps.bits) if self.steps else 1.0,
                     order=growth.order)

    def attributes(self) -> list[Attribute]:
        """Return the predictors as the grower takes them."""
        return [Attribute(c.codes, c.size, c.kind) for c in self.columns]


def predictors(table: Table, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that may be asked about: no target, nothing sensitive, no identifier."""
    return tuple(c.name for c in table.schema.columns
                 if c.role in ("quasi", "plain") and c.name not in targets
                 and c.kind != "basket")


def prepare(table: Table, growth: Growth, names: Sequence[str], groups: Groups | None = None,
            coded: Mapping[str, Coded] | None = None) -> Learning:
    """Code a table for one growth; `coded` holds columns that were coded before."""
    target = str(growth.target)
    if table.rows == 0:
        raise DataError("A table must have at least one row to grow a tree. Got none.")
    if growth.learner == SKLEARN:
        names = [n for n in names if table.schema[n].kind in ("numeric", "ordinal")]
    if not names:
        raise SchemaError("The table has no predictor. Targets, sensitive columns and identifiers "
                          "are not predictors.")
    columns = tuple(_column(table, name, growth, groups or {}, coded or {}) for name in names)
    data = table.arrow([target])[target]
    if table.engine.count_missing(table.frame, target):
        raise DataError(f"Target '{target}' must have a value in every row. Some have none.")
    if growth.task == "regression":
        return Learning(growth, columns, table.rows, None, (), in_steps(target, to_numbers(data)))
    classes, labels = to_labels(data)
    if len(classes) > MOST_CLASSES:
        raise DataError(f"Target '{target}' has {len(classes)} classes; at most {MOST_CLASSES} are "
                        "allowed. Use criterion='variance' for a number.")
    plain = tuple(c if isinstance(c, str | int | float | bool) else str(c) for c in classes)
    return Learning(growth, columns, table.rows, labels, plain, None)


def _column(table: Table, name: str, growth: Growth, groups: Groups,
            coded: Mapping[str, Coded]) -> Coded:
    if name in coded:
        values = coded[name]
        return values if values.kind == NUMERIC else replace(values, kind=growth.categories)
    column = code_column(table.schema[name], table.arrow([name])[name], growth.categories)
    return in_group_order(column, [label for label, _ in groups[name]]) if name in groups \
        else column


def in_group_order(column: Coded, labels: Sequence[str | None]) -> Coded:
    """Return a column of released labels in the order of their groups."""
    place = {label: index for index, label in enumerate(labels)}
    strange = [label for label in column.labels if label not in place]
    if strange:
        raise DataError(f"Column '{column.name}' holds the label {strange[0]!r}, which is not in "
                        "the manifest.")
    rank = np.array([place[label] for label in column.labels], np.int64)
    return replace(column, codes=rank[column.codes], labels=tuple(labels))
