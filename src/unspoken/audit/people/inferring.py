"""Inferring: what a release tells about one column of a person of whom others are known.

Three adversaries at two levels. "nearest record" takes what the nearest released records say, the
commonest category or the middle number. "learner" is trained on the released records. Either knows
the known columns, or everything but the secret; "few columns" (`few_columns`) finds out by which of
them people are found. Without the release the best guess is the commonest
category or the fullest stretch of numbers, and what a learner trained on outsiders says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.auxiliary_learner import learned
from unspoken.audit.people.comparable import Labels, Numbers, People, Values
from unspoken.audit.people.facts import Attacked, right
from unspoken.audit.people.few_columns import few_columns
from unspoken.audit.people.nearest import Nearest, blocks, distances, find_nearest, nearest_of
from unspoken.disclosure.people_risk import INFERRED, Risk

OTHERS = "all other columns"


def inferring(attacked: Attacked) -> list[Risk]:
    """Return the risk of every secret against both adversaries at both levels."""
    blind = {name: blind_guess(attacked, name) for name in attacked.secrets}
    risks = [*_by_facts(attacked, blind), *_by_others(attacked, blind)]
    guesses = {name: in_terms(attacked, name) for name in attacked.secrets}
    return [*risks, *_by_learner(attacked, blind), *few_columns(attacked, guesses, blind)]


def reach_of(attacked: Attacked, name: str) -> float:
    """Return how far off a guessed number may be."""
    return attacked.radius * attacked.reading.scales[name].width


def blind_guess(attacked: Attacked, name: str) -> float:
    """Return how often the best single guess is right without the release."""
    column = attacked.reading.original.columns[name]
    if isinstance(column, Labels):
        return float(np.bincount(column.codes + 1).max() / max(column.codes.size, 1))
    values = np.sort(column.middle[np.isfinite(column.middle)])
    if not values.size:
        return 1.0
    after = np.searchsorted(values, values + 2 * reach_of(attacked, name), side="right")
    return float((after - np.arange(values.size)).max() / column.middle.size)


def _by_facts(attacked: Attacked, blind: dict[str, float]) -> Iterator[Risk]:
    """Yield what the known columns tell; a known column is inferred from the other known ones."""
    if not attacked.known:
        return
    label = f"{len(attacked.known)} facts"
    groups = {}
    for key, group in attacked.groups.items():
        rows = attacked.drawn(group, len(attacked.known), f"facts {key}")
        groups[key] = (group, rows)
    outside = [n for n in attacked.secrets if n not in attacked.known]
    hits = {key: _hits(attacked, group, rows, attacked.known, outside)
            for key, (group, rows) in groups.items()} if outside else {}
    for name in outside:
        yield _risk("nearest record", label, name, blind[name],
                    {key: found[name] for key, found in hits.items()})


def _hits(attacked: Attacked, group: People, rows: Ints, known: Sequence[str],
          secrets: Sequence[str]) -> dict[str, tuple[int, int]]:
    found = find_nearest(attacked.reading, group, rows, known, attacked.rng("inferring"))
    return {name: (_score(attacked, group, rows, name, found), rows.size) for name in secrets}


def _score(attacked: Attacked, group: People, rows: Ints, name: str, found: Nearest) -> int:
    guess = said(in_terms(attacked, name), found.records)
    truth = group.columns[name].take(rows)
    return int(right(guess, truth, reach_of(attacked, name)).sum())


def in_terms(attacked: Attacked, name: str) -> Values:
    """Return a released column as guesses: a group of labels becomes its commonest category."""
    column, agree = attacked.reading.release.columns[name], attacked.reading.scales[name].agree
    if agree is None or isinstance(column, Numbers):
        return column
    original = attacked.reading.original.columns[name]
    assert isinstance(original, Labels)
    reads = attacked.reading.scales[name].reads
    if reads is not None:
        return Labels(np.r_[reads, -1][column.codes], original.names)
    counts = np.bincount(original.codes[original.codes >= 0], minlength=agree.shape[0])
    best = np.where(agree.any(axis=0), (agree * (counts[:, None] + 1)).argmax(axis=0), -2)
    return Labels(np.r_[best, -1][column.codes], original.names)


def said(column: Values, records: Sequence[Ints]) -> Values:
    """Return what sets of records say of one column: the commonest label, the middle number."""
    if isinstance(column, Labels):
        codes = [np.bincount(column.codes[some] + 2).argmax() - 2 for some in records]
        return Labels(np.array(codes, np.int64), column.names)
    middle = np.array([_median(column.middle[some]) for some in records], np.float64)
    return Numbers(middle, middle)


def _median(values: Floats) -> float:
    held = values[~np.isnan(values)]
    return float(np.sort(held)[held.size // 2]) if held.size else float("nan")


def _by_others(attacked: Attacked, blind: dict[str, float]) -> Iterator[Risk]:
    """Yield what all other columns tell of each: distances once, less those of the secret."""
    names = attacked.reading.names
    if len(names) < 2:
        return
    counts = {key: _hits_of_others(attacked, group, key)
              for key, group in attacked.groups.items()}
    for name in attacked.secrets:
        yield _risk("nearest record", OTHERS, name, blind[name],
                    {key: found[name] for key, found in counts.items()})


def _hits_of_others(attacked: Attacked, group: People, key: str) -> dict[str, tuple[int, int]]:
    reading = attacked.reading
    passes = len(reading.names) + 4 * len(attacked.secrets)
    rows, rng = attacked.drawn(group, passes, f"others {key}"), attacked.rng("others", key)
    hits = dict.fromkeys(attacked.secrets, 0)
    for block in blocks(rows, reading.release.rows):
        total = distances(reading, group, block, reading.names)
        for name in attacked.secrets:
            own = reading.scales[name].apart(group.columns[name], block,
                                             reading.release.columns[name])
            found = Nearest(*_as_tuple(nearest_of(total - own, rng)))
            hits[name] += _score(attacked, group, block, name, found)
    return {name: (count, rows.size) for name, count in hits.items()}


def _as_tuple(parts: tuple[list[Ints], Floats, Ints]) -> tuple[tuple[Ints, ...], Floats, Ints]:
    return tuple(parts[0]), parts[1], parts[2]


def _by_learner(attacked: Attacked, blind: dict[str, float]) -> Iterator[Risk]:
    reading = attacked.reading
    if len(reading.names) < 2:
        return
    rows = {key: attacked.drawn(group, 1, f"learner {key}")
            for key, group in attacked.groups.items()}
    for name in attacked.secrets[:attacked.learned]:
        counts, without = learned(attacked, name, in_terms(attacked, name), rows)
        yield _risk("learner", OTHERS, name, max(blind[name], without), counts)


def _risk(adversary: str, label: str, name: str, blind: float,
          counts: dict[str, tuple[int, int]]) -> Risk:
    control = counts.get("control")
    return Risk(INFERRED, name, adversary, label, *counts["people"], blind,
                *(control if control is not None else (None, 0)))
