"""mine.reconstruct: the distribution behind distorted values (as2000 section 3).

What the miner learns is the distribution, not anybody's value; but a distribution that is known
sharpens every single report (`risk.entropy`, `attack.posterior`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.known_laws import Additive, Answers, law_of, marker_of
from unspoken.methods.distortion.learners.distorted_column import Setting
from unspoken.methods.distortion.learners.learner_inputs import joint_column
from unspoken.methods.distortion.noise_laws import FAMILIES, Noise
from unspoken.methods.distortion.reconstruct.column_estimate import (
    METHODS,
    How,
    normal,
    numbers,
    shares,
)
from unspoken.methods.distortion.reconstruct.iterate import MAX_STEPS, RULES, Joint
from unspoken.methods.distortion.reconstruct.iterate import reconstruct as solve
from unspoken.methods.distortion.reconstruct.kernels import KERNELS
from unspoken.methods.distortion.reconstruct.reports import (
    as_values,
    choices_of,
    reports_of,
    split_reports,
    spread,
)
from unspoken.methods.distortion.reconstruct.unknown_noise_scale import Scale, estimate_scale
from unspoken.models.distribution import Categories, Distribution, JointDistribution
from unspoken.release.parameters import OneOf, OrNone, Real, Rule, Whole, check
from unspoken.release.release import Release

JOINT_BINS = 20
_RULES: Mapping[str, tuple[Rule, str]] = {
    "bins": (Whole(1), "Use 50."),
    "method": (OneOf(METHODS), ""),
    "kernel": (OneOf((None, *KERNELS)), "Leave it out to follow the method."),
    "stop": (OneOf(RULES), "Use 'smoothed'."),
    "steps": (Whole(1), ""),
    "confidence": (OrNone(Real(0.0, 1.0)), "Use 0.95 for error bars."),
    "pooled": (OneOf((True, False)), ""),
}


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
    stop: str = "smoothed",
    steps: int = MAX_STEPS,
    confidence: float | None = None,
    pooled: bool = False,
    random_state: int = 0,
) -> Distribution | JointDistribution | Categories:
    """Estimate the distribution of the original values (as2000 section 3).

    The miner learns the distribution, not a person's value; but a known distribution sharpens
    every single report.

    Parameters
    ----------
    source : Release or array of float
        A release, whose manifest says how `column` was distorted, or values with additive `noise`.
    noise : Noise or str, optional
        For an array. A name alone ("gaussian") means that the scale is unknown: it is estimated,
        which needs `support`, and the result's facts hold the estimate with its interval.
    bins : int, default 50
        Number of intervals; at most 20 per column for two columns.
    column : str or pair of str, optional
        Column of the release; two names are reconstructed jointly.
    support : (float, float), optional
        Range of the true values, where it is known.
    choices : array of str, optional
        For an array, what each person chose: "withhold", "truth" or "distort".
    method : "em" or "bayes", default "em"
        "em" maximises the likelihood; "bayes" is the iteration of as2000 with distances between
        midpoints.
    kernel : str, optional
        How the noise is integrated over intervals; follows the method by default.
    stop : str, default "smoothed"
        "smoothed" mixes intervals with their neighbours as far as records left out allow,
        "held-out" stops where records left out are explained best, "discrepancy" when the fit is
        as good as chance allows, "change" when a step is small, "steps" after `steps`. For two
        columns "held-out" takes the place of "smoothed".
    steps : int
        Most steps of the iteration.
    confidence : float, optional
        Confidence of error bars, such as 0.95. Each holds the share of its own interval that often,
        on smooth and on spiky columns, given the noise; they are wide where it leaves little.
    pooled : bool, default False
        Treat people who reported the truth as like those who did not. By default both groups are
        estimated apart and added up, because choosing is not done at random.
    random_state : int, default 0
        Deals out the folds of records left out.

    Returns
    -------
    Distribution, JointDistribution or Categories
        For one numeric column, two columns, or one categorical column.

    Examples
    --------
    >>> from unspoken import mine
    >>> mine.reconstruct(release, column="age")  # doctest: +SKIP
    >>> mine.reconstruct(reports, mine.Noise("gaussian", 5.0))  # doctest: +SKIP
    """
    how = How(bins, method, kernel, stop, steps, confidence, pooled, random_state)
    check("reconstruct", _RULES, {name: getattr(how, name) for name in _RULES})
    if isinstance(source, Release):
        return _from_release(source, column, how, support)
    if column is not None:
        raise InputError(f"'column' applies to a release only. Got {column!r} with an array.")
    reports = split_reports(as_values(source), choices)
    law, facts, ends = _law_of_array(noise, reports.distorted, support, how)
    return numbers(reports, law, how, "", facts, ends)


def _law_of_array(noise: Noise | str | None, values: Floats, support: Any,
                  how: How) -> tuple[Additive, dict[str, Any], Any]:
    if isinstance(noise, Noise):
        return Additive(noise), {}, support
    if noise not in FAMILIES:
        raise InputError(explain("'noise'", f"a Noise, or one of {', '.join(FAMILIES)}", noise,
                                 "Use unspoken.mine.Noise('gaussian', scale)."))
    if support is None:
        raise InputError("'support' is required where the scale of the noise is unknown. The "
                         "scale follows from how far reports reach beyond it.")
    scale: Scale = estimate_scale(values, noise, spread(support, how.bins))
    facts = {"scale": scale.value, "scale_low": scale.low, "scale_high": scale.high}
    return Additive(Noise(noise, scale.value)), facts, support


def _from_release(release: Release, column: Any, how: How,
                  support: Any) -> Distribution | JointDistribution | Categories:
    if isinstance(column, tuple | list) and len(column) == 2:
        return _jointly(release, column, how)
    if not isinstance(column, str):
        raise InputError(explain("'column'", "a name, or two of them", column))
    law = law_of(release.mechanism, column)
    if isinstance(law, Answers):
        answers = release.table.arrow([column])[column].to_pylist()
        return shares(answers, choices_of(release, column), law, column, how.pooled)
    return numbers(reports_of(release, column), law, how, column, {}, support)


def _jointly(release: Release, columns: Sequence[str], how: How) -> JointDistribution:
    """Reconstruct two columns together; their distortions are independent of each other."""
    bins = min(how.bins, JOINT_BINS)
    laws = [law_of(release.mechanism, name) for name in columns]
    if any(isinstance(law, Answers) or marker_of(release, name)
           for law, name in zip(laws, columns, strict=True)):
        return _mixed_jointly(release, columns, laws, how)
    data = release.table.numbers(columns)
    data = data[~np.isnan(data).any(axis=1)]
    axes = [_axis(law, data[:, i], bins, how) for i, law in enumerate(laws)]
    counts, _, _ = np.histogram2d(data[:, 0], data[:, 1], bins=[axes[0][1], axes[1][1]])
    return _cells(columns, (axes[0][0], axes[1][0]), counts, Joint(axes[0][2], axes[1][2]), how, {})


def _mixed_jointly(release: Release, columns: Sequence[str], laws: Sequence[Any],
                   how: How) -> JointDistribution:
    """Reconstruct answers, or columns where people chose: every report as what it is, pooled."""
    if how.method != "em" or how.kernel not in (None, "integrated"):
        raise InputError("'method' and 'kernel' cannot be chosen for answers or choices. Got "
                         f"{how.method} and {how.kernel}. Leave them out.")
    setting = Setting(how.stop, min(how.steps, 1000), how.seed)
    mixed = [joint_column(release, name, law, min(how.bins, JOINT_BINS), setting)
             for name, law in zip(columns, laws, strict=True)]
    tables = [np.ascontiguousarray(column.table) for column in mixed]
    size = tables[0].shape[0] * tables[1].shape[0]
    flat = mixed[0].where * tables[1].shape[0] + mixed[1].where
    counts = np.bincount(flat, minlength=size).astype(np.float64)
    values = {name: list(law.values) for name, law in zip(columns, laws, strict=True)
              if isinstance(law, Answers)}
    return _cells(columns, (mixed[0].edges, mixed[1].edges), counts,
                  Joint(tables[0], tables[1]), how, {"values": values} if values else {})


def _cells(columns: Sequence[str], edges: tuple[Floats, Floats], counts: Floats, kernel: Joint,
           how: How, facts: dict[str, Any]) -> JointDistribution:
    solved = solve(counts, kernel, how.stop, min(how.steps, 1000), how.seed)
    cells = normal(solved.probabilities).reshape(edges[0].size - 1, -1)
    return JointDistribution((columns[0], columns[1]), edges, cells, int(counts.sum()),
                             {"steps": solved.steps, "stop": how.stop, **facts})


def _axis(law: Any, values: Floats, bins: int, how: How) -> tuple[Floats, Floats, Floats]:
    edges = law.edges(bins)
    reported = law.reported(float(values.min()), float(values.max()), edges)
    return edges, reported, how.kernel_of(law, edges, reported)
