"""mine.reconstruct: the distribution behind distorted values (as2000 section 3).

What the miner learns is the distribution, not anybody's value; but a distribution that is known
sharpens every single report (`risk.entropy`, `attack.posterior`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.distribution import Categories, Distribution, JointDistribution
from tacit.core.params import OneOf, Rule, Whole, check
from tacit.core.release import Release
from tacit.engines.arrow import to_numbers
from tacit.errors import DataError, InputError, SchemaError, explain
from tacit.mine.laws import Additive, Answers, Law, law_of, marker_of
from tacit.mine.scale import Scale, estimate_scale
from tacit.stats.kernels import KERNELS, tally
from tacit.stats.noise import FAMILIES, Noise
from tacit.stats.reconstruct import (
    MAX_STEPS,
    RULES,
    Found,
    Joint,
    Part,
    checked,
    iterate,
    stacked,
)
from tacit.stats.reconstruct import reconstruct as solve
from tacit.stats.response import by_em, by_inverse

Floats = npt.NDArray[np.float64]

METHODS = ("em", "bayes")
JOINT_BINS = 20
_RULES: Mapping[str, tuple[Rule, str]] = {
    "bins": (Whole(1), "Use 50."),
    "method": (OneOf(METHODS), ""),
    "kernel": (OneOf((None, *KERNELS)), "Leave it out to follow the method."),
    "stop": (OneOf(RULES), "Use 'held-out'."),
    "steps": (Whole(1), ""),
    "bootstrap": (Whole(0), "Use 200 for error bars."),
    "pooled": (OneOf((True, False)), ""),
}


@dataclass(frozen=True)
class How:
    """The settings of a reconstruction."""

    bins: int = 50
    method: str = "em"
    kernel: str | None = None
    stop: str = "held-out"
    steps: int = MAX_STEPS
    bootstrap: int = 0
    pooled: bool = False
    seed: int = 0

    def kernel_of(self, law: Law, edges: Floats, reported: Floats) -> Floats:
        """Return the kernel of the method: EM wants columns that are distributions."""
        kind = self.kernel or ("integrated" if self.method == "em" else "midpoint")
        found = law.kernel(edges, reported, kind)
        if self.method == "em" and kind == "midpoint":
            return np.asarray(found / np.maximum(found.sum(axis=0), 1e-300))
        return found


@dataclass(frozen=True)
class Reports:
    """Reports of one column: distorted ones, true ones, and how many were withheld."""

    distorted: Floats
    told: Floats
    withheld: int = 0


def reconstruct(  # noqa: PLR0913
    source: Any,
    noise: Noise | str | None = None,
    bins: int = 50,
    *,
    column: Any = None,
    support: tuple[float, float] | None = None,
    choices: Any = None,
    method: str = "em",
    kernel: str | None = None,
    stop: str = "held-out",
    steps: int = MAX_STEPS,
    bootstrap: int = 0,
    pooled: bool = False,
    random_state: int = 0,
) -> Distribution | JointDistribution | Categories:
    """Estimate the distribution of the original values.

    `source`: a Release, whose manifest says how `column` was distorted (two names: jointly), or
    an array of values with additive `noise`. `noise` as a name alone ("gaussian") says that the
    scale is not known: it is estimated, which needs `support`, and the result's facts hold the
    estimate with its interval. `support`: the range of the true values, where it is known.
    `choices`: for an array, what each person chose: "withhold", "truth" or "distort".

    `method` "em" maximises the likelihood, "bayes" is the iteration of as2000 with distances
    between midpoints. `stop`: "held-out" (default: where records left out are explained best),
    "discrepancy" (when the fit is as good as chance allows), "change" (when a step is small) or
    "steps" (after that many). `bootstrap`: how many resamples the error bars are drawn from.
    `pooled`: whether people who told the truth are taken to be like those who did not; by default
    both groups are estimated apart and added up, because choosing is not done at random.
    """
    how = How(bins, method, kernel, stop, steps, bootstrap, pooled, random_state)
    check("reconstruct", _RULES, {name: getattr(how, name) for name in _RULES})
    if isinstance(source, Release):
        return _from_release(source, column, how, support)
    if column is not None:
        raise InputError(explain("'column'", "given with a release only", column))
    reports = _split(as_values(source), choices)
    law, facts, ends = _law_of_array(noise, reports.distorted, support, how)
    return _one(reports, law, how, "", facts, ends)


def as_values(source: Any) -> Floats:
    """Return an array of reports; text, infinities and nothing at all are refused."""
    try:
        values = np.asarray(source, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise DataError(explain("The reports", "numbers", "a column of text or of objects",
                                "Reconstruct categories from a release.")) from None
    # A sum is finite unless something is not, and needs no array of its own.
    if not np.isfinite(values.sum()) and np.isinf(values).any():
        raise DataError(explain("The reports", "finite or missing", "an infinite value"))
    return values


def _split(values: Floats, choices: Any) -> Reports:
    if choices is None and not np.isnan(values.sum()):
        return Reports(values, np.zeros(0))
    known = ~np.isnan(values)
    if choices is None:
        return Reports(values[known], np.zeros(0), int((~known).sum()))
    said = np.asarray(choices, dtype=object)
    strange = sorted({str(c) for c in said.tolist()} - {"withhold", "truth", "distort"})
    if said.shape != values.shape or strange:
        raise InputError(explain("'choices'", f"{values.size} of withhold, truth, distort",
                                 strange[0] if strange else f"{said.size}"))
    known &= said != "withhold"
    return Reports(values[known & (said == "distort")], values[known & (said == "truth")],
                   int((~known).sum()))


def _law_of_array(noise: Noise | str | None, values: Floats, support: Any,
                  how: How) -> tuple[Additive, dict[str, Any], Any]:
    if isinstance(noise, Noise):
        return Additive(noise), {}, support
    if noise not in FAMILIES:
        raise InputError(explain("'noise'", f"a Noise, or one of {', '.join(FAMILIES)}", noise,
                                 "Use tacit.mine.Noise('gaussian', scale)."))
    if support is None:
        raise InputError(explain("'support'", "given where the scale of the noise is not known",
                                 None, "How far reports reach beyond it tells the scale."))
    found: Scale = estimate_scale(values, noise, _spread(support, how.bins))
    facts = {"scale": found.value, "scale_low": found.low, "scale_high": found.high}
    return Additive(Noise(noise, found.value)), facts, support


def _from_release(release: Release, column: Any, how: How,
                  support: Any) -> Distribution | JointDistribution | Categories:
    if isinstance(column, tuple | list) and len(column) == 2:
        return _jointly(release, column, how)
    if not isinstance(column, str):
        raise InputError(explain("'column'", "a name, or two of them", column))
    law = law_of(release.mechanism, column)
    if isinstance(law, Answers):
        return _categories(release, column, law)
    return _one(_reports(release, column), law, how, column, {}, support)


def _reports(release: Release, column: str) -> Reports:
    marker = marker_of(release, column)
    rows = release.table.arrow([column, *([marker] if marker else [])])
    choices = rows[marker].to_pylist() if marker else None
    return _split(as_values(to_numbers(rows[column])), choices)


def _one(reports: Reports, law: Law, how: How, name: str, facts: dict[str, Any],
         support: Any) -> Distribution:
    edges = _edges(reports, law, how, support)
    groups = _groups(reports, law, how, edges)
    total = sum(part.counts.sum() for part in groups)
    found = [_estimate(part, how) for part in groups]
    weights = [part.counts.sum() / total for part in groups]
    mixed = _normal(sum(w * f.probabilities for w, f in zip(weights, found, strict=True)))
    low, high = _bars(groups, found, how)
    said = {"method": how.method, "stop": how.stop, "steps": max(f.steps for f in found),
            "told": int(reports.told.size), "withheld": reports.withheld, **facts}
    return Distribution(edges, mixed, name, int(total), low, high, said)


def _normal(values: Any) -> Floats:
    return np.asarray(values / values.sum())


def _edges(reports: Reports, law: Law, how: How, support: Any) -> Floats:
    everything = reports.distorted.size + reports.told.size
    found = law.edges(how.bins) if support is None else _spread(support, how.bins)
    bins = how.bins if found is None else found.size - 1
    if everything < bins:
        raise DataError(explain("The reports", f"at least as many as the {bins} intervals",
                                f"{everything}", "Ask for fewer bins."))
    if found is not None:
        return found
    assert isinstance(law, Additive)
    return _spread(_likely_support(reports, law.noise), how.bins)


def _spread(support: Any, bins: int) -> Floats:
    try:
        low, high = (float(end) for end in support)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(explain("'support'", "a pair (low, high) of finite numbers", support))
    return np.linspace(low, high, bins + 1)


def _likely_support(reports: Reports, noise: Noise) -> tuple[float, float]:
    """Return five deviations of what is left of the reports' variance, inside their range."""
    values = np.concatenate([reports.distorted, reports.told])
    low, high = float(values.min()), float(values.max())
    left = max(float(values.var()) - noise.deviation**2, 0.0025 * float(values.var()))
    half, middle = 5 * left**0.5, float(values.mean())
    if half <= 0:
        raise DataError(explain("The reports", "of two different values or more", "one value"))
    return max(low, middle - half), min(high, middle + half)


def _groups(reports: Reports, law: Law, how: How, edges: Floats) -> list[Part]:
    parts = []
    if reports.distorted.size:
        values = reports.distorted
        reported = law.reported(float(values.min()), float(values.max()), edges)
        parts.append(Part(tally(values, reported), how.kernel_of(law, edges, reported)))
    if reports.told.size:
        parts.append(Part(tally(reports.told, edges), np.eye(edges.size - 1)))
    return [stacked(parts)] if how.pooled else parts


def _estimate(part: Part, how: How) -> Found:
    kernel = np.asarray(part.kernel)
    if kernel.shape[0] == kernel.shape[1] and np.array_equal(kernel, np.eye(kernel.shape[0])):
        return Found(part.counts / part.counts.sum(), 1, 0.0)
    return solve(part.counts, part.kernel, how.stop, how.steps, how.seed)


def _bars(groups: Sequence[Part], found: Sequence[Found],
          how: How) -> tuple[Floats | None, Floats | None]:
    """Return the bounds of 95% of the estimates from resampled records, at the same stop."""
    if not how.bootstrap:
        return None, None
    rng = np.random.default_rng(how.seed)
    counts = np.concatenate([part.counts for part in groups])
    drawn = rng.multinomial(int(counts.sum()), counts / counts.sum(), how.bootstrap).T
    total, start, mixed = counts.sum(), 0, 0.0
    for part, one in zip(groups, found, strict=True):
        rows = drawn[start:start + part.counts.size].astype(np.float64)
        weight = np.maximum(rows.sum(axis=0), 1e-300)
        mixed = mixed + iterate(rows, checked(part.counts, part.kernel), one.steps) * weight / total
        start += part.counts.size
    low, high = np.percentile(mixed, [2.5, 97.5], axis=1)
    return low, high


def _categories(release: Release, column: str, law: Answers) -> Categories:
    said = release.table.arrow([column])[column].to_pylist()
    place = {value: index for index, value in enumerate(law.values)}
    known = [place[value] for value in said if value is not None and value in place]
    if not known:
        raise DataError(explain(f"Column '{column}'", "one with answers", "none"))
    counts = np.bincount(known, minlength=len(law.values)).astype(np.float64)
    straight = by_inverse(counts, law.matrix)
    return Categories(law.values, by_em(counts, law.matrix), straight.shares, straight.deviations,
                      column, len(known))


def _jointly(release: Release, columns: Sequence[str], how: How) -> JointDistribution:
    """Reconstruct two columns together; their noises are independent of each other."""
    bins = min(how.bins, JOINT_BINS)
    laws = [law_of(release.mechanism, name) for name in columns]
    if any(isinstance(law, Answers) or marker_of(release, name)
           for law, name in zip(laws, columns, strict=True)):
        raise SchemaError(explain("Joint reconstruction", "of two numeric columns without choices",
                                  str(list(columns))))
    data = release.table.numbers(columns)
    data = data[~np.isnan(data).any(axis=1)]
    axes = [_axis(law, data[:, i], bins, how) for i, law in enumerate(laws)]
    counts, _, _ = np.histogram2d(data[:, 0], data[:, 1], bins=[axes[0][1], axes[1][1]])
    found = solve(counts, Joint(axes[0][2], axes[1][2]), how.stop, min(how.steps, 1000),
                        how.seed)
    cells = _normal(found.probabilities).reshape(axes[0][0].size - 1, -1)
    return JointDistribution((columns[0], columns[1]), (axes[0][0], axes[1][0]), cells,
                             data.shape[0], {"steps": found.steps, "stop": how.stop})


def _axis(law: Any, values: Floats, bins: int, how: How) -> tuple[Floats, Floats, Floats]:
    edges = law.edges(bins)
    reported = law.reported(float(values.min()), float(values.max()), edges)
    return edges, reported, how.kernel_of(law, edges, reported)
