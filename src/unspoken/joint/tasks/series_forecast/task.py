"""The study task `forecast`: the next values of a sum of series, and nothing of the series."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import (
    Decisions,
    FineNumbers,
    Opened,
    Totals,
)
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.column_files import read_matrix, with_shares
from unspoken.joint.tasks.common.study_parameters import outlined
from unspoken.joint.tasks.series_forecast.params import ForecastParams, OwnForecasts
from unspoken.joint.tasks.series_forecast.pooled import pooled
from unspoken.joint.tasks.series_forecast.program_rows import AHEAD, ForecastOverRows
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import declared

HELP = """The next values of the sum of all owners' series, such as joint demand.

    unspoken joint new study.toml --name demand --task forecast
        --set 'columns=["orders", "stock"]' --set periods=36 --set ahead=3 --set most=1e6 ...

Every owner joins with a table of one row a period, in order of time. Receivers learn the forecast
of the sum of each column for the next periods, and no sum of any period (but of the last one where
'window' or 'weight' is 1). Laws: "mean" (over the last 'window' periods), "trend" (a straight
line), "smoothing" (exponential) and "holt" (with a slope). Without 'weight' the two last take the
weight that would have missed least before: it is found on shares, and nobody learns which. Of two
owners each learns the other's forecast."""
QUANTITY = "the forecast of each column"
LAST = "the value of the last period of each column"


class ForecastStudy(ForecastOverRows):
    """The program of a study."""

    def __init__(self, study: Study) -> None:
        super().__init__(ForecastParams.of(study.parameters), study.having("receiver"))
        self.disclosures = study.disclosures


def _fits(parameters: Mapping[str, Any]) -> None:
    ForecastParams.of(parameters)


def _disclosures(study: Study) -> tuple[Disclosure, ...]:
    return (Disclosure(AHEAD, study.having("receiver")),)


def _outlook(study: Study) -> Outlook:
    with_shares(study)
    notes = []
    if len(study.having("owner")) == 2:
        notes.append("of two owners each subtracts its own forecast and has the other's")
    if ForecastParams.of(study.parameters).is_last:
        notes.append("by this law the forecast is the sum of the last period, which is opened")
    return outlined(study, _disclosures(study), notes)


def _load(path: Path, study: Study) -> OwnForecasts:
    """Return this owner's forecasts and misses; what does not fit is refused here."""
    params = ForecastParams.of(study.parameters)
    return params.own(read_matrix(path, params.columns), len(study.having("owner")))


def _blank(study: Study, name: str, records: int) -> OwnForecasts:
    params = ForecastParams.of(study.parameters)
    series = np.zeros((params.periods, len(params.columns)))
    return params.own(series, len(study.having("owner")))


def _opens(study: Study) -> tuple[Opened, ...]:
    """Return forecasts of a sum, less one's own: exact, or one for each weight there may be."""
    to, params = study.having("receiver"), ForecastParams.of(study.parameters)
    last = Totals(LAST, to) if params.is_last else None
    if len(params.laws) == 1:
        return (Totals(QUANTITY, to), *([last] if last else []))
    if len(study.having("owner")) > 2:
        return (FineNumbers(QUANTITY, to),)
    why = f"the result less its own forecast, one for each of {len(params.laws)} weights"
    return (Decisions(QUANTITY, why, to, certainty=Certainty.USUALLY),)


TASKS = (Task("forecast", HELP, declared(ForecastParams), _fits, _disclosures, _outlook, _load,
              ForecastStudy, _blank, pooled, opens=_opens),)
