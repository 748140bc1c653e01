"""Running adversaries: column by column, level by level, in blocks of trials.

Work is done on distinct codes, never on rows (but for subspaces, which are about rows). Every
draw has a stream of its own, named after its purpose, so that leaving out one adversary does not
change the numbers of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
)

Step = Callable[[], None]

BLOCK = 1 << 19
"""Guesses held at once, about as many as a cache holds."""


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
    knowledge = grant(case.label, case.parts, truth, view[truth.released], setting)
    blind = knowledge.blind(setting.rng("blind", truth.name, case.label))
    baseline = dict(_measures(lambda radius: blind_shares(blind, truth, radius), knowledge.radius))
    for adversary in case.adversaries:
        for measure, shares in attack(view, truth, adversary, knowledge, setting).items():
            base = baseline[measure] if measure in baseline else baseline["domain"]
            share = estimate(shares)
            yield Row(adversary.name, case.label, truth.name, measure, share.value, share.low,
                      share.high, base, share.trials)


def attack(view: View, truth: Truth, adversary: Adversary, knowledge: Knowledge,
           setting: Setting) -> dict[str, Floats]:
    """Return for every measure of an adversary one share a trial."""
    rng = setting.rng("guess", adversary.name, truth.name, knowledge.label)
    parts = [_block(view, truth, adversary, knowledge.only(rows), rng)
             for rows in _blocks(knowledge.trials, truth.where.size)]
    parts = parts if parts[0]["domain"].size > 1 or knowledge.trials == 1 else parts[:1]
    return {measure: np.concatenate([part[measure] for part in parts]) for measure in parts[0]}


def _blocks(trials: int, size: int) -> list[slice]:
    step = max(2, BLOCK // max(size, 1))
    return [slice(start, start + step) for start in range(0, trials, step)]


def _block(view: View, truth: Truth, adversary: Adversary, knowledge: Knowledge,
           rng: np.random.Generator) -> dict[str, Floats]:
    guesses = adversary.guess(view, truth.released, knowledge, rng)
    recovered = _measures(lambda radius: both_shares(is_recovered(guesses, truth, radius), truth),
                          knowledge.radius, "exact" in adversary.measures)
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
    out = {}
    for name, truth in truths.items():
        knowledge = grant(case.label, case.parts, truth, view[truth.released], setting)
        rng = setting.rng("guess", adversary.name, name, case.label)
        parts = [is_recovered(adversary.guess(view, truth.released, knowledge.only(rows), rng),
                              truth, knowledge.radius)
                 for rows in _blocks(knowledge.trials, truth.where.size)]
        out[name] = parts[0] if parts[0].shape[0] == 1 else np.concatenate(parts)
    return out


def all_blind(view: View, truths: Mapping[str, Truth], case: Case, setting: Setting,
              trials: int) -> dict[str, Bools]:
    """Return what the same knowledge recovers without the release, for a few trials."""
    out = {}
    for name, truth in truths.items():
        knowledge = grant(case.label, case.parts, truth, view[truth.released], setting)
        blind = knowledge.blind(setting.rng("blind", name, case.label))[:trials]
        out[name] = blind_recovered(blind, truth, knowledge.radius)
    return out
