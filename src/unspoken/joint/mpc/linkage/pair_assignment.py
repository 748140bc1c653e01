"""One partner at most for every record, and a threshold at which few pairs are wrong.

Pairs are taken from the most similar on, each record once. How many of them are wrong is estimated
without knowing the truth: within one list the most similar of all others is surely another person,
if nobody stands twice in it. So the share q of records of the longer list that have such a stranger
above a threshold is the share of people without a partner that would get a wrong one. Of n records
of the shorter list, count = right + (n - right) q are linked, which gives the right ones.
  assumes: nobody stands twice in a list, and people of both lists are alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.mpc.linkage.candidate_pairs import Pairs, Places, similar_pairs

FLOOR = {"minhash": 0.35, "bloom": 0.6, "folded": 0.6}
"""Below this similarity no pair is ever taken."""
STEPS = 200
LOOKED_AT = 2000
"""Records of the longer list whose nearest strangers are looked at."""
MOST_STRANGE = 0.2
"""Where more people than this have a stranger so similar, links cannot be told from chance."""


@dataclass(frozen=True)
class Linked:
    """The linked pairs, the threshold that was taken, and the share that is expected right."""

    pairs: Pairs
    threshold: float
    precision: float


def one_to_one(pairs: Pairs) -> npt.NDArray[np.bool_]:
    """Return which pairs are taken: of those whose records are free, the most similar first."""
    taken = np.zeros(len(pairs.first), bool)
    order = np.lexsort((pairs.second, pairs.first, -pairs.similar))
    while len(order):
        _, at_first = np.unique(pairs.first[order], return_index=True)
        _, at_second = np.unique(pairs.second[order], return_index=True)
        best = order[np.intersect1d(at_first, at_second)]
        taken[best] = True
        free = ~(np.isin(pairs.first[order], pairs.first[best])
                 | np.isin(pairs.second[order], pairs.second[best]))
        order = order[free]
    return taken


def linked(one: Words, other: Words, kind: str, precision: float) -> Linked:
    """Return pairs one to one, above the least threshold at which enough are expected right.

    Where there is no such threshold, nothing is linked.
    """
    pairs = similar_pairs(one, other, kind, FLOOR[kind])
    chosen = pairs.chosen(one_to_one(pairs))
    shorter, longer = sorted((one, other), key=len)
    strangers = nearest_strangers(longer, kind)
    for threshold in np.linspace(FLOOR[kind], 1, STEPS).tolist():
        above = chosen.similar >= threshold
        expected = _expected(int(above.sum()), len(shorter), _share_above(strangers, threshold))
        if expected >= precision:
            return Linked(chosen.chosen(above), threshold, expected)
    return Linked(chosen.chosen(np.zeros(len(chosen.first), bool)), 1.0, 0.0)


def nearest_strangers(rows: Words, kind: str) -> npt.NDArray[np.float64]:
    """Return how similar some records are to the most similar other one of the same list."""
    step = max(1, len(rows) // LOOKED_AT)
    places = np.arange(0, len(rows), step)
    pairs = similar_pairs(rows[places], rows, kind, FLOOR[kind])
    others = pairs.chosen(places[pairs.first] != pairs.second)
    best = np.zeros(len(places))
    np.maximum.at(best, others.first, others.similar)
    return best


def _share_above(strangers: npt.NDArray[np.float64], threshold: float) -> float:
    """Return the share of records with a stranger above a threshold, rather too high than low."""
    above = int((strangers >= threshold).sum())
    return float(min(1.0, (above + np.sqrt(above) + 1) / (len(strangers) + 1)))


def _expected(count: int, people: int, strange: float) -> float:
    """Return the share of links that is expected right, 0 where chance could explain them all."""
    if not count or strange > MOST_STRANGE:
        return 0.0
    right = (count - people * strange) / (1 - strange)
    return float(np.clip(right / count, 0.0, 1.0))


def common_to_all(lists: list[Pairs]) -> tuple[Places, list[Places]]:
    """Return the records of the first owner that all others have, and the others' records."""
    common = lists[0].first
    for pairs in lists[1:]:
        common = np.intersect1d(common, pairs.first)
    return common, [pairs.second[_places(pairs.first, common)] for pairs in lists]


def _places(listed: Places, wanted: Places) -> Places:
    order = np.argsort(listed)
    return np.asarray(order[np.searchsorted(listed[order], wanted)])
