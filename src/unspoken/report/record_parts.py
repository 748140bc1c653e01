"""The parts of a decision record: the verdict in colour and word, risks, a place to sign."""

from __future__ import annotations

from collections.abc import Sequence

from unspoken.disclosure.people_risk import INFERRED, Risk
from unspoken.disclosure.release_verdict import Verdict
from unspoken.report.drawing import percent
from unspoken.report.markup import escape
from unspoken.report.page import Page

SIGNS = {"low": "●", "raised": "▲", "high": "■", "policy": "■", "unknown": "?"}
"""A shape beside the colour, for those who do not see it and for grey printers."""
_HEAD = ("risk", "beyond control", "share", "outside the release", "guess", "people", "attack")
CHECKS = (
    "The original and this record were compared by the fingerprint.",
    "The control group is of the same population and was not used to make the release.",
    "The recipient is bound not to re-identify, link or pass on.",
    "Earlier releases of the same people were looked up in the register.",
    "Somebody else than the maker of the release has read this record.",
)


def verdict_box(page: Page, verdict: Verdict) -> None:
    """Add the verdict: a coloured box with a shape, two words, what to do, and the two worst."""
    lines = [f"Naming: {_words(verdict.naming)}", f"Inferring: {_words(verdict.inferring)}"]
    if verdict.upper_bound:
        lines.append("There was no control group: what the population tells cannot be separated, "
                     "and these shares are upper bounds.")
    inside = "".join(f"<p>{escape(line)}.</p>" for line in lines)
    page.markup(
        f'<div class="verdict {verdict.level}"><p class="word"><span aria-hidden="true">'
        f"{SIGNS[verdict.level]}</span> {escape(verdict.word)}: {escape(verdict.advice)}</p>"
        f"{inside}</div>")


def _words(one: object) -> str:
    return str(getattr(one, "words", "not measured")).rstrip(".")


def risk_table(page: Page, risks: Sequence[Risk], controlled: bool) -> None:
    """Add risks with their counts, intervals, control group and guess; on a phone as cards."""
    note = "" if controlled else " Without a control group these are upper bounds."
    caption = ("Shares of people attacked, with 95% intervals (Wilson); the same attack on people "
               f"outside the release; the best guess without it.{note}")
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    rows = "\n".join(_row(one) for one in risks)
    page.markup(f'<div class="scroll cards"><table><caption>{escape(caption)}</caption>'
                f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>")


def _row(one: Risk) -> str:
    cells = [_beyond(one), f"{percent(one.value)} ({_interval(one)})",
             "–" if one.control is None else percent(one.control), percent(one.baseline),
             f"{one.hits:,} of {one.people:,}", f"{one.adversary}, {one.knowledge}"]
    inside = "".join(f'<td data-label="{name}">{escape(text)}</td>'
                     for name, text in zip(_HEAD[1:], cells, strict=True))
    return f'<tr><th scope="row">{escape(_named(one))}</th>{inside}</tr>'


def _named(one: Risk) -> str:
    return f"{one.kind} '{one.column}'" if one.kind == INFERRED else one.kind


def _interval(one: Risk) -> str:
    return " – ".join(percent(end) for end in one.interval)


def _beyond(one: Risk) -> str:
    if one.upper_bound:
        return "–"
    value, low, high = one.beyond
    return f"{percent(value)} ({percent(low)} – {percent(high)})"


def page_break(page: Page) -> None:
    """Start a new sheet of paper; on a screen it is a line."""
    page.markup('<hr class="sheet">')


def signature_box(page: Page) -> None:
    """Add a place for the decision and the names of those who take it."""
    fields = "".join(f"<span>{escape(name)}</span>" for name in
                     ("Decision", "Name and role", "Date and signature"))
    page.markup(f'<div class="sign">{fields}</div>')


def checklist(page: Page) -> None:
    """Add what no program can check."""
    page.markup("<ul class=\"boxes\">" + "".join(f"<li>{escape(line)}</li>" for line in CHECKS)
                + "</ul>")
