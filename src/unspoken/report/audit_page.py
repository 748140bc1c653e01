"""The audit as a page that a privacy officer reads before anything is sent."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.evidence import Evidence
from unspoken.disclosure.plain_language import HIGH, UNITS
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.methods.encoding.audit.column_pictures import CURVE_NAMES
from unspoken.methods.encoding.audit.tree_path_disclosure import PathDisclosure
from unspoken.release.key import Key
from unspoken.release.method import name_in
from unspoken.release.release import Release
from unspoken.report import plots, summaries
from unspoken.report.drawing import attack_name, percent
from unspoken.report.page import Page
from unspoken.report.record_parts import verdict_box
from unspoken.table.atomic_files import sha256_of
from unspoken.table.formats.data_urls import DataUrl, as_place
from unspoken.table.table import Table

MOST_COLUMNS = 25
MOST_ATTACKS = 12
MOST_LINES = 24
MOST_SETS = 12
MOST_ROWS = 150
ALWAYS = (
    "An audit shows what these adversaries get. It does not show that a cleverer one, or one who "
    "knows more, gets no more.",
    "Numbers come from random trials; the interval holds 95% of them.",
    "Columns are attacked one by one unless the table says otherwise: what columns say together "
    "can be more.",
)


def audit_page(
    audit: Audit, *, release: Release | None = None, table: Table | None = None,
    key: Key | None = None, source: str | os.PathLike[str] | DataUrl | None = None,
    paths: PathDisclosure | None = None,
) -> Page:
    """Build the page that a privacy officer reads before a release is sent.

    Parameters
    ----------
    audit : Audit
        What is shown.
    release : Release, default None
        With `table`: the riskiest columns are drawn from the evidence of the audit, original
        against code, and the page says that it must stay in-house.
    table : Table, default None
        The original.
    key : Key, default None
        The key that the audit was made with.
    source : path or address, default None
        The original file, whose SHA-256 is shown.
    paths : PathDisclosure, default None
        Adds the paths of a mined tree (bu2007 section 6.4).

    Returns
    -------
    Page

    Examples
    --------
    >>> audit_page(audit, release=release, table=table, key=key).save("report.html")
    ... # doctest: +SKIP
    """
    if release is not None and key is not None:
        key.fits(release)
    pictured = audit.evidence if release is not None and table is not None else ()
    manifest = audit.release if release is None else release.manifest
    page = Page("Audit of a release", _subtitle(audit))
    verdict_box(page, verdict_of(audit))
    page.box(summaries.plain_words(audit, secret=bool(pictured)))
    _policy(page, audit)
    _columns(page, audit)
    _attacks(page, audit)
    _pictures(page, pictured)
    _together(page, audit, paths)
    _remedies(page, audit)
    _limits(page, audit)
    _released(page, manifest, source)
    _numbers(page, audit)
    return page


def _subtitle(audit: Audit) -> str:
    kind = audit.release.get("mechanism", {})
    mode = f", mode {kind['mode']}" if "mode" in kind else ""
    rows = audit.release.get("rows")
    count = f"{rows:,} rows. " if isinstance(rows, int) else ""
    return (f"Release {str(audit.release.get('fingerprint', '?'))[:12]} "
            f"({name_in(kind)}{mode}), {count}A guess within {100 * audit.radius:g}% of a "
            f"column's range counts as disclosed; {audit.trials} trials.")


def _policy(page: Page, audit: Audit) -> None:
    if audit.judgement is None:
        return
    page.section("Policy").text(summaries.verdict(audit))
    if audit.judgement.reasons:
        page.bullets(audit.judgement.reasons)


def _columns(page: Page, audit: Audit) -> None:
    page.section("Risk by column")
    rows = summaries.by_column(audit)
    if not rows:
        page.text("No column could be scored.")
        return
    page.table(
        ["column", "disclosed at worst", "interval", "without the release", _beside(audit),
         "adversary", "knowledge"], rows,
        "The adversary that gets most of each column, riskiest column first. Shares are of "
        f"{UNITS[audit.measure]}; '{_beside(audit)}' counts the others.", align="lrrrrll")
    page.figure(_heat(audit), _heat_caption(audit))


def _beside(audit: Audit) -> str:
    return "of distinct values" if audit.measure == "records" else "of people"


def _heat(audit: Audit) -> Any:
    columns = [row.column for row in audit.ranking()[:MOST_COLUMNS]]
    attacks = summaries.strongest(audit, MOST_ATTACKS)
    by_cell = {(row.column, row.adversary, row.knowledge): row.value
               for row in audit.select(measure=audit.measure)}
    values = [[by_cell.get((column, row.adversary, row.knowledge), np.nan) for row in attacks]
              for column in columns]
    names = [attack_name(row.adversary, row.knowledge) for row in attacks]
    return plots.risk_heat(columns, names, np.array(values), HIGH)


def _heat_caption(audit: Audit) -> str:
    columns, attacks = len(audit.ranking()), len(summaries.by_attack(audit))
    left = [f"the {MOST_COLUMNS} riskiest of {columns} columns"] * (columns > MOST_COLUMNS)
    left += [f"the {MOST_ATTACKS} strongest of {attacks} attacks"] * (attacks > MOST_ATTACKS)
    shown = f" Shown are {' and '.join(left)}." if left else ""
    return (f"Share of {UNITS[audit.measure]} disclosed, by column and attack. Framed and bold: "
            f"above {percent(HIGH)}.{shown}")


def _attacks(page: Page, audit: Audit) -> None:
    rows = summaries.by_attack(audit)
    if not rows:
        return
    page.section("Risk by adversary and knowledge")
    shown = rows
    if len(rows) > MOST_LINES:
        strongest = summaries.strongest(audit, MOST_LINES)
        shown = [row for row in rows if row in strongest]
    page.figure(plots.risk_by_adversary(
        [row.adversary for row in shown], [row.knowledge for row in shown],
        *([getattr(row, name) for row in shown] for name in ("value", "low", "high", "baseline"))),
        "For every adversary and level of knowledge the column that it hurts most: median over "
        "trials, the interval that holds 95% of them, and what the same knowledge gives without "
        f"the release.{_left_out(len(rows), len(shown), 'attacks')}")
    page.table(["adversary", "what it does"], summaries.adversary_words(audit), "Adversaries")
    page.table(["knowledge", "what must be known"], summaries.knowledge_words(audit), "Knowledge")


def _left_out(all_of: int, shown: int, what: str) -> str:
    return f" The {shown} strongest of {all_of} {what}." if shown < all_of else ""


def _pictures(page: Page, pictured: Sequence[Evidence]) -> None:
    if not pictured:
        return
    page.section("The riskiest columns")
    page.text("Original values beside their codes. An adversary does not see this.")
    for one in pictured:
        page.section(one.name, level=3)
        hatched = " Marked pieces are monochromatic." if one.mono.any() else ""
        name = summaries.brief(one.name)
        page.figure(plots.encoding_scatter(one.values, one.codes, one.starts, one.mono, one.name),
                    f"Codes of '{name}' against its original values.{hatched}")
        page.figure(plots.before_after(one.values, one.codes, one.name, one.records),
                    f"Distribution of '{name}' before and after, by records.")
    one = pictured[0]
    if one.venn is not None:
        page.figure(plots.recovered_venn(CURVE_NAMES, one.venn),
                    f"Which values of '{summaries.brief(one.name)}' an expert with 4 known points "
                    "gets by three curves, on average over trials; areas are not to scale.")


def _together(page: Page, audit: Audit, paths: PathDisclosure | None) -> None:
    rows = summaries.together(audit, MOST_SETS)
    if rows:
        page.section("Columns together").table(
            ["columns", "disclosed", "interval", "without the release", "adversary", "knowledge"],
            rows, "Share of records of which all these columns are recovered at once (bu2007 "
            "Definition 2), by the adversary that gets most, highest first.", align="lrrrll")
    tree = summaries.path_rows(audit)
    if tree:
        page.section("Paths of a mined tree").table(
            ["paths", "disclosed", "interval"],
            [[row.column, percent(row.value), summaries.interval(row)] for row in tree],
            "Share of the paths of which all thresholds are recovered (bu2007 Definition 3), "
            f"against the attack that gets most: {tree[0].adversary}, {tree[0].knowledge}.",
            align="lrr")
    if paths is not None:
        _paths(page, paths)


def _paths(page: Page, paths: PathDisclosure) -> None:
    rows = paths.by_length()
    page.section("Paths by length")
    page.table(["length", "paths", "recovered, median", "recovered, mean", "recovered, largest"],
               [list(row.values()) for row in rows],
               f"Paths of the tree and how many are recovered whole, over {paths.trials} trials.",
               align="lrrrr")
    page.figure(plots.path_lengths([str(row["length"]) for row in rows],
                                   [float(row["paths"]) for row in rows],
                                   [float(row["mean"]) for row in rows]),
                "Paths by length and how many of them are recovered on average.")


def _remedies(page: Page, audit: Audit) -> None:
    if not audit.suggestions:
        return
    page.section("What would lower it")
    page.table(["column", "what to do", "why"],
               [[one.column or "all", one.what, one.why] for one in audit.suggestions])


def _limits(page: Page, audit: Audit) -> None:
    page.section("Limits of what was tested")
    page.bullets([*audit.limits, *ALWAYS])
    if audit.unscored:
        page.table(["column", "why it could not be scored"],
                   [list(pair) for pair in audit.unscored.items()], "Not scored")


def _released(page: Page, manifest: Mapping[str, Any],
              source: str | os.PathLike[str] | DataUrl | None) -> None:
    page.section("What was released")
    promise = manifest.get("guarantee", {})
    if promise.get("statement"):
        page.text(promise["statement"])
    if promise.get("conditions"):
        page.bullets(promise["conditions"])
    data = manifest.get("data", {}).get("sha256") or manifest.get("data_sha256")
    sums = [["release (data file)", data or "not written yet"],
            ["release (description)", manifest.get("fingerprint", summaries.NOT_SHOWN)]]
    place = None if source is None else as_place(source)
    if isinstance(place, Path) and place.is_file():
        sums.append([f"input ({place.name})", sha256_of(place)])
    elif isinstance(place, DataUrl):
        sums.append([f"input ({place})", "read from there; it has no file"])
    page.table(["what", "SHA-256"], sums, "Which files this is about")
    page.table(["parameter", "value"], summaries.flat(manifest.get("mechanism", {})), "Parameters")
    page.table(["column", "kind", "role"],
               [[c.get("name"), c.get("kind"), c.get("role")] for c in manifest.get("schema", [])],
               "Released columns")
    page.table(["software", "version"],
               [*summaries.versions(), ["unspoken that made the release",
                                        manifest.get("unspoken", summaries.NOT_SHOWN)]], "Versions")


def _numbers(page: Page, audit: Audit) -> None:
    rows = sorted(audit.rows, key=lambda row: -row.value)[:MOST_ROWS]
    if not rows:
        return
    page.section("All numbers")
    page.table(["column", "measure", "adversary", "knowledge", "share", "low", "high", "baseline",
                "trials"],
               [[row.column, row.measure, row.adversary, row.knowledge,
                 *(summaries.shown(row, x) for x in (row.value, row.low, row.high, row.baseline)),
                 row.trials]
                for row in rows],
               f"Highest first.{_left_out(len(audit.rows), len(rows), 'rows')}", align="llllrrrrr")
