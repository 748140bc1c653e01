"""Linkage by a unit without data: owners send it keyed encodings, it says which belong together.

The owners draw a key that the unit does not have, and send their encodings (`record_encodings`) in
a random order. The unit compares them, takes pairs one to one above a threshold, and sends every
owner the places of its records, in an order that is common to all and random. With more than two
owners everybody is linked to the first one, and records that all have are kept.
  discloses: to the unit the encodings, their number, their similarities and the pairs; to the
    owners which of their own records are linked, how many, the threshold, and the share that is
    expected right. No owner learns anything of a record that is not linked, nor the partner of one
    that is, except what the study then computes.
  safe against: a curious owner; a curious unit up to what encodings give away, which is measured
    (`unspoken measure linkage`): with knowledge of how frequent names are, or of some people in
    the data, parts of others' names can be guessed.
  breaks if: the unit works together with an owner, who has the key: names can be tried out one by
    one. A unit that deviates links the wrong records, and nobody notices; it learns no more. An
    owner that makes up people finds out whether others have them, as in every alignment.
  cost: 64 bytes per record, 2 rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.linkage.candidate_pairs import Pairs, Places
from unspoken.joint.mpc.linkage.linkage_rules import (
    ENCODED,
    FIGURES,
    LINKED,
    MOST_RECORDS,
    LinkRules,
)
from unspoken.joint.mpc.linkage.pair_assignment import Linked, common_to_all, linked
from unspoken.joint.mpc.linkage.record_encodings import encode_records
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import derive, fresh_seed, fresh_words
from unspoken.joint.wire.endpoint import Base, Roles, Seam
from unspoken.joint.wire.frames import Message, Purpose
from unspoken.joint.wire.hollow_arrays import is_dry

RECORDS, RESULT, PLACES = "link.records", "link.figures", "link.places"
TOO_FEW = "sent no encodings of records, or too few"
Values = Sequence[Sequence[Any]]


async def link_records(party: Party, values: Values | None, rules: LinkRules) -> Places | None:
    """Return the places of this owner's linked records, in an order common to all owners."""
    party.begin("link")
    owners, unit = party.roles.owners, party.roles.linker
    if unit is None:
        raise RefusedError("Records are linked by a linkage unit, and this run has none. Name one "
                           "with --linker, or link on shares: --set link_on=shares.")
    party.opening(ENCODED, [unit], (len(owners),))
    party.opening(LINKED, owners, (len(owners),))
    party.opening(FIGURES, owners, (3,))
    if party.name not in owners:
        return None
    key = await common_key(party)
    order, encodings = shuffled_encodings(values or (), key, rules)
    await party.send(unit, RECORDS, encodings, Purpose.DISCLOSURE)
    figures = await party.receive(unit, RESULT, "<f8", (3,), Purpose.DISCLOSURE)
    count = _count(party, unit, float(figures[0]), len(order))
    places = await party.receive(unit, PLACES, "<i8", (count,), Purpose.DISCLOSURE)
    _check_places(party, unit, places, len(order))
    party.learned(owners, figures)
    party.ledger.linkage = figures_text(count, float(figures[1]), float(figures[2]))
    return np.asarray(order[places])


async def leave_unit_idle(party: Party, rules: LinkRules) -> None:
    """Tell the unit that records were linked in an earlier attempt, if there is one."""
    unit = party.roles.linker
    if unit is None:
        return
    party.begin("link")
    if party.name in party.roles.owners:
        await party.send(unit, RECORDS, np.zeros((0, rules.encoding.words), np.uint64),
                         Purpose.DISCLOSURE)


def figures_text(count: int, threshold: float, precision: float) -> str:
    """Return how a linkage went, for the ledger."""
    if not count:
        return "no records are linked: from no similarity on enough of them are expected right"
    return (f"{count:,} records are linked, from a similarity of {threshold:.2f} on; at least "
            f"{precision:.1%} of them are expected to be right")


def _count(party: Party, unit: str, count: float, most: int) -> int:
    if not 0 <= count <= most or count != int(count):
        party.refuse(unit, "linked more records than there are")
    return int(count)


def _check_places(party: Party, unit: str, places: Places, most: int) -> None:
    """End the run unless these are different records of this owner."""
    if len(places) and (places.min() < 0 or places.max() >= most
                        or len(np.unique(places)) < len(places)):
        party.refuse(unit, "linked records that this party does not have, or one of them twice")


async def common_key(party: Party) -> bytes:
    """Return a key that all owners have, and nobody else: each gives a part of it."""
    others = [name for name in party.roles.owners if name != party.name]
    part = np.frombuffer(fresh_seed(), np.uint8)
    parts = [part, *await party.swap(others, "link.key", part, Purpose.CONTROL)]
    return hashlib.sha256(b"".join(sorted(each.tobytes() for each in parts))).digest()


def shuffled_encodings(values: Values, key: bytes, rules: LinkRules) -> tuple[Places, Words]:
    """Return a random order of the own records, and their encodings in it."""
    records = len(values[0]) if values else 0
    rules.check_size(records)
    if is_dry():
        return np.arange(records), np.zeros((records, rules.encoding.words), np.uint64)
    order = np.argsort(fresh_words(records))
    encodings = encode_records(rules.columns, values, derive(key, "link records"), rules.encoding)
    return order, encodings[order]


class LinkageUnit(Base):
    """The linkage unit: takes every owner's encodings once, and answers. It runs no program."""

    def __init__(self, seam: Seam, roles: Roles, rules: LinkRules) -> None:
        super().__init__(seam, roles)
        self.rules = rules

    async def serve(self) -> None:
        """Compare the encodings of all owners, and send each the places of its records.

        If nobody sends any, records were linked in an earlier attempt.
        """
        owners = self.roles.owners
        lists = [self._encodings(owner, await self.seam.receive(owner)) for owner in owners]
        self.seam.step = f"{self.count} link"
        if not any(map(len, lists)):
            return
        self._refuse_few(lists)
        self.ledger.opened(self.count, ENCODED, (self.name,), (len(owners),))
        pairs = [self._pairs(lists[0], other) for other in lists[1:]]
        figures, places = _answers(pairs)
        for owner, each in zip(owners, places, strict=True):
            await self.send(owner, RESULT, figures, Purpose.DISCLOSURE)
            await self.send(owner, PLACES, each, Purpose.DISCLOSURE)

    def _refuse_few(self, lists: Sequence[Words]) -> None:
        for owner, records in zip(self.roles.owners, lists, strict=True):
            if len(records) < self.rules.least:
                self.refuse(owner, TOO_FEW)

    def _encodings(self, owner: str, message: Message) -> Words:
        """Return an owner's encodings; the first message says which step this is."""
        array = message.array
        self.count = self.count or message.step
        if ((message.label, message.step, message.purpose, array.dtype.str, array.shape[1:])
                != (RECORDS, self.count, Purpose.DISCLOSURE, "<u8", (self.rules.encoding.words,))
                or len(array) > MOST_RECORDS):
            self.refuse(owner, TOO_FEW)
        return np.asarray(array)

    def _pairs(self, one: Words, other: Words) -> Linked:
        rules = self.rules
        if is_dry():
            all_ = np.arange(min(len(one), len(other)))
            return Linked(Pairs(all_, all_, np.ones(len(all_))), 0.0, 1.0)
        return linked(one, other, rules.encoding.kind, rules.precision)


def _answers(lists: Sequence[Linked]) -> tuple[Any, list[Places]]:
    """Return number, threshold and expected precision, and every owner's places."""
    common, others = common_to_all([each.pairs for each in lists])
    order = np.argsort(fresh_words(len(common)))
    figures = np.array([len(common), min(each.threshold for each in lists),
                        min(each.precision for each in lists)], np.float64)
    return figures, [part[order].astype(np.int64) for part in (common, *others)]
