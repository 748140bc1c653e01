"""The figures of a frontier: usefulness, and risk by the group or by the worst attack."""

from __future__ import annotations

from typing import Any

from unspoken.methods.anonymity.utility.risk_utility_frontier import TASKS
from unspoken.release.method import method_of
from unspoken.report.drawing import percent
from unspoken.studio.elements import Markup, el
from unspoken.studio.layout import table
from unspoken.studio.spelled_out import method_words

Found = dict[str, Any]
GROUPS, ATTACKS = "groups", "attacks"


def by_attack(found: Found) -> bool:
    """Return True for a frontier whose risk is that of the worst attack."""
    return bool(found.get("by") == ATTACKS)


def across(found: Found) -> str:
    """Return the words of the axis of risk."""
    return "what the worst attack gains" if by_attack(found) else "average chance of being found"


def upward(found: Found) -> str:
    """Return the words of the axis of usefulness."""
    return "score on held-back records" if found["task"] == TASKS[0] and any(
        one["utility"] and one["utility"]["score"] is not None for one in found["tried"]) \
        else "frequencies and correlations kept"


def useful(found: Found, one: dict[str, Any]) -> float:
    """Return how useful a release is."""
    use = one["utility"]
    if found["task"] == TASKS[0] and use["score"] is not None:
        return float(use["score"])
    return float(1 - (use["marginals"] + use["pairs"]) / 2)


def risk(found: Found, one: dict[str, Any]) -> float:
    """Return the risk of a release, as this frontier counts it."""
    if not by_attack(found):
        return float(one["utility"]["average_risk"])
    return 1.0 if one["worst"] is None else float(one["worst"]["excess"])


def point(found: Found, place: int, one: dict[str, Any]) -> dict[str, Any]:
    """Return a try as a point of the picture."""
    kind = "best" if place == 0 else "edge" if place in found["edge"] else ""
    return {"x": risk(found, one), "y": useful(found, one), "kind": kind,
            "mark": place + 1, "href": f"#choice-{place}",
            "words": f"{place + 1}: {method_words(method_of(one['method']), one['parameters'])}"}


def listed(found: Found, known: list[tuple[int, dict[str, Any]]]) -> Markup:
    """Return all tries as a table: it says what the picture shows."""
    head, numbers = (["worst attack", "left out"], [1, 2, 4]) if by_attack(found) else (
        ["highest chance of being found", "K", "left out"], [1, 2, 3, 4, 5])
    rows = [[el("a", f"{place + 1}. {one['method']}", href=f"#choice-{place}"),
             f"{useful(found, one):.3f}", percent(risk(found, one)), *_more(found, one),
             percent(one["utility"]["left_out"]), "yes" if place in found["edge"] else "no"]
            for place, one in known]
    return table(["method", "usefulness", across(found), *head, "on the frontier"], rows,
                 f"Tried for {found['task']}", numbers)


def _more(found: Found, one: dict[str, Any]) -> list[str]:
    if by_attack(found):
        worst = one["worst"]
        return ["none succeeds" if worst is None else (
            f"{worst['kind']} by {worst['adversary']}; {_interval(worst)}")]
    k = one["utility"]["k"]
    return [percent(1 / max(k, 1)), f"{k:,}"]


def _interval(worst: dict[str, Any]) -> str:
    low, high = worst["interval"]
    return f"{percent(low)} to {percent(high)}, {worst['people']} people attacked"


def kept_words(one: dict[str, Any]) -> str:
    """Return what a try kept and risks, in words."""
    use, worst = one["utility"], one.get("worst")
    score = "" if use["score"] is None else (
        f"Boosted trees reach {use['score']:.3f} on held-back records; trained on the original "
        f"{use['score_of_original']:.3f}. ")
    if worst is not None:
        return (f"{score}The worst attack ({worst['kind']} by {worst['adversary']}, knowing "
                f"{worst['knowledge']}) gains {percent(worst['excess'])} beyond people outside "
                f"({_interval(worst)}).")
    return (f"{score}K = {use['k']}, average chance of being found "
            f"{percent(use['average_risk'])}.")
