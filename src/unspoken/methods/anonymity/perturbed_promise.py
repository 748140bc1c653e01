"""Whether values were replaced as a release says: by group means, within groups, by a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Ints
from unspoken.disclosure.promise_checks import (
    SIGMAS,
    equal,
    missing,
    numbers,
    passes,
    same_missing,
    wrong,
)
from unspoken.methods.anonymity.adversaries.table_adversary import TableView
from unspoken.methods.anonymity.method import (
    ANATOMY,
    CONDENSATION,
    ISOLATION_GUARD,
    MICROAGGREGATION,
    POST_RANDOMIZATION,
)
from unspoken.methods.anonymity.perturbing.isolation_guard import filled, isolating, spreads
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import coded
from unspoken.table.table import Table


def broken_means(own: Table, view: TableView, release: Release) -> Iterator[str]:
    """Yield that a released value is not the mean, or the commonest category, of its group."""
    together = release.mechanism["groups"] != "univariate"
    for name in view.quasi:
        true, shown = own.arrow([name])[name], release.table.arrow([name])[name]
        if not together:
            yield from _broken_runs(name, true, shown, int(release.mechanism["k"]))
            continue
        owner = view.owner
        number = release.mechanism["columns"][name]["form"] == "mean"
        k = int(release.mechanism["k"])
        away = _no_mean(true, shown, owner) if number else _not_commonest(true, shown, owner, k)
        differs = away & ~_too_few(true, shown, owner, k)
        differs |= _from_few(true, shown, owner, k)
        if differs.any():
            yield wrong(differs.mean(), name, "the value is not that of its group")


def _too_few(true: Any, shown: Any, owner: Ints, k: int) -> Bools:
    """Return where a value may be missing: fewer than k of a group of the class have one."""
    known = np.bincount(owner, ~missing(true))
    lacking = (known < k) | (known < np.bincount(owner))
    return np.asarray(lacking[owner] & missing(shown))


def _from_few(true: Any, shown: Any, owner: Ints, k: int) -> Bools:
    """Return where a value is published although fewer than k of its class have one."""
    return np.asarray((np.bincount(owner, ~missing(true)) < k)[owner] & ~missing(shown))


def _broken_runs(name: str, true: Any, shown: Any, k: int) -> Iterator[str]:
    """Yield that a column grouped on its own has small groups, other means or other gaps."""
    if np.count_nonzero(~missing(true)) >= k:
        yield from same_missing(name, true, shown)
    elif not missing(shown).all():
        yield wrong(1.0, name, f"fewer than k = {k} values are known, and some are released")
    values = coded(shown)
    known = values.codes != values.missing
    if known.any() and np.bincount(values.codes[known]).min() < k:
        yield wrong(1.0, name, f"fewer than k = {k} share a mean")
    differs = _no_mean(true, shown, values.codes) & known
    if differs.any():
        yield wrong(differs.mean(), name, "the value is not that of its group")


def _no_mean(true: Any, shown: Any, owner: Ints) -> Bools:
    """Return where a number is not the mean of the group's, or is missing although one is known."""
    values, known = numbers(true), ~missing(true)
    size = np.bincount(owner, known)
    means = np.bincount(owner, np.where(known, values, 0.0)) / np.maximum(size, 1)
    apart = np.abs(numbers(shown) - means[owner])
    room = 0.5 if pa.types.is_temporal(shown.type) else 0.0
    away = ~(apart <= room + 1e-9 * (1 + np.abs(means[owner])))
    return np.asarray(np.where(size[owner] == 0, ~missing(shown), away))


def _not_commonest(true: Any, shown: Any, owner: Ints, k: int) -> Bools:
    """Return where a category is rarer in its group than another one that k people hold."""
    values, taken = coded(true), coded(shown)
    places = {str(value): at for at, value in enumerate(values.values())}
    at = np.array([*(places.get(str(v), -1) for v in taken.values()), values.missing])[taken.codes]
    counts = np.zeros((int(owner.max()) + 1, values.missing + 1), np.int64)
    np.add.at(counts, (owner, values.codes), 1)
    counts[:, -1] = 0
    counts[:, counts.sum(axis=0) < k] = 0
    most, gone = counts.max(axis=1)[owner], at == values.missing
    away = (at < 0) | (counts[owner, at] < most)
    return np.asarray(away | (gone & (most > 0)) | (~gone & (most == 0)))


def broken_groups(own: Table, view: TableView, release: Release) -> Iterator[str]:
    """Yield that quasi-identifiers changed, or that sensitive values are not mixed in groups."""
    yield from passes(own, release.table, view.quasi)
    name, least = str(release.guarantee.facts["sensitive"]), int(release.mechanism["l"])
    true, shown = own.arrow([name])[name], release.table.arrow([name])[name]
    group = release.mechanism["group"]
    owner = np.unique(np.asarray(release.table.arrow([group])[group].to_pylist()),
                      return_inverse=True)[1].reshape(-1)
    held, size = _counts(owner, true), np.bincount(owner)
    if _other_values(owner, true, shown):
        yield wrong(1.0, name, "the values of a group are not those of its people")
    common = np.array([max(one) for one in held]) * least > size
    if common.any():
        yield wrong(common[owner].mean(), name, f"one value is more often than 1 in {least} in "
                                                "the group")
    yield from _mixed(name, held, size, equal(true, shown))


def _counts(owner: Ints, column: Any) -> list[list[int]]:
    """Return for every group how often its values occur."""
    codes = coded(column).codes
    pairs, counts = np.unique(np.stack([owner, codes]), axis=1, return_counts=True)
    return [part.tolist() for part in np.split(counts, np.flatnonzero(np.diff(pairs[0])) + 1)]


def _other_values(owner: Ints, true: Any, shown: Any) -> bool:
    """Return True if a group shows other values than its people have."""
    own, shows = (sorted(zip(owner.tolist(), map(str, one.to_pylist()), strict=True))
                  for one in (true, shown))
    return own != shows


def _mixed(name: str, held: list[list[int]], size: Ints, same: Bools) -> Iterator[str]:
    """Yield that more people show their own value than a random order within groups gives."""
    expected = spread = 0.0
    for counts, rows in zip(held, size.tolist(), strict=True):
        squares, cubes = sum(c * c for c in counts), sum(c**3 for c in counts)
        expected += squares / rows
        # The variance of a sum over a random permutation (Hoeffding 1951).
        spread += (squares - 2 * cubes / rows + (squares / rows) ** 2) / max(rows - 1, 1)
    if abs(float(same.sum()) - expected) > SIGMAS * math.sqrt(spread) + 1e-9:
        yield wrong(float(same.mean()), name, "the own value is shown, more or less often than "
                                              "by chance,")


def broken_draws(own: Table, view: TableView, release: Release) -> Iterator[str]:
    """Yield that values were not drawn anew: they stayed, other ones are missing, means moved."""
    for name, about in release.mechanism["columns"].items():
        true, shown = own.arrow([name])[name], release.table.arrow([name])[name]
        left_out = int(about["left_out"])
        if missing(true).sum() + left_out != missing(shown).sum():
            yield wrong(1.0, name, "more or fewer values are missing than the release says")
        if pa.types.is_temporal(true.type):
            continue  # Dates are rounded to days, and meet their own by chance.
        same = equal(true, shown)
        room = SIGMAS * math.sqrt(max(float(about["kept"]), 0.01) / same.size)
        if same.mean() > float(about["kept"]) + room:
            yield wrong(same.mean(), name, "the own value is released, more often than by chance,")
        # Where groups were left out, the mean is that of the others, which nobody here knows.
        if not left_out and is_number(true.type) and is_number(shown.type) and _means_differ(
                true, shown):
            yield wrong(1.0, name, "the mean of the column is not that of the original")


def _means_differ(true: Any, shown: Any) -> bool:
    first, second = numbers(true), numbers(shown)
    if np.isnan(first).all() or np.isnan(second).all():
        return bool(np.isnan(first).all() != np.isnan(second).all())
    apart = abs(float(np.nanmean(first) - np.nanmean(second)))
    return apart > 1e-6 * (1 + abs(float(np.nanmean(first))) + float(np.nanstd(first)))


def broken_matrix(own: Table, view: TableView, release: Release) -> Iterator[str]:
    """Yield that categories were exchanged otherwise than by the published matrix."""
    for name, about in release.mechanism["columns"].items():
        true, shown = own.arrow([name])[name], release.table.arrow([name])[name]
        yield from same_missing(name, true, shown)
        if "matrix" not in about:
            yield from passes(own, release.table, [name])
        else:
            yield from _exchanged(name, true, shown, about)


def _exchanged(name: str, true: Any, shown: Any, about: Mapping[str, Any]) -> Iterator[str]:
    labels = {label: at for at, label in enumerate(about["labels"])}
    before, after = (np.array([labels.get(str(value), -1) for value in column.to_pylist()])
                     for column in (true, shown))
    known = ~(missing(true) | missing(shown))
    if (before[known] < 0).any() or (after[known] < 0).any():
        yield wrong(1.0, name, "a value is not one of the matrix")
        return
    chances, moves = np.asarray(about["matrix"], np.float64), before[known] != after[known]
    expected = 1.0 - float(np.diag(chances)[before[known]].mean()) if moves.size else 0.0
    if _off(int(moves.sum()), expected, moves.size):
        yield wrong(float(moves.mean()), name, f"instead of {100 * expected:.1f}% a value was "
                                               "exchanged")
    for value, row in enumerate(chances):
        mine = after[known][before[known] == value]
        counts = np.bincount(mine, minlength=row.size).tolist()
        if any(_off(*pair, mine.size) for pair in zip(counts, row.tolist(), strict=True)):
            yield wrong(mine.size / known.size, name, "the matrix was not followed")


def _off(count: int, chance: float, rows: int) -> bool:
    """Return True if chance is ruled out; rare values are given more room (Bernstein)."""
    spread = math.sqrt(max(rows * chance * (1 - chance), 0.0))
    return abs(count - rows * chance) > SIGMAS * spread + 2 * SIGMAS


def broken_isolation(own: Table, view: TableView, release: Release) -> Iterator[str]:
    """Yield that a released row, used as a guess, isolates somebody."""
    names, about = list(release.mechanism["columns"]), release.mechanism
    data = np.column_stack([filled(coded(own.arrow([name])[name])) for name in names])
    rows = np.column_stack([numbers(release.table.arrow([name])[name]) for name in names])
    scale = spreads(data)
    alone = isolating(data / scale, rows / scale, float(about["c"]) * (1 + 1e-9), int(about["t"]))
    if alone.any():
        yield wrong(float(alone.mean()), names[0], "the released row isolates somebody")


PERTURBED: dict[str, Callable[[Table, TableView, Release], Iterator[str]]] = {
    MICROAGGREGATION.name: broken_means, ANATOMY.name: broken_groups,
    POST_RANDOMIZATION.name: broken_matrix, CONDENSATION.name: broken_draws,
    ISOLATION_GUARD.name: broken_isolation}
