"""OptimalRecoder: the levels of hierarchies that lose least, proven (vcz2006 section 2.1).

Global recoding: all values of a column stand on one level of its hierarchy. Of all combinations of
levels the one is taken that satisfies k, L and t with the least loss, where a stated share of the
records may be left out; the search looks at a few of them and proves that no other is better.
With `local`, the classes are then cut further, each on its own (the hybrid of global and local
recoding): nobody stands in a smaller class than k, and most stand closer to their values.

Who learns what. The receiver learns the levels, and of every record its labels. Hierarchies
that were built from the data (clusters, quantiles) disclose how its values are distributed.
Sensitive columns and the target go out as they are, record by record: ask for `l` or `t`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity.exact_numbers import refuse_inexact
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.label_forms import label_form
from unspoken.methods.anonymity.masking.hierarchy_parameters import hierarchies_of, refuse_strange
from unspoken.methods.anonymity.masking.masking_method import (
    Demand,
    Roles,
    anonymous,
    demand_of,
    keyed_with_members,
    made,
    roles_of,
)
from unspoken.methods.anonymity.masking.mondrian import dimension, labelled
from unspoken.methods.anonymity.masking.mondrian_cuts import partition
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_unchanged
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.population_columns import as_in_table
from unspoken.methods.anonymity.method import OPTIMAL
from unspoken.methods.anonymity.recoding.built_hierarchies import (
    built,
    refuse_too_many,
    thinned,
)
from unspoken.methods.anonymity.recoding.collapsed_records import Collapsed, LeveledColumn
from unspoken.methods.anonymity.recoding.lattice_search import LatticeSearch, Optimum
from unspoken.methods.anonymity.recoding.new_labels import own_labels, raised, relabelled
from unspoken.methods.anonymity.recoding.outsiders import Outsiders, worst
from unspoken.methods.anonymity.recoding.recoding_losses import CLASS, loss_of
from unspoken.methods.anonymity.recoding.released_names import renamed
from unspoken.methods.anonymity.record_transformer import (
    ClassTransformer,
    Records,
    known_only,
)
from unspoken.numerics.random import fresh_seed
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded, coded
from unspoken.table.read import read
from unspoken.table.table import Table

OWNER = "OptimalRecoder"


class OptimalRecoder(ClassTransformer, BaseEstimator):  # type: ignore[misc]
    """Find the cheapest levels of hierarchies that satisfy k, L and t, and publish them.

    Parameters
    ----------
    k : the least size of a class.
    l, diversity, c, t : what the sensitive values of a class must satisfy: "distinct", "entropy",
        "recursive" (with c) or "strong" L, and closeness t to the whole table. A hierarchy of a
        sensitive column says how far its values lie apart.
    hierarchies : mapping from column to a Hierarchy or the path of its file; others are built
        (`protect.build_hierarchy`): round steps for numbers, clusters for categories.
    loss : "loss", "entropy", "discernibility", or "class" (for the target); what is minimised.
    suppression : the share of records that may be left out.
    population, k_map, delta : the table that the records were drawn from, or its path; at least
        how many of its people stand in every class, and at most which chance that one of them is
        in the table.
    local : cut the classes further afterwards, each on its own.
    columns, sensitive : names in place of the schema's roles.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order.

    Attributes
    ----------
    optimum_ : the levels, their cost, and how many nodes of the lattice were looked at.
    hierarchies_ : the hierarchies that were used; `summary()` shows, `to_csv()` saves them.
    owner_, rows_ : the class of every record, -1 for those left out; the rows that were released.

    Examples
    --------
    >>> release, _ = OptimalRecoder(k=5).protect(table)  # doctest: +SKIP
    """

    transformer_parameters: ClassVar[dict[str, Any]] = {"population": None, "k_map": 1,
                                                        "delta": 1.0}

    def __init__(self, k: int = 5, *, l: Any = None, diversity: str = "distinct",  # noqa: E741, PLR0913
                 c: float = 3.0, t: Any = None, hierarchies: Any = None, loss: str = "loss",
                 suppression: float = 0.02, local: bool = False, columns: Any = None,
                 sensitive: Any = None, others: str = "refuse", population: Any = None,
                 k_map: int = 1, delta: float = 1.0, shuffle_rows: bool = True) -> None:
        self.k = k
        self.l = l
        self.diversity = diversity
        self.c = c
        self.t = t
        self.hierarchies = hierarchies
        self.loss = loss
        self.suppression = suppression
        self.local = local
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.population = population
        self.k_map = k_map
        self.delta = delta
        self.shuffle_rows = shuffle_rows

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        OPTIMAL.check(self, table)
        roles = roles_of(OWNER, table, self.columns, self.sensitive, self.others)
        demand = demand_of(self, table, roles)
        values = {name: coded(table.arrow([name])[name]) for name in roles.quasi}
        self.hierarchies_ = self._trees(table, roles)
        self._search(table, demand, values)
        self.rows_ = np.flatnonzero(self.owner_ >= 0)
        own = self._only_from(table, roles)
        self.hierarchies_ |= {name: renamed(self.hierarchies_[name], values[name], self.rows_)
                              for name in own}
        changed, about = self._published(table, values)
        refuse_unchanged(OWNER, table, changed, self.rows_.size, "Ask for a larger k.")
        optimum = self.optimum_
        facts = {"left_out": table.rows - self.rows_.size, "loss": self.loss,
                 "cost": optimum.cost, "nodes": optimum.nodes, "looked_at": optimum.looked_at,
                 **self.presence_}
        levels = dict(zip(values, optimum.node, strict=True))
        del values  # codes of every record: half a table
        mechanism = {"name": OPTIMAL.name, "loss": self.loss, "levels": levels,
                     "local": bool(self.local), "columns": about}
        kept, seed = None if self.rows_.size == table.rows else self.rows_, fresh_seed()
        promise = anonymous(demand, roles, facts)
        release = made(table, roles, changed, kept, mechanism, promise, seed, False)
        del changed
        return keyed_with_members(release, table, seed, self.shuffle_rows, kept, mechanism,
                                  promise)

    def _trees(self, table: Table, roles: Roles) -> dict[str, Hierarchy]:
        """Return a hierarchy for every quasi-identifier, built where there is none."""
        known = hierarchies_of(self.hierarchies)
        refuse_strange(known, roles.quasi, roles.sensitive)
        target = table.arrow([table.target])[table.target] if self.loss == CLASS and \
            table.schema.target else None
        bare = {name: self._values(table, name) for name in roles.quasi if name not in known}
        refuse_inexact(OWNER, {name: coded(column) for name, column in bare.items()})
        trees = {name: known[name] if name in known else built(bare[name], target)
                 for name in roles.quasi}
        return thinned(trees, [name for name in roles.quasi if name not in known])

    def _only_from(self, table: Table, roles: Roles) -> list[str]:
        """Return the columns whose labels may name people of this table, if any is left out."""
        if self.rows_.size == table.rows:
            return []
        return [name for name in roles.quasi
                if self.population is None or name in (self.hierarchies or {})]

    def _values(self, table: Table, name: str) -> Any:
        """Return the values of a column, those of the population included."""
        mine, people = table.arrow([name])[name], self._people()
        if people is None or self.loss == CLASS:
            return mine
        theirs = as_in_table(name, mine, people.arrow([name])[name])
        return pa.chunked_array([*mine.chunks, *theirs.chunks])

    def _people(self) -> Table | None:
        if self.population is None or isinstance(self.population, Table):
            return self.population
        return read(self.population, show=False)

    def _search(self, table: Table, demand: Demand, values: Mapping[str, Coded]) -> None:
        columns = [LeveledColumn.of(name, found, self.hierarchies_[name])
                   for name, found in values.items()]
        refuse_too_many(OWNER, columns)
        data = Collapsed(columns, demand.k)
        asks = demand.l is not None or demand.t is not None
        spare = int(self.suppression * table.rows)
        outsiders = self._outsiders(table)
        search = LatticeSearch(data, loss_of(self.loss, data, self._target(table)), spare,
                               demand.secrets if asks else (), demand.allows, outsiders)
        optimum = search.run()
        if optimum is None:
            raise DataError(f"{OWNER}: even the highest levels do not reach {demand.words} "
                            f"with at most {self.suppression:.2%} left out ('suppression'). Ask "
                            "for less, or allow more.")
        self.optimum_: Optimum = optimum
        owner = data.class_of_combination(optimum.node)[data.owner]
        fine = demand(np.arange(table.rows), owner)[owner]
        self.owner_ = np.where(fine, owner, -1)
        self.presence_: dict[str, Any] = {}
        if outsiders is not None:
            self._leave_out(outsiders, data)
        if self.local:
            self._cut(demand, values)

    def _outsiders(self, table: Table) -> Outsiders | None:
        """Read the population; demands on it need one."""
        if self.population is None:
            if self.k_map > 1 or self.delta < 1:
                raise InputError(f"{OWNER}: 'k_map' and 'delta' need the table that the records "
                                 "were drawn from. Pass it: population='everybody.csv'.")
            return None
        if self.local:
            raise InputError(f"{OWNER}: 'k_map' and 'delta' are proven for levels, and local=True "
                             "leaves them. Use local=False.")
        people = self._people()
        assert people is not None
        return Outsiders.of(table, people, self.hierarchies_, int(self.k_map), float(self.delta))

    def _leave_out(self, outsiders: Outsiders, data: Collapsed) -> None:
        """Leave out classes that the population does not hide, and state what is reached."""
        node = self.optimum_.node
        inside, outside = outsiders.people(node)
        of = outsiders.joint.class_of_combination(node)[outsiders.joint.owner][:data.rows]
        poor = (outside < self.k_map) | (inside > self.delta * outside)
        self.owner_ = np.where(poor[of], -1, self.owner_)
        fewest, surest = worst(outsiders, self.owner_, node)
        self.presence_ = {"k_map": fewest, "greatest_presence": surest}

    def _cut(self, demand: Demand, values: Mapping[str, Coded]) -> None:
        """Cut the classes further, each on its own."""
        kept = np.flatnonzero(self.owner_ >= 0)
        self.owner_[kept] = stats.dense(self.owner_[kept])
        dimensions = [dimension(name, found, self.hierarchies_[name])
                      for name, found in values.items()]
        self.owner_ = partition(dimensions, demand, demand.k, start=self.owner_)

    def _others(self, columns: Any) -> Records:
        """Recode new records; those in no class that was fitted are missing in every column."""
        if self.local:
            return super()._others(columns)
        worker, shown = self.fitted_method_, {}
        for name, level in zip(columns.column_names, worker.optimum_.node, strict=True):
            column, tree = columns[name], worker.hierarchies_[name]
            shown[name] = relabelled(name, coded(column), tree, level) if level else \
                own_labels(column, tree)
        return known_only(pa.table(shown), self.records_[self.owner_ >= 0])

    def _target(self, table: Table) -> Ints | None:
        if self.loss != CLASS:
            return None
        if table.schema.target is None:
            raise SchemaError(f"{OWNER}: loss='class' needs a target, and the table has none. "
                              "Declare it: unspoken.read(..., target=...).")
        return coded(table.arrow([table.target])[table.target]).codes

    def _published(self, table: Table, values: Mapping[str, Coded]
                   ) -> tuple[dict[str, Any], dict[str, Any]]:
        changed: dict[str, Any] = {}
        about: dict[str, Any] = {}
        for (name, found), level in zip(values.items(), self.optimum_.node, strict=True):
            tree = self.hierarchies_[name]
            if self.local:
                changed[name], about[name] = labelled(name, found, tree, self.owner_[self.rows_],
                                                      self.rows_)
            elif level == 0:
                whole = own_labels(table.arrow([name])[name], tree)
                changed[name] = whole.take(pa.array(self.rows_))
                about[name] = {"form": "value"}
            else:
                changed[name] = raised(name, found, tree, level).take(pa.array(self.rows_))
                about[name] = _described(found, tree, level)
        return changed, about


def _described(values: Coded, tree: Hierarchy, level: int) -> dict[str, Any]:
    """Say what the labels of a level stand for: bands of numbers, or sets of values."""
    groups = tree.leaves(level)
    if len(groups) == 1:
        return {"form": "suppressed", **({} if is_number(values.labels.type) else
                                         {"groups": groups})}
    return label_form(values.labels.type, groups)
