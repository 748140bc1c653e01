"""The parameters of a study that clusters: read, checked, and turned into what is public.

    columns = ["age", "stay"]         # columns spread: ["north:age", "south:stay"]
    k = 4
    iterations = 20
    most = 8.0                        # every value lies between -8 and 8
    scale = 12                        # fractional bits of values
    tolerance = 0.001                 # else all iterations run
    seed = 1
    start = "spread"                  # k-means++, only with way "hidden"
    way = "hidden"                    # or "assignments" (columns), "revealed" (rows)
    closest = "shares"                # or "permuted" (columns, way "assignments")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.joint.joint_errors import StudyError
from unspoken.joint.tasks.common.study_parameters import as_study
from unspoken.joint.tasks.kmeans.params import KMeansParams

RULES = ("k", "iterations", "most", "scale", "tolerance", "seed", "start")
GUESS = 1000
GUESSED = f"cost is for {GUESS:,} records and a dealer; how many there are is not in a study"


def rules_of(parameters: Mapping[str, Any]) -> KMeansParams:
    """Return the rules of a clustering."""
    if "k" not in parameters:
        raise StudyError("Parameter 'k', the number of clusters, must be there. It is not.")
    return as_study(lambda: KMeansParams(**{n: parameters[n] for n in RULES if n in parameters}))
