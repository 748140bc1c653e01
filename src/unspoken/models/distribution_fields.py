"""What Distribution, JointDistribution and Categories share: checks, files and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.models.hostile_json import refuse
from unspoken.models.model import Model
from unspoken.models.tree_text import number

Read = TypeVar("Read", bound=Model)


def check_shares(probabilities: Floats, what: str) -> None:
    """Refuse what is no distribution."""
    if not np.all(np.isfinite(probabilities)) or probabilities.min(initial=0.0) < 0:
        raise InputError(f"{what} must be finite and never negative.")
    if not np.isclose(probabilities.sum(), 1.0, atol=1e-6):
        raise InputError(explain(what, "a distribution that sums to one", probabilities.sum()))


def build_read(build: Callable[[], Read]) -> Read:
    """Build a model from a file; what would be a wrong parameter is a wrong file here."""
    try:
        return build()
    except InputError as error:
        refuse("probabilities", "a distribution over its intervals or categories", str(error))


def read_facts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a file, none where there are none."""
    facts = data.get("facts")
    return facts if isinstance(facts, dict) else {}


def spans(edges: Floats) -> list[str]:
    """Return every interval in words."""
    return [f"from {number(low, True)} to {number(high, True)}" for low, high in pairwise(edges)]
