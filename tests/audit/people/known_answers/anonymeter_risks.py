"""The three risks of anonymeter on tables that this script makes; prints JSON.

Run once in an environment of its own (anonymeter 1.1.0 needs numpy 1.26), the numbers are kept
beside it:

    pip install anonymeter==1.1.0 && python anonymeter_risks.py > anonymeter_risks.json
"""

from __future__ import annotations

import json
import sys

import numpy as np

ROWS, ATTACKS = 1200, 400
KNOWN = ("age", "zip", "sex")
OTHERS = ("income", "school", "visits")
SECRET = "ward"


def people(seed: int, rows: int = ROWS) -> dict[str, np.ndarray]:
    """Return made-up people; another seed gives other people of the same population."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows).astype(float)
    return {"age": age, "zip": rng.integers(0, 300, rows).astype(float),
            "sex": rng.choice(["f", "m"], rows),
            "income": np.round(rng.lognormal(10, 0.6, rows) + 120 * age, 1),
            "school": rng.choice(["a", "b", "c", "d", "e"], rows),
            "visits": np.round(rng.gamma(2.0, 3.0, rows), 2),
            "ward": rng.choice(["north", "south", "east", "west"], rows)}


def released(method: str) -> dict[str, np.ndarray]:
    """Return what a method makes of the people of seed 0: from a copy to other people."""
    original, rng = people(0), np.random.default_rng(99)
    order = rng.permutation(ROWS)
    if method == "copy":
        return {name: values[order] for name, values in original.items()}
    if method == "fresh":
        return people(2)
    share = {"little noise": 0.02, "much noise": 0.4}[method]
    out = {}
    for name, values in original.items():
        if values.dtype.kind == "f":
            values = values + rng.normal(0, share * values.std(), ROWS)
        elif share > 0.1:
            values = np.where(rng.random(ROWS) < share, rng.permutation(values), values)
        out[name] = values[order]
    return out


METHODS = ("copy", "little noise", "much noise", "fresh")


def main() -> None:
    import pandas as pd
    from anonymeter.evaluators import (
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    original, control = pd.DataFrame(people(0)), pd.DataFrame(people(1))
    found = {}
    for method in METHODS:
        np.random.seed(0)
        table = pd.DataFrame(released(method))
        single = SinglingOutEvaluator(original, table, ATTACKS, 3, control, 200_000, 0)
        linked = LinkabilityEvaluator(original, table, (list(KNOWN), list(OTHERS)), ATTACKS, 1,
                                      control)
        inferred = InferenceEvaluator(original, table, [*KNOWN, *OTHERS], SECRET, False, ATTACKS,
                                      control)
        risks = {"singling out": single.evaluate("multivariate").risk(),
                 "linking": linked.evaluate(1).risk(), "inferring": inferred.evaluate(1).risk()}
        found[method] = {name: [risk.value, *risk.ci] for name, risk in risks.items()}
    json.dump({"anonymeter": "1.1.0", "attacks": ATTACKS, "risks": found}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
