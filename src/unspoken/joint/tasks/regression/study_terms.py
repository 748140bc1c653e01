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
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import (
    any_texts,
    as_study,
    count,
    owners_of,
    text,
)
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms, pair_of
from unspoken.joint.tasks.regression.term_selection import Selection
from unspoken.joint.tasks.task import RECORDS, Param

MODEL = (
    Param("response", "the column that is explained"),
    Param("columns", 'the columns that explain it; of several owners ["north:age", "south:stay"]'),
    Param("products", 'products of two columns that are terms as well, such as ["age*stay"]'))
FITTING = (
    Param("ridge", "the penalty, as scikit-learn's alpha (0)"),
    Param("condition", "the greatest condition of the matrix that is inverted (2^20)"))
HELD = Param("held", 'who has the response: an owner, "all", or "split" (a sum of parts)')
LINEAR = (
    Param("inference", "true: open standard errors and sums of squares as well (true)"),
    Param("smaller", 'models inside this one to test against, such as ["age+stay"]'),
    Param("select", "choose terms: forward, backward, stepwise or best"),
    Param("criterion", "by bic, aic, adjusted or cp (bic)"),
    Param("keep", "terms that are always in the model"))


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
    fitting = {name: parameters[name] for name in ("ridge", "condition", "inference")
               if name in parameters}
    return as_study(lambda: RegressionParams(**fitting, receivers=tuple(receivers),
                                             smaller=smaller))


def columns_of(parameters: Mapping[str, Any]) -> OwnedColumns:
    """Return which owner has which columns."""
    owners, held = owners_of(parameters), text(parameters, "held")
    if held not in (*owners, "all", "split"):
        owners[held] = ()
    return as_study(lambda: OwnedColumns(owners, text(parameters, "response"), held,
                                         products_of(parameters)))


def expected_of(study: Study) -> int:
    """Return how many records a forecast is for."""
    return count(study.parameters, "expected", RECORDS)


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


