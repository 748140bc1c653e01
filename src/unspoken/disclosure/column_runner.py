"""Running adversaries: column by column, level by level, in blocks of trials.

Work is done on distinct codes, never on rows (but for subspaces, which are about rows). Every
draw has a stream of its own, named after its purpose, so that leaving out one adversary does not
change the numbers of another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.ground_truth import Truth
from unspoken.disclosure.knowledge import Knowledge
from unspoken.disclosure.knowledge_levels import Grant, Setting, grant, levels
from unspoken.disclosure.measures import (
    blind_recovered,
    blind_shares,
    both_shares,
    estimate,
    is_recovered,
    off_by,
)

Step = Callable[[], None]

BLOCK = 1 << 16
"""Guesses held at once, about as many as a cache holds."""
WORKERS = min(4, os.cpu_count() or 1)
"""Columns that are attacked at once; every draw has a stream of its own, so none sees another."""


@dataclass(frozen=True)
class Case:
    """One level of knowledge and the adversaries who work with it."""

    label: str
    parts: Mapping[str, Grant]
    adversaries: tuple[Adversary, ...]


def cases(adversaries: Sequence[Adversary], setting: Setting) -> list[Case]:
    """Group adversaries by what they need, so that all of a level know the same."""
    listed: list[Case] = []
    for needs in dict.fromkeys(one.needs for one in adversaries):
        group = tuple(one for one in adversaries if one.needs == needs)
        listed += [Case(label, parts, group) for label, parts in levels(needs, setting)]
    return listed


def column_rows(view: View, truth: Truth, case: Case, setting: Setting) -> Iterator[Row]:
    """Yield the rows of one column at one level."""
    setting = setting.bounded(truth.where.size)
    knowledge = grant(case.label, case.parts, truth, view[truth.released], setting)
    blind = knowledge.blind(setting.rng("blind", truth.name, case.label))
    baseline = dict(_measures(lambda radius: blind_shares(blind, truth, radius), knowledge.radius))
    for name, attacked in attack(view, truth, case.adversaries, knowledge, setting).items():
        for measure, shares in attacked.items():
            base = baseline[measure] if measure in baseline else baseline["domain"]
            share = estimate(shares)
            yield Row(name, case.label, truth.name, measure, share.value, share.low,
                      share.high, base, share.trials)


def attack(view: View, truth: Truth, adversaries: Sequence[Adversary], knowledge: Knowledge,
           setting: Setting) -> dict[str, dict[str, Floats]]:
    """Return for every measure of each adversary one share a trial.

    All work on one block of trials before the next: what several need is made once.
    """
    rngs = {one.name: setting.rng("guess", one.name, truth.name, knowledge.label)
            for one in adversaries}
    parts: dict[str, list[dict[str, Floats]]] = {one.name: [] for one in adversaries}
    for rows in _blocks(knowledge.trials, truth.where.size):
        some = knowledge.only(rows)
        for one in adversaries:
            if not _drawn_once(parts[one.name]):
                parts[one.name].append(_block(view, truth, one, some, rngs[one.name]))
    return {name: {measure: np.concatenate([part[measure] for part in some])
                   for measure in some[0]} for name, some in parts.items()}


def _drawn_once(parts: Sequence[Mapping[str, Floats]]) -> bool:
    """Return True if the first block, of two trials or more, has one share: nothing is drawn."""
    return bool(parts) and parts[0]["domain"].size == 1


def _blocks(trials: int, size: int) -> list[slice]:
    step = max(2, BLOCK // max(size, 1))
    return [slice(start, start + step) for start in range(0, trials, step)]


def _block(view: View, truth: Truth, adversary: Adversary, knowledge: Knowledge,
           rng: np.random.Generator) -> dict[str, Floats]:
    guesses = adversary.guess(view, truth.released, knowledge, rng)
    off = off_by(guesses, truth)
    recovered = _measures(lambda radius: both_shares(off <= radius, truth), knowledge.radius,
                          "exact" in adversary.measures)
    out = {measure: shares for measure, shares in recovered if measure in adversary.measures}
    return out | adversary.further_shares(view, truth, knowledge, rng)


def _measures(shares: Callable[[float], tuple[Any, Any]], radius: float,
              exact: bool = True) -> Iterator[tuple[str, Any]]:
    """Yield the measures within the radius and, where wanted, of exact hits."""
    yield from zip(("domain", "records"), shares(radius), strict=True)
    if exact:
        yield from zip(("exact", "exact records"), shares(0.0), strict=True)


def recovered_by_column(view: View, truths: Mapping[str, Truth], adversary: Adversary, case: Case,
                        setting: Setting) -> dict[str, Bools]:
    """Return which values of every column one adversary recovers: (trials, pairs)."""
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = pool.map(lambda truth: _recovered(view, truth, adversary, case, setting),
                         truths.values())
        return dict(zip(truths, parts, strict=True))


def _recovered(view: View, truth: Truth, adversary: Adversary, case: Case,
               setting: Setting) -> Bools:
    knowledge = grant(case.label, case.parts, truth, view[truth.released], setting)
    rng = setting.rng("guess", adversary.name, truth.name, case.label)
    parts: list[Bools] = []
    for rows in _blocks(knowledge.trials, truth.where.size):
        guesses = adversary.guess(view, truth.released, knowledge.only(rows), rng)
        parts.append(is_recovered(guesses, truth, knowledge.radius))
        if parts[0].shape[0] == 1:
            return parts[0]
    return np.concatenate(parts)


def all_blind(view: View, truths: Mapping[str, Truth], case: Case, setting: Setting,
              trials: int) -> dict[str, Bools]:
    """Return what the same knowledge recovers without the release, for a few trials."""
    out = {}
    for name, truth in truths.items():
        knowledge = grant(case.label, case.parts, truth, view[truth.released], setting)
        blind = knowledge.blind(setting.rng("blind", name, case.label))[:trials]
        out[name] = blind_recovered(blind, truth, knowledge.radius)
    return out
