"""Frequent itemsets of baskets as they are, and of randomised ones (vcz2006 section 6.1.2).

On plain baskets mining is exact. On a release of randomised baskets supports are estimated by the
published operator, with a standard deviation and an interval over the randomisation, and only sets
are reported of which the design can tell that they reach the threshold (see `discoveries`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, NotCoveredError, ReleaseError, explain
from unspoken.methods.baskets.estimate_supports import Estimating, Grouped, Scores, Supports
from unspoken.methods.baskets.learners.discoveries import (
    FALSE_DISCOVERY,
    discovered,
    p_values,
    reach_of,
)
from unspoken.methods.baskets.method import BASKETS
from unspoken.methods.baskets.rule_counts import least_count
from unspoken.methods.baskets.select_a_size import Operator
from unspoken.models.itemsets import Itemsets
from unspoken.numerics.frequent_sets import frequent
from unspoken.release.method import name_in
from unspoken.release.parameters import Real, Rule, Whole, check
from unspoken.release.release import Release
from unspoken.table.basket_tables import original_sizes
from unspoken.table.baskets import Baskets

LONGEST = 4
"""Most items of a set of randomised baskets, unless more are asked for."""
LARGEST = 8
"""Largest sets for which it is stated whether supports can be estimated."""
SLACKS = (1.0, 0.0, -1.0, -2.0)
"""Standard deviations below the threshold at which sets are still extended, if affordable."""
MOST = 2_000_000
"""Most candidates of one size."""
_RULES: Mapping[str, tuple[Rule, str]] = {
    "min_support": (Real(0.0, 1.0 + 1e-12), "It is a share of the baskets, such as 0.01."),
    "longest": (Whole(1), "Use 3 for sets of up to three items."),
    "confidence": (Real(0.0, 1.0), "Use 0.95."),
    "false_discovery": (Real(0.0, 1.0 + 1e-12), "It is a share, such as 0.05."),
    "slack": (Real(-1e-12), "Use 1 to keep what is one deviation below the threshold."),
}


def itemsets(source: Baskets | Release, min_support: float, *, longest: int | None = None,
             slack: float | None = None, confidence: float = 0.95,
             false_discovery: float = FALSE_DISCOVERY) -> Itemsets:
    """Return all itemsets whose support is `min_support` or more (vcz2006 section 6.1.2).

    Plain baskets are counted exactly. Supports of a release of randomised baskets are estimated,
    with a standard deviation and an interval over the randomisation. Only sets are reported that
    stand out of the noise; estimates are kept between 0 and 1 (`supports` leaves them unbiased).

    Parameters
    ----------
    source : Baskets or Release
        Plain baskets, or a release of randomised ones.
    min_support : float
        Least support, as a share of the baskets.
    longest : int, optional
        Most items of a set; by default no limit for plain baskets and 4 for a release.
    slack : float, optional
        For releases: sets are extended as long as their estimate is at most this many standard
        deviations below `min_support`. More finds more true sets and takes longer. By default 1,
        or less where that would be too many sets to look at.
    confidence : float, default 0.95
        Confidence of the intervals of estimated supports, over those that are reported.
    false_discovery : float, default 0.05
        For releases: at most this share of the reported sets is below `min_support`, in
        expectation (Benjamini and Hochberg). 1 reports every set whose estimate reaches it.

    Returns
    -------
    Itemsets

    Examples
    --------
    >>> import unspoken
    >>> from unspoken import mine
    >>> mine.itemsets(unspoken.read_baskets("baskets.txt"), 0.01)  # doctest: +SKIP
    """
    check("itemsets", _RULES, {"min_support": min_support, "confidence": confidence,
                               "slack": SLACKS[0] if slack is None else slack,
                               "longest": 1 if longest is None else longest,
                               "false_discovery": false_discovery})
    if isinstance(source, Baskets):
        return _counted(source, float(min_support), longest)
    operator, sizes = operator_of(source)
    return _estimated(source.baskets, operator, sizes, (float(min_support), slack),
                      (longest or LONGEST, float(confidence)), float(false_discovery))


def _counted(baskets: Baskets, min_support: float, longest: int | None) -> Itemsets:
    count = len(baskets)
    levels = frequent(baskets.offsets, baskets.codes, len(baskets.items),
                      least_count(min_support, count), longest or len(baskets.items) + 1)
    sets = tuple(tuple(one) for level, _ in levels for one in level.tolist())
    counts = np.concatenate([many for _, many in levels])
    return Itemsets(baskets.items, sets, counts / max(count, 1), count,
                    facts={"min_support": min_support})


def operator_of(release: Release) -> tuple[Operator, Ints | None]:
    """Return the operator of a release of randomised baskets, and the public sizes if any."""
    mechanism = release.mechanism
    items = mechanism.get("items")
    if name_in(mechanism) != BASKETS.name or not isinstance(items, list | tuple):
        raise InputError(explain("The source", "Baskets or a release of baskets",
                                 f"a release of '{mechanism.get('name')}'"))
    if "law" not in mechanism:
        raise NotCoveredError(f"The operator '{mechanism.get('operator')}' has no transition "
                              "matrix: supports of the original cannot be estimated without bias. "
                              "Mine release.baskets as they are if that is good enough.")
    try:
        operator = Operator.from_json(dict(mechanism), len(items))
    except InputError as error:
        raise ReleaseError(f"The operator of the release cannot be used. {error}") from None
    sizes = original_sizes(release.table)
    if sizes is None and not operator.size_free:
        sizes = _one_size(release, operator)
    return operator, sizes


def _one_size(release: Release, operator: Operator) -> Ints:
    largest = release.guarantee.facts.get("largest")
    if type(largest) is not int:
        raise ReleaseError("The law of this release depends on the sizes of the original "
                           "baskets, which it does not state.")
    return np.full(release.table.rows, largest)


def _grouped(baskets: Baskets, sizes: Ints | None, wanted: Ints) -> Grouped:
    if sizes is None:
        largest = np.zeros(1, np.int64)
        return Grouped.of(baskets.columns, wanted, np.zeros(len(baskets), np.int64), largest)
    distinct, group = np.unique(sizes, return_inverse=True)
    return Grouped.of(baskets.columns, wanted, group.reshape(-1), distinct)


def _estimated(baskets: Baskets, operator: Operator, sizes: Ints | None,
               bounds: tuple[float, float | None], how: tuple[int, float],
               false_discovery: float) -> Itemsets:
    least = bounds[0]
    grouped = _grouped(baskets, sizes, np.arange(len(baskets.items)))
    search, levels = _searched(grouped, operator, bounds, how[0])
    p = [p_values(one.values - least, one.deviations) for one in levels]
    limit = discovered(np.concatenate(p), search.tested, false_discovery)
    kept = [one.only(chosen & (one.values >= least)) for one, chosen in
            zip(levels, np.split(limit, np.cumsum([one.size for one in p])[:-1]), strict=True)]
    reported = sum(one.values.size for one in kept)
    reach = reach_of(how[1], reported, search.tested)
    facts = {"min_support": least, "slack": search.slack, "false_discovery": false_discovery,
             "tested": search.tested, "estimable": _estimable(search),
             "candidates": [int(one.sets.shape[0]) for one in levels], "confidence": how[1]}
    return _pattern(baskets, [_plausible(one) for one in kept], reach, facts)


def _searched(grouped: Grouped, operator: Operator, bounds: tuple[float, float | None],
              longest: int) -> tuple[Estimating, list[Supports]]:
    """Search with the slack that was asked for, or with the largest that can be afforded."""
    slacks = SLACKS if bounds[1] is None else (float(bounds[1]),)
    for slack in slacks:
        search = Estimating(grouped, operator, bounds[0], slack, MOST)
        try:
            return search, search.run(longest)
        except DataError:
            if slack == slacks[-1]:
                raise
    raise AssertionError("the last slack returns or raises")


def _estimable(search: Estimating) -> int:
    """Return the size of the largest sets whose supports the design can estimate at all."""
    sizes = (k for k in range(1, LARGEST + 1) if not _may_estimate(search, k))
    return next(sizes, LARGEST + 1) - 1


def _may_estimate(search: Estimating, k: int) -> bool:
    try:
        return search.estimable(k)
    except InputError:
        return False


def _plausible(level: Supports) -> Supports:
    return Supports(level.sets, np.clip(level.values, 0.0, 1.0), level.deviations, level.joint)


def _pattern(baskets: Baskets, levels: Sequence[Supports], reach: float,
             facts: dict[str, Any]) -> Itemsets:
    sets = tuple(tuple(one) for level in levels for one in level.sets.tolist())
    values = np.concatenate([level.values for level in levels])
    deviations = np.concatenate([level.deviations for level in levels])
    return Itemsets(baskets.items, sets, values, len(baskets), deviations,
                    values - reach * deviations, values + reach * deviations, facts)


def supports(source: Baskets | Release, sets: Iterable[Iterable[Any]], *,
             confidence: float = 0.95) -> Itemsets:
    """Return the supports of the given sets: counted, or estimated where baskets are randomised.

    Parameters
    ----------
    source : Baskets or Release
        Plain baskets, or a release of randomised ones.
    sets : iterable of iterables of str
        The sets, by the names of their items.
    confidence : float, default 0.95
        Confidence of the intervals of estimated supports.

    Returns
    -------
    Itemsets

    Examples
    --------
    >>> from unspoken import mine
    >>> mine.supports(release, [["bread"], ["bread", "milk"]])  # doctest: +SKIP
    """
    baskets = source if isinstance(source, Baskets) else source.baskets
    codes = sorted({tuple(sorted(set(baskets.code_of(*one)))) for one in sets})
    used, place = np.unique([c for one in codes for c in one], return_inverse=True)
    operator, sizes = (None, None) if isinstance(source, Baskets) else operator_of(source)
    grouped = _grouped(baskets, sizes, used.astype(np.int64))
    ends = np.cumsum([len(one) for one in codes])
    scores = {} if operator is None else {
        k: Scores.of(operator, k, grouped.sizes) for k in {len(one) for one in codes}}
    estimates = [_one(grouped, scores, part) for part in np.split(place.reshape(-1), ends[:-1])]
    levels = [Supports(used[one.sets], one.values, one.deviations, one.joint) for one in estimates]
    if operator is not None:
        return _pattern(baskets, levels, reach_of(confidence, 1, 1), {"confidence": confidence})
    return Itemsets(baskets.items, tuple(codes), np.array([one.values[0] for one in levels]),
                    len(baskets))


def frequencies(release: Release) -> npt.NDArray[np.float64]:
    """Return the estimated support of every single item of a release."""
    operator, sizes = operator_of(release)
    baskets = release.baskets
    grouped = _grouped(baskets, sizes, np.arange(len(baskets.items)))
    seen = grouped.counts(grouped.words)
    every = np.broadcast_to(grouped.baskets, seen.shape)
    return Scores.of(operator, 1, grouped.sizes).apply([every, seen], len(baskets))[0]


def _one(grouped: Grouped, scores: Mapping[int, Scores], codes: Ints) -> Supports:
    """Count one set, or estimate it from the joint counts of all its subsets."""
    from itertools import combinations

    k, total = codes.size, max(int(grouped.baskets.sum()), 1)
    sets = codes[None, :].astype(np.int64)
    if not scores:
        joint = grouped.joint(sets)
        return Supports(sets, joint.sum(axis=1) / total, np.zeros(1), joint)
    sums = [grouped.baskets[None, :]] + [
        grouped.joint(np.array(list(combinations(codes.tolist(), r)), np.int64)).sum(
            axis=0, keepdims=True) for r in range(1, k + 1)]
    values, deviations = scores[k].apply(sums, total)
    return Supports(sets, values, deviations, sums[-1])
