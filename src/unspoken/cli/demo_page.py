"""How far attackers get in the demo, as text and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import columns
from unspoken.cli.demo_walk import SAMPLES, TRIALS, Proof, Protected, Story

if TYPE_CHECKING:
    from unspoken.report import Page
    from unspoken.risk import Audit

DRAWN = "mean radius"
ATTACKS = (
    ("curve fitting, 4 known values", ("line", "spline", "polyline"), "expert"),
    ("curves through ranks, 4 known values", ("ranks",), "expert"),
    ("sorting, minimum and maximum known", ("rank",), "bounds"),
    ("quantile matching, a 10% sample known", ("quantile",), "sample given"),
    ("counting, every value's frequency known", ("frequency",), "histogram"),
)
LESSON = (
    "The models come back exactly, and the miner saw no original value. But the order of the "
    "values is in the release, and order is much: an attacker with similar data puts the two side "
    "by side and reads off values, and a few known values go far if they are placed by rank. A "
    "tenth of this small table gives most values; in a table of half a million rows one percent "
    "gives nearly all. Release in this way only to somebody who has no such data."
)


@dataclass(frozen=True)
class Reach:
    """How much of the columns one attack gets: mean over columns, least and most."""

    mean: float
    low: float
    high: float
    baseline: float


def reach(one: Protected, adversaries: tuple[str, ...], knowledge: str) -> Reach:
    """Return what the best of some adversaries gets of each column, over all columns."""
    audits = one.sampled if knowledge == "sample given" else (one.audit,)
    names = one.audit.release["columns"]
    best = [_best(audits, name, adversaries, knowledge) for name in names]
    values, baselines = zip(*best, strict=True)
    return Reach(fmean(values), min(values), max(values), fmean(baselines))


def _best(audits: Sequence[Audit], column: str, adversaries: tuple[str, ...],
          knowledge: str) -> tuple[float, float]:
    """Return the share that the best adversary gets of a column, the median over audits."""
    best = [max((row for row in audit.select(measure="domain", knowledge=knowledge, column=column)
                 if row.adversary in adversaries), key=lambda row: row.value)
            for audit in audits]
    return median(row.value for row in best), median(row.baseline for row in best)


def attack_rows(story: Story) -> list[list[str]]:
    """Return one row an attack: what it gets of each release, and without any."""
    rows = []
    for name, adversaries, knowledge in ATTACKS:
        shares = [reach(one, adversaries, knowledge) for one in story.protected]
        rows.append([name, *(f"{r.mean:.0%} ({r.low:.0%} to {r.high:.0%})" for r in shares),
                     f"{shares[0].baseline:.0%}"])
    return rows


def heading(story: Story) -> list[str]:
    """Return the names of the columns of `attack_rows`."""
    return ["attack", *(one.mode for one in story.protected), "without the release"]


def attack_text(story: Story) -> str:
    """Return the attacks as a table in text."""
    return ("How far attackers get: values guessed within 2% of their column's range, the mean "
            "over the\n30 columns (and the least and most of a column), medians of "
            f"{TRIALS} trials\n({SAMPLES} samples):\n\n"
            + columns([heading(story), *attack_rows(story)], right=(1, 2, 3)))


def build_page(story: Story) -> Page:
    """Return the report of the demo."""
    from unspoken.report import Page

    same = sum(proof.identical for proof in story.proofs)
    page = Page("A walk through unspoken", "Protect, mine, decode, compare, attack: the breast "
                "cancer data that ships with scikit-learn.")
    page.box([f"{same} of {len(story.proofs)} decoded models are identical, bit for bit, to those "
              "mined from the original.", LESSON])
    _models(page, story.proofs)
    _attacks(page, story)
    for one in story.protected:
        _picture(page, story, one)
    page.section("The releases")
    for one in story.protected:
        promised = one.release.guarantee
        page.section(f"Mode {one.mode}", level=3).text(promised.statement)
        page.bullets(promised.conditions)
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
               "the release.", align="l" + "r" * (len(story.protected) + 1))
    page.figure(_drawing(story), "The same as a drawing: mean over the columns, from the least to "
                "the most of a column; the bar is what the same knowledge gives without the "
                "release.")


def _drawing(story: Story) -> Any:
    from unspoken.report.plots import risk_by_adversary

    names = [name for name, _, _ in ATTACKS for _ in story.protected]
    modes = [one.mode for _ in ATTACKS for one in story.protected]
    shares = [reach(one, adversaries, knowledge)
              for _, adversaries, knowledge in ATTACKS for one in story.protected]
    short = [name.split(",")[0] for name in names]
    return risk_by_adversary(short, modes, [r.mean for r in shares], [r.low for r in shares],
                             [r.high for r in shares], [r.baseline for r in shares])


def _picture(page: Page, story: Story, one: Protected) -> None:
    from unspoken.methods.encoding.audit.column_pictures import gather
    from unspoken.report.plots import encoding_scatter

    picture = gather(story.table, one.release, one.key, [DRAWN], 0.02, 1, 0)[0]
    page.section(f"What the miner sees of '{DRAWN}', mode {one.mode}")
    hatched = " Marked pieces hold one class only; inside them the order is hidden." \
        if picture.mono.any() else " The order of the values is kept throughout."
    page.figure(encoding_scatter(picture.values, picture.codes, picture.starts, picture.mono,
                                 DRAWN),
                f"Codes against original values.{hatched}")
    if picture.mono.any():
        page.figure(_ranks(picture.codes), "The same values by rank: on the diagonal the code "
                    "shows the rank of the value, away from it the order is hidden.")


def _ranks(codes: Any) -> Any:
    """Draw the rank of each code against the rank of its value; codes come by value."""
    from unspoken.report.drawing import BLUE, GREY, one_axes

    size = len(codes)
    rank = codes.argsort().argsort()
    figure, axes = one_axes(5.0, 4.2)
    axes.plot([0, size], [0, size], color=GREY, linewidth=0.8)
    axes.plot(range(size), rank, linestyle="none", marker=".", markersize=3, color=BLUE)
    axes.set_xlabel(f"rank of the value of {DRAWN}", fontsize=9)
    axes.set_ylabel("rank of its code", fontsize=9)
    return figure
