"""Which learners see nothing but the order of values, with which parameters.

Measured with scikit-learn 1.9, XGBoost 3.2 and LightGBM 4.7. What is not listed is not covered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.core.guarantee import Verdict
from tacit.stats.threshold_facts import ThresholdFacts

Params = Mapping[str, Any]


def judge(miner: Any, mode: str, facts: ThresholdFacts, categorical: tuple[str, ...]) -> Verdict:
    """Say whether a learner finds the same model on codes of that mode."""
    return Verdict(False, "not judged yet")
