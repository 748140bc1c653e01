"""What the parameters of a study make: layout, shape and rules, for trees, forests and boosting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import about_known, one_kind
from unspoken.joint.tasks.task_params import as_study
from unspoken.joint.tasks.tree.cut_points import Span
from unspoken.joint.tasks.tree.params import Attribute, GrowthSettings, TreeLayout, TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape

KINDS = ("categories", "cuts", "range")


def rules_of(parameters: Mapping[str, Any]) -> TreeParams:
    """Return when growing stops."""
    return GrowthSettings.of(parameters).part(TreeParams)


def layout_of(parameters: Mapping[str, Any]) -> tuple[TreeLayout, dict[str, Span]]:
    """Return attributes and classes, and the ranges whose cut points are agreed on in the run."""
    settings, spans = GrowthSettings.of(parameters), dict[str, Span]()
    layout = as_study(lambda: TreeLayout(
        tuple(_attribute(parameters, name, spans) for name in settings.attributes),
        settings.classes, settings.target))
    about_known(parameters, settings.attributes, "attributes")
    return layout, spans


def _attribute(parameters: Mapping[str, Any], name: str, spans: dict[str, Span]) -> Attribute:
    kind = one_kind(parameters, name, KINDS, "Attribute")
    listed = parameters[f"{kind}.{name}"]
    if kind == "categories":
        return Attribute(name, tuple(c or None for c in listed))
    if kind == "cuts":
        return Attribute(name, cuts=tuple(map(float, listed)))
    low, high, *whole = listed
    if any(n % 1 != 0 for n in whole):
        raise StudyError(explain(f"Parameter 'range.{name}'", "[low, high, cut points, bits], the "
                                 "last two whole numbers", list(listed)))
    spans[name] = Span(float(low), float(high), *(int(n) for n in whole))
    return Attribute(name, cuts=(spans[name].low,))


def fits_rows(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that make no trees over rows."""
    layout_of(parameters)


def shape_of(parameters: Mapping[str, Any]) -> TreeShape:
    """Return what is public about the sites."""
    settings = GrowthSettings.of(parameters)
    return as_study(lambda: TreeShape(settings.classes, settings.class_site, settings.slots,
                                      settings.branches, settings.target, settings.class_known))


def expected_of(study: Study) -> int:
    """Return how many records a forecast over columns is for."""
    return GrowthSettings.of(study.parameters).expected


def refuse_other_sites(study: Study) -> None:
    """Refuse a study over columns without shares, or whose class site owns nothing."""
    site = GrowthSettings.of(study.parameters).class_site
    if not study.facts.has_shares or site not in study.having("owner"):
        raise StudyError(explain(f"Task '{study.task}'", "given shares and a class site among the "
                                 "owners", f"mode '{study.mode}' and '{site}'"))
