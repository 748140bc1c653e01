"""MondrianAnonymizer: classes of at least k by cutting (LeFevre et al. 2006; fu2010 section 5).

Who learns what. The receiver learns for every record the class it stands in: the stretch or the
set of values of every quasi-identifier, exactly as wide as the records in it. Sensitive columns
and the target go out as they are, record by record: what all records of a class have in common is
known of each of them, whatever k is. Ask for `l` or `t` against that.

Limits. Cuts depend on the data, so their places disclose something (that the median lies
there). Categories without a hierarchy are cut in the order of their names. A class in which a
value is missing publishes none for that column, for missing must hide like everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Ints
from unspoken.methods.anonymity.exact_numbers import refuse_inexact, refuse_infinite
from unspoken.methods.anonymity.hierarchy import ALL, Hierarchy
from unspoken.methods.anonymity.label_forms import label_form, spelled
from unspoken.methods.anonymity.masking.hierarchy_parameters import (
    hierarchies_of,
    refuse_strange,
)
from unspoken.methods.anonymity.masking.masking_method import (
    Roles,
    anonymous,
    demand_of,
    keyed_with_members,
    made,
    require_all,
    roles_of,
)
from unspoken.methods.anonymity.masking.mondrian_cuts import Dimension, Target, partition
from unspoken.methods.anonymity.masking.refuse_unchanged import ALREADY, refuse_same_rows
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.method import MONDRIAN
from unspoken.methods.anonymity.recoding.released_names import renamed
from unspoken.methods.anonymity.record_transformer import ClassTransformer
from unspoken.numerics.random import fresh_seed
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.arrow_arrays import from_numbers, is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

MAX_CLASSES = 50
"""A numeric target of more values is taken as a number."""




class MondrianAnonymizer(ClassTransformer, BaseEstimator):  # type: ignore[misc]
    """Cut records into classes of at least k and publish the classes.

    Parameters
    ----------
    k : the least size of a class.
    l, diversity, c, t : what the sensitive values of a class must satisfy: "distinct", "entropy",
        "recursive" (with c) or "strong" L, and closeness t to the whole table.
    cuts : at the "median" of the widest dimension, or where the target's information "gain" (for
        numbers: the reduction of squared error) is largest.
    mode : "strict" keeps equal values together, "relaxed" divides them.
    hierarchies : mapping from column to a Hierarchy or the path of its file.
    suppression : the share of records that may be left out to cut further.
    publish : numbers as the "interval" or the "mean" of their class.
    columns, sensitive : names in place of the schema's roles.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order; the key says which record is which.

    Attributes
    ----------
    owner_ : the class of every record, -1 for those left out. It stays with the custodian.
    rows_ : the rows that were released.
    """

    transformer_parameters: ClassVar[dict[str, Any]] = {"publish": "mean"}

    def __init__(self, k: int = 10, *, l: Any = None, diversity: str = "distinct",  # noqa: E741, PLR0913
                 c: float = 3.0, t: Any = None, cuts: str = "median", mode: str = "strict",
                 hierarchies: Any = None, suppression: float = 0.0, publish: str = "interval",
                 columns: Any = None, sensitive: Any = None, others: str = "refuse",
                 shuffle_rows: bool = True) -> None:
        self.k = k
        self.l = l
        self.diversity = diversity
        self.c = c
        self.t = t
        self.cuts = cuts
        self.mode = mode
        self.hierarchies = hierarchies
        self.suppression = suppression
        self.publish = publish
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        release, key = self._released(table)
        refuse_same_rows("MondrianAnonymizer", table, release, ALREADY)
        return release, key

    def _released(self, table: Table) -> tuple[Release, Key]:
        MONDRIAN.check(self, table)
        roles = roles_of("MondrianAnonymizer", table, self.columns, self.sensitive, self.others)
        trees = hierarchies_of(self.hierarchies)
        refuse_strange(trees, roles.quasi, roles.sensitive)
        rows = table.arrow(roles.quasi)
        columns = {name: coded(rows[name]) for name in roles.quasi}
        self._refuse({name: one for name, one in columns.items() if name not in trees})
        self._cut(table, roles, columns, trees)
        self.rows_ = np.flatnonzero(self.owner_ >= 0)
        changed, about = self._published(columns, trees)
        demand = demand_of(self, table, roles)
        # Classes that were cut through equal values are published alike, and are one.
        shown = stats.classes(coded(changed[name]).codes for name in roles.quasi)
        promise = anonymous(demand, roles, {"classes": int(shown.max()) + 1,
                                            "left_out": int((self.owner_ < 0).sum())})
        mechanism = {"name": MONDRIAN.name, "cuts": self.cuts, "mode": self.mode, "columns": about}
        kept = None if self.rows_.size == table.rows else self.rows_
        seed = fresh_seed()
        release = made(table, roles, changed, kept, mechanism, promise, seed, False)
        return keyed_with_members(release, table, seed, self.shuffle_rows, kept, mechanism,
                                  promise)

    def _refuse(self, columns: Mapping[str, Coded]) -> None:
        """Refuse numbers that have no width, and those that have no exact mean."""
        check = refuse_inexact if self.publish == "mean" else refuse_infinite
        check("MondrianAnonymizer", columns)

    def _cut(self, table: Table, roles: Roles, columns: Mapping[str, Coded],
             trees: Mapping[str, Hierarchy]) -> None:
        demand = demand_of(self, table, roles)
        require_all("MondrianAnonymizer", demand, table.rows)
        dimensions = [dimension(name, values, trees.get(name)) for name, values in columns.items()]
        target = target_of(table) if self.cuts == "gain" else None
        self.owner_ = partition(dimensions, demand, int(self.k), strict=self.mode == "strict",
                                target=target, spare=int(self.suppression * table.rows))

    def _published(self, columns: Mapping[str, Coded],
                   trees: Mapping[str, Hierarchy]) -> tuple[dict[str, Any], dict[str, Any]]:
        owner, rows = self.owner_[self.rows_], self.rows_
        if rows.size < self.owner_.size:
            trees = {name: renamed(tree, columns[name], rows) for name, tree in trees.items()
                     if name in columns}
        changed: dict[str, Any] = {}
        about: dict[str, Any] = {}
        for name, values in columns.items():
            if name in trees:
                changed[name], about[name] = labelled(name, values, trees[name], owner, rows)
            elif is_number(values.labels.type):
                changed[name], about[name] = _numbers(values, owner, rows, self.publish)
            else:
                changed[name], about[name] = _sets(values, owner, rows)
        return changed, about


def dimension(name: str, column: Coded, tree: Hierarchy | None = None) -> Dimension:
    """Return a column as a dimension; missing values stand behind the last."""
    size = column.missing
    if tree is not None:
        places = tree.places(name, column.values())
        width = len(tree.rows)
        above = np.vstack([np.c_[tree.ancestors, tree.ancestors.max(axis=1) + 1],
                           np.zeros((1, width + 1), np.int64)])
        place = np.arange(width + 1, dtype=np.float64)
        return Dimension(np.r_[places, width][column.codes], place, above, max(width - 1.0, 1.0))
    place = np.arange(size + 1, dtype=np.float64)
    if is_number(column.labels.type) and size:
        values = np.asarray(to_numbers(column.labels), np.float64)
        place = np.r_[values, values[-1] + max(0.05 * (values[-1] - values[0]), 1e-9)]
    wide = float(place[size - 1] - place[0]) if size else 0.0
    return Dimension(column.codes, place, None, wide if wide > 0 else 1.0)


def target_of(table: Table, name: str | None = None) -> Target:
    """Return what cuts by gain are to predict: classes, or numbers where there are many."""
    name = table.target if name is None else name
    column = table.arrow([name])[name]
    values = coded(column)
    if is_number(column.type) and values.missing > MAX_CLASSES:
        return Target.of_numbers(np.nan_to_num(np.asarray(to_numbers(column), np.float64)))
    return Target.of_classes(values.codes)


def _ends(values: Coded, owner: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the least and the greatest code of every class."""
    low = np.full(int(owner.max()) + 1, values.missing, np.int64)
    high = np.zeros(low.size, np.int64)
    np.minimum.at(low, owner, values.codes[rows])
    np.maximum.at(high, owner, values.codes[rows])
    return low, high


def _numbers(column: Coded, owner: Ints, rows: Ints, publish: str) -> tuple[Any, dict[str, Any]]:
    low, high = _ends(column, owner, rows)
    if publish == "mean":
        values = np.r_[np.asarray(to_numbers(column.labels), np.float64), np.nan]
        sums = np.bincount(owner, values[column.codes[rows]])
        means = sums / np.bincount(owner)
        return from_numbers(means[owner], column.labels.type), {"form": "mean"}
    values = [spelled(value) for value in column.values()]
    texts = [None if b == column.missing else values[a] if a == b
             else f"[{values[a]}, {values[b]}]" for a, b in zip(low, high, strict=True)]
    return pa.array(texts, pa.string()).take(pa.array(owner)), {"form": "interval"}


def _sets(column: Coded, owner: Ints, rows: Ints) -> tuple[Any, dict[str, Any]]:
    """Publish the set of the values of every class, joined by a mark that is in none of them.

    Values that only those have who were left out are not named.
    """
    column = released_only(column, rows)
    spread = stats.spread(owner, column.codes)
    values = [str(value) for value in column.values()]
    mark = _mark(values)
    labels = [_joined(part.tolist(), values, mark)
              for part in np.split(spread.value, spread.starts[1:])]
    about = {"form": "set", "values": values, "separator": mark}
    return pa.array(labels, pa.string()).take(pa.array(owner)), about


def released_only(column: Coded, rows: Ints) -> Coded:
    """Return the rows that are released, coded by the values that these have."""
    there = np.unique(column.codes[rows])
    known = there[there < column.missing]
    return Coded(np.searchsorted(known, column.codes[rows]), column.labels.take(pa.array(known)))


def _mark(values: Sequence[str]) -> str:
    mark = " | "
    # Not even a part of it: "a |" and "b" would read as "a" and "| b".
    while any(mark.strip() in value for value in values):
        mark = f" |{mark.strip()} "
    return mark


def _joined(part: Sequence[int], values: Sequence[str], mark: str) -> str | None:
    if part[-1] == len(values):
        return None
    whole = len(part) == len(values) > 1 and ALL not in values
    return ALL if whole else mark.join(values[at] for at in part)


def labelled(name: str, values: Coded, tree: Hierarchy, owner: Ints,
              rows: Ints) -> tuple[Any, dict[str, Any]]:
    """Publish the lowest label of a hierarchy that holds the class."""
    place = np.r_[tree.places(name, values.values()), len(tree.rows)][values.codes]
    low, high = _ends(Coded(place, [None] * len(tree.rows)), owner, rows)
    labels: list[str | None] = []
    groups: dict[str, list[str]] = {}
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        text, inside = _common(tree, a, b)
        labels.append(text)
        if text is not None:
            # A hierarchy may use a label on several levels: it stands for all that it ever holds.
            groups[text] = list(dict.fromkeys([*groups.get(text, ()), *inside]))
    shown = pa.array(labels, pa.string()).take(pa.array(owner))
    return shown, label_form(values.labels.type, groups)


def _common(tree: Hierarchy, low: int, high: int) -> tuple[str | None, list[str]]:
    if high == len(tree.rows):
        return None, []
    above = tree.ancestors
    for level in range(tree.levels + 1):
        if above[level, low] == above[level, high]:
            inside = np.flatnonzero(above[level] == above[level, low])
            return tree.label(low, level), [tree.ordered[at][0] for at in inside]
    return ALL, [row[0] for row in tree.ordered]
