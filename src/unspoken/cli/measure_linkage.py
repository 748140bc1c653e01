"""`unspoken measure linkage`: how well people would be linked, and what the unit could guess."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import columns, names
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.joint.mpc.linkage.field_tokens import LinkColumn
    from unspoken.table.table import Table

LEAST = 60


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the measure asks for."""
    parser.add_argument("--link", type=names, required=True, metavar="COLUMN:KIND,...",
                        help="the columns by which records are linked, of the kinds name, date, "
                             "code or text, as in last:name,born:date")
    parser.add_argument("--errors", type=float, default=0.1, metavar="SHARE",
                        help="the share of each column's values that has a typing error "
                             "(default: %(default)s)")
    parser.add_argument("--known", type=int, default=100, metavar="N",
                        help="how many people in the data the linkage unit knows "
                             "(default: %(default)s)")
    parser.add_argument("--salt", metavar="COLUMN",
                        help="measure encodings salted by this column, too (default: the first "
                             "date)")


def measure(args: argparse.Namespace, table: Table) -> tuple[dict[str, Any], str]:
    """Return quality and attack for every encoding, as data and as text."""
    from unspoken.audit.linkage_quality import guessed_by_unit, linkage_quality, named
    from unspoken.joint.mpc.linkage.field_tokens import LinkColumn

    if not 0 <= args.errors <= 1 or args.known < 2:
        raise InputError(f"'--errors' must be from 0 to 1, and '--known' at least 2. Got "
                         f"{args.errors:g} and {args.known}.")
    chosen = [LinkColumn.of(word) for word in args.link]
    values = _values(table, chosen)
    qualities, guesses = [], []
    for rules in _encodings(args.salt, chosen):
        qualities.append({"encoding": named(rules),
                          **asdict(linkage_quality(chosen, values, rules, args.errors))})
        guesses += guessed_by_unit(chosen, values, rules, args.known)
    data = {"records": len(values[0]), "errors": args.errors, "quality": qualities,
            "guessed": [asdict(each) for each in guesses]}
    return data, _text(data)


def _encodings(salt: str | None, chosen: list[LinkColumn]) -> list[Any]:
    from unspoken.joint.mpc.linkage.record_encodings import EncodingRules

    if salt is not None and salt not in [column.name for column in chosen]:
        raise InputError(explain("'--salt'", "one of the columns in --link", salt))
    salt = salt or next((column.name for column in chosen if column.kind == "date"), None)
    plain = [EncodingRules("bloom"), EncodingRules("folded"), EncodingRules("minhash", 1024),
             EncodingRules("minhash", 512), EncodingRules("minhash", 256)]
    return [*plain, *([EncodingRules("minhash", 512, salt)] if salt is not None else [])]


def _values(table: Table, chosen: list[LinkColumn]) -> list[list[Any]]:
    for column in chosen:
        table.schema[column.name]
    rows = table.arrow([column.name for column in chosen])
    values = [[None if value is None else str(value) for value in rows[column.name].to_pylist()]
              for column in chosen]
    if len(values[0]) < LEAST:
        raise InputError(f"Linkage is measured on {LEAST} records or more. The table has "
                         f"{len(values[0])}.")
    return values


def _text(data: dict[str, Any]) -> str:
    quality = [[row["encoding"], f"{row['precision']:.1%}", f"{row['recall']:.1%}",
                f"{row['expected']:.1%}"] for row in data["quality"]]
    guessed = _guesses(data["guessed"])
    return "\n".join([
        f"{data['records']:,} records; a typing error in {data['errors']:.0%} of each column's "
        "values", "", "How well they are linked:",
        columns([["encoding", "right", "found", "expected right"], *quality], right=[1, 2, 3]),
        "", "What a linkage unit guesses rightly, by how frequent values are and from people that "
        "it knows:",
        columns(guessed, right=range(2, len(guessed[0]))),
        "An attack that finds nothing is no proof that there is none."])


def _guesses(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return a line for each encoding and adversary, a cell for each column of the table."""
    names_ = list(dict.fromkeys(row["column"] for row in rows))
    lines: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["adversary"] == rows[0]["adversary"]:
            lines.setdefault(("any", "always the most frequent value"), []).append(
                f"{row['guessing']:.1%}")
        lines.setdefault((row["encoding"], row["adversary"]), []).append(f"{row['right']:.1%}")
    return [["encoding", "adversary", *names_],
            *([*key, *cells[:len(names_)]] for key, cells in lines.items())]
