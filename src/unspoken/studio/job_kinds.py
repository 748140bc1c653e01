"""The kinds of long work that a child process does; each calls the library as a verb would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unspoken.studio.table_source import Source

Step = Callable[..., None]


def _risks(request: Mapping[str, Any], step: Step) -> Any:
    from unspoken.studio.table_risks import table_risks

    step(0, 3, "The table is read.")
    return table_risks(Source.from_json(request["source"]).read(), step)


def _figures(request: Mapping[str, Any], step: Step) -> Any:
    from unspoken.release.method import method_of
    from unspoken.studio.method_figures import attacked, quick_figures, tried

    step(0, 4, "The table is read.")
    table = Source.from_json(request["source"]).read()
    step(1, 4, "The method runs on all rows.")
    one = tried(table, method_of(request["method"]), request["parameters"])
    step(2, 4, "People are attacked.")
    return {**quick_figures(one), "risks": attacked(one, 200),
            "columns": [column.to_json() for column in one.beside.columns]}


def _frontier(request: Mapping[str, Any], step: Step) -> Any:
    from unspoken.audit.people.attacked_frontier import attacked_frontier
    from unspoken.methods.anonymity.utility.risk_utility_frontier import frontier
    from unspoken.studio.frontier_figures import GROUPS

    step(0, 1, "The table is read.")
    table = Source.from_json(request["source"]).read()


    def tell(done: int, total: int, name: str) -> None:
        step(done, total, f"{name} is tried.")

    tried: Any = frontier(table, request["demand"], request["task"], progress=tell) \
        if request["by"] == GROUPS else attacked_frontier(table, request["task"], progress=tell)
    return {**tried.to_json(), "edge": [tried.tried.index(one) for one in tried.frontier]}


def _draft(request: Mapping[str, Any], step: Step) -> Any:
    from unspoken.studio.draft_release import make_draft

    return make_draft(request, step)


def _decode(request: Mapping[str, Any], step: Step) -> Any:
    from unspoken.studio.mined_models import decode_model

    return decode_model(request, step)


def _join(request: Mapping[str, Any], step: Step) -> Any:
    from unspoken.studio.joint_desk import take_part

    return take_part(request, step)


KINDS: Mapping[str, Callable[[Mapping[str, Any], Step], Any]] = {
    "risks": _risks, "figures": _figures, "frontier": _frontier, "draft": _draft,
    "decode": _decode, "join": _join,
}
