"""What published itemsets say about the ones that were not published.

Supports bound each other by inclusion and exclusion: for X inside I, the number of baskets that
hold X and nothing else of I cannot be negative, and that is a sum of supports with signs. Calders
and Goethals call the bounds on I that follow "deduction rules": an upper bound where I has an odd
number of items more than X, else a lower one. If all parts of I are known, the tightest of them
is exact: every count between the bounds occurs in some data set (a test tries all).
Where parts are unknown themselves, `deduce` bounds them first; what follows is always true, but
with `exact=True` an integer program over all ways to fill a small table is solved and the bounds
cannot be better.

So leaving an itemset out of a list does not hide it. vcz2006 section 6.3 asks what can be inferred
from rules; `inferred_rules` answers for rules that were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import InputError, ModelError, UnseenValueError, explain
from unspoken.methods.baskets.rule_counts import least_count
from unspoken.models.itemsets import Itemsets
from unspoken.table.rule_text import Sides, read_rule, write_rule

Set = tuple[int, ...]
Range = tuple[int, int]

LARGEST = 14
"""Most items of a set that deduction rules bound."""
LARGEST_EXACT = 9
"""Most items of the integer program, which has two to this power unknowns."""


@dataclass(frozen=True)
class Deduced:
    """Bounds on how many baskets hold each of some sets; `derivable` where the bounds are equal.

    Attributes
    ----------
    items : tuple of str; names of the items.
    sets : tuple of tuple of int; the sets, as positions in `items`.
    low, high : array of int; bounds on the number of baskets that hold each set.
    baskets : int; number of baskets in all.
    """

    items: tuple[str, ...]
    sets: tuple[Set, ...]
    low: Ints
    high: Ints
    baskets: int

    @property
    def derivable(self) -> npt.NDArray[np.bool_]:
        """Return which sets have only one possible count: publishing them adds nothing."""
        return np.asarray(self.low == self.high)

    def __iter__(self) -> Any:
        """Yield every set by its names, with its bounds."""
        return ((tuple(self.items[c] for c in one), (int(a), int(b)))
                for one, a, b in zip(self.sets, self.low, self.high, strict=True))

    def summary(self) -> str:
        """Return the bounds, one line per set."""
        return "\n".join(f"{', '.join(names)}: {low:,} to {high:,} of {self.baskets:,} baskets"
                         for names, (low, high) in self)


class Deduction:
    """Bounds that follow from a list of itemsets (deduction rules of Calders and Goethals).

    Parameters
    ----------
    published : Itemsets
        Counted (not estimated) itemsets, as published.
    complete_from : float, optional
        Support from which on the adversary knows the list to be complete; sets that are not in it
        have less. None if a set may be missing for any reason.
    longest : int, optional
        Most items of a set for which the list is complete; all by default.
    """

    def __init__(self, published: Itemsets, complete_from: float | None = None,
                 longest: int | None = None) -> None:
        if published.estimated:
            raise InputError(explain("'published'", "counted itemsets", "estimated ones"))
        self.published = published
        self.total = published.baskets
        self._cap = self.total if complete_from is None else \
            least_count(complete_from, self.total) - 1
        self._longest = longest or len(published.items)
        counts = published.counts.tolist()
        self.known = dict(zip(published.sets, counts, strict=True)) | {(): self.total}
        self._found: dict[Set, Range] = {one: (many, many) for one, many in self.known.items()}

    def bounds(self, codes: Set) -> Range:
        """Return bounds on the count of a set by the deduction rules."""
        if codes not in self._found:
            _check_size(codes, LARGEST)
            low, high = self.by_rules(codes)
            low = max([low, *(many for one, many in self.known.items() if set(codes) < set(one))])
            high = min(high, self.cap(codes))
            self._found[codes] = _possible(codes, low, high)
        return self._found[codes]

    def cap(self, codes: Set) -> int:
        """Return what a set can have at most because it is not in the list."""
        return self._cap if len(codes) <= self._longest else self.total

    def by_rules(self, codes: Set) -> Range:
        """Return the tightest of the deduction rules of a set."""
        size, full = len(codes), (1 << len(codes)) - 1
        parts = [self.bounds(_part(codes, mask)) for mask in range(full)]
        low, high = np.array([*parts, (0, 0)], np.int64).T
        ones = np.array([mask.bit_count() for mask in range(full + 1)])
        plus = (size - ones) % 2 == 1
        most = _over_supersets(np.where(plus, high, -low))
        least = _over_supersets(np.where(plus, low, -high))
        return int(least[~plus].max()), int(most[plus].min())

    def exact(self, codes: Set, beside: Set = ()) -> Range:
        """Return the least and the most that any data set gives, by an integer program.

        Items `beside` take part in the table: published sets that reach outside say more.
        """
        table = tuple(sorted({*codes, *beside}))
        _check_size(table, LARGEST_EXACT)
        system = _System(self, table)
        return _possible(codes, system.solve(codes, 1), system.solve(codes, -1))


class _System:
    """All tables over a few items that agree with what is published."""

    def __init__(self, deduction: Deduction, table: Set) -> None:
        self.table = table
        sets = [part for size in range(len(table) + 1) for part in combinations(table, size)]
        self.rows = np.array([self.row(one) for one in sets])
        known = [deduction.known.get(one) for one in sets]
        self.low = np.array([0 if many is None else many for many in known], np.float64)
        self.high = np.array([deduction.cap(one) if many is None else many
                              for one, many in zip(sets, known, strict=True)], np.float64)

    def row(self, codes: Set) -> npt.NDArray[np.float64]:
        """Return which cells of the table hold a set."""
        wanted = sum(1 << self.table.index(code) for code in codes)
        return np.array([float(cell & wanted == wanted) for cell in range(1 << len(self.table))])

    def solve(self, codes: Set, sign: int) -> int:
        """Return the least (sign 1) or the most (sign -1) baskets that hold a set."""
        from scipy.optimize import LinearConstraint, milp

        solution = milp(sign * self.row(codes), integrality=np.ones(self.rows.shape[1]),
                        constraints=LinearConstraint(self.rows, self.low, self.high))
        if not solution.success:
            raise ModelError("No data set has the published counts.")
        return sign * round(float(solution.fun))


def _possible(codes: Set, low: int, high: int) -> Range:
    if low > high:
        raise ModelError(f"No data set has the published counts: they leave {low} to {high} "
                         f"baskets for the codes {codes}.")
    return low, high


def _check_size(codes: Set, most: int) -> None:
    if len(codes) > most:
        raise InputError(f"A set to be deduced can have at most {most} items. This one has "
                         f"{len(codes)}.")


def _part(codes: Set, mask: int) -> Set:
    return tuple(code for bit, code in enumerate(codes) if mask >> bit & 1)


def _over_supersets(values: Ints) -> Ints:
    """Return for every mask the sum over all masks that contain it, without the full one."""
    sums = values.copy()
    sums[-1] = 0
    for bit in range(sums.size.bit_length() - 1):
        pairs = sums.reshape(-1, 2, 1 << bit)
        pairs[:, 0] += pairs[:, 1]
    return sums


def deduce(published: Itemsets, wanted: Iterable[Iterable[str]], *,
           complete_from: float | None = None, longest: int | None = None,
           exact: bool = False, beside: Sequence[str] = ()) -> Deduced:
    """Return bounds on the counts of some sets that follow from the published ones.

    The bounds always hold. Without `exact` they may be wider than the best possible ones where
    parts of a set are unpublished themselves.

    Parameters
    ----------
    published : Itemsets; counted itemsets, as published.
    wanted : iterable of iterables of str; sets to bound, by the names of their items. At most 14
        items each, 9 with `exact`.
    complete_from : float, optional; support from which on the list is known to be complete.
    longest : int, optional; most items of a set for which the list is complete. All by default.
    exact : bool, default False; solve an integer program for the best bounds over the items of
        each set and `beside`.
    beside : sequence of str, default (); further items that the integer program considers.

    Returns
    -------
    Deduced

    Examples
    --------
    >>> print(deduce(published, [["bread", "pills"]]).summary())  # doctest: +SKIP
    """
    deduction = Deduction(published, complete_from, longest)
    more = _codes(beside, published.items)
    sets = tuple(dict.fromkeys(_codes(one, published.items) for one in wanted))
    deduced = [deduction.exact(one, more) if exact else deduction.bounds(one) for one in sets]
    low, high = np.array(deduced, np.int64).reshape(-1, 2).T
    return Deduced(published.items, sets, low, high, published.baskets)


def _codes(names: Iterable[str], items: tuple[str, ...]) -> Set:
    place = {name: code for code, name in enumerate(items)}
    wanted = [str(name) for name in names]
    strange = next((name for name in wanted if name not in place), None)
    if strange is not None:
        raise UnseenValueError(f"Item '{strange}' is not among the {len(items)} items of the "
                               "published itemsets.")
    return tuple(sorted({place[name] for name in wanted}))


@dataclass(frozen=True)
class Inferred:
    """What published itemsets say about a rule.

    Attributes
    ----------
    rule : str; the rule as text, `a, b -> c`.
    support, confidence : tuple of (float, float); lower and upper bound.
    verdict : str; "holds", "excluded" or "open".
    """

    rule: str
    support: tuple[float, float]
    confidence: tuple[float, float]
    verdict: str


def inferred_rules(published: Itemsets, rules: Iterable[str], min_support: float,
                   min_confidence: float, *, complete_from: float | None = None,
                   longest: int | None = None, exact: bool = False) -> tuple[Inferred, ...]:
    """Return for each rule whether it "holds", is "excluded" or stays "open", given the itemsets.

    A rule holds if its support and confidence reach the thresholds in every data set that fits.
    Confidence is bounded by the quotient of bounds, which is exact if the left side is published.

    Parameters
    ----------
    published : Itemsets; counted itemsets, as published.
    rules : iterable of str; rules as text, `a, b -> c`.
    min_support, min_confidence : float; thresholds, as shares.
    complete_from : float, optional; support from which on the list is known to be complete.
    longest : int, optional; most items of a set for which the list is complete. All by default.
    exact : bool, default False; use the best possible bounds, by integer programs.

    Returns
    -------
    tuple of Inferred

    Examples
    --------
    >>> inferred_rules(published, ["bread -> pills"], 0.01, 0.5)[0].verdict  # doctest: +SKIP
    """
    deduction = Deduction(published, complete_from, longest)
    best = deduction.exact if exact else deduction.bounds
    sides = [read_rule(rule, published.items) for rule in rules]
    return tuple(_judge(one, best(tuple(sorted(one[0] + one[1]))), best(one[0]),
                        (min_support, min_confidence), published) for one in sides)


def _judge(rule: Sides, both: Range, left: Range, limits: tuple[float, float],
           published: Itemsets) -> Inferred:
    total = max(published.baskets, 1)
    support = both[0] / total, both[1] / total
    confidence = both[0] / max(left[1], 1), min(both[1] / max(left[0], 1), 1.0)
    least, least_sure = limits
    verdict = "open"
    if support[0] >= least and confidence[0] >= least_sure:
        verdict = "holds"
    elif support[1] < least or confidence[1] < least_sure:
        verdict = "excluded"
    return Inferred(write_rule(rule, published.items), support, confidence, verdict)
