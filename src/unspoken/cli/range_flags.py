"""What is publicly known of columns, by flags: what a result with a stated epsilon counts by.

Nothing here looks at a value: ends and categories that were taken from the data would disclose
something about it that no epsilon covers.
"""

from __future__ import annotations

import argparse
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import listed, names, pairs
from unspoken.errors import InputError, explain, reason, unknown

if TYPE_CHECKING:
    from unspoken.table.table import Table

_SECTIONS = ("edges", "values", "complete", "items")
_INTERVALS = 16
_WHAT = {"model": "tree", "rules": "itemsets", "statistics": "marginals"}
"""Which private result serves a purpose."""


def add_ranges(parser: argparse.ArgumentParser) -> None:
    """Add the declarations as options."""
    parser.add_argument("--declare", type=Path, metavar="FILE",
                        help="TOML: [edges] and [values] by column, and lists 'complete' (columns "
                             "that miss no value) and 'items'; what neither it nor a flag names is "
                             "taken from the data, and then no epsilon is stated")
    parser.add_argument("--edges", action="append", default=[], metavar="COLUMN=LOW..HIGH",
                        help="the publicly known range of a column of numbers, which is split into "
                             f"{_INTERVALS} intervals, or their ends as COLUMN=0,18,65,120 "
                             "(repeat)")
    parser.add_argument("--values", action="append", default=[], metavar="COLUMN=A,B",
                        help="all publicly known categories of a column (repeat)")
    parser.add_argument("--items", type=names, default=(), metavar="A,B",
                        help="all publicly known items of baskets")
    parser.add_argument("--columns", type=names, metavar="A,B", help="the columns to use")


def add_wanted(parser: argparse.ArgumentParser) -> None:
    """Add the declarations, and the epsilon, to a verb that gives advice."""
    group = parser.add_argument_group("where 'private' is advised")
    group.add_argument("--epsilon", type=float, metavar="E",
                       help="what the result may cost (default: 1)")
    add_ranges(group)  # type: ignore[arg-type]


def ranges(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the flags and the file declare; what both declare is refused."""
    stated = _of_file(args.declare)
    flags: dict[str, Mapping[str, Any]] = {
        "edges": {name: _ends(name, text) for name, text in pairs(args.edges, "--edges").items()},
        "values": {name: list(names(text))
                   for name, text in pairs(args.values, "--values").items()}}
    for section, columns in flags.items():
        for name in columns:
            if any(name in stated.get(one, ()) for one in ("edges", "values")):
                raise InputError(f"Column '{name}' must be declared once. '{args.declare}' "
                                 f"declares it, and --{section}, too.")
        if columns:
            stated[section] = {**stated.get(section, {}), **columns}
    return {**stated, **({"items": list(args.items)} if args.items else {})}


def _of_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"'{path}' must be a readable TOML file. {reason(error)}") from None
    for name in data:
        if name not in _SECTIONS:
            raise InputError(unknown("A section of the declarations", name, _SECTIONS))
    return data


def _ends(name: str, text: str) -> list[float]:
    """Return the ends of intervals: those that are listed, or of even parts of a range."""
    low, sign, high = text.partition("..")
    try:
        listed_ends = [_number(one) for one in ([low, high] if sign else text.split(","))]
    except ValueError:
        raise InputError(explain(f"'--edges' of column '{name}'", "a range as 0..120, or numbers "
                                 "as 0,18,65,120", text)) from None
    return _even(*listed_ends) if sign else listed_ends


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _even(low: float, high: float) -> list[float]:
    """Return the ends of even intervals; whole numbers stay whole."""
    if isinstance(low, int) and isinstance(high, int) and low < high:
        return sorted({low + (high - low) * at // _INTERVALS for at in range(_INTERVALS + 1)})
    return [low + (high - low) * at / _INTERVALS for at in range(_INTERVALS + 1)]


def refuse_ranges(args: argparse.Namespace, way: str) -> None:
    """Refuse an epsilon where what is advised states none: it would promise nothing."""
    for name in ("epsilon", "declare", "edges", "values", "items", "columns"):
        if getattr(args, name):
            raise InputError(f"'--{name}' belongs to a result with a stated epsilon ('private'). "
                             f"The advice is '{way}'. Leave it out.")


def lacking(args: argparse.Namespace, table: Table | None) -> list[str]:
    """Return the flags that are missing before an epsilon can be stated; none looks at a value."""
    what = _WHAT[args.purpose]
    if what == "itemsets":
        return [] if "items" in ranges(args) else ["--items A,B"]
    target = ["--target COLUMN"] if what == "tree" and not args.target else []
    if table is None:
        return [*target, "--edges COLUMN=LOWEST..HIGHEST", "--values COLUMN=A,B"]
    return [*target, *_undeclared(args, table)]


def _undeclared(args: argparse.Namespace, table: Table) -> list[str]:
    import pyarrow as pa

    from unspoken.methods.private.declared_columns import declared_names, without_guesses

    known = _with_orders(args)
    edges, values = known.get("edges"), known.get("values")
    schema = without_guesses(_as_stated(args, table), edges, values, known.get("complete")).schema
    used = [one for one in schema.columns if one.role != "identifier"
            and (not args.columns or one.name in (*args.columns, args.target))]
    done = declared_names([one.name for one in used], edges, values)
    types = table.engine.schema(table.frame)
    return [f"--edges {shlex.quote(one.name)}=LOWEST..HIGHEST" if one.kind == "numeric"
            and not pa.types.is_temporal(types.field(one.name).type)
            else f"--values {shlex.quote(one.name)}=A,B" for one in used if one.name not in done]


def _as_stated(args: argparse.Namespace, table: Table) -> Table:
    """Return the table without roles that were noticed in its values."""
    from unspoken.table.schema import Schema

    noticed = args.quasi if getattr(args, "noticed", False) else ()
    return replace(table, schema=Schema(tuple(
        replace(one, role="plain", guessed=True) if one.name in noticed else one
        for one in table.schema.columns)))


def _with_orders(args: argparse.Namespace) -> dict[str, Any]:
    """Return the declarations, and the categories whose order was declared as a kind."""
    stated = ranges(args)
    taken = {*stated.get("edges", {}), *stated.get("values", {})}
    orders = {name: kind.partition(":")[2].split("<")
              for name, kind in pairs(args.kind, "--kind").items()
              if kind.startswith("ordinal:") and name not in taken}
    return {**stated, "values": {**stated.get("values", {}), **orders}} if orders else stated


def private_words(args: argparse.Namespace) -> list[str]:
    """Return the options of `unspoken private` that follow from what was stated."""
    orders = _with_orders(args).get("values", {})
    given = ranges(args).get("values", {})
    words = ["--what", _WHAT[args.purpose], "--epsilon", f"{args.epsilon or 1.0:g}"]
    words += [f"--declare={args.declare}"] if args.declare else []
    words += [f"--{name}={one}" for name in ("edges", "values") for one in getattr(args, name)]
    words += [f"--values={name}={listed(order)}" for name, order in orders.items()
              if name not in given]
    return words + [f"--{name}={listed(getattr(args, name))}" for name in ("items", "columns")
                    if getattr(args, name)]
