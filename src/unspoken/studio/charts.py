"""Pictures drawn by the server as SVG: no style in them, so that a strict content policy holds.

Colours and hatches come from the style sheet by class; what is before is outlined, what is after is
filled, so that both can be told apart without colour. Every picture has its words as a label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unspoken.audit.people.side_by_side import Beside
from unspoken.disclosure.plain_language import HIGH as HIGH_RISK
from unspoken.disclosure.release_verdict import LOW
from unspoken.report.drawing import percent, short_number
from unspoken.studio.elements import Markup, el

WIDE, HIGH, FOOT = 300.0, 96.0, 16.0


def picture(width: float, height: float, label: str, *inside: Any, class_: str = "") -> Markup:
    """Return an SVG picture that scales, with its words for whoever does not see it."""
    return el("svg", *inside, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label,
              class_=f"picture {class_}".strip(), preserveAspectRatio="xMidYMid meet")


def before_after(one: Beside) -> Markup:
    """Draw one column before (outlined) and after (filled), as a figure with its caption."""
    top = max([*one.before, *one.after, 1e-9])
    step = WIDE / len(one.before)
    bars = [_pair(place * step, step, b / top, a / top)
            for place, (b, a) in enumerate(zip(one.before, one.after, strict=True))]
    ends = _ends(one)
    label = f"{one.column}: {percent(one.kept)} of its distribution is kept"
    drawing = picture(WIDE, HIGH + FOOT, label, bars, el("line", x1=0, y1=HIGH, x2=WIDE, y2=HIGH,
                                                         class_="axis"), ends)
    head = el("figcaption", el("b", one.column), " ",
              el("span", f"{percent(one.kept)} kept", class_="soft"))
    return el("figure", head, drawing, class_="column-picture")


def _pair(left: float, step: float, before: float, after: float) -> Markup:
    gap = step * 0.12
    width = step - 2 * gap
    tall, short = before * (HIGH - 4), after * (HIGH - 4)
    return el("g", el("rect", x=f"{left + gap:.1f}", y=f"{HIGH - short:.1f}", width=f"{width:.1f}",
                      height=f"{short:.1f}", class_="after"),
              el("rect", x=f"{left + gap:.1f}", y=f"{HIGH - tall:.1f}", width=f"{width:.1f}",
                 height=f"{tall:.1f}", class_="before"))


def _ends(one: Beside) -> list[Markup]:
    """Name the ends of a band of numbers, or every category as far as there is room."""
    if one.bands:
        return [_word(0, HIGH + 13, short_number(one.bands[0]), "start"),
                _word(WIDE, HIGH + 13, short_number(one.bands[-1]), "end")]
    step = WIDE / len(one.labels)
    room = max(2, int(step / 6.2))
    return [_word((place + 0.5) * step, HIGH + 13, _short(name, room), "middle")
            for place, name in enumerate(one.labels)]


def _word(x: float, y: float, text: str, anchor: str, class_: str = "") -> Markup:
    return el("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_ or None)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(1, most - 1)]}…"


def share_bars(rows: Sequence[tuple[str, float, float | None, str]], label: str) -> Markup:
    """Draw shares as bars, each with a mark at what it is compared with; a table says the same."""
    return el("div", [_bar_row(*row) for row in rows], class_="bars", role="list",
              aria_label=label)


def _bar_row(name: str, value: float, beside: float | None, words: str) -> Markup:
    at = f"{100 * (beside or 0.0):.2f}"
    mark = None if beside is None else [el("line", x1=at, x2=at, y1=0, y2=8, class_=name)
                                        for name in ("mark-edge", "mark")]
    drawing = el("svg", el("rect", x=0, y=0, width=100, height=8, class_="room"),
                 el("rect", x=0, y=0, width=f"{min(max(value, 0), 1) * 100:.2f}", height=8,
                    class_=f"fill {tone(value, beside)}"), mark,
                 viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true",
                 class_="bar")
    return el("div", el("span", name, class_="bar-name"), drawing,
              el("span", percent(value), class_="bar-value"),
              el("span", words, class_="bar-words soft"), class_="bar-row", role="listitem")


def tone(share: float, beside: float | None = None) -> str:
    """Return the word of the style sheet for a risk beyond a guess; of no risk without one."""
    if beside is None:
        return "use"
    beyond = (share - beside) / (1 - beside) if beside < 1 else 0.0
    return "low" if beyond < LOW else "raised" if beyond < HIGH_RISK else "high"


def scatter(points: Sequence[dict[str, Any]], across: str, upward: str, label: str) -> Markup:
    """Draw points with links; each has x, y, words, href, kind ("best", "edge" or "") and mark.

    Across stand shares, upward any numbers.
    """
    width, height, left, foot = 640.0, 340.0, 56.0, 40.0
    xs, ys = [one["x"] for one in points], [one["y"] for one in points]
    low_x, high_x = _reach(xs)
    low_y, high_y = _reach(ys)

    def place(one: dict[str, Any]) -> tuple[float, float]:
        return (left + (one["x"] - low_x) / (high_x - low_x) * (width - left - 24),
                height - foot - (one["y"] - low_y) / (high_y - low_y) * (height - foot - 24))

    spots = [_spot(one, *place(one)) for one in points]
    axes = [el("line", x1=left, y1=height - foot, x2=width, y2=height - foot, class_="axis"),
            el("line", x1=left, y1=8, x2=left, y2=height - foot, class_="axis"),
            _word((width + left) / 2, height - 6, across, "middle"),
            el("text", upward, x=-(height - foot) / 2, y=14, text_anchor="middle",
               transform="rotate(-90)"),
            _word(left, height - foot + 16, f"{low_x:.1%}", "start"),
            _word(width, height - foot + 16, f"{high_x:.1%}", "end"),
            _word(left - 6, height - foot, f"{low_y:.3g}", "end"),
            _word(left - 6, 20, f"{high_y:.3g}", "end")]
    return el("svg", el("title", label), axes, spots, viewBox=f"0 0 {width:g} {height:g}",
              class_="picture scatter", role="group", aria_label=label)


def _reach(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or 0.05
    # A share that is not below zero has no axis that begins there.
    return max(low - room, 0.0) if low >= 0 else low - room, high + room


def _spot(one: dict[str, Any], x: float, y: float) -> Markup:
    big = 11 if one["kind"] == "best" else 8
    return el("a", el("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=big, class_=f"spot {one['kind']}"),
              _word(x, y + 4, str(one["mark"]), "middle", "spot-mark"),
              el("title", one["words"]), href=one["href"], aria_label=one["words"])


def parties_picture(parties: Sequence[dict[str, Any]], learns: dict[str, list[str]]) -> Markup:
    """Draw the parties in a circle; who learns something has a filled disc and its words below."""
    width, height, radius = 480.0, 380.0, 120.0
    places = [(width / 2 + 1.3 * radius * math.cos(turn), height / 2 - 30 + radius * math.sin(turn))
              for turn in (2 * math.pi * at / len(parties) - math.pi / 2
                           for at in range(len(parties)))]
    links = [el("line", x1=f"{a[0]:.0f}", y1=f"{a[1]:.0f}", x2=f"{b[0]:.0f}", y2=f"{b[1]:.0f}",
                class_="axis") for at, a in enumerate(places) for b in places[at + 1:]]
    spots = [_party(one, learns.get(one["name"], []), *place)
             for one, place in zip(parties, places, strict=True)]
    words = "; ".join(f"{name} learns {', '.join(what) or 'nothing'}"
                      for name, what in learns.items())
    return picture(width, height, f"Who takes part: {words}", links, spots,
                   class_="scatter parties")


def _party(one: dict[str, Any], learns: Sequence[str], x: float, y: float) -> Markup:
    return el("g", el("circle", cx=f"{x:.0f}", cy=f"{y:.0f}", r=26,
                      class_="spot best" if learns else "spot edge"),
              _word(x, y + 42, _short(one["name"], 24), "middle"),
              _word(x, y + 57, _short(", ".join(one["roles"]), 34), "middle"),
              _word(x, y + 72, _short(f"learns {', '.join(learns) or 'nothing'}", 34), "middle"))
