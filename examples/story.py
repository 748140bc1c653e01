"""What the stories share: two options, and a page at the end."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.release.guarantee import Guarantee
from unspoken.report import Page
from unspoken.report.drawing import AMBER, BLUE, GREY, INK, one_axes, plain


@dataclass(frozen=True)
class Options:
    """Where the page goes, and whether fewer records are to do."""

    out: Path
    quick: bool

    def rows(self, full: int, quick: int) -> int:
        """Return the number of records to make up."""
        return quick if self.quick else full


def options(text: str | None, page: str) -> Options:
    """Read the command line of a story."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--out", type=Path, default=Path(page), help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="fewer records")
    chosen = parser.parse_args()
    return Options(chosen.out, chosen.quick)


def finish(page: Page, options: Options) -> None:
    """Write the page and say where it is."""
    page.save(options.out)
    print(f"Page: {options.out}")


def promise(page: Page, guarantee: Guarantee) -> None:
    """Add what a release promises, and on which conditions."""
    page.text(guarantee.statement).bullets(guarantee.conditions)


def verdicts(page: Page, audits: dict[str, Audit]) -> None:
    """Add the verdict on each release, and what an attacker gets beyond a guess."""
    told = {name: verdict_of(audit) for name, audit in audits.items()}
    page.table(["release", "method", "verdict", "what to do"],
               [[name, audits[name].release["mechanism"]["name"], one.word, one.advice]
                for name, one in told.items()])
    for name, one in told.items():
        found = [side.words for side in (one.naming, one.inferring) if side is not None]
        page.section(name, level=3).bullets([*found, *one.reasons])


def bars(names: list[str], series: dict[str, list[float]], label: str,
         height: float = 2.8) -> Any:
    """Draw groups of horizontal bars, first name on top."""
    figure, axes = one_axes(7.0, height)
    plain(axes, "x")
    wide = 0.8 / len(series)
    for place, ((name, values), tone, hatch) in enumerate(zip(
            series.items(), (BLUE, AMBER, GREY), ("", "////", "...."), strict=False)):
        at = [row + (place - (len(series) - 1) / 2) * wide for row in range(len(names))]
        axes.barh(at, values, wide, label=name, color=tone, edgecolor=INK, linewidth=0.5,
                  hatch=hatch)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel(label, fontsize=9)
    if len(series) > 1:
        axes.legend(fontsize=8, frameon=False)
    return figure
