"""How far attackers get in the demo, as text and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.cli.common import columns
from tacit.cli.demo_walk import Proof, Protected, Story

if TYPE_CHECKING:
    from tacit.report import Page
    from tacit.risk import Audit

DRAWN = "mean radius"
ATTACKS = (
    ("curve fitting, 4 known values", ("line", "spline", "polyline"), "expert"),
    ("curve fitting, 8 known values", ("line", "spline", "polyline"), "insider"),
    ("sorting, minimum and maximum known", ("rank",), "bounds"),
    ("quantile matching, a 10% sample known", ("quantile",), "sample given"),
    ("counting, every value's frequency known", ("frequency",), "histogram"),
)
LESSON = (
    "The models come back exactly, and the miner never saw a value. But the order of the values "
    "is in the release, and order is much: whoever has similar data puts the two side by side and "
    "reads off most values. Release in this way only to somebody who has no such data, or who has "
    "promised not to use it."
)


@dataclass(frozen=True)
class Reach:
    """How much of the columns one attack gets: mean over columns, least and most."""

    mean: float
    low: float
    high: float
    baseline: float


def reach(audit: Audit, adversaries: tuple[str, ...], knowledge: str) -> Reach:
    """Return what the best of some adversaries gets of each column, over all columns."""
    rows = [row for row in audit.select(measure="domain", knowledge=knowledge)
            if row.adversary in adversaries]
    by_column: dict[str, list[Any]] = {}
    for row in rows:
        by_column.setdefault(row.column, []).append(row)
    best = [max(found, key=lambda row: row.value) for found in by_column.values()]
    values = [row.value for row in best]
    count = len(values)
    return Reach(sum(values) / count, min(values), max(values),
                 sum(row.baseline for row in best) / count)


def attack_rows(story: Story) -> list[list[str]]:
    """Return one row an attack: what it gets of each release, and without any."""
    rows = []
    for name, adversaries, knowledge in ATTACKS:
        found = [reach(one.audit, adversaries, knowledge) for one in story.protected]
        rows.append([name, *(f"{r.mean:.0%} ({r.low:.0%} to {r.high:.0%})" for r in found),
                     f"{found[0].baseline:.0%}"])
    return rows


def heading(story: Story) -> list[str]:
    """Return the names of the columns of `attack_rows`."""
    return ["attack", *(one.mode for one in story.protected), "without the release"]


def attack_text(story: Story) -> str:
    """Return the attacks as a table in text."""
    return ("How far attackers get: values guessed within 2% of their column's range, the mean "
            "over the\n30 columns (and the least and most of a column), medians of "
            f"{story.protected[0].audit.trials} trials:\n\n"
            + columns([heading(story), *attack_rows(story)], right=(1, 2, 3)))


def build_page(story: Story) -> Page:
    """Return the report of the demo."""
    from tacit.report import Page

    same = sum(proof.identical for proof in story.proofs)
    page = Page("A walk through tacit", "Protect, mine, decode, compare, attack: the breast "
                "cancer data that ships with scikit-learn.")
    page.box([f"{same} of {len(story.proofs)} decoded models are identical, bit for bit, to those "
              "mined from the original.", LESSON])
    _models(page, story.proofs)
    _attacks(page, story)
    for one in story.protected:
        _picture(page, story, one)
    page.section("The releases")
    for one in story.protected:
        page.section(f"Mode {one.mode}", level=3).code(one.release.guarantee.summary())
    page.text("This page shows original values: it stays with the custodian.")
    return page


def _models(page: Page, proofs: tuple[Proof, ...]) -> None:
    page.section("The models")
    page.text("A process that saw nothing but the release mined a tree and a forest. The "
              "custodian decoded them, mined the original table with the same learner in the "
              "released row order, and compared: structure, thresholds, counts and class shares.")
    page.table(
        ["mode", "model", "first question, as mined", "decoded", "identical"],
        [[p.mode, p.size, p.mined_split, p.decoded_split,
          "yes" if p.identical else f"NO: {p.difference}"] for p in proofs])
    page.table(["mode", "model", "decoded", "mined from the original"],
               [[p.mode, p.learner, p.decoded[:16], p.mined_from_original[:16]] for p in proofs],
               "SHA-256 of the two model files (first 16 digits)")


def _attacks(page: Page, story: Story) -> None:
    page.section("How far attackers get")
    page.table(heading(story), attack_rows(story),
               "Share of a column's distinct values guessed within 2% of its range: mean over the "
               "30 columns, and the least and most of a column. Last: the same knowledge without "
               "the release.", align="lrrr")
    page.figure(_drawing(story), "The same as a drawing: mean over the columns, from the least to "
                "the most of a column; the bar is what the same knowledge gives without the "
                "release.")


def _drawing(story: Story) -> Any:
    from tacit.report.plots import risk_by_adversary

    names = [name for name, _, _ in ATTACKS for _ in story.protected]
    modes = [one.mode for _ in ATTACKS for one in story.protected]
    found = [reach(one.audit, adversaries, knowledge)
             for _, adversaries, knowledge in ATTACKS for one in story.protected]
    short = [name.split(",")[0] + (" (8)" if " 8 " in name else "") for name in names]
    return risk_by_adversary(short, modes, [r.mean for r in found], [r.low for r in found],
                             [r.high for r in found], [r.baseline for r in found])


def _picture(page: Page, story: Story, one: Protected) -> None:
    from tacit.report.evidence import gather
    from tacit.report.plots import encoding_scatter

    found = gather(story.table, one.release, one.key, [DRAWN], 0.02, 1, 0)[0]
    page.section(f"What the miner sees of '{DRAWN}', mode {one.mode}")
    hatched = " Marked pieces hold one class only; inside them the order is hidden." \
        if found.mono.any() else " The order of the values is kept throughout."
    page.figure(encoding_scatter(found.values, found.codes, found.starts, found.mono, DRAWN),
                f"Codes against original values.{hatched}")
