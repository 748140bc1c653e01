"""`unspoken decode`: a mined model in, the model of the original data out."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.cli.common import (
    Adder,
    add_passphrase,
    add_reading,
    emit,
    load_key,
    must_be_new,
    saved_bytes,
    verb,
)
from unspoken.cli.data_places import data_place
from unspoken.cli.enter_register import add_register, register_of, write_entered
from unspoken.cli.result_steps import add_forms, show, wants_form
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.models.recipe import Recipe
    from unspoken.table.table import Table


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "decode", run,
                  "Turn a mined model into the model of the original data. "
                  "Exact, or refused with the reason.")
    parser.add_argument("model", type=Path, metavar="MODEL",
                        help="what the miner sent: JSON of unspoken or XGBoost, or LightGBM's text")
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the key file")
    add_passphrase(parser)
    parser.add_argument("--data", type=data_place, metavar="DATA",
                        help="the original table; only histogram learners and C4.5 can do "
                             "without it")
    parser.add_argument("--release", type=Path, metavar="DIR",
                        help="the release that was mined; refused if it was changed since")
    parser.add_argument("--recipe", type=Path, metavar="FILE",
                        help="how MODEL was mined: the rows it learned from, and those that "
                        "stopped it, are taken from there (default: MODEL.recipe, if it is there)")
    add_reading(parser)
    parser.add_argument("--tree-method", choices=["hist", "approx", "exact"],
                        help="how an XGBoost model was trained, where its file leaves that open")
    parser.add_argument("--max-mib", type=int, default=256, metavar="N",
                        help="the largest model file that is read (default: %(default)s)")
    add_register(parser, "the decoded model")
    parser.add_argument("--out", type=Path, required=True, metavar="DECODED",
                        help="where the decoded model goes")
    add_forms(parser)


def _recipe(args: argparse.Namespace) -> Recipe | None:
    """Return how the model was mined, if that is known: its rows, and where it was stopped."""
    from unspoken.methods.encoding.learners.mine_trees import recipe_path
    from unspoken.models.recipe import Recipe

    path = args.recipe or recipe_path(args.model)
    return Recipe.load(path) if args.recipe or path.exists() else None


def _write(args: argparse.Namespace, table: Table | None, kind: str, data: bytes) -> None:
    """Enter the decoded model, which shows original values, into the register, and write it."""
    if table is None and register_of(args) is not None:
        raise InputError("A model is entered into the register with the table it was mined from. "
                         "Add --data DATA.")
    write_entered(args, "model", table, kind, data, mode=0o600)


def run(args: argparse.Namespace) -> int:
    """Decode a model file."""
    if args.max_mib < 1:
        raise InputError(explain("'--max-mib'", "an int >= 1", args.max_mib))
    from unspoken.cli.original import read_original
    from unspoken.models.hostile_json import Limits
    from unspoken.models.load_model import load_model
    from unspoken.protect import decode

    must_be_new(args.out, "The decoded model")
    key = load_key(args)
    model = load_model(args.model, Limits(max_bytes=args.max_mib << 20))
    table = read_original(args, args.data, key) if args.data is not None else None
    options = {"learner": args.tree_method, "recipe": _recipe(args)}
    if wants_form(args):
        return show(args, model, key, table, options, partial(_write, args, table))
    decoded = decode(model, key, table, release=args.release, **options)
    kind = type(decoded).__name__
    _write(args, table, kind, saved_bytes(decoded, args.out.name))
    emit(args, {"decoded": str(args.out), "kind": kind, "summary": decoded.summary()},
         f"{decoded.summary()}\nDecoded model written to {args.out}; it predicts on original "
         "records.")
    return 0
