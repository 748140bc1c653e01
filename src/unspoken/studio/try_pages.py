"""Walk 2: methods side by side, with sliders; a sample while one drags, all rows afterwards."""

from __future__ import annotations

from typing import Any

from unspoken.audit.people.side_by_side import Beside
from unspoken.release.method import Method, method_of, methods
from unspoken.report.drawing import percent
from unspoken.studio.charts import before_after, share_bars
from unspoken.studio.desk import Dataset, Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Markup, el
from unspoken.studio.form_fields import Fields, read_form
from unspoken.studio.kept_desks import keep_desk
from unspoken.studio.layout import button, facts, form, fragment, hidden, html, job_box
from unspoken.studio.method_figures import attacked, quick_figures, tried
from unspoken.studio.parameter_controls import controls, read_parameters, start_values
from unspoken.studio.replies import off_the_loop
from unspoken.studio.spelled_out import command_line
from unspoken.studio.table_risks import SMALL

MOST_CARDS, FIRST_COLUMNS = 3, 4
SLOW = frozenset(("private-synthetic",))
"""Methods that take seconds even on a sample: they run on all rows, when somebody asks."""
_KINDS = {"singling out": "Singling out", "linking": "Linking", "inferring": "Inferring",
          "membership": "Membership"}


def offered() -> dict[str, Method]:
    """Return the methods that take tables."""
    return {name: one for name, one in methods().items() if not one.takes_baskets}


async def show(request: Any) -> Any:
    """GET /try: up to three methods, each with its controls and its figures."""
    desk: Desk = desk_of(request)
    dataset = desk.dataset
    asked = [name for name in request.query_params.getlist("m") if name]
    chosen = asked[:MOST_CARDS] or _last(desk) or _first(dataset)
    cards = [_card(request, method_of(name), place) for place, name in enumerate(chosen)]
    if chosen != desk.found.get("methods"):
        desk.found["methods"] = chosen
        await off_the_loop(_forget_others, desk, chosen)
    rows, whole = dataset.sample.rows, dataset.table.rows
    words = f"Figures follow the sliders on all {whole:,} rows." if rows == whole else (
        f"Figures follow the sliders on {rows:,} rows drawn at random; those of all {whole:,} rows "
        "come after.")
    return html(request, "Try methods side by side", _picker(chosen),
                el("div", cards, class_="cards"),
                lead=words)


def _first(dataset: Dataset) -> list[str]:
    quasi = dataset.table.schema.with_role("quasi")
    return ["mondrian", "piecewise"] if quasi else ["piecewise"]


def _last(desk: Desk) -> list[str]:
    """Return the methods that were shown or tried last, in their order."""
    return desk.found.get("methods") or [
        method for _, (method, _) in sorted(desk.found.get("tried", {}).items())]


def _tried_values(desk: Desk, method: Method, place: int) -> dict[str, Any] | None:
    """Return where the controls of a card were left; None if another method stood there."""
    name, parameters = desk.found.get("tried", {}).get(str(place), ("", {}))
    return {**method.defaults(), **parameters} if name == method.name else None


def _forget_others(desk: Desk, chosen: list[str]) -> None:
    """Forget what was tried on cards that are not there any more."""
    tried_before = desk.found.get("tried", {})
    desk.found["tried"] = {card: one for card, one in tried_before.items()
                           if int(card) < len(chosen) and one[0] == chosen[int(card)]}
    keep_desk(desk)


def _keep_tried(desk: Desk, card: str, method: Method, parameters: dict[str, Any]) -> None:
    """Write down where a card was left."""
    if card in map(str, range(MOST_CARDS)):
        desk.found.setdefault("tried", {})[card] = [method.name, parameters]
        keep_desk(desk)


def _picker(chosen: list[str]) -> Markup:
    boxes = [_pick(place, name) for place, name in
             enumerate([*chosen, *[""] * (MOST_CARDS - len(chosen))])]
    return el("form", el("fieldset", el("legend", "Methods"), el("div", boxes, class_="two")),
              button("Show", class_="plain"), action="/try", method="get")


def _pick(place: int, chosen: str) -> Markup:
    options = [el("option", "none", value="", selected=not chosen)] if place else []
    options += [el("option", f"{name}: {one.summary}", value=name, selected=name == chosen)
                for name, one in offered().items()]
    return el("div", el("label", f"Method {place + 1}", for_=f"m{place}"),
              el("select", options, name="m", id=f"m{place}", data_go=True))


def _card(request: Any, method: Method, place: int) -> Markup:
    values = _tried_values(desk_of(request), method, place) or start_values(method)
    made = [one.markup(f"c{place}", values.get(one.name)) for one in controls(method)]
    main, more = made[:4], made[4:]
    extra = el("details", el("summary", "More settings"), more) if more else None
    inside = [hidden("method", method.name), hidden("card", place), main, extra,
              button("Figures of all rows", class_="plain", formaction="/try/full"),
              button("Decide on this", formaction="/decide/choose")]
    return el("section", el("h2", method.name), el("p", method.summary),
              form(request, "/try/look", inside, data_live=f"look-{place}"),
              el("div", id=f"look-{place}", aria_live="polite"), class_="card",
              aria_label=method.name)


async def look(request: Any) -> Any:
    """POST /try/look: the figures of one method on the sample."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    method, parameters = chosen_method(fields)
    if method.name in SLOW:
        return fragment(el("p", "This method takes long even on a sample. Choose 'Figures of all "
                           "rows' to run it, with its progress shown.", class_="help"))
    # One at a time: while somebody drags, what was asked for before is not wanted any more.
    async with desk.one_look:
        if await request.is_disconnected():
            return fragment()
        return fragment(await off_the_loop(_looked, desk, fields, method, parameters))


def chosen_method(fields: Fields) -> tuple[Method, dict[str, Any]]:
    """Return the method and the parameters that a form asks for."""
    method = method_of(fields["method"])
    return method, read_parameters(method, dict(fields.pairs))


def _looked(desk: Desk, fields: Fields, method: Method, parameters: dict[str, Any]) -> Any:
    dataset = desk.dataset
    end_full(desk, fields["card"])
    one = tried(dataset.sample, method, parameters)
    figures = quick_figures(one)
    risks = attacked(one) if fields["more"] == "attack" else None
    full = _full_job(desk, dataset, method, parameters, fields) if risks is not None else None
    if risks is not None:
        _keep_tried(desk, fields["card"], method, parameters)
    return [_figures(figures), risks_markup(risks),
            _ordered(dataset, list(one.beside.columns)), full,
            el("details", el("summary", "As a command line"),
               el("pre", command_line(dataset.source, method, parameters)))]


def _full_job(desk: Desk, dataset: Dataset, method: Method, parameters: dict[str, Any],
              fields: Fields) -> Markup | None:
    """Start the figures of all rows, unless there are very many; the card's earlier ones end."""
    if dataset.table.rows <= dataset.sample.rows or dataset.table.rows > SMALL:
        return None
    return start_full(desk, method, parameters, fields["card"])


def start_full(desk: Desk, method: Method, parameters: dict[str, Any], card: str) -> Markup:
    """Start the figures of all rows for a card; what ran for it before is ended."""
    end_full(desk, card)
    job = desk.jobs.start("figures", {"source": desk.dataset.source.to_json(),
                                      "method": method.name, "parameters": parameters},
                          f"All {desk.dataset.table.rows:,} rows")
    desk.found.setdefault("full", {})[card] = job.name
    return el("div", job_box(job.name, job.words, f"/try/full/{job.name}", part=True))


def end_full(desk: Desk, card: str) -> None:
    """End what still runs for a card: its sliders were moved, and nobody wants it any more."""
    name = desk.found.get("full", {}).pop(card, None)
    if name is not None:
        desk.jobs.cancel(name)


def _figures(figures: dict[str, Any]) -> Any:
    use = figures["use"]
    left_out = 1 - figures["rows"] / figures["of"]
    pairs: list[tuple[str, Any]] = [
        ("Smallest group (K)", "–" if figures["k"] is None else f"{figures['k']:,}"),
        ("Average chance of being found", "–" if figures["risk"] is None
         else percent(figures["risk"])),
        ("Distributions kept", percent(use["columns"]) if "columns" in use else "–"),
        ("Pairs kept", percent(use["pairs of columns"]) if "pairs of columns" in use else "–")]
    pairs += [("Records left out", percent(left_out))] if left_out > 0 else []
    missing = figures["missing"]
    return [el("h3", "What it promises"), el("p", figures["promise"]),
            el("details", el("summary", "On what conditions"),
               el("ul", [el("li", one) for one in figures["conditions"]]))
            if figures["conditions"] else None, facts(pairs),
            el("p", f"Not released: {', '.join(missing)}.", class_="help") if missing else None]


def risks_markup(risks: list[dict[str, Any]] | None) -> Any:
    """Return the risk by adversary; None while nobody was attacked yet."""
    head = el("h3", "What attackers get")
    if risks is None:
        return [head, el("p", "People are attacked when you pause.", class_="help")]
    if not risks:
        return [head, el("p", "Nothing could be matched with the original.", class_="help")]
    rows = [(_KINDS[one["kind"]], one["value"], one["baseline"], _risk_words(one))
            for one in risks]
    return [head, share_bars(rows, "Share of the people attacked, by kind of attack"),
            el("p", "The line marks the best guess without the release. There is no control group "
               "here, so these are upper bounds; the full audit has one.", class_="help")]


def _risk_words(one: dict[str, Any]) -> str:
    what = f" of '{one['column']}'" if one["kind"] == "inferring" else ""
    low, high = one["interval"]
    return (f"{one['adversary']}{what}, knowing {one['knowledge']}: {percent(low)} to "
            f"{percent(high)} of {one['people']} people")


def _ordered(dataset: Dataset, columns: list[Beside]) -> Any:
    """Put quasi-identifiers first, then what changed most; the rest can be opened."""
    quasi = set(dataset.table.schema.with_role("quasi"))
    columns.sort(key=lambda one: (one.column not in quasi, one.kept))
    first, rest = columns[:FIRST_COLUMNS], columns[FIRST_COLUMNS:]
    legend = el("p", el("svg", el("rect", x=1, y=1, width=14, height=10, class_="before"),
                        viewBox="0 0 16 12", aria_hidden="true"), " before, ",
                el("svg", el("rect", x=1, y=1, width=14, height=10, class_="after"),
                   viewBox="0 0 16 12", aria_hidden="true"), " after", class_="legend")
    more = el("details", el("summary", f"{len(rest)} more columns"),
              el("div", map(before_after, rest), class_="columns")) if rest else None
    return [el("h3", "Before and after"), legend,
            el("div", map(before_after, first), class_="columns"), more]


async def full(request: Any) -> Any:
    """POST /try/full: start the figures of all rows."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    method, parameters = chosen_method(fields)
    await off_the_loop(_keep_tried, desk, fields["card"], method, parameters)
    return html(request, f"{method.name} on all rows",
                start_full(desk, method, parameters, fields["card"]),
                el("p", el("a", "Back", href="/try")))


async def full_figures(request: Any) -> Any:
    """GET /try/full/JOB: the figures of all rows."""
    desk: Desk = desk_of(request)
    figures = desk.jobs.get(request.path_params["job"]).result
    columns = [Beside(**one) for one in figures["columns"]]
    return fragment(el("h3", f"On all {figures['of']:,} rows"), _figures(figures),
                    risks_markup(figures["risks"]), _ordered(desk.dataset, columns))
