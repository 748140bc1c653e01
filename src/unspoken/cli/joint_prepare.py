"""`unspoken joint prepare`: an owner's own table, prepared by what all owners' rows say."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from unspoken.cli.common import add_reading, emit, must_be_new, names, read_table
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.errors import InputError


def add_prepare(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("--by", type=Path, action="append", required=True, metavar="RESULT",
                        help="a result of task summary, quantiles or bins (repeat)")
    parser.add_argument("--columns", type=names, default=(), metavar="A,B",
                        help="the columns to prepare (default: all that the results are about)")
    parser.add_argument("--limit", choices=("range", "quantiles", "quartiles", "deviations"),
                        help="move values that lie farther out to the ends of the agreed range, to "
                             "the outermost quantiles, to 1.5 quartile distances beyond the "
                             "quartiles, or to 3 deviations around the mean")
    parser.add_argument("--impute", choices=("mean", "median"),
                        help="put this in the place of missing values")
    parser.add_argument("--scale", choices=("range", "deviation", "quartiles"),
                        help="the agreed range becomes 0 to 1; or mean 0 and deviation 1; or "
                             "median 0 and the distance of the quartiles 1")
    parser.add_argument("--bin", choices=("number", "weights"),
                        help="write the number of a value's bin, or its weight of evidence")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE",
                        help="where the prepared table goes, readable by you alone; the end of its "
                             "name says the format")
    add_reading(parser)


def prepare(args: argparse.Namespace) -> int:
    """Prepare a table and write it; nothing is sent."""
    from unspoken.joint.tasks.prepared_table import prepare as prepared
    from unspoken.table.formats.file_formats import write_rows

    must_be_new(args.out, "The prepared table")
    rows = prepared(read_table(args, args.data, None), [_result(path) for path in args.by],
                    columns=args.columns, limit=args.limit, impute=args.impute, scale=args.scale,
                    bin=args.bin)
    write_rows(rows, args.out, mode=0o600)
    emit(args, {"out": str(args.out), "rows": rows.num_rows, "columns": rows.column_names},
         f"{rows.num_rows:,} rows written to {args.out}.")
    return 0


def _result(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"There is no result '{path}'. A study writes one with --out.")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(f"'{path}' is no result of a study: it holds no JSON.") from None
