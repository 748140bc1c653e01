"""The parameters of a study that fits a regression: read, checked, and turned into what is public.

    response = "cost"
    columns = ["age", "sex"]          # columns spread: ["north:age", "south:sex"]
    held = "north"                    # columns spread: who has the response, "all" or "split"
    products = ["age*sex"]
    ridge = 0.0                       # scikit-learn's alpha
    condition = 1048576               # the greatest condition that is inverted
    inference = true                  # standard errors and sums of squares
    select = "stepwise"               # or forward, backward, best
    criterion = "bic"                 # or aic, adjusted, cp
    keep = ["age"]
    smaller = ["age", "age+sex"]      # models inside this one to test against
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.primitive_costs import Cost
from unspoken.joint.tasks.common.study_parameters import (
    any_texts,
    as_study,
    planned,
    text,
)
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms, pair_of
from unspoken.joint.tasks.regression.term_selection import Selection
from unspoken.joint.tasks.task import Plan

FITTING = ("response", "columns", "products", "ridge", "condition", "inference", "smaller")
SELECTING = ("select", "criterion", "keep")


def terms_of(parameters: Mapping[str, Any]) -> RegressionTerms:
    """Return the terms of rows that are spread."""
    return as_study(
        lambda: RegressionTerms(
            text(parameters, "response"), any_texts(parameters, "columns"), products_of(parameters)
        )
    )


def products_of(parameters: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the products that are terms."""
    return as_study(lambda: tuple(pair_of(t) for t in any_texts(parameters, "products")))


def rules_of(parameters: Mapping[str, Any], receivers: Sequence[str] = ()) -> RegressionParams:
    """Return how the model is fitted."""
    smaller = tuple(tuple(t.split("+")) for t in any_texts(parameters, "smaller"))
    given = {name: parameters[name] for name in ("ridge", "condition", "inference")
             if name in parameters}
    return as_study(lambda: RegressionParams(**given, receivers=tuple(receivers), smaller=smaller))


def selection_of(parameters: Mapping[str, Any]) -> Selection | None:
    """Return how terms are chosen, if they are."""
    if "select" not in parameters:
        for name in ("criterion", "keep"):
            if name in parameters:
                raise StudyError(f"Parameter '{name}' needs 'select', the way terms are chosen.")
        return None
    return as_study(lambda: Selection(text(parameters, "select"),
                                      str(parameters.get("criterion", "bic")),
                                      any_texts(parameters, "keep")))


def receivers_of(study: Study) -> tuple[str, ...]:
    """Return who learns the model."""
    if not study.facts.has_shares:
        raise StudyError(explain(f"Task '{study.task}'", "given a mode with shares", "mode 'sums'",
                                 "Use dealer, two-party or three-party."))
    return study.having("receiver") or study.having("owner")


def forecast(study: Study, told: Sequence[Disclosure], cost: Cost, more: Sequence[str],
             records: int = 0) -> Plan:
    """Return the plan of a study from what it costs with two holders and a dealer."""
    holders = study.facts.costed_holders(len(study.having("holder")))
    found = planned(study, told, (cost.rounds, cost.bytes * max(1, holders - 1)),
                    (*more, *study.facts.cost_notes))
    return replace(found, records=records)
