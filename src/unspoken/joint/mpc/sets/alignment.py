"""Alignment: each owner learns which of its rows the others have too, and one common order.

Vertical studies compute on records side by side, so their rows must stand in the same order. All
lists get all keys as for the size of the intersection, and a counter finds the points that are in
all of them and sends these to every owner, in the order of their bytes. Every owner checks that
each of them is in the list that it has put the last key on itself. Then they go round once more for
each owner: every other owner takes its own key off, in place, so that the owner gets its own first
layer back and knows its rows.

An owner takes its key off nothing but that checked list: it starts from it, and what it gets from
the owner before comes with a proof for every hop that one secret made it from the checked list
(`equal_exponents`). A counter or a neighbour that sends anything else, to have a key taken off
points of its choice, ends the run and gets nothing.
  discloses: which ids are in common, to every owner (that is what it is for); sizes and, with
    three or more owners, the counter's overlaps, as for the intersection. Nobody learns which of
    its ids some but not all others have, not even the counter, because lists were shuffled.
  safe against: any coalition but all owners, beyond that.
  breaks if: as the intersection does; above all by invented ids, because membership is shown. A
    counter that leaves common ids out is not noticed: it takes records away and learns nothing.
    One alignment per study, and a query budget, keep that small. Where even membership is too
    much, do not align: nothing here can help.
  cost: that of the size, m - 1 more rounds, and 32 bytes and a multiplication for each id in
    common, owner and other owner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import Points
from unspoken.joint.mpc.sets.encrypted_circle import Circle, SetRules, encoded, own_set
from unspoken.joint.mpc.sets.equal_exponents import PROOF_BYTES
from unspoken.joint.mpc.sets.intersection import (
    gathered,
    in_all,
    intersection_disclosures,
    overlaps_told,
    plan_intersection,
)
from unspoken.joint.mpc.sets.proven_path import ProvenPath
from unspoken.joint.wire.frames import Purpose, wire_bytes

Places = npt.NDArray[np.int64]
# Seconds for a multiplication and the check of a point that came.
TIMES = 70e-6


def plan_alignment(rows: int, owners: int) -> tuple[int, int, float]:
    """Return rounds, bytes and seconds of computing if all owners have the same records."""
    planned = plan_intersection([rows] * owners, 1)
    points = wire_bytes("|u1", (rows, group.POINT_BYTES))
    handed = (owners - 1) * (points + wire_bytes("<u8", (1,)))
    # All hops but the last bear the lists on the way and a proof for each.
    proven = range(owners - 2)
    way = owners * sum(wire_bytes("|u1", (hop * rows, group.POINT_BYTES))
                       + wire_bytes("|u1", ((hop + 1) * PROOF_BYTES,)) for hop in proven)
    times = (2 * owners - 1) + sum(1 + 2 * (hop + 1) for hop in proven)
    return (planned["rounds"] + owners - 1 + 2 * len(proven),
            planned["bytes"] + handed + owners * (owners - 1) * points + way, times * rows * TIMES)


def align_disclosures(because: str, owners: Sequence[str], counter: str,
                      rules: SetRules | None = None) -> tuple[Disclosure, ...]:
    """Return everything that an alignment discloses, for `declares` and for studies.

    Parameters
    ----------
    because : str
        The reason given to `align`.
    owners : sequence of str
        All owners.
    counter : str
        The party that finds the common ids.
    rules : SetRules, optional
        What was agreed about the sets.

    Returns
    -------
    tuple of Disclosure
        One entry for each thing that some party learns.

    Examples
    --------
    >>> declares(*align_disclosures("common patients", ["a", "b"], "a"))(program)  # doctest: +SKIP
    """
    first = dict.fromkeys([counter, *owners])
    return intersection_disclosures(because, owners, tuple(first), rules)


async def align(party: Party, ids: Iterable[Any] | None, *, because: str,
                counter: str | None = None, rules: SetRules | None = None) -> Places | None:
    """Return the places of this owner's rows that all owners have, in an order common to all.

    Private set intersection with commutative encryption (vcz2006 section 6.2.2). Discloses which
    ids are in common to every owner; also the sizes of the lists unless they are padded and, with
    three or more owners, the sizes of their overlaps to the counter. Invented ids are not detected.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    ids : iterable or None
        This owner's ids (text, bytes or whole numbers); None if this party owns no data.
    because : str
        The reason for the opening; it must be declared (`declares`).
    counter : str, optional
        The party that finds the common ids. Default: the first owner.
    rules : SetRules, optional
        What was agreed about the sets.

    Returns
    -------
    array of int or None
        Row numbers; None if this party owns no data.

    Examples
    --------
    >>> rows = await align(party, table["id"], because="common patients")  # doctest: +SKIP
    """
    rules = rules or SetRules()
    party.begin("align")
    owners = party.roles.owners
    counter = counter or owners[0]
    _declared(party, because, counter, rules)
    if party.name not in (*owners, counter):
        return None
    own_ids = encoded(() if ids is None else ids)
    own = own_set(own_ids, rules) if party.name in owners else []
    places = {item: place for place, item in reversed(list(enumerate(own_ids)))}
    if len(owners) == 1:
        return np.array([places[item] for item in sorted(own)], np.int64)
    circle = Circle(party, owners, rules)
    layer, finished, lists = await _encrypted(circle, own, counter)
    common = await _shared_out(circle, lists, counter)
    if not circle.is_member:
        return None
    check_common(circle, common, finished, counter)
    back = await _stripped(circle, common)
    return _rows_of(circle, back, {p.tobytes(): places[i]
                                   for i, p in zip(own, layer, strict=True)})


def _declared(party: Party, because: str, counter: str, rules: SetRules) -> None:
    owners = party.roles.owners
    if rules.subsets == "hidden" and len(owners) > 2:
        raise RefusedError("Aligning three or more owners shows the counter how their lists "
                           "overlap. Agree on subsets='shown', and preferably on a counter without "
                           "data.")
    if counter not in party.names:
        raise RefusedError(f"The counter '{counter}' is not a party of this program. Parties: "
                           f"{', '.join(party.names)}.")
    for each in align_disclosures(because, owners, counter, rules):
        single = each.because != overlaps_told(because)
        party.opening(each.because, each.to, () if single else (len(owners),))


async def _encrypted(circle: Circle, own: Sequence[bytes],
                     counter: str) -> tuple[Points, Points, list[Points] | None]:
    """Return the own first layer, the list finished here, and all full lists to the counter."""
    layer = finished = np.zeros((0, group.POINT_BYTES), np.uint8)
    if circle.is_member:
        layer = await circle.first_layer(own)
    sent = circle.padded(layer) if circle.is_member else layer
    await circle.announce(sent, [counter])
    if circle.is_member:
        finished = await circle.encrypt(sent)
    lists = await gathered(circle, finished if circle.is_member else None, counter)
    return layer, finished, lists


async def _shared_out(circle: Circle, lists: list[Points] | None, counter: str) -> Points:
    """Let the counter send the common points, in order, to every owner."""
    party = circle.party
    if lists is None:
        count = await party.receive(counter, "set.count", "<u8", (1,), Purpose.DISCLOSURE)
        if int(count[0]) > min(circle.sizes.values()):
            party._end(counter, "reported more common ids than there can be")
        return await circle.take_checked(counter, "set.common", int(count[0]))
    points, everywhere = in_all(lists)
    common = points[everywhere]
    others = [name for name in circle.members if name != counter]
    count = np.array([len(common)], np.uint64)
    await asyncio.gather(*(party.send(name, "set.count", count, Purpose.DISCLOSURE)
                           for name in others))
    await asyncio.gather(*(party.send(name, "set.common", common, Purpose.ENCRYPTED)
                           for name in others))
    return common


def check_common(circle: Circle, common: Points, finished: Points, counter: str) -> None:
    """Refuse a common list with a point that is not in the list on which the own key came last."""
    if not np.isin(group.as_keys(common), group.as_keys(finished)).all():
        circle.party._end(counter, "sent common points that are in no list finished here")


async def _stripped(circle: Circle, common: Points) -> Points:
    """Take the own key off the others' lists on their way; return the own one, under one key."""
    hops = len(circle.members) - 1
    path = ProvenPath(circle, common)
    for hop in range(hops):
        await path.strip(proven=hop < hops - 1)
        await path.passed(hop, proven=hop < hops - 1)
    return path.last


def _rows_of(circle: Circle, points: Points, rows: dict[bytes, int]) -> Places:
    """Find the own rows; a point that is not of the own list ends the run."""
    own_rows = [rows.get(point.tobytes(), -1) for point in points]
    if -1 in own_rows or len(set(own_rows)) != len(own_rows):
        circle.party._end(circle.before, "sent points that are not of this party's list")
    return np.array(own_rows, np.int64)
