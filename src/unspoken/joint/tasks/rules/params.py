"""What the owners agree on before they mine rules, and how they make sure that they do.

Thresholds are fractions, so that "at least 0.5% of all baskets" is den * count >= num * total in
whole numbers: no rounding can make the joint result differ from mining in one place.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from unspoken.errors import InputError, UnseenValueError, explain
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.frames import Purpose
from unspoken.release.parameters import OneOf, Real, Rule, Whole, check
from unspoken.table.baskets import Baskets

SETS = "which itemsets are frequent"
RULES = "which rules are sure enough"
SUPPORTS = "in how many baskets each frequent itemset is, and how many there are"
DENOMINATOR = 1_000_000
PROBLEMS = {
    1: "has no baskets",
    2: "has an item that is not in the agreed list",
    3: "has more baskets than was agreed",
    4: "has baskets that cannot be used",
}
_RULES: Mapping[str, tuple[Rule, str]] = {
    "min_support": (Real(0.0, 1.0 + 1e-12), "It is a share of the baskets, such as 0.01."),
    "min_confidence": (Real(0.0, 1.0 + 1e-12), "It is a share, such as 0.5."),
    "longest": (Whole(1), "Use 3 for sets of up to three items."),
    "most": (Whole(1), "It bounds how many baskets an owner may have."),
    "supports": (OneOf(("hidden", "shown")), "Hidden discloses less."),
}


@dataclass(frozen=True)
class RuleParams:
    """What is public: items, thresholds, the most items of a set, and what is disclosed.

    Attributes
    ----------
    items : tuple of str
        All items, in the order that everybody uses.
    min_support : float
        The least support of a frequent set.
    min_confidence : float, default 0.5
        The least confidence of a rule.
    longest : int, default 12
        The most items of a set.
    most : int, default 2**24
        No owner has more baskets; it bounds the width of comparisons and hides how many there are.
    supports : {'hidden', 'shown'}, default 'hidden'
        'shown' discloses the counts of frequent sets and of all baskets.
    """

    items: tuple[str, ...]
    min_support: float
    min_confidence: float = 0.5
    longest: int = 12
    most: int = 1 << 24
    supports: str = "hidden"

    def __post_init__(self) -> None:
        """Check the ranges."""
        check("Rules of several owners", _RULES,
              {name: getattr(self, name) for name in _RULES})
        object.__setattr__(self, "items", tuple(self.items))
        if not self.items or len(set(self.items)) != len(self.items) or not all(
                isinstance(name, str) and name for name in self.items):
            raise InputError(explain("'items'", "different names that all owners agreed on",
                                     f"{len(self.items)} of which some are empty or stand twice"))

    @property
    def support(self) -> Fraction:
        """Return the least support as a fraction."""
        return exact("min_support", self.min_support)

    @property
    def confidence(self) -> Fraction:
        """Return the least confidence as a fraction."""
        return exact("min_confidence", self.min_confidence)

    @property
    def shown(self) -> bool:
        """Say whether supports are disclosed."""
        return self.supports == "shown"


def exact(name: str, value: float) -> Fraction:
    """Return the fraction that a decimal number is meant to be; 0.005 is 1/200."""
    fraction = Fraction(str(float(value)))
    if fraction.denominator > DENOMINATOR:
        raise InputError(explain(f"'{name}'", "a number of at most six decimals", value))
    return fraction


def digest(*agreed: Any) -> bytes:
    """Return 32 bytes that stand for everything that was agreed."""
    return hashlib.sha256(json.dumps(agreed, default=str).encode()).digest()


async def ready(party: Party, agreed: bytes, problem: int) -> None:
    """Tell everybody whether this party can begin; if one cannot, all refuse in the same words.

    Nothing that depends on data has been sent before; a problem is told by its number alone.
    """
    party.begin("ready")
    own = np.frombuffer(agreed + bytes([problem]), np.uint8)
    got = await party.swap(party.peers, "ready", own, Purpose.CONTROL)
    words = {party.name: own, **dict(zip(party.peers, got, strict=True))}
    name, what = _first_problem(party, words, agreed)
    if not what:
        return
    # Everybody must have heard of it before the first one leaves.
    with contextlib.suppress(PartyError):
        await party.swap(party.peers, "ready.end", own[-1:], Purpose.CONTROL)
    raise RefusedError(f"All owners must have baskets of the agreed items, coded alike. '{name}' "
                       f"{what}. Nothing was sent that depends on data. Agree on one list of items "
                       "and thresholds, and mine again.")


def _first_problem(party: Party, words: Mapping[str, Any], agreed: bytes) -> tuple[str, str]:
    for name in party.names:
        if int(words[name][-1]):
            return name, PROBLEMS.get(int(words[name][-1]), "cannot begin")
    for name in party.peers:
        if words[name][:-1].tobytes() != agreed:
            return name, f"has another list of items or other thresholds than '{party.name}'"
    return "", ""


def own_baskets(data: Any, terms: RuleParams) -> tuple[Baskets | None, int]:
    """Return an owner's baskets over the agreed items, or the number of what is wrong."""
    if not isinstance(data, Baskets):
        return None, 4
    if len(data) == 0:
        return None, 1
    if len(data) > terms.most:
        return None, 3
    if data.items == terms.items:
        return data, 0
    from unspoken.table.basket_files import known_items

    try:
        return known_items(data, terms.items), 0
    except UnseenValueError:
        return None, 2
