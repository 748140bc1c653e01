"""Anatomizer: quasi-identifiers as they are, sensitive values only by group (Xiao and Tao 2006).

Records are put into groups in each of which no sensitive value occurs twice more often than chance
allows: at least l different values, each as often as the next. The release says the group of every
record and, record by record, a sensitive value of the group in a random order: exactly what the two
tables of the paper say when they are joined.

Who learns what. Everything about quasi-identifiers, so that it is known who is in the table; of
the sensitive value of a person only that it is one of the group's, each with a chance of at most
1 / l. It protects against nobody who knows l - 1 of the other values of a group.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Ints
from unspoken.errors import DataError, SchemaError
from unspoken.methods.anonymity.masking.masking_method import Masked, made, roles_of
from unspoken.methods.anonymity.measures.diversity_rules import Secret, diverse
from unspoken.methods.anonymity.method import ANATOMY, DISTINCT
from unspoken.numerics.random import generator, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

OWNER = "Anatomizer"
GROUP = "anatomy_group"


def anatomy_groups(codes: Ints, ell: int, rng: np.random.Generator) -> Ints:
    """Return the group of every record: l different values each, and the rest spread over them.

    The l values with most records left give one each, until fewer than l values are left; then
    each record that is left joins a group that lacks its value.
    """
    order = rng.permutation(codes.size)
    piles = [order[codes[order] == value].tolist() for value in range(int(codes.max()) + 1)]
    left = np.array([len(pile) for pile in piles])
    owner, number = np.full(codes.size, -1, np.int64), 0
    while np.count_nonzero(left) >= ell:
        for value in np.argpartition(-left, ell - 1)[:ell].tolist():
            owner[piles[value].pop()] = number
            left[value] -= 1
        number += 1
    lacking = _Lacking(codes, owner, number)
    for value, pile in enumerate(piles):
        for record in pile:
            owner[record] = lacking.group_for(value)
    return owner


class _Lacking:
    """Which groups a value may still join: those that do not hold it."""

    def __init__(self, codes: Ints, owner: Ints, groups: int) -> None:
        placed = np.flatnonzero(owner >= 0)
        self.held = set(zip(owner[placed].tolist(), codes[placed].tolist(), strict=True))
        self.groups, self.next = groups, 0

    def group_for(self, value: int) -> int:
        for _ in range(self.groups):
            group, self.next = self.next, (self.next + 1) % self.groups
            if (group, value) not in self.held:
                self.held.add((group, value))
                return group
        raise DataError(f"{OWNER}: a sensitive value is too common to be spread. Use a smaller l.")


class Anatomizer(BaseEstimator):  # type: ignore[misc]
    """Release quasi-identifiers as they are, and sensitive values mixed within groups.

    Parameters
    ----------
    l : how many different sensitive values every group holds, at least.
    columns, sensitive : names in place of the schema's roles; one sensitive column.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    owner_ : the group of every record. It stays with the custodian.

    Examples
    --------
    >>> release, _ = Anatomizer(l=3).protect(table)  # doctest: +SKIP
    """

    def __init__(self, l: int = 2, *, columns: Any = None, sensitive: Any = None,  # noqa: E741
                 others: str = "refuse", shuffle_rows: bool = True,
                 random_state: Any = None) -> None:
        self.l = l
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        ANATOMY.check(self, table)
        roles = roles_of(OWNER, table, self.columns, self.sensitive, self.others)
        if len(roles.sensitive) != 1:
            raise SchemaError(f"{OWNER}: there must be one sensitive column. Got "
                              f"{len(roles.sensitive)}. Name it: sensitive=['illness'].")
        name, seed = roles.sensitive[0], seed_from(self.random_state)
        column = table.arrow([name])[name]
        self._group(table, name, column, seed)
        source = _mixed(self.owner_, generator(seed, "mix"))
        changed = {name: column.take(pa.array(source)).combine_chunks()}
        promise = Masked(
            f"Every group holds at least {self.l} sensitive values, each equally often or once "
            "more; which record has which is not in the release.",
            ("who is in the table is not hidden", "nobody knows sensitive values of the others"),
            {"l": int(self.l), "groups": int(self.owner_.max()) + 1, "sensitive": name})
        about = {quasi: {"form": "value"} for quasi in roles.quasi}
        mechanism = {"name": ANATOMY.name, "l": int(self.l), "group": GROUP, "columns": about}
        release = made(table, roles, changed, None, mechanism, promise, seed,
                       self.random_state is not None)
        return keyed(_with_groups(release, self.owner_), table, seed, self.shuffle_rows)

    def _group(self, table: Table, name: str, column: Any, seed: bytes) -> None:
        secret = Secret.of(name, column, "categorical")
        if (secret.codes == secret.missing).any():
            raise DataError(f"{OWNER}: '{name}' must have a value in every row: a missing one "
                            "protects nobody. Leave those records out.")
        often = float(secret.overall.max())
        if often * self.l > 1:
            raise DataError(f"{OWNER}: the commonest value of '{name}' is in {often:.1%} of the "
                            f"records, and l = {self.l} needs at most {1 / self.l:.1%}. Use a "
                            "smaller l.")
        self.owner_ = anatomy_groups(np.asarray(secret.codes, np.int64), int(self.l),
                                     generator(seed, "groups"))
        assert diverse(secret.spread(self.owner_), float(self.l), DISTINCT).all()


def _mixed(owner: Ints, rng: np.random.Generator) -> Ints:
    """Return for every record the record of its group whose value it shows.

    Every order is as likely as any other, the original one too: in small tables, leaving it out
    would make other values of a group likelier than 1 / l.
    """
    members = np.argsort(owner, kind="stable")
    drawn = members[np.lexsort((rng.random(owner.size), owner[members]))]
    source = np.empty(owner.size, np.int64)
    source[members] = drawn
    return source


def _with_groups(release: Release, owner: Ints) -> Release:
    """Add the group of every record to a release."""
    if GROUP in release.schema.names:
        raise SchemaError(f"{OWNER}: the table must not have a column '{GROUP}'. Rename it.")
    rows = release.table.arrow().append_column(GROUP, pa.array(owner))
    schema = Schema((*release.schema.columns, Column(GROUP, "categorical", "plain")))
    return replace(release, table=Table(schema, MemoryFrame(rows), LocalEngine()))
