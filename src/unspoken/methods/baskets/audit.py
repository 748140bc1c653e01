"""The audit of randomised baskets: what the posterior of every item discloses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.disclosure.adversary import Adversary, chosen_of
from unspoken.disclosure.audit_request import AuditRequest
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row, Suggestion
from unspoken.errors import DataError, InputError, NotCoveredError, explain
from unspoken.methods.baskets.adversaries.item_posterior import (
    BasketPosterior,
    BasketView,
    Posteriors,
)
from unspoken.numerics.random import generator, seed_from
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.basket_files import known_items
from unspoken.table.basket_tables import from_table
from unspoken.table.baskets import Baskets
from unspoken.table.table import Table
from unspoken.table.write_baskets import COLUMN

MAX_ROWS = 20_000
"""Most baskets that are attacked and scored; more would hardly change the result."""
RHO1, RHO2 = 0.05, 0.5
"""A breach: an item that at most one in twenty has is believed with even odds or better."""
_LIMITS = (
    "the adversary takes items as independent and knows their frequencies from the release; "
    "one who knows which items are bought together, or other baskets of the person, may do better",
    "intervals are over baskets of this one release, not over releases",
)


def audit_release(table: Any, release: Release, key: Key | None, request: AuditRequest) -> Audit:
    """Audit a release of baskets where the general audit was called."""
    return audit_baskets(_original(table, release), release, random_state=request.random_state,
                         adversaries=request.adversaries)


def _original(table: Any, release: Release) -> Baskets:
    if isinstance(table, Baskets):
        return table
    if isinstance(table, Table) and COLUMN in table.schema.names:
        return from_table(table, release.mechanism)
    raise DataError(explain("The original of a release of baskets", "Baskets",
                            type(table).__name__, "Read it with unspoken.read_baskets."))


def audit_baskets(original: Baskets, release: Release, *, random_state: Any = None,
                  adversaries: Iterable[str | Adversary] | None = None) -> Audit:
    """Attack every basket of a release and score the guesses against the original.

    Measures: "records", baskets of which the adversary correctly recovers one item (baseline: the
    commonest item guessed for all); "domain", items of which some basket is disclosed; "breach",
    baskets with an item that at most 5% have, which is there and is believed with 50% or more. The
    adversary treats items as independent; intervals are over baskets of this release.

    Parameters
    ----------
    original : Baskets
        The baskets before they were randomised, in the same order.
    release : Release
        The release of randomised baskets.
    random_state : int or Generator, optional
        Chooses the 20,000 baskets that are attacked where there are more.
    adversaries : iterable of str or Adversary, optional
        Adversaries to run; by default all that apply.

    Returns
    -------
    Audit

    Examples
    --------
    >>> print(audit_baskets(baskets, release).summary())  # doctest: +SKIP
    """
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": {k: v for k, v in release.mechanism.items() if k != "items"},
             "data_sha256": release.data_sha256, "columns": {COLUMN: COLUMN}}
    chosen = chosen_of(BasketPosterior, release, adversaries)
    words = {one.name: one.gets for one in chosen}
    try:
        view = BasketView.of(release)
    except (NotCoveredError, InputError) as error:
        return Audit((), 0.0, 1, about, words, {COLUMN: str(error)}, limits=_LIMITS)
    whole = known_items(original, view.baskets.items)
    if len(whole) != len(view.baskets):
        raise DataError(f"The original must be the baskets that were released "
                        f"({len(view.baskets):,}). Got {len(whole):,}. Pass the original.")
    rows = _sampled(len(whole), random_state)
    result_rows = [row for one in chosen
                   for row in _score(one, view.take(rows), whole.take(rows), whole)]
    return Audit(tuple(result_rows), 0.0, 1, about, words, limits=_LIMITS,
                 suggestions=_suggestions(result_rows, release))


def _sampled(count: int, random_state: Any) -> npt.NDArray[np.int64]:
    if count <= MAX_ROWS:
        return np.arange(count)
    rng = generator(seed_from(random_state), "baskets")
    return np.sort(rng.permutation(count)[:MAX_ROWS])


def _score(adversary: BasketPosterior, view: BasketView, true: Baskets,
           whole: Baskets) -> list[Row]:
    posteriors = adversary.posteriors(view)
    width, seen = len(true.items), view.baskets
    own = true.rows * width + true.codes
    right = np.isin(seen.rows * width + seen.codes, own)
    before = whole.frequencies() / len(whole)
    named = _named(posteriors, view, own, width, right)
    rare = before[seen.codes] <= RHO1
    breached = np.zeros(len(true), np.bool_)
    breached[seen.rows[rare & right & (posteriors.seen >= RHO2)]] = True
    sure = np.unique(seen.codes[right & (posteriors.seen >= RHO2)])
    occurs = max(int(np.count_nonzero(whole.frequencies())), 1)
    rows = [("records", float(named.mean()), float(before.max(initial=0.0)), len(true)),
            ("domain", sure.size / occurs, float((before >= RHO2).sum() / occurs), occurs),
            ("breach", float(breached.mean()), 0.0, len(true))]
    return [Row(adversary.name, "ignorant", COLUMN, measure, value, *_interval(value, count),
                baseline, 1) for measure, value, baseline, count in rows]


def _named(posteriors: Posteriors, view: BasketView, own: npt.NDArray[np.int64], width: int,
           right: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the baskets whose likeliest item, seen or not, was really there."""
    seen = view.baskets
    rows = np.arange(len(seen))
    out = np.isin(rows * width + posteriors.unseen_item, own)
    order = np.lexsort((posteriors.seen, seen.rows))
    last = np.r_[np.diff(seen.rows[order]) > 0, True][:order.size]
    best = order[last]
    better = posteriors.seen[best] >= posteriors.unseen[seen.rows[best]]
    out[seen.rows[best[better]]] = right[best[better]]
    return np.asarray(out)


def _interval(value: float, count: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share of `count` baskets."""
    z = 1.96
    middle = (value + z * z / (2 * count)) / (1 + z * z / count)
    reach = z * math.sqrt(value * (1 - value) / count + z * z / (4 * count * count)) \
        / (1 + z * z / count)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _suggestions(rows: list[Row], release: Release) -> tuple[Suggestion, ...]:
    gamma = release.guarantee.facts.get("gamma")
    worst = max((row.value for row in rows if row.measure == "breach"), default=0.0)
    if worst <= 0.01 or (isinstance(gamma, int | float) and gamma < 100):
        return ()
    return (Suggestion(None, "Use SelectASize with rho1 and rho2, which designs the operator",
                       f"rare items of {worst:.1%} of the baskets are disclosed, and nothing "
                       "useful bounds how sure an adversary can be"),)
