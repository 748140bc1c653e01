"""Singling out: predicates that fit one released record, tried on people (Cohen and Nissim 2020).

A predicate names some columns of a released record: a category as it is, a number as "at least"
above the median and "at most" below. Those that fit exactly one released record are guessed to fit
exactly one person. On a control group of another size, the expected number at the original's size
is taken: counts of matches are Poisson, their rates a gamma law fitted to all predicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.audit.people.comparable import Labels, Numbers, People, Values
from unspoken.audit.people.facts import Attacked
from unspoken.disclosure.people_risk import SINGLED, Risk

EVERYBODY = "(people)"
SIZES = (1, 3)
FEWEST = 50
WORK = 1_000_000_000
"""Comparisons that the search for predicates may cost."""
TRIES = 20
"""Predicates that are tried for each that is wanted."""


@dataclass(frozen=True)
class Term:
    """One condition of a predicate: a category, or numbers between two ends."""

    column: str
    code: int = 0
    low: float = -np.inf
    high: float = np.inf

    def fits(self, people: People) -> Bools:
        """Return which people fit."""
        found = people.columns[self.column]
        if isinstance(found, Labels):
            return np.asarray(found.codes == self.code)
        # Two intervals fit if they meet; a plain number is an interval of no width.
        return np.asarray((found.high >= self.low) & (found.low <= self.high))


Predicate = tuple[Term, ...]


def singling_out(attacked: Attacked) -> list[Risk]:
    """Return the risk of being singled out by one column and by three."""
    columns = [n for n in attacked.reading.names if attacked.reading.scales[n].agree is None]
    return [risk for size in dict.fromkeys(min(s, len(columns)) for s in SIZES) if size
            for risk in [_risk(attacked, columns, size)]]


def _risk(attacked: Attacked, columns: Sequence[str], size: int) -> Risk:
    reading = attacked.reading
    guesses = predicates(reading.release, columns, size, attacked.most,
                         attacked.rng("singling out", str(size)))
    hits = int((matches(guesses, reading.original) == 1).sum())
    control = None
    if reading.control is not None:
        control = round(expected_single(matches(guesses, reading.control),
                                        reading.original.rows / reading.control.rows))
    # A lone success is no pattern: few predicates count as fifty attempts.
    attempts = max(len(guesses), FEWEST)
    return Risk(SINGLED, EVERYBODY, "predicates", _known(size), hits, attempts,
                _blind(attacked, columns, size), control, attempts)


def _known(size: int) -> str:
    return "only the release, one column" if size == 1 else f"only the release, {size} columns"


def _blind(attacked: Attacked, columns: Sequence[str], size: int) -> float:
    """Return how often predicates single out that are made without the release.

    They come from similar people where there are some, else from values drawn column by column.
    """
    reading, rng = attacked.reading, attacked.rng("blind", str(size))
    if reading.control is not None:
        guesses = predicates(reading.control, columns, size, attacked.most, rng)
    else:
        shuffled = People({n: reading.release.columns[n].take(rng.permutation(reading.release.rows))
                           for n in columns}, reading.release.rows)
        guesses = predicates(shuffled, columns, size, attacked.most, rng)
    return float((matches(guesses, reading.original) == 1).sum()) / max(len(guesses), FEWEST)


def predicates(people: People, columns: Sequence[str], size: int, wanted: int,
               rng: np.random.Generator) -> list[Predicate]:
    """Return different predicates that fit exactly one of some records."""
    if size == 1:
        single = [(term,) for name in columns for term in alone(name, people.columns[name])]
        return [single[i] for i in rng.permutation(len(single))[:wanted].tolist()]
    middles = {n: _middle(people.columns[n]) for n in columns}
    chosen: dict[Predicate, None] = {}
    left = int(np.clip(WORK // (people.rows * size), 2 * wanted, TRIES * wanted))
    while left > 0 and len(chosen) < wanted:
        tried = _tried(people, columns, size, middles, min(left, 500), rng)
        unique = matches(tried, people) == 1
        chosen |= dict.fromkeys(one for one, fits in zip(tried, unique, strict=True) if fits)
        left -= len(tried)
    return list(chosen)[:wanted]


def alone(name: str, column: Values) -> list[Term]:
    """Return conditions on one column that fit one record: its ends, and values that occur once."""
    if isinstance(column, Labels):
        counts = np.bincount(column.codes[column.codes >= 0])
        return [Term(name, code) for code in np.flatnonzero(counts == 1).tolist()]
    if not column.plain:
        return []
    values, counts = np.unique(column.low[np.isfinite(column.low)], return_counts=True)
    terms = [Term(name, 0, value, value) for value in values[counts == 1].tolist()]
    if values.size and counts[0] == 1:
        terms.append(Term(name, 0, -np.inf, float(values[0])))
    if values.size and counts[-1] == 1:
        terms.append(Term(name, 0, float(values[-1]), np.inf))
    return terms


def _middle(column: Values) -> float:
    return 0.0 if isinstance(column, Labels) else float(np.nanmedian(column.middle)) \
        if np.isfinite(column.middle).any() else 0.0


def _tried(people: People, columns: Sequence[str], size: int, middles: dict[str, float],
           count: int, rng: np.random.Generator) -> list[Predicate]:
    """Return predicates made from random columns of random records."""
    rows = rng.integers(people.rows, size=count).tolist()
    chosen = np.sort(rng.random((count, len(columns))).argsort(axis=1)[:, :size]).tolist()
    terms = [[_term(columns[at], people.columns[columns[at]], row, middles) for at in some]
             for row, some in zip(rows, chosen, strict=True)]
    return [tuple(term for term in some if term is not None) for some in terms]


def _term(name: str, column: Values, row: int, middles: dict[str, float]) -> Term | None:
    if isinstance(column, Labels):
        return Term(name, int(column.codes[row]))
    low, high = float(column.low[row]), float(column.high[row])
    if np.isnan(low):
        return None
    if isinstance(column, Numbers) and not column.plain:
        return Term(name, 0, low, high)
    return Term(name, 0, low, np.inf) if low > middles[name] else Term(name, 0, -np.inf, low)


def matches(guesses: Sequence[Predicate], people: People) -> Ints:
    """Return how many people fit each predicate; an empty one fits nobody."""
    out = np.zeros(len(guesses), np.int64)
    for at, predicate in enumerate(guesses):
        if predicate:
            fits = predicate[0].fits(people)
            for term in predicate[1:]:
                fits = fits & term.fits(people)
            out[at] = int(np.count_nonzero(fits))
    return out


def expected_single(counts: Ints, factor: float) -> float:
    """Return how many predicates are expected to fit one of `factor` times as many people."""
    if counts.size == 0 or abs(factor - 1.0) < 0.01:
        return float((counts == 1).sum())
    mean, spread = float(counts.mean()), float(counts.var())
    if mean == 0:
        return 0.0
    rate = mean / max(spread - mean, 1e-3 * mean)
    shape = mean * rate + counts.astype(np.float64)
    stays = (rate + 1) / (rate + 1 + factor)
    return float((shape * (1 - stays) * stays**shape).sum())
