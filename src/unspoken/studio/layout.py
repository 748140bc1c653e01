"""The frame of every page: where one is, what is loaded, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspoken._version import __version__
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Child, Markup, el, joined
from unspoken.studio.visitor import ANALYST, CUSTODIAN, OFFICER, Visitor

STEPS = (("/", "Data", (CUSTODIAN, OFFICER)), ("/try", "Try", (CUSTODIAN, OFFICER)),
         ("/frontier", "Frontier", (CUSTODIAN, OFFICER)),
         ("/decide", "Decide", (CUSTODIAN, OFFICER)),
         ("/history", "History", (CUSTODIAN, OFFICER)))
MORE = (("/models", "Models", (CUSTODIAN, OFFICER)), ("/surveys", "Surveys", (CUSTODIAN, OFFICER)),
        ("/queries", "Queries", (CUSTODIAN, OFFICER, ANALYST)),
        ("/joint", "Joint studies", (CUSTODIAN, OFFICER)))


def html(request: Any, title: str, *body: Child, lead: str = "", status: int = 200) -> Any:
    """Return a whole page as an answer."""
    from starlette.responses import HTMLResponse

    visitor: Visitor = request.scope["unspoken.visitor"]
    desk = desk_of(request)
    name = desk.dataset.name if desk.loaded and visitor.may(CUSTODIAN, OFFICER) else ""
    return HTMLResponse(document(title, visitor, _navigation(request.url.path, visitor, name),
                                 *body, lead=lead), status)


def fragment(*body: Child) -> Any:
    """Return a part of a page as an answer."""
    from starlette.responses import HTMLResponse

    return HTMLResponse(joined(body))


def document(title: str, visitor: Visitor | None, navigation: Child, *body: Child,
             lead: str = "", scripts: Sequence[str] = ("studio.js",)) -> str:
    """Return the text of a page."""
    base = "/assets" if visitor is not None else "/answer/assets"
    head = el("head", el("meta", charset="utf-8"),
              el("meta", name="viewport", content="width=device-width, initial-scale=1"),
              None if visitor is None else el("meta", name="csrf", content=visitor.csrf),
              el("title", f"{title} · unspoken studio"),
              el("link", rel="icon", href="data:,"),
              el("link", rel="stylesheet", href=f"{base}/studio.css"),
              [el("script", src=f"{base}/{one}", type="module") for one in scripts])
    main = el("main", el("h1", title), el("p", lead, class_="lead") if lead else None, *body,
              id="main", tabindex="-1")
    foot = el("footer", f"unspoken {__version__}. Nothing on this page was fetched from elsewhere.")
    skip = el("a", "Skip to the page", href="#main", class_="skip")
    return "<!DOCTYPE html>\n" + el("html", head, el("body", skip, navigation, main, foot),
                                    lang="en")


def _navigation(here: str, visitor: Visitor, name: str) -> Markup:
    brand = el("p", el("a", "unspoken", href="/"), el("span", " studio"), class_="brand")
    loaded = el("p", name or "no table loaded", class_="loaded", title=name or None)
    return el("header", brand, loaded, el("nav", _links(STEPS, here, visitor, "ol"),
                                          _links(MORE, here, visitor, "ul"),
                                          aria_label="Steps"), class_="side")


def _links(pages: Sequence[tuple[str, str, tuple[str, ...]]], here: str, visitor: Visitor,
           kind: str) -> Markup | None:
    shown = [(place, name) for place, name, roles in pages if visitor.may(*roles)]
    if not shown:
        return None
    return el(kind, [el("li", el("a", name, href=place, aria_current="page"
                                 if _inside(here, place) else None)) for place, name in shown])


def _inside(here: str, place: str) -> bool:
    return here == place or (place != "/" and here.startswith(place))


def form(request: Any, action: str, *inside: Child, **attributes: Any) -> Markup:
    """Return a form that brings the visitor's own token back."""
    csrf = hidden("csrf", request.scope["unspoken.visitor"].csrf)
    return el("form", csrf, *inside, method="post", action=action, **attributes)


def hidden(name: str, value: object) -> Markup:
    """Return a field that nobody sees."""
    return el("input", type="hidden", name=name, value=value)


def button(text: str, **attributes: Any) -> Markup:
    """Return a button that sends its form."""
    return el("button", text, type="submit", **attributes)


def verdict(level: str, word: str, *lines: Child) -> Markup:
    """Return what is read first; the word says what the colour says."""
    return el("div", el("p", word, class_="word"), [el("p", one) for one in lines if one],
              class_=f"verdict {level}")


def table(head: Sequence[str], rows: Sequence[Sequence[Child]], caption: str,
          numbers: Sequence[int] = ()) -> Markup:
    """Return a table whose first column names its rows; `numbers` are set to the right."""
    sides = ["right" if place in numbers else None for place in range(len(head))]
    top = el("tr", [el("th", name, scope="col", class_=side)
                    for name, side in zip(head, sides, strict=True)])
    body = [el("tr", [el("th" if place == 0 else "td", cell, class_=sides[place],
                         scope="row" if place == 0 else None) for place, cell in enumerate(row)])
            for row in rows]
    inside = el("table", el("caption", caption), el("thead", top), el("tbody", body))
    return el("div", inside, class_="scroll", role="region", tabindex="0", aria_label=caption)


def facts(pairs: Sequence[tuple[str, Child]]) -> Markup:
    """Return figures with their names, as a list of definitions."""
    return el("dl", [el("div", el("dt", name), el("dd", value)) for name, value in pairs],
              class_="facts")


def cut_short(desk: Desk, what: str) -> Markup | None:
    """Say that some work had begun before the studio was started again."""
    if what not in desk.found.get("begun", ()):
        return None
    return verdict("raised", "It did not come to its end", "The studio was started again since, "
                   "and what it had begun is gone.")


def job_box(name: str, words: str, then: str, part: bool = False) -> Markup:
    """Return the progress of some work; what it leads to takes its page, or its place."""
    return el("section", el("h2", words, class_="quiet"),
              el("progress", max=1, value=0, aria_label=words),
              el("p", "It has begun.", class_="soft", role="status"),
              el("button", "Cancel", type="button", class_="plain"),
              class_="job", data_job=name, data_then=then, data_part=part)
