"""The way from a result to its picture: drawing stands right of everything that is drawn.

Pictures need a plotting library, which only `report` imports; what draws them is found here by
name, when a picture is asked for.
"""

from __future__ import annotations

from typing import Any

from unspoken.release.lazy_imports import resolve

_FIGURES = {
    "distribution": "unspoken.report.distribution_figure:distribution_figure",
    "joint distribution": "unspoken.report.distribution_figure:joint_figure",
    "categories": "unspoken.report.distribution_figure:categories_figure",
    "anonymity": "unspoken.report.anonymity_figure:anonymity_figure",
}


def draw(kind: str, result: Any, **options: Any) -> Any:
    """Return the picture of a result."""
    return resolve(_FIGURES[kind])(result, **options)
