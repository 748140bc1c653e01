"""The two steps of EM: what an owner adds up, and what totals make of it.

Everything is in units of z. Sums are taken around the means before, so that nothing cancels and
one opening serves means and covariances (the book opens the means first and needs a second round).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError
from unspoken.joint.tasks.mixture.params import MixtureParams, Start
from unspoken.numerics.gaussian_mixture import component_logs, log_sum

MOST_LOG = float(1 << 14)
"""What the log-likelihood of a record counts at most, in magnitude."""


@dataclass(frozen=True)
class Local:
    """What an owner has after the E-step: memberships, sums, and its log-likelihood."""

    members: Floats
    sums: Floats
    likelihood: float


def expected(rows: Floats, now: Start, rules: MixtureParams) -> Local:
    """Return the memberships under the parameters now, and the sums that the next ones need.

    Sums are (k, 1 + n + n) or (k, 1 + n + n n): memberships, first and second moments.
    """
    k, n = now.means.shape
    if not rows.shape[0]:
        width = 1 + n + (n if rules.covariance == "diag" else n * n)
        return Local(np.zeros((0, k)), np.zeros((k, width)), 0.0)
    logs = component_logs(rows, now.weights, now.means, now.covariances)
    total = log_sum(logs)
    members = np.exp(logs - total[:, None])
    gaps = rows[None] - now.means[:, None]
    weighted = members.T[:, :, None] * gaps
    if rules.covariance == "diag":
        second = (weighted * gaps).sum(axis=1)
    else:
        second = np.einsum("kri,krj->kij", weighted, gaps).reshape(k, n * n)
    sums = np.hstack([members.sum(axis=0)[:, None], weighted.sum(axis=1), second])
    return Local(members, sums, float(np.clip(total, -MOST_LOG, MOST_LOG).sum()))


def maximised(now: Start, sums: Floats, rules: MixtureParams, extra: Floats) -> Start:
    """Return the next parameters; `extra` is reg_covar in units of z."""
    k, n = now.means.shape
    each = sums[:, 0] + 10 * np.finfo(np.float64).eps
    shift = sums[:, 1:1 + n] / each[:, None]
    second = sums[:, 1 + n:] / each[:, None]
    if rules.covariance == "diag":
        spread = second - shift**2 + extra
        covariances = np.zeros((k, n, n))
        covariances[:, np.arange(n), np.arange(n)] = spread
    else:
        whole = second.reshape(k, n, n)
        covariances = (whole + whole.transpose(0, 2, 1)) / 2 - shift[:, :, None] * shift[:, None]
        covariances[:, np.arange(n), np.arange(n)] += extra
    try:
        return Start(each / each.sum(), now.means + shift, covariances)
    except InputError:
        raise DataError("Every cluster must keep a covariance that is positive definite. One has "
                        "lost it. Use fewer clusters, or a greater 'reg_covar'.") from None
