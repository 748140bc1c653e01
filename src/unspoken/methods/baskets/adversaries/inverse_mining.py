"""Inverse frequent-set mining: what the data sets that fit published itemsets have in common.

vcz2006 section 6.3, after Mielikäinen: the risk that published itemsets pose to a person is the
share of the data sets compatible with them, and with what the adversary knows already, in which she
has the private item. Data sets are counted with people distinguished: every person has one basket.

Deciding whether any data set fits is NP-complete, so counting is exact only where it is small:
`Puzzle.count` goes through the kinds of baskets one after the other and keeps, for every way to use
up the published counts, in how many ways it comes about (whole numbers, no rounding). Beyond that
`sample_disclosure` estimates the share. Both count every compatible data set alike: an adversary
who knows that some data sets are likelier learns more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from unspoken.errors import InputError, ModelError, NotCoveredError, UnseenValueError, explain
from unspoken.methods.baskets.rule_counts import least_count
from unspoken.models.itemsets import Itemsets

MOST_ITEMS = 12
"""Most items of a puzzle; there are two to this power kinds of baskets."""
MOST_STATES = 300_000
"""Most states that counting holds."""

Limits = tuple[tuple[int, int], ...]
"""Sets of items as bits, each with a number of baskets."""
State = tuple[int, ...]


@dataclass(frozen=True)
class Knows:
    """What an adversary knows about one or more people.

    Attributes
    ----------
    has : tuple of str, default (); items that each of these people has.
    lacks : tuple of str, default (); items that none of these people has.
    people : int, default 1; number of people of whom this is known.
    """

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    people: int = 1


@dataclass(frozen=True)
class Group:
    """People of whom the same is known: bits they have, bits they lack, how many they are."""

    has: int
    lacks: int
    people: int

    def kinds(self, items: int) -> list[int]:
        """Return the baskets that such a person can have, those with many items first."""
        fitting = [kind for kind in range(1 << items)
                   if kind & self.has == self.has and not kind & self.lacks]
        return sorted(fitting, key=lambda kind: (-kind.bit_count(), kind))


@dataclass(frozen=True)
class Puzzle:
    """The counts that a compatible data set must have, and what is known about people.

    Attributes
    ----------
    items : tuple of str; item i is bit i of a set.
    equal : tuple of (int, int); sets, as bits, with the number of baskets that hold them.
    most : tuple of (int, int); the same with a number that must not be exceeded.
    groups : tuple of Group; everybody, grouped by what is known of them.
    """

    items: tuple[str, ...]
    equal: Limits
    most: Limits
    groups: tuple[Group, ...]

    @property
    def people(self) -> int:
        """Return the number of people."""
        return sum(group.people for group in self.groups)

    def bit(self, item: str) -> int:
        """Return the bit of an item."""
        if item not in self.items:
            raise UnseenValueError(f"Item '{item}' is not in the puzzle. Items: "
                                   f"{', '.join(self.items)}. Add it to 'items'.")
        return 1 << self.items.index(item)

    def count(self) -> int:
        """Return how many data sets are compatible."""
        states: dict[State, int] = {tuple(many for _, many in self.equal + self.most): 1}
        sets = [mask for mask, _ in self.equal + self.most]
        for place, group in enumerate(self.groups):
            last = place == len(self.groups) - 1
            states = _spread(states, group, sets, len(self.equal), len(self.items), last)
        return sum(many for state, many in states.items() if not any(state[:len(self.equal)]))


def puzzle(published: Itemsets, known: Sequence[Knows] = (), *,
           complete_from: float | None = None, longest: int | None = None,
           items: Iterable[str] = ()) -> Puzzle:
    """Return the puzzle set by counted itemsets and an adversary's knowledge (vcz2006 section 6.3).

    Only items that are published, known or listed in `items` take part: all others multiply every
    count by the same factor. People of whom nothing is known make up the rest of the data set.

    Parameters
    ----------
    published : Itemsets; counted (not estimated), as published.
    known : sequence of Knows, default (); what the adversary knows about people already.
    complete_from : float, optional; any set of at least this support is in the list.
    longest : int, optional; most items of a set for which the list is complete. All by default.
    items : iterable of str, default (); further items that take part, at most 12 in all.

    Returns
    -------
    Puzzle

    Examples
    --------
    >>> asked = puzzle(published, [Knows(has=("bread",))])  # doctest: +SKIP
    >>> disclosure(asked, "pills", Knows(has=("bread",))).share  # doctest: +SKIP
    """
    if published.estimated:
        raise InputError(explain("'published'", "counted itemsets", "estimated ones"))
    used = {published.items[c] for one in published.sets for c in one} | {str(i) for i in items}
    used |= {name for person in known for name in (*person.has, *person.lacks)}
    names = tuple(name for name in published.items if name in used)
    _check_names(names, used)
    place = {name: 1 << i for i, name in enumerate(names)}
    equal = {sum(place[published.items[c]] for c in one): many
             for one, many in zip(published.sets, published.counts.tolist(), strict=True) if one}
    most = {} if complete_from is None else _border(
        equal, len(names), longest or len(names),
        least_count(complete_from, published.baskets) - 1)
    return Puzzle(names, tuple(equal.items()), tuple(most.items()),
                  _groups(known, place, published.baskets))


def _check_names(names: tuple[str, ...], used: set[str]) -> None:
    if len(names) != len(used):
        raise UnseenValueError(f"Item '{min(used - set(names))}' is not a published one.")
    if len(names) > MOST_ITEMS:
        raise InputError(f"A puzzle can have at most {MOST_ITEMS} items; this one has "
                         f"{len(names)}. Use the itemsets of fewer items.")


def _border(equal: Mapping[int, int], items: int, longest: int, most: int) -> dict[int, int]:
    """Return the smallest sets that are not published: larger ones follow."""
    border: dict[int, int] = {}
    for size in range(1, min(items, longest) + 1):
        for bits in combinations(range(items), size):
            mask = sum(1 << bit for bit in bits)
            if mask not in equal and not any(one & mask == one for one in border):
                border[mask] = most
    return border


def _groups(known: Sequence[Knows], place: Mapping[str, int], people: int) -> tuple[Group, ...]:
    groups: dict[tuple[int, int], int] = {}
    for one in known:
        bits = sum(place[n] for n in set(one.has)), sum(place[n] for n in set(one.lacks))
        if bits[0] & bits[1] or one.people < 1:
            raise InputError("'known' must list different items as 'has' and 'lacks', for one "
                             f"person or more. Got {one!r}.")
        groups[bits] = groups.get(bits, 0) + one.people
    rest = people - sum(groups.values())
    if rest < 0:
        raise InputError(f"'known' describes {people - rest} people of only {people} baskets.")
    if rest:
        groups[0, 0] = groups.get((0, 0), 0) + rest
    return tuple(Group(has, lacks, many) for (has, lacks), many in groups.items())


def _spread(states: dict[State, int], group: Group, sets: Sequence[int], equal: int,
            items: int, last: bool) -> dict[State, int]:
    """Give every person of a group a basket, one kind of basket after the other."""
    kinds = group.kinds(items)
    held = [[i for i, mask in enumerate(sets) if kind & mask == mask] for kind in kinds]
    # The last kind that can still use up a count: after it nothing of that count may be left.
    closes = [[i for i in inside if i < equal and not any(i in later for later in held[at + 1:])]
              if last else [] for at, inside in enumerate(held)]
    now = {(group.people, *state): many for state, many in states.items()}
    for inside, done in zip(held, closes, strict=True):
        now = _one_kind(now, inside, done)
        if len(now) > MOST_STATES:
            raise NotCoveredError("Counting all compatible data sets takes more than "
                                  f"{MOST_STATES:,} states. Estimate with "
                                  "attack.sample_disclosure, or take fewer people or items.")
    reached: dict[State, int] = {}
    for (left, *state), many in now.items():
        if left == 0:
            reached[tuple(state)] = reached.get(tuple(state), 0) + many
    return reached


def _one_kind(states: dict[State, int], inside: list[int], done: list[int]) -> dict[State, int]:
    """Let any number of the people who are left have one kind of basket."""
    reached: dict[State, int] = {}
    for state, many in states.items():
        room = min([state[0], *(state[1 + i] for i in inside)])
        for people in range(room + 1):
            if any(state[1 + i] != people for i in done):
                continue
            after = list(state)
            after[0] -= people
            for i in inside:
                after[1 + i] -= people
            key = tuple(after)
            reached[key] = reached.get(key, 0) + many * comb(state[0], people)
    return reached


@dataclass(frozen=True)
class Share:
    """The share of the compatible data sets in which a person has an item.

    Attributes
    ----------
    item : str; the item asked about.
    share : Fraction; the share, exactly.
    baseline : Fraction; the same if only the counts of single items had been published.
    compatible : int; number of compatible data sets.
    """

    item: str
    share: Fraction
    baseline: Fraction
    compatible: int

    @property
    def disclosed(self) -> bool:
        """Return True if every compatible data set says the same of the person."""
        return self.share in (0, 1)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"item": self.item, "share": float(self.share), "baseline": float(self.baseline),
                "compatible": str(self.compatible), "disclosed": self.disclosed}


def disclosure(asked: Puzzle, item: str, person: Knows | None = None) -> Share:
    """Return the exact share of compatible data sets in which a person has an item.

    Raises NotCoveredError where counting is too large: use `sample_disclosure` there.

    Parameters
    ----------
    asked : Puzzle; the published counts and what is known.
    item : str; the item asked about.
    person : Knows, optional; what is known of the person, one entry of `known`. Default: nothing.

    Returns
    -------
    Share
    """
    bit, group = asked.bit(item), group_of(asked, person)
    counts = [_alone(asked, group, bit * has, bit * (1 - has)).count() for has in (1, 0)]
    if not sum(counts):
        raise ModelError("No data set has the published counts and what is known.")
    return Share(item, Fraction(counts[0], sum(counts)), baseline(asked, bit, group), sum(counts))


def group_of(asked: Puzzle, person: Knows | None) -> Group:
    """Return the group of the people that are known like this person."""
    knows = person or Knows()
    bits = tuple(sum(asked.bit(n) for n in set(side)) for side in (knows.has, knows.lacks))
    group = next((one for one in asked.groups if (one.has, one.lacks) == bits), None)
    if group is None:
        raise InputError(f"'person' must be one of the entries of 'known'. Got {person!r}.")
    return group


def _alone(asked: Puzzle, group: Group, has: int, lacks: int) -> Puzzle:
    """Return the puzzle with one person of a group apart, with or without an item."""
    rest = [replace(one, people=one.people - (one == group)) for one in asked.groups]
    if (group.has | has) & (group.lacks | lacks):
        return replace(asked, groups=(), equal=((1, 1),), most=())
    one = Group(group.has | has, group.lacks | lacks, 1)
    return replace(asked, groups=(one, *(other for other in rest if other.people)))


def baseline(asked: Puzzle, bit: int, group: Group) -> Fraction:
    """Return the share that the counts of single items alone give."""
    if (group.has | group.lacks) & bit:
        return Fraction(int(bool(group.has & bit)))
    count = dict(asked.equal).get(bit)
    if count is None:
        return Fraction(1, 2)
    sure = sum(one.people for one in asked.groups if one.has & bit)
    free = asked.people - sure - sum(one.people for one in asked.groups if one.lacks & bit)
    return Fraction(count - sure, free)
