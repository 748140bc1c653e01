"""One page: every number of the texts beside ours, with pictures and what could not be run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from unspoken.report import Page
from unspoken_experiments.findings import UNPRINTED, VERDICTS, Finding, Missing, Section

TEXTS = {
    "bu2007": "Bu, Lakshmanan, Ng, Ramesh: Preservation of patterns and input-output privacy",
    "as2000": "Agrawal, Srikant: Privacy-preserving data mining",
    "fu2010": "Fu, Chen, Koru, Gangopadhyay: A privacy protection technique for publishing data "
              "mining models and research data",
    "liu2006": "Liu, Giannella, Kargupta: An attacker's view of distance preserving maps",
    "vcz2006": "Vaidya, Clifton, Zhu: Privacy preserving data mining",
}


def build(sections: Sequence[Section], missing: Sequence[Missing], quick: bool) -> Page:
    """Return the page."""
    page = Page("The papers again", "Every table and figure with numbers: published beside ours.")
    page.box(summary(sections, missing, quick))
    page.table(["text", "numbers", *VERDICTS], [
        [paper, *_row(sections, paper)] for paper in TEXTS if _of(sections, paper)])
    page.text("A published number agrees with ours if it lies in our 95% interval or is the same "
              "when ours is rounded as it was; a published bound or range agrees if ours keeps to "
              "it. Close means off by at most the tolerance that stands above the table. Numbers "
              "that a text does not print, because they are bars and curves of a figure, have "
              "nothing to agree with.")
    if missing:
        page.section("What could not be run")
        page.table(["text", "part", "why"], [[m.paper, m.what, m.why] for m in missing])
    for paper, title in TEXTS.items():
        if chosen := _of(sections, paper):
            page.section(f"{paper}. {title}")
            for one in chosen:
                _add(page, one)
    return page


def summary(sections: Sequence[Section], missing: Sequence[Missing], quick: bool) -> list[str]:
    """Return what came out in a few lines."""
    tally = Counter(verdict for one in sections for verdict in one.verdicts())
    printed = sum(tally.values()) - tally[UNPRINTED]
    lines = [f"{tally['agrees']} of {printed} printed numbers agree, {tally['close']} are close, "
             f"{tally['differs']} differ; {tally[UNPRINTED]} of ours have no number in print."]
    if quick:
        lines.append("A quick run: fewer trials and records, so wider intervals.")
    if missing:
        lines.append(f"{len(missing)} parts could not be run: a data set is not here.")
    return lines


def as_json(sections: Sequence[Section], missing: Sequence[Missing]) -> dict[str, Any]:
    """Return everything but the pictures."""
    return {
        "findings": [{"paper": one.paper, "place": one.place, "what": f.what,
                      "published": f.published, "ours": f.ours, "low": f.low, "high": f.high,
                      "verdict": f.verdict(one.tolerance)}
                     for one in sections for f in one.findings],
        "missing": [{"paper": m.paper, "what": m.what, "why": m.why} for m in missing],
    }


def _of(sections: Sequence[Section], paper: str) -> list[Section]:
    return [one for one in sections if one.paper == paper]


def _row(sections: Sequence[Section], paper: str) -> list[int]:
    tally = Counter(verdict for one in _of(sections, paper) for verdict in one.verdicts())
    return [sum(tally.values()), *(tally[name] for name in VERDICTS)]


def _add(page: Page, one: Section) -> None:
    page.section(f"{one.place}: {one.title}", level=3)
    if one.figure is not None:
        page.figure(one.figure(), one.caption or one.title)
    if one.findings:
        _table(page, one)
    if one.notes:
        page.bullets(one.notes)


def _table(page: Page, one: Section) -> None:
    ranged = any(f.low is not None for f in one.findings)
    head = ["", "published", "ours", *(["95% interval"] if ranged else []), "verdict",
            *([one.other] if one.other else [])]
    under = f" Close: within {one.tolerance:g}." if one.tolerance else ""
    page.table(head, [_cells(one, f, ranged) for f in one.findings],
               f"{one.unit}{under}".strip(),
               align="lrr" + "r" * ranged + "l" + "r" * bool(one.other))


def _cells(one: Section, f: Finding, ranged: bool) -> list[str]:
    digits = 0 if f.ours == round(f.ours) and "." not in f.published else one.digits
    return [f.what, f.published or "–", f"{f.ours:,.{digits}f}",
            *([f.interval(one.digits) or "–"] if ranged else []), f.verdict(one.tolerance),
            *([f.other or "–"] if one.other else [])]
