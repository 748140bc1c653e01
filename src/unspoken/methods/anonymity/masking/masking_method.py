"""What the methods share that hide people among each other: requirements, roles, the release.

Values become coarser, or are moved or left out; nothing is encoded, so that the key only says which
record is which. Rows are shuffled, because their order could disclose something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Bools, Ints
from unspoken.errors import DataError, SchemaError
from unspoken.methods.anonymity.masking.hierarchy_parameters import hierarchies_of
from unspoken.methods.anonymity.masking.verify_classes import distances_of, verify_classes
from unspoken.methods.anonymity.masking.verify_original import not_made_from
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.diversity_rules import (
    Secret,
    close,
    diverse,
    refuse_fraction,
)
from unspoken.methods.anonymity.named_values import (
    DISTANCES,
    described_in_public,
    hidden_in,
    promised_in_public,
    rare_names,
    with_members,
)
from unspoken.numerics.random import generator
from unspoken.release.guarantee import Guarantee, Verdict
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table


@dataclass(frozen=True)
class Roles:
    """Which columns are made coarser, which must stay unknown, which go out besides."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def released(self) -> tuple[str, ...]:
        """Return all columns of the release."""
        return (*self.quasi, *self.sensitive, *self.kept)


def roles_of(owner: str, table: Table, columns: Sequence[str] | None,
             sensitive: Sequence[str] | None, others: str) -> Roles:
    """Sort the columns of a table; without declared quasi-identifiers every feature is one."""
    schema = table.schema
    secret = schema.with_role("sensitive") if sensitive is None else \
        tuple(schema[name].name for name in sensitive)
    refuse_sensitive_target(owner, schema, secret)
    quasi = _quasi(owner, schema, columns, secret)
    rest = [name for name in schema.features if name not in (*quasi, *secret)]
    if rest and others == "refuse":
        what = "a quasi-identifier that this method does not change" \
            if schema[rest[0]].role == "quasi" else "neither a quasi-identifier nor sensitive"
        raise SchemaError(
            f"{owner}: column '{rest[0]}' is {what}. Use "
            "others='drop' to leave such columns out, or others='keep' to release them as they "
            "are if no outsider can know them.")
    target = () if schema.target is None else (schema.target,)
    return Roles(quasi, secret, (*(rest if others == "keep" else ()), *target))


def _quasi(owner: str, schema: Schema, columns: Sequence[str] | None,
           secret: Sequence[str]) -> tuple[str, ...]:
    features = [name for name in schema.features if name not in secret]
    if columns is None:
        declared = schema.with_role("quasi")
        if not (declared or features):
            raise SchemaError(f"{owner}: the table has no quasi-identifiers. Declare them: "
                              "quasi=[...].")
        return declared or tuple(features)
    for name in columns:
        if schema[name].name not in features:
            raise SchemaError(f"{owner}: 'columns' must name features that are not sensitive. "
                              f"Got '{name}'. Identifiers are never released, and the target is "
                              "released as it is.")
    return tuple(columns)


def refuse_sensitive_target(owner: str, schema: Schema, sensitive: Sequence[str]) -> None:
    """Refuse a sensitive target: the receiver of the release learns to predict it."""
    if schema.target is not None and schema.target in sensitive:
        raise SchemaError(
            f"{owner}: the target '{schema.target}' must not be sensitive: the release is made so "
            "that it can be predicted, and a published tree predicts it. Use another target, or "
            "leave the column out.")
    for name in sensitive:
        if schema[name].name not in schema.features:
            raise SchemaError(f"{owner}: 'sensitive' must name features. '{name}' is not one.")


@dataclass(frozen=True)
class Demand:
    """What every class must satisfy; called with record numbers and their classes."""

    k: int
    l: float | None = None  # noqa: E741
    diversity: str = "distinct"
    c: float = 3.0
    t: float | None = None
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    distances: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def words(self) -> str:
        """Return what is asked for, and nothing of what is not: "k = 5, l = 2"."""
        return ", ".join(f"{name} = {value:g}" for name, value in
                         (("k", self.k), ("l", self.l), ("t", self.t)) if value is not None)

    def __call__(self, rows: Ints, owner: Ints) -> Bools:
        """Return which classes satisfy everything."""
        fine = np.asarray(stats.sizes(owner) >= self.k)
        for one in self.secrets:
            if self.l is not None or self.t is not None:
                fine &= self._diverse(one, rows, owner)
        return fine

    def _diverse(self, one: Secret, rows: Ints, owner: Ints) -> Bools:
        return self.allows(one, one.spread(owner, rows))

    def allows(self, one: Secret, counted: stats.Spread) -> Bools:
        """Return which classes have the diversity and the closeness that are asked for."""
        fine = np.ones(counted.starts.size, np.bool_)
        if self.l is not None:
            fine &= diverse(counted, float(self.l), self.diversity, self.c)
        if self.t is not None:
            fine &= close(one, counted, self.t)
        return fine


def demand_of(method: Any, table: Table, roles: Roles) -> Demand:
    """Return the demand that a method's parameters make on a table.

    A hierarchy of a sensitive column says how far its values lie apart.
    """
    refuse_fraction(type(method).__name__, method.l, method.diversity)
    trees = hierarchies_of(getattr(method, "hierarchies", None))
    rows: Any = table.arrow(roles.sensitive) if roles.sensitive else {}
    columns = [table.schema[name] for name in roles.sensitive]
    secrets = tuple(Secret.of(one.name, rows[one.name], one.kind, trees.get(one.name), one.order)
                    for one in columns)
    if (method.l is not None or method.t is not None) and not secrets:
        raise SchemaError(f"{type(method).__name__}: 'l' and 't' need a sensitive column. The "
                          "table has none. Declare it: sensitive=[...].")
    return Demand(int(method.k or 1), method.l, method.diversity, float(method.c), method.t,
                  secrets, {} if method.t is None else distances_of(secrets, trees))


def require_all(owner: str, demand: Demand, rows: int) -> None:
    """Refuse a demand that not even all records together satisfy."""
    if not bool(demand(np.arange(rows), np.zeros(rows, np.int64)).all()):
        raise DataError(f"{owner}: even all records together do not reach {demand.words}. Ask for "
                        "a smaller k or l, or a larger t.")


@dataclass(frozen=True)
class Anonymous(Guarantee):
    """Everybody shares the published quasi-identifiers with at least k - 1 others."""

    name: ClassVar[str] = "anonymous"

    def verify(self, table: Table, release: Release | None = None, key: Any = None) -> Verdict:
        """Return whether k, l and t hold in a release, and whether it can be of that original.

        A released table alone is taken too; t compares with the original and is then left out.
        """
        if release is None:
            return verify_classes(self.facts, table, None)
        named = next(rare_names(table, release), None)
        facts = {**self.facts, **hidden_distances(key)}
        verdict = Verdict(False, named) if named else verify_classes(facts, release.table, table)
        strange = next(not_made_from(facts, release, table), None) if verdict else None
        return verdict if strange is None else Verdict(False, strange)

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return no: values are coarser than they were, for every learner."""
        return Verdict(False, "Values are coarser than they were: a learner finds another model. "
                       "protect.TreePreservingAnonymizer keeps the tree.")


@dataclass(frozen=True)
class Masked(Guarantee):
    """Some values were moved, cut off or left out; no size of a group is promised."""

    name: ClassVar[str] = "masked"

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return no: some values are not what they were."""
        return Verdict(False, "Some values were changed or left out: a learner finds another "
                       "model.")


def hidden_distances(key: Key | None) -> dict[str, Any]:
    """Return the hierarchies of sensitive columns in full, where a key holds them."""
    held = hidden_in(key, DISTANCES)
    return {DISTANCES: held} if held else {}


def anonymous(demand: Demand, roles: Roles, facts: Mapping[str, Any]) -> Anonymous:
    """Return the promise of a release whose classes were counted."""
    return Anonymous(
        f"Every record agrees with at least {demand.k - 1} others on {len(roles.quasi)} published "
        "quasi-identifiers.",
        ("nobody outside knows more about a person than the quasi-identifiers",
         "this is the only release of these people: two of them can be intersected",
         "classes may still be alike in their sensitive values unless l or t was asked for",
         *spelling_notes(demand.secrets)),
        {"k": demand.k, "l": demand.l, "diversity": demand.diversity, "c": demand.c,
         "t": demand.t, "quasi": list(roles.quasi), "sensitive": list(roles.sensitive),
         **({"distances": dict(demand.distances)} if demand.distances else {}), **facts})


def spelling_notes(secrets: Sequence[Secret]) -> list[str]:
    """Say of which sensitive columns values were counted as one that are written differently."""
    return [f"values of '{one.name}' that differ in case, blanks or form of writing only are "
            "counted as one" for one in secrets if one.spellings]


def made(table: Table, roles: Roles, changed: Mapping[str, Any], rows: Ints | None,
         mechanism: Mapping[str, Any], promise: Guarantee, seed: bytes, seeded: bool) -> Release:
    """Pack changed columns and those passed on, in the table's order, into a release.

    `rows`: the rows that stay, None for all; changed columns hold those rows only.
    """
    names = [c.name for c in table.schema.columns if c.name in roles.released]
    source = _KeptRows(table, rows)
    columns = {name: _without_nan(changed[name] if name in changed else source[name])
               for name in names}
    schema = Schema(tuple(_column(table.schema[name], columns[name].type) for name in names))
    released = Table(schema, MemoryFrame(pa.table(columns)), LocalEngine())
    _refuse_broken(promise, released)
    shown = pa.table(columns)
    public = described_in_public(mechanism, source, shown, promise.facts.get("k"))
    return Release(released, public, promised_in_public(promise, shown),
                   generator(seed, "id").bytes(16).hex(), {"seeded": seeded})


@dataclass(frozen=True)
class _KeptRows:
    """The columns of the rows that stay, each taken when it is asked for: never all at once."""

    table: Table
    rows: Ints | None

    def __getitem__(self, name: str) -> Any:
        column = self.table.arrow([name])[name]
        return column if self.rows is None else column.take(pa.array(self.rows))


def keyed_with_members(release: Release, table: Table, seed: bytes, shuffle: bool,
                       kept: Ints | None, mechanism: Mapping[str, Any],
                       promise: Guarantee) -> tuple[Release, Key]:
    """Shuffle a release; what its description does not name goes into the key."""
    ready, key = keyed(release, table, seed, shuffle, kept)
    return ready, with_members(key, mechanism, promise)


def _refuse_broken(promise: Guarantee, released: Table) -> None:
    """Count K and L once more, on the columns that go out, and refuse what breaks the promise."""
    if isinstance(promise, Anonymous) and not (verdict := promise.verify(released)):
        raise DataError(f"Nothing is released: k = {promise.facts['k']} and l = "
                        f"{promise.facts['l']} are promised, but {verdict.reason}. Write equal "
                        "values of the quasi-identifiers alike, or ask for less.")


def _without_nan(column: Any) -> Any:
    """Mark missing values in one way only."""
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _column(column: Column, kind: Any) -> Column:
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return Column(column.name, "categorical" if text else column.kind, column.role)
