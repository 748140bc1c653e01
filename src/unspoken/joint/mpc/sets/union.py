"""Which elements of a public universe some owner has, and not whose they are.

**shares** (the default): the OR of shared bits, see `set_bits`. Leaks the union only.

**encryption** (Kantarcioglu and Clifton 2004; vcz2006 section 6.2.1): every owner hashes its
elements to points, may fill its list up with points of nothing, and all lists get all keys round
the circle, as in `circle`. Two collectors take the lists of the even and of the odd owners, drop
what they have twice, and put them together; the second passes its part to the first. Then
everybody takes its own key off and shuffles, the first receiver last, which looks the points up
among the hashes of the universe; what is not found there was filling. Needs no dealer.
  discloses: the union, to those in `to`. Besides, under sentences of their own that must be
    declared (`union_disclosures`): list lengths unless they are padded; how many points were
    left after dropping duplicates, to everybody in the circle; the overlaps of their lists, to
    the two collectors. A receiver also counts the filling, so the sum of all sizes.
  safe against: single parties, and coalitions without both collectors, beyond that. Refused for
    two owners of whom one learns it: it would know the other's elements that it lacks, and
    with them how many are in common. A receiver without data joins the circle with a key.
  breaks if: as the intersection does. The universe is public, so a point without any key on it
    is an open element: the party that strips last sees the union, and must be a receiver. Keys are
    taken off shuffled lists without proof, so a member that does not follow the protocol can have
    another's key taken off points of its choice. Semi-honest members only; use shares otherwise.
  cost: 2 m + 5 rounds, 32 bytes for each element, hop and strip.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Bools
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import Points
from unspoken.joint.mpc.sets.encrypted_circle import Circle, SetRules, encoded, own_set
from unspoken.joint.mpc.sets.intersection import sizes_told
from unspoken.joint.mpc.sets.set_bits import flags_of, union_by_shares
from unspoken.joint.wire.frames import Purpose

METHODS = ("shares", "encryption")


def plain_union(sets: Sequence[Iterable[Any]]) -> set[Any]:
    """Return the reference: what any set has, in one place."""
    return set().union(*map(set, sets))


def repeats_told(because: str) -> str:
    """Return the sentence under which the number of points without duplicates is disclosed."""
    return f"{because}: how many elements and fillings are left without duplicates"


def collected_told(because: str) -> str:
    """Return the sentence under which the collectors see how lists overlap."""
    return f"{because}: overlaps of the lists that a collector has"


def union_disclosures(because: str, owners: Sequence[str], to: Sequence[str],
                      rules: SetRules | None = None,
                      method: str = "shares") -> tuple[Disclosure, ...]:
    """Return everything that a union discloses, for `declares` and for studies.

    Parameters
    ----------
    because : str
        The reason given to `union`.
    owners : sequence of str
        All owners.
    to : sequence of str
        The parties that learn the union.
    rules : SetRules, optional
        What was agreed about the sets.
    method : {'shares', 'encryption'}, default 'shares'
        The method given to `union`.

    Returns
    -------
    tuple of Disclosure
        One entry for each thing that some party learns.

    Examples
    --------
    >>> declares(*union_disclosures("all items", ["a", "b", "c"], ["a"]))(program)  # doctest: +SKIP
    """
    if method == "shares" or len(owners) == 1:
        return (Disclosure(because, tuple(to)),)
    members = circle_of(owners, to)
    sizes = [] if rules is not None and rules.pad_to else [Disclosure(sizes_told(because), members)]
    return (Disclosure(because, tuple(to)), *sizes, Disclosure(repeats_told(because), members),
            Disclosure(collected_told(because), members[:2]))


def circle_of(owners: Sequence[str], receivers: Sequence[str]) -> tuple[str, ...]:
    """Return who has a key: all owners, and the first receiver if it owns nothing."""
    return tuple(dict.fromkeys([*owners, receivers[0]]))


async def union(party: Party, items: Iterable[Any] | None, universe: Sequence[Any], *,
                because: str, to: Sequence[str] = (), method: str = "shares",
                rules: SetRules | None = None) -> list[Any] | None:
    """Return the elements of a public universe that some owner has, and not whose they are.

    On shares, or with commutative encryption (Kantarcioglu and Clifton 2004; vcz2006 section
    6.2.1). Discloses the union to those in `to`. Encryption needs no dealer but also discloses list
    lengths (unless padded), the number of distinct points, and overlaps to two collectors; it is
    refused for two owners one of whom learns the union.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    items : iterable or None
        This owner's elements; None if this party owns no data.
    universe : sequence
        All elements that are possible, which is public.
    because : str
        The reason for the opening; it must be declared (`declares`).
    to : sequence of str, default ()
        The parties that learn the union. Default: all.
    method : {'shares', 'encryption'}, default 'shares'
        How to compute it.
    rules : SetRules, optional
        What was agreed about the sets. Default: sets of any size.

    Returns
    -------
    list or None
        The elements in the order of the universe; None if this party is not in `to`.

    Examples
    --------
    >>> items = await union(party, own, universe, because="items sold anywhere")  # doctest: +SKIP
    """
    rules = rules or SetRules(least=0)
    if method not in METHODS:
        raise InputError(explain("union: 'method'", "one of " + ", ".join(METHODS), method))
    party.begin(f"union {method}")
    own = own_set(items, rules) if party.name in party.roles.owners else None
    if method == "shares" or len(party.roles.owners) == 1:
        flags = await _alone_or_shares(party, own, universe, because, to)
    else:
        flags = await _by_encryption(party, own, universe, (because, tuple(to)), rules)
    if flags is None:
        return None
    return [item for item, there in zip(universe, flags, strict=True) if there]


async def _alone_or_shares(party: Party, own: Sequence[bytes] | None, universe: Sequence[Any],
                           because: str, to: Sequence[str]) -> Bools | None:
    if len(party.names) > 1:
        return await union_by_shares(party, own, universe, because, to)
    party.opening(because, to, (len(universe),))
    return flags_of(own or (), universe)


async def _by_encryption(party: Party, own: Sequence[bytes] | None, universe: Sequence[Any],
                         audience: tuple[str, tuple[str, ...]], rules: SetRules) -> Bools | None:
    if own is not None:
        flags_of(own, universe)
    receivers = _declared(party, audience, rules, len(universe))
    members = circle_of(party.roles.owners, receivers)
    flags = None
    if party.name in members:
        circle = Circle(party, members, rules)
        merged = await _merged(circle, own or ())
        flags = await _opened(circle, merged, receivers[0], universe)
    return await _handed_on(party, flags, receivers, len(universe))


def _declared(party: Party, audience: tuple[str, tuple[str, ...]], rules: SetRules,
              size: int) -> tuple[str, ...]:
    """Refuse what would not protect; check and record what will be disclosed."""
    because, to = audience
    owners, receivers = party.roles.owners, to or party.names
    curious = [name for name in receivers if name in owners]
    if len(owners) == 2 and curious:
        raise RefusedError(
            f"A union of two by encryption must not be opened to one of the two: '{curious[0]}' "
            "would learn every element of the other that it does not have itself, and the number "
            "of the rest. Find a third owner, or open it to a party without data.")
    for one in union_disclosures(because, owners, receivers, rules, "encryption"):
        party.opening(one.because, one.to, (size,) if one.because == because else (len(owners),))
    return receivers


async def _merged(circle: Circle, own: Sequence[bytes]) -> Points:
    """Encrypt all lists; return all their different points to the first member, shuffled."""
    sent = circle.padded(await circle.first_layer(own))
    await circle.announce(sent, [])
    done = await circle.encrypt(sent)
    points = await _collected(circle, done)
    first, second = circle.members[:2]
    if circle.party.name == second:
        await _send_counted(circle, first, points)
    if circle.party.name == first:
        points = _different([points, await _take_counted(circle, second)])
    return group.shuffled(points)


async def _collected(circle: Circle, done: Points) -> Points:
    """Send each list to the collector of its owner; return the collector's different points."""
    party, m = circle.party, len(circle.members)
    # Member j has finished the list of j + 1.
    homes = {name: circle.members[(place + 1) % m % 2]
             for place, name in enumerate(circle.members)}
    takes = [circle.take_checked(name, "union.full", circle.sizes[circle.members[(i + 1) % m]])
             for i, name in enumerate(circle.members)
             if homes[name] == party.name and name != party.name]
    send = [] if homes[party.name] == party.name else [
        party.send(homes[party.name], "union.full", done, Purpose.ENCRYPTED)]
    got = (await asyncio.gather(*takes, *send))[:len(takes)]
    kept = [done] if homes[party.name] == party.name else []
    return _different([*kept, *(points for points in got if points is not None)])


def _different(lists: Sequence[Points]) -> Points:
    empty = np.zeros((0, group.POINT_BYTES), np.uint8)
    keys = np.unique(group.as_keys(np.concatenate([empty, *lists])))
    return keys.view(np.uint8).reshape(-1, group.POINT_BYTES)


async def _send_counted(circle: Circle, to: str, points: Points) -> None:
    count = np.array([len(points)], np.uint64)
    await circle.party.send(to, "union.count", count, Purpose.DISCLOSURE)
    await circle.party.send(to, "union.merged", points, Purpose.ENCRYPTED)


async def _take_counted(circle: Circle, source: str) -> Points:
    count = await circle.party.receive(source, "union.count", "<u8", (1,), Purpose.DISCLOSURE)
    if int(count[0]) > sum(circle.sizes.values()):
        circle.party._end(source, "reported more points than there can be")
    return await circle.take_checked(source, "union.merged", int(count[0]))


async def _opened(circle: Circle, merged: Points, receiver: str,
                  universe: Sequence[Any]) -> Bools | None:
    """Take all keys off, the receiver's last; it looks the points up."""
    name, first = circle.party.name, circle.members[0]
    place = circle.members.index(receiver)
    chain = circle.members[place + 1:] + circle.members[:place + 1]
    if name == first and chain[0] != first:
        await _send_counted(circle, chain[0], merged)
    turn = chain.index(name)
    source = chain[turn - 1] if turn else first
    points = merged if source == name else await _take_counted(circle, source)
    open_ = group.shuffled(await circle.times(points, group.inverse(circle.key), source))
    if name != receiver:
        await _send_counted(circle, chain[turn + 1], open_)
        return None
    return _looked_up(circle, open_, universe)


def _looked_up(circle: Circle, points: Points, universe: Sequence[Any]) -> Bools:
    there = {point.tobytes() for point in points}
    known = group.hash_points(circle.where, encoded(universe))
    return np.array([point.tobytes() in there for point in known], np.bool_)


async def _handed_on(party: Party, merged: Bools | None, receivers: Sequence[str],
                     size: int) -> Bools | None:
    """Send the union to the other receivers."""
    if merged is not None:
        flags = merged.astype(np.uint8)
        await asyncio.gather(*(party.send(name, "union.result", flags, Purpose.RESULT)
                               for name in receivers if name != party.name))
    elif party.name in receivers:
        raw = await party.receive(receivers[0], "union.result", "|u1", (size,), Purpose.RESULT)
        merged = raw.astype(np.bool_)
    if merged is not None:
        party.learned(receivers, merged)
    return merged
