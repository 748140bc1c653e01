"""EM on pooled rows in one place: the same steps, the same end, and no guards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.tasks.mixture.em_steps import expected, maximised
from unspoken.joint.tasks.mixture.params import MixtureParams, Space, Start
from unspoken.models.mixture import Mixture


def pooled(space: Space, start: Start, columns: Mapping[str, Any],
            rules: MixtureParams | None = None) -> Mixture:
    """Return the mixture of pooled columns."""
    rules, rows, now = rules or MixtureParams(), space.rows(columns), space.to_z(start)
    extra, before, ended, iterations = rules.reg_covar / space.halves**2, None, "max_iter", 0
    while iterations < rules.max_iter:
        iterations += 1
        local = expected(rows, now, rules)
        now = maximised(now, local.sums, rules, extra)
        mean, last = local.likelihood / rows.shape[0], before
        before = mean
        if rules.stop == "disclosed" and last is not None and abs(mean - last) < rules.tol:
            ended = "tol"
            break
    facts = {"method": "joint EM", "covariance": rules.covariance, "iterations": iterations,
             "ended": ended}
    return space.from_z(now, rows.shape[0], facts)
