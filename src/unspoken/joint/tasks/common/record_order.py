"""Records in one order at all owners: a step of the runner for every task over columns.

A study over columns names the column of ids (`ids`), and its records are aligned before the
program begins; or it says `same_order=true`: all files list the same records in the same order;
or it names columns by which people are linked who have no common id (`link`, `mpc.linkage`).
With both, the ids are only compared, as one keyed digest, so that a file in another order is
noticed; without ids nothing but another number of records can be.
  discloses: what `align` does; with `same_order` and ids, whether all owners' lists are the same.
    A digest has a key of this run: it can be tried out by the owners alone, on whole lists.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from unspoken.errors import DataError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.linkage.linkage_on_shares import link_on_shares
from unspoken.joint.mpc.linkage.linkage_rules import LINKED, LinkRules
from unspoken.joint.mpc.linkage.linkage_unit import LinkageUnit, leave_unit_idle, link_records
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import Places, align, align_disclosures
from unspoken.joint.mpc.sets.encrypted_circle import SetRules, encoded
from unspoken.joint.tasks.common.aligned_records import same_digest
from unspoken.joint.wire.endpoint import Roles, Seam
from unspoken.joint.wire.frames import Purpose

COMMON = "which records all owners have"
SAME_ORDER = "whether all owners list the same records in the same order"
Program = Callable[[Party, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Records:
    """An owner's data, and the ids of its records."""

    data: Any
    ids: Sequence[Any] | None = None
    linked_by: Sequence[Sequence[Any]] | None = None
    """The columns by which its records are linked, where they have no ids."""

    @classmethod
    def of(cls, data: Any) -> Records:
        """Return data with the ids that came with them, or that they have themselves."""
        return data if isinstance(data, Records) else cls(data, getattr(data, "ids", None))


@runtime_checkable
class HasRows(Protocol):
    """Data that know how to keep some of their records."""

    def take_rows(self, places: Places) -> Any:
        """Return the same data with these records, in this order."""


@runtime_checkable
class ChecksFirst(Protocol):
    """A program that can refuse its input before records are aligned."""

    async def check_first(self, party: Party, data: Any) -> None:
        """Refuse what cannot be computed with; nothing was sent yet."""


@runtime_checkable
class NamesRows(Protocol):
    """A result with one value a record."""

    def with_records(self, names: Sequence[str]) -> Any:
        """Return the result with the names of its records."""


@dataclass(frozen=True)
class RecordOrder:
    """How records come into one order: linked, aligned by `rules`, compared, or as they are."""

    rules: SetRules | None = None
    compared: bool = False
    linkage: LinkRules | None = None

    def disclosures(self, owners: Sequence[str],
                    unit: str | None = None) -> tuple[Disclosure, ...]:
        """Return what bringing records into one order discloses; the first owner counts."""
        if self.linkage is not None:
            return self.linkage.disclosures(owners, unit)
        if self.rules is not None:
            return align_disclosures(COMMON, owners, owners[0], self.rules)
        return (Disclosure(SAME_ORDER, tuple(owners)),) if self.compared else ()


class InOneOrder:
    """A program over columns whose records the runner brings into one order first."""

    def __init__(self, program: Program, owners: Sequence[str],
                 order: RecordOrder | SetRules | None) -> None:
        self.program = program
        self.order = order if isinstance(order, RecordOrder) else RecordOrder(order)
        self.disclosures = (*getattr(program, "disclosures", ()),
                            *self.order.disclosures(tuple(owners)))

    async def __call__(self, party: Party, data: Any) -> Any:
        """Check, align or compare, run the program, and name the records of its result."""
        own = Records.of(data) if party.name in party.roles.owners else Records(data)
        moved = self.order.rules is not None or self.order.linkage is not None
        if moved and isinstance(self.program, ChecksFirst):
            await self.program.check_first(party, own.data)
        places = await self._places(party, own)
        output = await self.program(party, take_rows(own.data, places))
        names = own.ids if self.order.linkage is None else row_numbers(own.linked_by)
        return output if names is None else _named(output, _chosen(names, places))

    async def link(self, seam: Seam, roles: Roles) -> None:
        """Be the linkage unit of a run."""
        if self.order.linkage is None:
            raise RefusedError("This run has a linkage unit, and its study links no records.")
        await LinkageUnit(seam, roles, self.order.linkage).serve()

    async def _places(self, party: Party, own: Records) -> Places | None:
        """Return where this owner's records are in the common order, if they are aligned."""
        if self.order.linkage is not None:
            return await _linked_once(party, own.linked_by, self.order.linkage)
        if self.order.rules is None and not self.order.compared:
            return None
        if own.ids is None and party.name in party.roles.owners:
            raise RefusedError("A site must give ids where rows are to be aligned. This one gave "
                               "none.")
        if self.order.rules is None:
            await _compare(party, own.ids)
            return None
        return await align(party, own.ids, because=COMMON, rules=self.order.rules)


async def _linked_once(party: Party, values: Sequence[Sequence[Any]] | None,
                       rules: LinkRules) -> Places | None:
    """Link records, or take up which ones an earlier attempt had linked.

    Keys and orders are fresh in every linkage: another one finds some other people, in another
    order, and what was computed on the first ones does not fit them.
    """
    known = recalled(party, LINKED)
    if known is not None:
        await leave_unit_idle(party, rules)
        return known[0] if party.name in party.roles.owners else None
    way = link_on_shares if rules.on == "shares" else link_records
    places = await way(party, values, rules)
    await remember(party, LINKED, np.zeros(0, np.int64) if places is None else places, within=None)
    return places


async def _compare(party: Party, ids: Sequence[Any] | None) -> None:
    """Refuse lists of ids that differ, or stand in different orders."""
    party.begin("compare ids")
    party.opening(SAME_ORDER, party.roles.owners, (1,))
    if party.name not in party.roles.owners:
        return
    others = [name for name in party.roles.owners if name != party.name]
    part = np.frombuffer(secrets.token_bytes(32), np.uint8)
    parts = [part, *await party.swap(others, "order.key", part, Purpose.CONTROL)]
    key = hashlib.sha256(b"".join(sorted(p.tobytes() for p in parts))).digest()
    listed = hmac.new(key, digestmod=hashlib.sha256)
    for item in encoded(ids or ()):
        listed.update(len(item).to_bytes(8, "big") + item)
    await same_digest(party, others, "order.ids", np.frombuffer(listed.digest(), np.uint8),
                      "All sites must list the same records in the same order, as the study says. "
                      "They do not. Leave same_order out of the study, and records are aligned.")


def row_numbers(columns: Sequence[Sequence[Any]] | None) -> Sequence[Any] | None:
    """Return what names linked records to their owner: the rows of its file, from 1 on."""
    return None if columns is None else range(1, len(columns[0]) + 1)


def take_rows(data: Any, places: Places | None) -> Any:
    """Return some records of an owner's data."""
    if data is None or places is None:
        return data
    return data.take_rows(places) if isinstance(data, HasRows) else np.asarray(data)[places]


def _chosen(ids: Sequence[Any], places: Places | None) -> list[Any]:
    return list(ids) if places is None else [ids[place] for place in places.tolist()]


def _named(output: Any, names: Sequence[Any]) -> Any:
    """Return a result whose records are named by their ids."""
    if isinstance(output, NamesRows):
        return output.with_records([str(name) for name in names])
    if isinstance(output, dict) and "rows" in output:
        return {**output, "rows": [names[place] for place in output["rows"]]}
    return output


def with_ids(columns: Mapping[str, Any], ids: Iterable[Any] | None, owner: str,
             data: Any) -> Records:
    """Return an owner's data and ids, of which there must be as many as values in a column."""
    listed = None if ids is None else list(ids)
    if listed is not None and any(len(column) != len(listed) for column in columns.values()):
        raise DataError(f"'{owner}' must have one id for each record. It has another number.")
    return Records(data, listed)
