"""What published rules disclose about people (vcz2006 section 6.3).

A rule A -> B that is published says of everybody who is known to have A that she has B, with the
rule's confidence. How bad that is depends on three numbers: the confidence (how sure), the support
of A (how many people), and how likely an adversary knows A of a person. `rule_risks` puts them
together, rule by rule; `people_exposed` goes through the people and counts each once.

The numbers state what the rules add to knowing A, not what an adversary with more than the rules
can learn: see `attack.deduce` and `attack.disclosure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, UnseenValueError, explain
from unspoken.models.rules import Rules
from unspoken.numerics.record_bitsets import unpack
from unspoken.release.parameters import OneOf, Real, check
from unspoken.table.baskets import Baskets
from unspoken.table.rule_text import write_rule

Known = Mapping[str, float] | Iterable[str]

_TOGETHER = {"together": (OneOf(("worst", "independent")), "worst assumes nothing.")}
_ALERT = {"alert": (Real(0.0, 1.0 + 1e-12), "Use 0.5 for 'more likely than not'.")}


@dataclass(frozen=True, eq=False)
class RuleRisks:
    """Risks of rules that disclose something private, the riskiest first.

    Attributes
    ----------
    rules : Rules
        The rules that matter, in order of exposure.
    known : array of float
        Probability that the left side of each rule is known of a person.
    confidence : array of float
        Probability of the right side given the left; for estimated rules the upper bound.
    base : array of float
        Probability of the right side for anybody, which does not need the rule.
    people : array of float
        Expected number of people (baskets) whose left side is known.
    silent : int
        Number of rules that disclose nothing private.
    """

    rules: Rules
    known: Floats
    confidence: Floats
    base: Floats
    people: Floats
    silent: int

    @property
    def exposure(self) -> Floats:
        """Return the expected number of people whose right side is correctly inferred."""
        return self.people * self.confidence

    @property
    def gain(self) -> Floats:
        """Return how much surer the rule makes it than a guess for anybody."""
        return self.confidence - self.base

    def __len__(self) -> int:
        return len(self.rules)

    def frame(self) -> Any:
        """Return an Arrow table, one row per rule."""
        import pyarrow as pa

        return pa.table({"rule": [self._name(i) for i in range(len(self))], "known": self.known,
                         "confidence": self.confidence, "base": self.base, "gain": self.gain,
                         "people": self.people, "exposure": self.exposure})

    def to_json(self) -> list[dict[str, Any]]:
        """Return the risks as plain data."""
        records: list[dict[str, Any]] = self.frame().to_pylist()
        return records

    def _name(self, i: int) -> str:
        return write_rule((self.rules.left[i], self.rules.right[i]), self.rules.items)

    def summary(self, most: int = 10) -> str:
        """Return the riskiest rules in plain words."""
        lines = [f"{len(self):,} rules disclose something private to anyone who knows their left "
                 f"side; {self.silent:,} do not"]
        for i in range(min(most, len(self))):
            lines.append(f"  {self._name(i)}: {self.confidence[i]:.1%} sure (anybody: "
                         f"{self.base[i]:.1%}) of about {self.people[i]:,.0f} people")
        return "\n".join(lines)


def rule_risks(rules: Rules, known: Known, private: Iterable[str] | None = None, *,
               together: str = "worst") -> RuleRisks:
    """Return the risk of every rule whose left side may be known and whose right side is private.

    The numbers state what a rule adds to knowing its left side (vcz2006 section 6.3), not what an
    adversary with more than the rules can infer.

    Parameters
    ----------
    rules : Rules
        The rules to be published.
    known : mapping from str to float, or iterable of str
        Items an adversary may know of a person, with the probability of each, or only the items if
        they are certainly known.
    private : iterable of str, optional
        Items that should not be disclosed; by default all that are not known.
    together : "worst" or "independent", default "worst"
        Probability that several items are known at once: "worst" takes the least of their
        probabilities, which no dependence exceeds; "independent" multiplies them.

    Returns
    -------
    RuleRisks

    Examples
    --------
    >>> print(rule_risks(rules, ["bread"], ["pills"]).summary())  # doctest: +SKIP
    """
    check("rule_risks", _TOGETHER, {"together": together})
    chance, secret = _roles(rules.items, known, private)
    combine = np.min if together == "worst" else np.prod
    odds = np.array([combine(chance[list(left)]) for left in rules.left], np.float64)
    discloses = np.array([bool(secret[list(right)].any()) for right in rules.right], np.bool_)
    kept = np.flatnonzero((odds > 0) & discloses)
    confidence, left = _worst(rules)
    exposure = odds * left * confidence
    order = kept[np.lexsort((-confidence[kept], -exposure[kept]))]
    return RuleRisks(rules.take(order.tolist()), odds[order], confidence[order],
                     rules.right_support[order], (odds * left * rules.baskets)[order],
                     len(rules) - kept.size)


def _worst(rules: Rules) -> tuple[Floats, Floats]:
    """Return confidence and support of the left side; where estimated, the upper bounds."""
    if rules.high is None:
        return rules.confidence, rules.left_support
    return rules.interval("confidence")[1], np.clip(rules.high[:, 1], 0.0, 1.0)


def _roles(items: tuple[str, ...], known: Known,
           private: Iterable[str] | None) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return how likely each item is known, and which items are private."""
    probabilities = dict(known) if isinstance(known, Mapping) else dict.fromkeys(_names(known), 1.0)
    place = {name: code for code, name in enumerate(items)}
    for name, odds in probabilities.items():
        if not isinstance(odds, int | float) or not 0 <= odds <= 1:
            raise InputError(f"'known': the probability of '{name}' must be from 0 to 1. Got "
                             f"{odds!r}.")
    secret = set(items) - set(probabilities) if private is None else set(_names(private))
    strange = next((name for name in (*probabilities, *sorted(secret)) if name not in place), None)
    if strange is not None:
        raise UnseenValueError(f"Item '{strange}' is not among the {len(items)} items of the "
                               "rules.")
    chance = np.array([float(probabilities.get(name, 0.0)) for name in items])
    return chance, np.array([name in secret for name in items], np.bool_)


def _names(names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise InputError(explain("Names of items", "a list", names))
    return [str(name) for name in names]


@dataclass(frozen=True)
class Exposed:
    """People about whom rules disclose a private item that the adversary did not know.

    Attributes
    ----------
    people : int
        Number of people (baskets).
    exposed : int
        People for whom some rule is at least as sure as `alert` about a private item.
    right : int
        Of these, people for whom the surest rule is correct.
    expected : float
        How many would be correct if the item were guessed by its frequency alone.
    alert : float
        The confidence from which on a rule counts.
    """

    people: int
    exposed: int
    right: int
    expected: float
    alert: float

    def summary(self) -> str:
        """Return the numbers in one sentence."""
        return (f"{self.exposed:,} of {self.people:,} people meet a rule that is at least "
                f"{self.alert:.0%} sure of something private, correctly for {self.right:,}; the "
                f"same guesses without looking at the person would be right for "
                f"{self.expected:,.0f}")


def people_exposed(baskets: Baskets, rules: Rules, known: Known,
                   private: Iterable[str] | None = None, *, alert: float = 0.5) -> Exposed:
    """Count the people whom rules expose to an adversary who knows the `known` items of everybody.

    Only the custodian can count this: it needs the original baskets.

    Parameters
    ----------
    baskets : Baskets
        The original baskets, one per person.
    rules : Rules
        The rules to be published, over the same items.
    known : mapping from str to float, or iterable of str
        Items that the adversary knows of everybody.
    private : iterable of str, optional
        Items that should not be disclosed; by default all that are not known.
    alert : float, default 0.5
        Confidence from which on a rule exposes somebody.

    Returns
    -------
    Exposed
    """
    check("people_exposed", _ALERT, {"alert": alert})
    chance, secret = _roles(baskets.items, known, private)
    if rules.items != baskets.items:
        raise InputError("'rules' and 'baskets' must be over the same items. These rules are "
                         "over other items.")
    best = np.zeros(len(baskets))
    right, base = np.zeros(len(baskets), np.bool_), np.zeros(len(baskets))
    frequency = baskets.frequencies() / max(len(baskets), 1)
    for i, (left, then) in enumerate(zip(rules.left, rules.right, strict=True)):
        disclosed = [code for code in then if secret[code]]
        if disclosed and chance[list(left)].all() and rules.confidence[i] >= alert:
            better = _held(baskets, left) & (rules.confidence[i] > best)
            best[better], base[better] = rules.confidence[i], frequency[disclosed].min()
            right[better] = _held(baskets, disclosed)[better]
    hit = best > 0
    return Exposed(len(baskets), int(hit.sum()), int(right[hit].sum()), float(base[hit].sum()),
                   float(alert))


def _held(baskets: Baskets, codes: Iterable[int]) -> npt.NDArray[np.bool_]:
    return unpack(np.bitwise_and.reduce(baskets.bitmaps(list(codes)), axis=0), len(baskets))
