"""Sums over few people, tried out: which values of all of them add up to what was disclosed.

The normal approximation of `sums_about_people` blurs what a few possible values determine exactly:
of two people one is found in a released table, and the sum gives the other. Here everybody in a
small set has a probability of every value, the sum of all others is convolved exactly, and people
in several sets hear from each of them (belief propagation). Two sums whose sets differ in few
people count as a sum over these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.value_beliefs import Domain
from unspoken.audit.sums_about_people import Equations

Waves = npt.NDArray[np.complex128]
SMALL = 24
MOST_PAIRS = 300
"""Sums of which every two are compared."""
GRID = 1024
ROUNDS = 4
_FLOOR = 1e-9
_BLUR = 0.05


@dataclass(frozen=True)
class _Sum:
    """A sum over few people in steps: who they are, the place of every value, total and noise."""

    members: Ints
    steps: Ints
    total: float
    deviation: float


def tried_out(system: Equations, domain: Domain, people: Ints, beliefs: Floats) -> Floats | None:
    """Return what is believed of people once small sums are taken in; None if there are none."""
    grids = [_grid(system.functions[f], domain) for f in range(len(system.functions))]
    sums = [one for line in _lines(system, people)
            if (one := _in_steps(system, grids, *line)) is not None]
    if not sums:
        return None
    messages = [np.ones((one.members.size, beliefs.shape[1])) for one in sums]
    whole = beliefs.copy()
    shared = np.bincount(np.concatenate([one.members for one in sums])).max() > 1
    for _ in range(ROUNDS if shared else 1):
        for place, one in enumerate(sums):
            before = whole[one.members] / messages[place]
            before /= before.sum(axis=1, keepdims=True)
            messages[place] = _heard(one, before)
            whole[one.members] = before * messages[place]
            whole[one.members] /= whole[one.members].sum(axis=1, keepdims=True)
    return whole


def _lines(system: Equations, people: Ints) -> Iterator[tuple[int, Ints, float, float]]:
    """Yield (function, members, total, variance) of small sums and of small differences."""
    place = np.full(system.weights.shape[1], -1)
    place[people] = np.arange(people.size)
    plain = [k for k, line in enumerate(system.weights) if set(np.unique(line)) <= {0.0, 1.0}]
    sets = {k: np.flatnonzero(system.weights[k]) for k in plain}
    for k, members in sets.items():
        if 0 < members.size <= SMALL and (place[members] >= 0).all():
            yield (int(system.function[k]), place[members], float(system.totals[k]),
                   float(system.variances[k]))
    yield from _differences(system, plain[:MOST_PAIRS], place)


def _differences(system: Equations, plain: list[int],
                 place: Ints) -> Iterator[tuple[int, Ints, float, float]]:
    """Yield sums over the few people by whom one set is larger than another inside it."""
    sets = system.weights[plain]
    common, sizes = np.rint(sets @ sets.T), sets.sum(axis=1)
    more = sizes[None, :] - sizes[:, None]
    inside = (common == sizes[:, None]) & (more > 0) & (more <= SMALL)
    for small, large in zip(*np.nonzero(inside), strict=True):
        a, b = plain[small], plain[large]
        members = place[np.flatnonzero(sets[large] > sets[small])]
        if system.function[a] == system.function[b] and (members >= 0).all():
            yield (int(system.function[b]), members, float(system.totals[b] - system.totals[a]),
                   float(system.variances[b] + system.variances[a]))


@dataclass(frozen=True)
class _Grid:
    """The values of a function in steps: the least one, the step, every place, what rounding costs.
    """

    low: float
    step: float
    places: Ints
    rounding: float


def _grid(function: Floats, domain: Domain) -> _Grid:
    held = np.arange(function.size) < function.size - 1
    common = held & (domain.prior > 2 * domain.prior.min())
    values = np.unique(function[common if common.any() else held])
    apart = np.diff(values)
    step = float(apart[apart > 1e-9].min()) if (apart > 1e-9).any() else 1.0
    width = float(values[-1] - values[0])
    even = np.allclose((values - values[0]) / step, np.rint((values - values[0]) / step), atol=1e-6)
    if not even or width / step >= GRID:
        step = max(domain.step, width / (GRID - 1)) or 1.0
    exact = (function - values[0]) / step
    places = np.clip(np.rint(exact), 0, GRID - 1).astype(np.int64)
    off = float(np.mean((exact - places)[common] ** 2)) if common.any() else 0.0
    return _Grid(float(values[0]), step, places, off)


def _in_steps(system: Equations, grids: list[_Grid], function: int, members: Ints, total: float,
              variance: float) -> _Sum | None:
    """Return a sum in the steps of its function; None if its noise hides everything."""
    grid, size = grids[function], members.size
    within = system.within[function] / grid.step ** 2 + grid.rounding
    deviation = float(np.sqrt(variance / grid.step ** 2 + size * within + _BLUR))
    if deviation > size * (int(grid.places.max()) + 1):
        return None
    return _Sum(members, grid.places, (total - size * grid.low) / grid.step, deviation)


def _heard(one: _Sum, beliefs: Floats) -> Floats:
    """Return how likely each value of every member is, by the total and what is believed of others.
    """
    size = int(one.steps.max()) + 1
    held = beliefs[:, :-1]
    shares: Floats = np.stack([np.bincount(one.steps[:-1], row, size) for row in held]) \
        .astype(np.float64)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    length = 1 << int(np.ceil(np.log2(one.members.size * size + 14 * one.deviation + 2)))
    waves = np.fft.rfft(shares, length, axis=1)
    angle = 2 * np.pi * np.arange(waves.shape[1]) / length
    blur = np.exp(-0.5 * (angle * one.deviation) ** 2)
    others = np.fft.irfft(_without_each(waves) * blur, length, axis=1)
    wanted = one.total - one.steps
    reach = (wanted >= -7 * one.deviation) & \
        (wanted <= one.members.size * size + 7 * one.deviation)
    below = np.floor(wanted).astype(np.int64)
    rest = wanted - below
    likely = (1 - rest) * others[:, below % length] + rest * others[:, (below + 1) % length]
    likely = np.where(reach, np.maximum(likely, 0.0), 0.0)
    return np.asarray(likely / np.maximum(likely.max(axis=1, keepdims=True), 1e-300) + _FLOOR)


def _without_each(waves: Waves) -> Waves:
    """Return for every row the product of all others."""
    ahead, behind = np.ones_like(waves), np.ones_like(waves)
    for i in range(1, len(waves)):
        ahead[i] = ahead[i - 1] * waves[i - 1]
        behind[-i - 1] = behind[-i] * waves[-i]
    return np.asarray(ahead * behind)
