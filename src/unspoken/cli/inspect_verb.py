"""`unspoken inspect`: what the columns are, and how well each can be protected (bu2007 Fig. 8)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import (
    Adder,
    add_reading,
    columns,
    emit,
    read_table,
    refuse_missing_target,
    verb,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.findings_text import findings_json, findings_text

if TYPE_CHECKING:
    from unspoken.methods.anonymity.measures import Anonymity
    from unspoken.numerics.label_runs import AttributeFacts
    from unspoken.table.engines.protocol import Counts
    from unspoken.table.table import Table

RADIUS = 0.02
"""A guess within this share of the range counts as a hit, as in bu2007 section 6."""
MAX_CLASSES = 1000
WARNING = (
    "None of this withstands a sample of similar data: with 1% of it, matching ranks gives away "
    "nearly every record within 2% of the range, whatever the encoding. Random pieces of "
    "heavy-tailed widths help against somebody who fits curves to a few known values, not against "
    "one who places them by rank; permuted pieces (max-mono) help against somebody who sorts. If "
    "such a sample exists outside, an encoding is not enough. 'unspoken audit' measures all "
    "of this."
)


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "inspect", run,
                  "Print what the columns of a table are and how well each could be protected. "
                  "Columns that seem to name people, single them out or need special care are "
                  "listed with what HIPAA and the GDPR call them. Kinds and "
                  "roles are guessed unless they are declared.")
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    add_reading(parser)
    parser.add_argument("--min-width", type=int, default=2, metavar="N",
                        help="distinct values a monochromatic piece must have (default: "
                             "%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Inspect a table."""
    from unspoken.errors import InputError
    from unspoken.table.identify import identify

    if args.min_width < 1:
        raise InputError(f"'--min-width' must be a whole number from 1 on. Got {args.min_width}.")
    # Whoever reads the text finds the notes there.
    table = read_table(args, args.data, args.target, notes=args.json)
    by = _classes(table)
    numeric = table.schema.of_kind("numeric", "ordinal")
    rows = [row(name, counts, by is not None, args.min_width)
            for name, counts in table.counts(numeric, by).items()]
    anonymity, findings = _anonymity(table), identify(table)
    emit(args, {"rows": table.rows, "target": table.schema.target,
                "schema": [c.to_json() | {"note": c.note} for c in table.schema.columns],
                "attributes": rows, "anonymity": None if anonymity is None else anonymity.to_json(),
                "identification": findings_json(findings, table.schema), "warning": WARNING},
         text(args.worded(repr(table)), rows, anonymity,
              findings_text(findings, table.schema)))
    return 0


def _anonymity(table: Table) -> Anonymity | None:
    """Measure how people hide among each other, if quasi-identifiers are declared."""
    if not table.schema.with_role("quasi"):
        return None
    from unspoken.methods.anonymity.measures import measure

    return measure(table)


def _classes(table: Table) -> str | None:
    """Return the target if it can be taken as classes."""
    refuse_missing_target(table)
    name = table.schema.target
    if name is None:
        return None
    few = table.engine.count_distinct(table.frame, name) <= MAX_CLASSES
    return name if few else None


def row(name: str, counts: Counts, classes: bool, min_width: int) -> dict[str, Any]:
    """Return the statistics of one attribute, and what they mean."""
    from unspoken.numerics.label_runs import attribute_facts

    facts = attribute_facts(counts.values, counts.table, min_width)
    share = rank_share(counts.values, facts.width)
    return {
        "column": name, "range_width": facts.width, "distinct": facts.distinct,
        "discontinuities": facts.discontinuities, "missing": counts.missing,
        "mono_pieces": facts.pieces if classes else None,
        "mono_length": round(facts.average_length, 1) if classes else None,
        "mono_share": round(facts.mono_share, 4) if classes else None,
        "sorting_share": round(share, 4), "words": words(facts, share, classes),
    }


def rank_share(values: Any, width: float) -> float:
    """Return the share of distinct values that a guess by rank hits, minimum and maximum known."""
    import numpy as np

    if values.size == 0:
        return 0.0
    guess = np.linspace(values[0], values[-1], values.size)
    return float(np.mean(np.abs(guess - values) <= RADIUS * width))


def words(facts: AttributeFacts, share: float, classes: bool) -> str:
    """Return how well an attribute can be protected, and against what."""
    if facts.distinct <= 1:
        return "constant: nothing to hide but its one value"
    parts = [f"{_grade(share)} against sorting ({share:.0%} of its values)"]
    if facts.distinct <= 20:
        parts.append(f"only {facts.distinct} values: how often each occurs gives them away")
    if classes and facts.mono_share >= 0.2:
        parts.append(f"max-mono hides the order inside pieces of about {facts.average_length:.0f}, "
                     f"{facts.mono_share:.0%} of them")
    elif classes:
        parts.append("max-mono adds little" if facts.pieces else "max-mono adds nothing")
    return "; ".join(parts)


def _grade(share: float) -> str:
    if share < 0.2:
        return "good"
    return "fair" if share < 0.5 else "weak"


def text(described: str, rows: list[dict[str, Any]], anonymity: Anonymity | None = None,
         findings: str = "") -> str:
    """Return the schema, who is named, the statistics, K, L and t, and the warning as text."""
    head = ["column", "range", "values", "gaps", "mono", "length", "share", "protection"]
    body = [[r["column"], f"{r['range_width']:.6g}", str(r["distinct"]),
             _or_dash(r["discontinuities"]), _or_dash(r["mono_pieces"]),
             _or_dash(r["mono_length"]), _percent(r["mono_share"]), r["words"]] for r in rows]
    legend = ("range: max - min (+ 1 for whole numbers); gaps: whole numbers in the range that do "
              "not occur;\nmono: monochromatic pieces, their average length and the share of the "
              "values inside them;\nsorting: values that somebody who knows minimum and maximum "
              "guesses within 2% of the range by rank.")
    shown = [columns([head, *body], right=range(1, 7)), "", legend] if rows else []
    hidden = [] if anonymity is None else ["", *(part for line in anonymity.summary().splitlines()
                                                 for part in _folded(line))]
    return "\n".join([described, "", findings, "", *shown, *hidden, "", *_folded(WARNING)])


def _or_dash(value: Any) -> str:
    return "-" if value is None else str(value)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _folded(sentence: str) -> list[str]:
    import textwrap

    return textwrap.wrap(sentence, 100)
