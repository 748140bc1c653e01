"""The part of `unspoken decode` that is about what goes back to the miner, and in which form."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import emit, saved_bytes
from unspoken.cli.data_places import data_place
from unspoken.errors import InputError
from unspoken.table.atomic_files import write_file

if TYPE_CHECKING:
    from unspoken.methods.encoding.results.result_options import Result
    from unspoken.methods.encoding.results.result_policy import ResultPolicy
    from unspoken.release.key import Key
    from unspoken.table.table import Table


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Add the options about the form of a result."""
    parser.add_argument("--form", choices=["predictions", "rules", "full"],
                        help="what is written for whoever has the release: the full model (the "
                             "default), coarse rules, or predictions for --predict")
    parser.add_argument("--depth", type=int, metavar="N",
                        help="of --form rules: cut trees below this depth")
    parser.add_argument("--round", type=float, metavar="SHARE",
                        help="of --form rules: round thresholds to this share of the range of "
                             "their column, such as 0.05")
    parser.add_argument("--predict", type=data_place, metavar="DATA",
                        help="of --form predictions: the records to predict")
    parser.add_argument("--result-policy", type=Path, metavar="FILE",
                        help="what may go back to the miner (TOML); a result that breaks it is not "
                             "written")
    parser.add_argument("--compare-forms", action="store_true",
                        help="measure what every form costs in accuracy and gives away, write the "
                             "table to DECODED as JSON, and no model")


def wants_form(args: argparse.Namespace) -> bool:
    """Return True if anything about the form of the result was asked for."""
    chosen = (args.form, args.depth, args.round, args.predict, args.result_policy)
    return args.compare_forms or any(one is not None for one in chosen)


def show(args: argparse.Namespace, model: Any, key: Key, table: Table | None,
         options: dict[str, Any], write: Callable[[str, bytes], None]) -> int:
    """Write a result in the form that was asked for, if the policy lets it go back.

    `write` enters it into the register, by its form and content, and writes it.
    """
    from unspoken.methods.encoding.results.result_forms import Form
    from unspoken.methods.encoding.results.result_options import Result
    from unspoken.methods.encoding.results.result_policy import ResultPolicy
    from unspoken.release.release import Release

    if table is None or args.release is None:
        raise InputError("A form or a policy of results needs --data and --release: what a result "
                         "gives away is measured on them.")
    policy = None if args.result_policy is None else ResultPolicy.load(args.result_policy)
    release = Release.load(args.release)
    if args.compare_forms:
        return _compared(args, model, key, table, release, policy, options)
    coarse = args.depth is not None or args.round is not None
    form = Form(args.form or ("rules" if coarse else "full"), args.depth, args.round)
    if (form.name == "predictions") != (args.predict is not None):
        raise InputError("--form predictions and --predict DATA belong together.")
    result = Result.of(model, key, table, release, **options)
    checked = result.checked(form, policy)
    write(str(form), _predictions(args, result) if checked is None
          else saved_bytes(checked, args.out.name))
    return _written(args, str(form), policy)


def _compared(args: argparse.Namespace, model: Any, key: Key, table: Table, release: Any,
              policy: ResultPolicy | None, options: dict[str, Any]) -> int:
    import json

    from unspoken.methods.encoding.results.result_options import options_text, result_options

    compared = result_options(model, key, table, release, policy, **options)
    rows = [one.to_json() for one in compared]
    write_file(args.out, json.dumps(rows, indent=2, allow_nan=False).encode())
    emit(args, {"options": rows, "table": str(args.out)},
         f"{options_text(compared)}\nTable written to {args.out}; no model was written.")
    return 0


def _written(args: argparse.Namespace, form: str, policy: ResultPolicy | None) -> int:
    words = "no policy was given" if policy is None else "the result policy lets it go back"
    emit(args, {"decoded": str(args.out), "form": form, "policy": policy is not None},
         f"{form}: written to {args.out}; {words}.")
    return 0


def _predictions(args: argparse.Namespace, result: Result) -> bytes:
    """Return one prediction per record of another table, and nothing else."""
    from unspoken.cli.common import read_table

    predicted = result.decoded.predict(read_table(args, args.predict, None))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["prediction"])
    writer.writerows([[each] for each in predicted.tolist()])
    return text.getvalue().encode()
