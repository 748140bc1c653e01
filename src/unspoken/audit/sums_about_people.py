"""Disclosed sums as equations about one column of people, and what they say of each person.

A sum adds up a function of the column's value (the value itself, or whether it meets a condition)
over people whom everybody may know. Whoever believes something about everybody's value (nothing
but what is common, or what a released table says) expects a total; how far the disclosed one is
off, and how uncertain the others in the set are, says how likely each value of one person is. Over
all sums at once this is one linear system (a normal approximation of everybody else's part), so
that two sums whose sets differ in one person pin that person down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import Numbers
from unspoken.audit.people.value_beliefs import Domain
from unspoken.errors import UnspokenError
from unspoken.methods.queries.disclosed_sums import DisclosedSum
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.predicates import All, Predicate

MOST_SUMS = 2000
CELLS = 40_000_000
"""Sums times people that are held at once; the largest sets are left out beyond."""
MOST_FUNCTIONS = 12
_NEARLY = 1 - 1e-9


@dataclass(frozen=True)
class Equations:
    """Sums about one column: whose values they add up, with which weight and by which function.

    `functions` holds (functions, values of the domain), `within` how much a function still varies
    among people with the same place in the domain.
    """

    weights: Floats
    function: Ints
    functions: Floats
    within: Floats
    totals: Floats
    variances: Floats
    left_out: int

    def moments(self, beliefs: Floats) -> tuple[Floats, Floats]:
        """Return mean and covariance of all functions under beliefs (people, values)."""
        means = beliefs @ self.functions.T
        spread = np.einsum("pv,fv,gv->pfg", beliefs, self.functions, self.functions,
                           optimize=True)
        return means, spread - means[:, :, None] * means[:, None, :]


def equations(rows: Rows, sums: Sequence[DisclosedSum], column: str,
              domain: Domain) -> Equations | None:
    """Return the sums that tell about a column; None if none does."""
    lines = [(one, split) for one in sums if column in one.touches
             and (split := _split(one, column)) is not None]
    left_out = sum(column in one.touches for one in sums) - len(lines)
    names = list(dict.fromkeys(_function_of(one, own, column) for one, (own, _) in lines))
    lines = [line for line in lines
             if names.index(_function_of(line[0], line[1][0], column)) < MOST_FUNCTIONS]
    weighed = [(_weights(rows, one, others, column), one, own) for one, (own, others) in lines]
    weighed.sort(key=lambda line: np.count_nonzero(line[0]))
    kept = weighed[:max(1, min(MOST_SUMS, CELLS // max(rows.count, 1)))]
    left_out += len(weighed) - len(kept)
    if not kept:
        return None
    return _assembled(rows, kept, column, domain, left_out)


def _assembled(rows: Rows, kept: list[tuple[Floats, DisclosedSum, tuple[Predicate, ...]]],
               column: str, domain: Domain, left_out: int) -> Equations:
    names = list(dict.fromkeys(_function_of(one, own, column) for _, one, own in kept))
    first = {name: next((one, own) for _, one, own in kept
                        if _function_of(one, own, column) == name) for name in names}
    place = domain.known(np.arange(rows.count))
    tables, within = [], []
    for one, own in first.values():
        shown = _shown(rows, one, own, column)
        tables.append(_by_place(shown, place, domain))
        within.append(float(np.mean((shown - tables[-1][place]) ** 2)))
    return Equations(np.stack([weights for weights, _, _ in kept]),
                     np.array([names.index(_function_of(one, own, column))
                               for _, one, own in kept]),
                     np.stack(tables), np.array(within),
                     np.array([one.total for _, one, _ in kept]),
                     np.array([one.deviation ** 2 for _, one, _ in kept]), left_out)


def _by_place(shown: Floats, place: Ints, domain: Domain) -> Floats:
    """Return the function of every place of the domain; of places that nobody has, in between."""
    size = domain.prior.size
    often = np.bincount(place, minlength=size)
    table = np.bincount(place, shown, size) / np.maximum(often, 1)
    there = np.flatnonzero(often[:size - 1])
    if isinstance(domain.truth, Numbers) and there.size:
        table[:size - 1] = np.interp(np.arange(size - 1), there, table[there])
    return np.asarray(table)


def _split(one: DisclosedSum, column: str) -> \
        tuple[tuple[Predicate, ...], tuple[Predicate, ...]] | None:
    """Return the conditions on the column itself and the others; None where one mixes both."""
    own = tuple(part for part in one.where if part.columns == {column})
    others = tuple(part for part in one.where if column not in part.columns)
    return (own, others) if len(own) + len(others) == len(one.where) else None


def _function_of(one: DisclosedSum, own: tuple[Predicate, ...], column: str) -> tuple[object, ...]:
    """Return what two sums share that add up the same function of the column."""
    mine = (one.power, one.centre, one.bounds) if one.column == column else ()
    return (*mine, *sorted(map(str, own)))


def _shown(rows: Rows, one: DisclosedSum, own: tuple[Predicate, ...], column: str) -> Floats:
    """Return the function of everybody's value."""
    meets = rows.meet(All(own) if own else None).astype(np.float64)
    return meets * _values(rows, one) if one.column == column else meets


def _weights(rows: Rows, one: DisclosedSum, others: tuple[Predicate, ...], column: str) -> Floats:
    """Return what everybody's function is multiplied with: 0 for whom the sum is not about."""
    inside = rows.meet(All(others) if others else None).astype(np.float64)
    known = inside * _values(rows, one) if one.column not in (None, column) else inside
    return np.asarray(known, np.float32)


def _values(rows: Rows, one: DisclosedSum) -> Floats:
    """Return the summed values of everybody, 0 where there is none."""
    values, present = rows.values(str(one.column))
    held = values if one.bounds is None else np.clip(values, *one.bounds)
    return np.asarray(np.where(present, (held - one.centre) ** one.power, 0.0))


def usable(rows: Rows, sums: Sequence[DisclosedSum]) -> list[DisclosedSum]:
    """Return the sums that can be laid on this table: its columns may have changed since."""
    out = []
    for one in sums:
        try:
            rows.meet(All(one.where) if one.where else None)
            if one.column is not None:
                rows.values(one.column)
        except (UnspokenError, KeyError):
            continue
        out.append(one)
    return out


def told_most(system: Equations, domain: Domain, most: int, rng: np.random.Generator) -> Ints:
    """Return the people about whom the sums say most, before anything else is known."""
    inverse, cover = _inverted(system, *_everybody(system, domain))
    gain = np.zeros(system.weights.shape[1])
    for f in range(len(system.functions)):
        for g in range(len(system.functions)):
            rows, others = system.function == f, system.function == g
            part = inverse[np.ix_(rows, others)] @ system.weights[others]
            gain += cover[f, g] * (system.weights[rows] * part).sum(axis=0)
    people = np.flatnonzero(system.weights.any(axis=0))
    order = people[np.lexsort((rng.random(people.size), -np.round(gain[people], 6)))]
    return order[:most]


def _everybody(system: Equations, domain: Domain) -> tuple[Floats, Floats]:
    """Return the covariance of all totals where nothing is known of anybody, and of one person."""
    _, cover = system.moments(domain.prior[None])
    same = system.weights @ system.weights.T
    with_rest = cover[0] + np.diag(system.within)
    return same * with_rest[np.ix_(system.function, system.function)], cover[0]


def _inverted(system: Equations, covariance: Floats, cover: Floats) -> tuple[Floats, Floats]:
    noisy = covariance + np.diag(system.variances)
    scale = np.sqrt(np.maximum(np.diag(noisy), 1e-300))
    whole = noisy / np.outer(scale, scale) + 1e-8 * np.eye(scale.size)
    return np.linalg.inv(whole) / np.outer(scale, scale), cover


def likelihoods(system: Equations, domain: Domain, people: Ints, beliefs: Floats) -> Floats:
    """Return (people, values): how well each value of one person fits all sums.

    `beliefs` are about these people; of everybody else only what is common is known.
    """
    whole, cover = _everybody(system, domain)
    weights, function = system.weights[:, people].astype(np.float64), system.function
    means, own = system.moments(beliefs)
    usual = system.moments(domain.prior[None])[0][0]
    expected = usual[function] * system.weights.sum(axis=1, dtype=np.float64)
    expected += (weights * (means.T[function] - usual[function][:, None])).sum(axis=1)
    inverse, _ = _inverted(system, whole + _changed(weights, function, own - cover), cover)
    pulled = inverse @ (system.totals - expected)
    return _fits(system, weights, inverse, pulled, means, own)


def _changed(weights: Floats, function: Ints, differences: Floats) -> Floats:
    """Return by how much totals vary more or less, as people are known better or worse."""
    out = np.zeros((function.size, function.size))
    for f in np.unique(function):
        for g in np.unique(function):
            rows, others = np.flatnonzero(function == f), np.flatnonzero(function == g)
            out[np.ix_(rows, others)] = (weights[rows] * differences[:, f, g]) @ weights[others].T
    return out


def _fits(system: Equations, weights: Floats, inverse: Floats, pulled: Floats, means: Floats,
          own: Floats) -> Floats:
    """Return the likelihood of every value, with the person's own part taken out of the totals."""
    size = len(system.functions)
    pull: Floats = np.zeros((weights.shape[1], size))
    grip: Floats = np.zeros((weights.shape[1], size, size))
    for f in range(size):
        rows = system.function == f
        pull[:, f] = pulled[rows] @ weights[rows]
        for g in range(size):
            others = system.function == g
            grip[:, f, g] = (weights[rows] * (inverse[np.ix_(rows, others)] @ weights[others])
                             ).sum(axis=0)
    eye = np.eye(size)
    held = _NEARLY * own
    pull = np.asarray(np.linalg.solve(eye - grip @ held, pull[:, :, None])[:, :, 0])
    grip = np.asarray(grip @ np.linalg.inv(eye - held @ grip))
    off = system.functions.T[None] - means[:, None, :]
    logs = np.einsum("pvf,pf->pv", off, pull) - 0.5 * np.einsum("pvf,pfg,pvg->pv", off, grip, off,
                                                                optimize=True)
    return np.asarray(np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), -60.0)))
