"""The parameters of a scikit-learn ensemble that a file may carry: a closed list, each checked.

Only what predicting and decoding need is written. Everything else about how a model was mined is in
its recipe, which is never passed to an estimator that predicts.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.errors import ModelError
from unspoken.models.hostile_json import Fields, refuse

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """The values that one parameter may have: some words, or a number in a range."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    words: tuple[Any, ...] = ()

    def admits(self, value: Any) -> bool:
        """Return True if a value of a file is allowed."""
        if any(value is word or (isinstance(word, str) and value == word) for word in self.words):
            return True
        if type(value) not in ((int,) if self.whole else (int, float)):
            return False
        # Whole numbers of a file may be beyond float64: they are compared before they become one.
        return bool(self.low <= value <= self.high and abs(value) <= sys.float_info.max)


SEED = Rule(0, 2**32 - 1, True, (None,))
SHARE = Rule(1e-300, 1.0)
FLAG = Rule(1, 0, words=(True, False))
COUNT = Rule(1, 2**31, True)


def read_params(fields: Fields, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Read the field "params": every parameter of the list, and no other."""
    inside = fields.fields("params")
    strange = next((name for name in inside.data if name not in rules), None)
    if strange is not None:
        refuse(inside.at(str(strange)[:40]), "a parameter that prediction needs", "another")
    for name, rule in rules.items():
        if not rule.admits(inside.raw(name)):
            refuse(inside.at(name), _words(rule), inside.raw(name))
    return dict(inside.data)


def _words(rule: Rule) -> str:
    shown = ", ".join(map(repr, rule.words))
    span = f"a number from {rule.low} to {rule.high}" if rule.low <= rule.high else ""
    return " or ".join(part for part in (shown, span) if part)


def taken_params(estimator: Any, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Return these parameters of an estimator in memory as plain values."""
    params = {name: _plain(getattr(estimator, name)) for name in rules}
    if "random_state" in params and not SEED.admits(params["random_state"]):
        params["random_state"] = None
    for name, rule in rules.items():
        if not rule.admits(params[name]):
            raise ModelError(f"A model file cannot hold {name}={params[name]!r:.60} of "
                             f"{type(estimator).__name__}: it must be {_words(rule)}.")
    return params


def _plain(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value
