"""What a disclosure costs, and what several cost together.

With delta = 0 epsilons add up, exactly, as they were typed; that holds whatever was asked in which
order and for whatever reason. With a delta the loss of all of them together is composed from
privacy loss distributions (dp-accounting), identical costs at once by their count. That total holds
where the parameters of a disclosure do not follow from earlier answers: fix prices beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unspoken.errors import InputError, MissingExtraError, explain

ANY, LAPLACE, GAUSSIAN, NONE = LAWS = ("any", "laplace", "gaussian", "none")
GRID = 1e-4
"""The step of privacy losses; dp-accounting's own."""
MOST = 100.0


@dataclass(frozen=True)
class Cost:
    """What one disclosure takes from a budget.

    Attributes
    ----------
    epsilon : float or None
        Its epsilon; None where it has none ("none", "gaussian").
    delta : float, default 0
        Its delta.
    law : {"any", "laplace", "gaussian", "none"}
        Its noise: "any" mechanism with that epsilon and delta; "laplace" noise, which costs less
        together; "gaussian" noise of `multiplier`; "none" bounds nothing and is only listed.
    multiplier : float or None
        Standard deviation of Gaussian noise over the reach of one unit.
    """

    epsilon: float | None
    delta: float = 0.0
    law: str = ANY
    multiplier: float | None = None

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise InputError(explain("The law of a cost", f"one of {', '.join(LAWS)}", self.law))
        if self.law in (ANY, LAPLACE) and not _between(self.epsilon, 0.0, MOST):
            raise InputError(explain("The epsilon of a cost", f"a number above 0 and up to "
                                     f"{MOST:g}", self.epsilon))
        if self.law == GAUSSIAN and not _between(self.multiplier, 0.0, 1e9):
            raise InputError(explain("The multiplier of Gaussian noise", "a number above 0",
                                     self.multiplier))
        if not (isinstance(self.delta, int | float) and 0 <= self.delta < 1):
            raise InputError(explain("The delta of a cost", "at least 0 and below 1", self.delta))

    @property
    def exact(self) -> Fraction | None:
        """Return the epsilon as it was typed, None where the cost has no pure epsilon."""
        if self.law not in (ANY, LAPLACE) or self.delta or self.epsilon is None:
            return None
        return Fraction(repr(float(self.epsilon)))

    def for_rows(self, rows: int) -> Cost:
        """Return the cost for a person with up to `rows` rows, where this is one row's."""
        if rows == 1 or self.law == NONE:
            return self
        if self.law == GAUSSIAN:
            return Cost(None, 0.0, GAUSSIAN, float(self.multiplier or 0.0) / rows)
        each = float(self.epsilon or 0.0)
        exact = self.exact
        total = each * rows if exact is None else float(exact * rows)
        if total > MOST:
            raise InputError(f"An epsilon of {each:g} a row is {total:g} for a person with {rows} "
                             f"rows; at most {MOST:g} can be booked. Lower it.")
        delta = self.delta * sum(math.exp(each * k) for k in range(rows))
        return Cost(total, min(delta, 1 - 1e-12), self.law)

    def to_json(self) -> dict[str, Any]:
        """Return the cost as plain data."""
        return {"epsilon": self.epsilon, "delta": self.delta, "law": self.law,
                "multiplier": self.multiplier}

    def __str__(self) -> str:
        if self.law == NONE:
            return "no epsilon"
        if self.law == GAUSSIAN:
            return f"Gaussian noise of {self.multiplier:.4g} times the reach"
        return f"epsilon {self.epsilon:g}" + (f", delta {self.delta:g}" if self.delta else "")


def _between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low < value <= high


def total_epsilon(counts: Mapping[Cost, int], delta: float = 0.0) -> float:
    """Return the epsilon of all costs together at this delta; infinite if nothing bounds them."""
    booked = {cost: count for cost, count in counts.items() if cost.law != NONE and count}
    plain = _added(booked, delta)
    if delta == 0 or not booked:
        return plain
    return min(plain, _composed(booked, delta))


def _added(counts: Mapping[Cost, int], delta: float) -> float:
    """Return the sum of epsilons, infinite where it does not hold at this delta."""
    if any(cost.law == GAUSSIAN for cost in counts) or \
            sum(cost.delta * count for cost, count in counts.items()) > delta:
        return math.inf
    return float(sum((Fraction(repr(float(cost.epsilon or 0.0))) * count
                      for cost, count in counts.items()), Fraction(0)))


def _composed(counts: Mapping[Cost, int], delta: float) -> float:
    losses = _losses()
    whole = losses.identity(value_discretization_interval=GRID)
    for cost, count in sorted(counts.items(), key=lambda one: str(one[0].to_json())):
        whole = whole.compose(_loss(losses, cost, count))
    return float(whole.get_epsilon_for_delta(delta))


def _loss(losses: Any, cost: Cost, count: int) -> Any:
    """Return the privacy loss of one cost, `count` times."""
    if cost.law == GAUSSIAN:
        return losses.from_gaussian_mechanism(float(cost.multiplier or 0.0) / math.sqrt(count),
                                              value_discretization_interval=GRID)
    if cost.law == LAPLACE and not cost.delta:
        one = losses.from_laplace_mechanism(1 / float(cost.epsilon or 0.0),
                                            value_discretization_interval=GRID)
        return one.self_compose(count)
    from dp_accounting.pld import common

    pair = common.DifferentialPrivacyParameters(float(cost.epsilon or 0.0), cost.delta)
    return losses.from_privacy_parameters(
        pair, value_discretization_interval=GRID).self_compose(count)


def _losses() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise MissingExtraError("A budget with a delta needs dp-accounting. Type: pip install "
                                "'unspoken[private]'. Budgets with delta 0 do without.") from None
    return privacy_loss_distribution
