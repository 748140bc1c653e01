"""What a counter without data does: collect ciphertexts, mine, and hand the result on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints, Words
from unspoken.errors import UnspokenError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import POINT_BYTES, BadPointError, Points
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import SETS, RuleParams
from unspoken.joint.wire.frames import Purpose, text_array
from unspoken.models.associations import Associations
from unspoken.models.hostile_json import parse_json
from unspoken.numerics.frequent_sets import frequent

Bits = npt.NDArray[np.uint8]
Found = tuple[list[tuple[int, ...]], Ints, int]
"""Sets by the counter's codes, their counts, and the number of baskets."""

MOST_TEXT = 1 << 28


async def encrypted_rows(party: Party, owners: Sequence[str], numbers: Ints, rows: int,
                         counter: str) -> list[Points] | None:
    """Return every owner's numbers of baskets under all keys to the counter, in its own order.

    Lists are not shuffled on the way: their order is their owner's secret, and says which row of
    its columns a ciphertext belongs to.
    """
    party.begin("encrypt rows")
    where = group.domain("rows", party.ledger.study, party.seam.session, party.count)
    shape = rows, POINT_BYTES
    if party.name in owners:
        key, place = group.fresh_scalar(), owners.index(party.name)
        current = await group.in_threads(group.hash_points, where,
                                         [b"%d" % row for row in numbers.tolist()])
        current = await _times(party, current, key, party.name)
        before, after = owners[place - 1], owners[(place + 1) % len(owners)]
        for hop in range(1, len(owners)):
            send = party.send(after, f"rules.hop{hop}", current, Purpose.ENCRYPTED)
            take = party.receive(before, f"rules.hop{hop}", "|u1", shape, Purpose.ENCRYPTED)
            _, current = await asyncio.gather(send, take)
            current = await _times(party, current, key, before)
        await party.send(counter, "rules.rows", current, Purpose.ENCRYPTED)
    if party.name != counter:
        return None
    # A member ends with the list of the one after it.
    lists = await asyncio.gather(*(party.receive(name, "rules.rows", "|u1", shape,
                                                 Purpose.ENCRYPTED) for name in owners))
    return [lists[place - 1] for place in range(len(owners))]


async def _times(party: Party, points: Points, key: bytes, sender: str) -> Points:
    try:
        group.check_different(points)
        return await group.in_threads(group.multiply, points, key)
    except BadPointError as error:
        party.refuse(sender, f"sent {error}")


def in_order_of_points(party: Party, owners: Sequence[str], points: Sequence[Points],
                       columns: Sequence[Words], rows: int) -> list[Bits]:
    """Return all owners' columns with the baskets in the order of their ciphertexts."""
    ordered: list[Bits] = []
    known = None
    for owner, list_, bits in zip(owners, points, columns, strict=True):
        keys = group.as_keys(list_)
        order = np.argsort(keys)
        known = keys[order] if known is None else known
        if not np.array_equal(keys[order], known):
            party.refuse(owner, "sent other baskets than the first owner")
        flags = np.unpackbits(bits.astype("<u8", copy=False).view(np.uint8), axis=1, count=rows,
                              bitorder="little")
        ordered.append(flags[:, order])
    return ordered


def mined(tables: Sequence[Bits], terms: RuleParams, least: int, rows: int) -> Found:
    """Mine the collected columns, whose items have no names here."""
    row, code = np.nonzero(np.concatenate(tables).T)
    offsets = np.r_[0, np.cumsum(np.bincount(row, minlength=rows))]
    levels = frequent(offsets, code.astype(np.int32), len(terms.items), least, terms.longest)
    sets = [tuple(one) for level, _ in levels for one in level.tolist()]
    return sets, np.concatenate([counts for _, counts in levels]), rows


async def named(party: Party, sites: Sites, associations: Found | None, order: Ints,
                counter: str) -> dict[int, int] | None:
    """Ask each owner for the names of its frequent items; return the codes' real ones."""
    party.begin("name items")
    names: dict[int, int] = {}
    for owner, items in sites.items.items():
        start, stop = sites.place(owner)
        if party.name == counter and associations is not None:
            used = sorted({code for one in associations[0] for code in one if start <= code < stop})
            flags = np.zeros(len(items), np.uint8)
            flags[np.array(used, np.int64) - start] = 1
            await party.send(owner, "rules.flags", flags, Purpose.DISCLOSURE)
            real = await party.receive(owner, "rules.names", "<i8", (len(used),),
                                       Purpose.DISCLOSURE)
            names |= _checked(party, owner, used, real, (start, stop))
        elif party.name == owner:
            flags = await party.receive(counter, "rules.flags", "|u1", (len(items),),
                                        Purpose.DISCLOSURE)
            await party.send(counter, "rules.names", order[flags != 0] + start,
                             Purpose.DISCLOSURE)
    return names if party.name == counter else None


def _checked(party: Party, owner: str, used: Sequence[int], real: Ints,
             span: tuple[int, int]) -> dict[int, int]:
    """Return an owner's answer, if it is one."""
    good = real.size == 0 or (real.min() >= span[0] and real.max() < span[1])
    if not good or np.unique(real).size != real.size:
        party.refuse(owner, "named items that it does not have")
    return dict(zip(used, real.tolist(), strict=True))


async def decided(party: Party, flags: Bools | None, counter: str, size: int) -> Bools:
    """Tell everybody which candidates are frequent."""
    party.begin("decide")
    party.opening(SETS, (), (size,))
    if party.name == counter and flags is not None:
        frequent = flags.astype(np.uint8)
        await asyncio.gather(*(party.send(name, "rules.frequent", frequent, Purpose.DISCLOSURE)
                               for name in party.peers))
        return flags
    raw = await party.receive(counter, "rules.frequent", "|u1", (size,), Purpose.DISCLOSURE)
    return np.asarray(raw != 0)


async def told_words(party: Party, own: Ints | None, owner: str, counter: str,
                     size: int) -> Ints:
    """Send an owner's numbers to the counter; zeros to everybody else."""
    if party.name == owner and own is not None:
        await party.send(counter, "rules.counts", own.astype(np.int64), Purpose.DISCLOSURE)
        return own
    if party.name == counter:
        return await party.receive(owner, "rules.counts", "<i8", (size,), Purpose.DISCLOSURE)
    return np.zeros(size, np.int64)


async def hand_on(party: Party, associations: Associations | None,
                  receivers: Sequence[str]) -> Associations | None:
    """Give the counter's result to the other receivers."""
    party.begin("hand on")
    counter = receivers[0]
    if associations is not None:
        text = text_array(json.dumps(associations.to_json()))
        for name in receivers[1:]:
            await party.send(name, "rules.size", np.array([text.size], np.uint64), Purpose.RESULT)
            await party.send(name, "rules.result", text, Purpose.RESULT)
        return associations
    if party.name not in receivers:
        return None
    size = int((await party.receive(counter, "rules.size", "<u8", (1,), Purpose.RESULT))[0])
    if size > MOST_TEXT:
        party.refuse(counter, "announced a result of impossible size")
    raw = await party.receive(counter, "rules.result", "|u1", (size,), Purpose.RESULT)
    try:
        return Associations.from_json(parse_json(raw.tobytes()))
    except UnspokenError:
        party.refuse(counter, "sent a result that is none")
