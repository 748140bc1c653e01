"""Whether values were distorted by the published law: neither less, nor more, nor others'."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.promise_checks import (
    missing,
    numbers,
    off,
    passes,
    same_missing,
    wrong,
)
from unspoken.methods.distortion.discretize import class_of
from unspoken.methods.distortion.known_laws import Additive, Answers, Classes, Product, law_of
from unspoken.methods.distortion.random_factors import LOGNORMAL
from unspoken.methods.distortion.reconstruct.reports import choices_of
from unspoken.release.key import Key
from unspoken.release.record_key import taken
from unspoken.release.release import Release
from unspoken.table.table import Table

FEW = 5
_LESS = "the value was hardly changed, less than the law says,"
_OTHER = "the report does not fit the own value under the published law"


def broken_law(table: Table, release: Release, key: Key, rows: Ints) -> Iterator[str]:
    """Yield what is not as the published laws say."""
    own = taken(table, rows)
    laws = release.mechanism.get("columns", {})
    yield from passes(own, release.table, [n for n in release.schema.names if n not in laws])
    for name in laws:
        if name in own.schema.names and name in release.schema.names:
            yield from _column(name, own.arrow([name])[name],
                               release.table.arrow([name])[name], release)


def _column(name: str, own: Any, shown: Any, release: Release) -> Iterator[str]:
    choices = choices_of(release, name)
    drawn = np.ones(len(own), np.bool_) if choices is None else \
        np.asarray(choices, dtype=object) == "distort"
    if choices is None:
        yield from same_missing(name, own, shown)
    law = law_of(release.mechanism, name)
    who = drawn & ~missing(own) & ~missing(shown)
    if who.sum() < FEW:
        return
    if isinstance(law, Answers):
        yield from _answers(name, law, own, shown, who)
        return
    true, told = numbers(own)[who], numbers(shown)[who]
    if isinstance(law, Additive):
        yield from _noise(name, law, true, told)
    elif isinstance(law, Product):
        yield from _factors(name, law, true, told)
    elif isinstance(law, Classes):
        same = class_of(true, law.cuts) == told
        if not same.all():
            yield wrong(1 - same.mean(), name, "the released class is not that of the own value")


def _noise(name: str, law: Additive, true: Floats, told: Floats) -> Iterator[str]:
    clamped = true if law.low is None or law.high is None else np.clip(true, law.low, law.high)
    ratio = float(np.sqrt(np.mean((told - clamped) ** 2)) / law.noise.deviation)
    yield from _spread(name, ratio, true.size)


def _spread(name: str, ratio: float, count: int) -> Iterator[str]:
    """Compare a deviation with the law's; of Laplace noise it varies most, by sqrt(5 / 4 n)."""
    slack = max(0.1, 6 * math.sqrt(1.25 / count))
    if ratio < max(0.05, 1 - slack):
        yield wrong(1.0, name, _LESS)
    elif ratio > 1 + slack:
        yield wrong(1.0, name, _OTHER)


def _factors(name: str, law: Product, true: Floats, told: Floats) -> Iterator[str]:
    known = np.clip(true, law.low, law.high)
    known, told = known[known != 0], told[known != 0]
    if known.size < FEW:
        return
    factor = told / known
    if law.form == LOGNORMAL:
        with np.errstate(invalid="ignore"):
            ratio = float(np.sqrt(np.mean(np.log(np.maximum(factor, 1e-300)) ** 2)) / law.deviation)
    else:
        tail = math.exp(-law.cut**2 / 2) * math.sqrt(2 / math.pi) * law.cut
        inside = math.erf(law.cut / math.sqrt(2))
        ratio = float(np.sqrt(np.mean((factor - 1) ** 2))
                      / (law.deviation * math.sqrt(1 - tail / inside)))
    yield from _spread(name, ratio, known.size)


def _answers(name: str, law: Answers, own: Any, shown: Any, who: Any) -> Iterator[str]:
    place = {value: index for index, value in enumerate(law.values)}
    pairs = [(place.get(a, -1), place.get(b, -1)) for a, b, asked
             in zip(own.to_pylist(), shown.to_pylist(), who.tolist(), strict=True) if asked]
    both = np.array([pair for pair in pairs if pair[0] >= 0], np.int64).reshape(-1, 2)
    if both.shape[0] < FEW:
        return
    share = float((both[:, 0] == both[:, 1]).mean())
    expected = float(np.diag(law.matrix)[both[:, 0]].mean())
    if off(share, expected, both.shape[0]):
        yield wrong(share, name, _LESS if share > expected else _OTHER)
