"""How many ids all owners have in common (vcz2006 section 6.2.2), and nothing about which.

Every owner's list goes once round the circle of owners (see `circle`) and then to the counter,
the first of `to`, which counts the points that are in all lists and hands the number on.
  discloses: the size, to those in `to`. Besides, each under a sentence of its own that must be
    declared (`intersection_disclosures`): how many ids each owner has, to all owners and the
    counter, unless lists are padded; and with three or more owners, to the counter, the sizes of
    the overlaps of any of the sets. If these are to stay hidden, give a public universe of ids:
    then membership bits are multiplied on shares and nothing but the size comes out. Without
    one, hidden overlaps are refused.
  safe against: any coalition but all owners, beyond what is declared (DDH, random oracle). The
    counter may be an owner, or a party without data.
  breaks if: a party probes with small or invented sets (minimum sizes, budgets and commitments
    make that dear, but only honest parties keep to them), or if a hop does not shuffle: then the
    counter finds its own ids again. Ids that can be listed (all telephone numbers) are no secret
    from a coalition with all keys, and may be invented as inputs.
  cost: m + 3 rounds, 32 bytes for each id and hop; two multiplications of 50 us for each id
    among two owners, m among m.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Bools
from unspoken.errors import InputError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import Points
from unspoken.joint.mpc.sets.encrypted_circle import Circle, SetRules, own_set
from unspoken.joint.mpc.sets.set_bits import common_by_shares
from unspoken.joint.wire.frames import Purpose, wire_bytes


def plain_intersection(sets: Sequence[Iterable[Any]]) -> set[Any]:
    """Return the reference: what all sets have in common, in one place."""
    return set.intersection(*(set(ids) for ids in sets))


def sizes_told(because: str) -> str:
    """Return the sentence under which lengths of lists are disclosed."""
    return f"{because}: how many ids each owner has"


def overlaps_told(because: str) -> str:
    """Return the sentence under which the counter learns overlaps of some of the sets."""
    return f"{because}: sizes of the overlaps of any of the sets"


def intersection_disclosures(because: str, owners: Sequence[str], to: Sequence[str],
                             rules: SetRules | None = None) -> tuple[Disclosure, ...]:
    """Return everything that an intersection discloses, for `declares` and for studies.

    Parameters
    ----------
    because : str
        The reason given to `intersection_size`.
    owners : sequence of str
        All owners.
    to : sequence of str
        The parties that learn the size; the first of them counts.
    rules : SetRules, optional
        What was agreed about the sets.

    Returns
    -------
    tuple of Disclosure
        One entry for each thing that some party learns.

    Examples
    --------
    >>> opened = intersection_disclosures("common ids", ["a", "b"], ["a"])  # doctest: +SKIP
    """
    rules = rules or SetRules()
    disclosures = [Disclosure(because, tuple(to))]
    if not rules.pad_to and len(owners) > 1:
        disclosures.append(Disclosure(sizes_told(because), tuple(dict.fromkeys([*owners, to[0]]))))
    if rules.subsets == "shown" and len(owners) > 2:
        disclosures.append(Disclosure(overlaps_told(because), (to[0],)))
    return tuple(disclosures)


def plan_intersection(sizes: list[int], receivers: int) -> dict[str, int]:
    """Return rounds and bytes for owners with lists of some lengths, the counter among them."""
    m, point = len(sizes), group.POINT_BYTES
    lists = sum(wire_bytes("|u1", (size, point)) for size in sizes) * (m - 1)
    # Every list but the one that the counter finished itself.
    last = sum(wire_bytes("|u1", (size, point)) for size in sizes[:1] + sizes[2:])
    small = m * (m - 1) * (wire_bytes("<u8", (1,)) + wire_bytes("|u1", (32,)))
    return {"rounds": m + 3,
            "bytes": lists + last + small + (receivers - 1) * wire_bytes("<u8", (1,))}


async def intersection_size(party: Party, ids: Iterable[Any] | None, *, because: str,
                            to: Sequence[str] = (), rules: SetRules | None = None,
                            universe: Sequence[Any] | None = None) -> int | None:
    """Return how many ids all owners have in common, and nothing about which.

    Commutative encryption (vcz2006 section 6.2.2). Discloses the size to those in `to`; also the
    sizes of the lists unless they are padded and, with three or more owners, the sizes of their
    overlaps to the first of `to`. With a public `universe` only the size is disclosed. Invented ids
    are not detected.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    ids : iterable or None
        This owner's ids (text, bytes or whole numbers); None if this party owns no data.
    because : str
        The reason for the opening; it must be declared (`declares`).
    to : sequence of str, default ()
        The parties that learn the size; the first of them counts. Default: all.
    rules : SetRules, optional
        What was agreed about the sets.
    universe : sequence, optional
        All ids that are possible, if that list is public: then the size is computed on shares.

    Returns
    -------
    int or None
        The size; None if this party is not in `to`.

    Examples
    --------
    >>> size = await intersection_size(party, own_ids, because="common customers")  # doctest: +SKIP
    """
    rules = rules or SetRules()
    party.begin("intersection")
    owners = party.roles.owners
    if universe is not None or (rules.subsets == "hidden" and len(owners) > 2):
        return await _hidden(party, ids, because, to, (rules, universe))
    receivers = declared(party, because, to, rules)
    own = own_set(ids, rules) if party.name in owners else []
    if len(owners) == 1:
        return len(own)
    circle = Circle(party, owners, rules)
    lists = await full_lists(circle, own, receivers[0])
    if lists is not None:
        common = int(np.sum(in_all(lists)[1]))
        await hand_on(party, common, receivers)
        party.learned(receivers, [common])
        return common
    if party.name not in receivers:
        return None
    size = await party.receive(receivers[0], "set.total", "<u8", (1,), Purpose.RESULT)
    party.learned(receivers, [int(size[0])])
    return int(size[0])


async def _hidden(party: Party, ids: Iterable[Any] | None, because: str, to: Sequence[str],
                  agreed: tuple[SetRules, Sequence[Any] | None]) -> int | None:
    rules, universe = agreed
    if universe is None:
        raise RefusedError(
            "The party that counts encrypted lists of three or more owners sees the overlaps of "
            "any of them. To hide these, give a public universe of ids (the size is then computed "
            "on shares), or agree on subsets='shown'.")
    own = own_set(ids, rules) if party.name in party.roles.owners else None
    return await common_by_shares(party, own, universe, because, to)


def declared(party: Party, because: str, to: Sequence[str], rules: SetRules) -> tuple[str, ...]:
    """Check and record all that will be disclosed, before anything is sent."""
    owners = party.roles.owners
    if not owners:
        raise InputError("An intersection needs owners. This program has none.")
    receivers = tuple(to) or party.names
    for each in intersection_disclosures(because, owners, receivers, rules):
        party.opening(each.because, each.to, () if each.because == because else (len(owners),))
    return receivers


async def full_lists(circle: Circle, own: Sequence[bytes], counter: str) -> list[Points] | None:
    """Encrypt all lists with all keys; return them to the counter, None to the others."""
    sent = np.zeros((0, group.POINT_BYTES), np.uint8)
    if circle.is_member:
        sent = circle.padded(await circle.first_layer(own))
    await circle.announce(sent, [counter])
    done = await circle.encrypt(sent) if circle.is_member else None
    return await gathered(circle, done, counter)


async def gathered(circle: Circle, done: Points | None, counter: str) -> list[Points] | None:
    """Send the list that this member finished to the counter, which returns all of them."""
    party = circle.party
    if party.name != counter:
        if done is not None:
            await party.send(counter, "set.full", done, Purpose.ENCRYPTED)
        return None
    lists = [] if done is None else [done]
    sources = [name for name in circle.members if name != counter]
    takes = [circle.take_checked(name, "set.full", circle.sizes[_finished_by(circle, name)])
             for name in sources]
    return [*lists, *await asyncio.gather(*takes)]


def _finished_by(circle: Circle, name: str) -> str:
    """Return whose list a member has in hand at the end."""
    place = circle.members.index(name)
    return circle.members[(place + 1) % len(circle.members)]


def in_all(lists: Sequence[Points]) -> tuple[Points, Bools]:
    """Return the different points in order of their bytes, and which of them are in all lists."""
    together = np.concatenate(lists)
    keys, counts = np.unique(group.as_keys(together), return_counts=True)
    points = keys.view(np.uint8).reshape(-1, group.POINT_BYTES)
    return points, counts == len(lists)


async def hand_on(party: Party, common: int, receivers: Sequence[str]) -> None:
    """Tell the size to the other receivers."""
    size = np.array([common], np.uint64)
    await asyncio.gather(*(party.send(name, "set.total", size, Purpose.RESULT)
                           for name in receivers if name != party.name))
