"""`unspoken private`: a result with a stated epsilon; what it costs and how exact it is, first."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import basket_verbs
from unspoken.cli.book_release import budget_of
from unspoken.cli.common import (
    Adder,
    add_reading,
    emit,
    must_be_new,
    names,
    read_table,
    saved_bytes,
    verb,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.enter_register import add_register, check_register, write_entered
from unspoken.cli.range_flags import add_ranges, ranges

if TYPE_CHECKING:
    from unspoken.methods.private.private_offer import Offer
    from unspoken.release.budget_costs import Cost
    from unspoken.table.baskets import Baskets
    from unspoken.table.table import Table

KINDS = ("marginals", "naive-bayes", "tree", "regression", "itemsets")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "private", run,
                  "Say what a private result costs and how exact it will be, and with --out "
                  "measure it: marginals, naive Bayes, a tree, a regression or frequent itemsets. "
                  "Without --out nothing of the data is looked at but its columns and its number "
                  "of rows. An item that is twice in a basket counts once. Exit "
                  "status 1: the budget has no room, and nothing was measured.")
    parser.add_argument("data", type=data_place, metavar="DATA",
                        help=f"{DATA_HELP}; of baskets also .dat")
    parser.add_argument("--what", choices=KINDS, required=True, help="what is wanted")
    parser.add_argument("--epsilon", type=float, default=1.0, metavar="E",
                        help="what it costs (default: %(default)s)")
    parser.add_argument("--delta", type=float, default=0.0, metavar="D",
                        help="with one, noise is Gaussian (default: 0)")
    add_ranges(parser)
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    parser.add_argument("--marginal", action="append", type=names, metavar="A,B",
                        help="columns to count together (repeat; default: each column alone)")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE",
                        help="max_depth of a tree, chosen or min_support of itemsets (repeat)")
    parser.add_argument("--budget", type=Path, metavar="FILE",
                        help="book it in this budget before it is measured (default: DATA.budget, "
                             "where there is one)")
    add_register(parser, "the result")
    parser.add_argument("--out", type=Path, metavar="FILE", help="measure, and write the result")
    add_reading(parser)
    basket_verbs.add_columns(parser, repeats=False)


def run(args: argparse.Namespace) -> int:
    """Offer, or buy."""
    data = _data(args)
    offer = _offer(args, data)
    stated = {"kind": offer.kind, "cost": offer.cost.to_json(), "expected": dict(offer.expected)}
    if args.out is None:
        emit(args, stated, f"{offer.summary()}\nNothing was measured. Type --out FILE to buy it.")
        return 0
    must_be_new(args.out, "The result")
    check_register(args)
    bought = _bought(args, offer)
    if bought is None:
        return 1
    _write(args, data, offer, bought)
    emit(args, {**stated, "result": str(args.out)}, f"{offer.summary()}\nWritten to {args.out}.")
    return 0


def _data(args: argparse.Namespace) -> Table | Baskets:
    if args.what == "itemsets":
        # Whether somebody has an item twice is a value: whoever asks must not learn it from a
        # refusal, which no epsilon covers. A set holds an item once.
        return basket_verbs.read(args, args.data, repeats="drop")
    return read_table(args, args.data, args.target)


def _offer(args: argparse.Namespace, data: Table | Baskets) -> Offer:
    from unspoken.cli.mine_verb import params
    from unspoken.methods.private.private_offer import private_offer

    options = {**ranges(args), **params(args.param)}
    options |= {name: value for name, value in (("columns", args.columns),
                                                ("marginals", args.marginal)) if value}
    return private_offer(data, args.what, args.epsilon, args.delta, **options)


def _bought(args: argparse.Namespace, offer: Offer) -> Any:
    import sys

    from unspoken.errors import BudgetError

    try:
        return offer.buy(budget_of(args, offer.table), args.to)
    except BudgetError as error:
        print(f"unspoken: {error}", file=sys.stderr)
        return None


def _write(args: argparse.Namespace, data: Table | Baskets, offer: Offer, bought: Any) -> None:
    """Enter the result with its epsilon into the register, if there is one, and write it."""
    from unspoken.models.model import Model
    from unspoken.table.basket_tables import to_table
    from unspoken.table.baskets import Baskets

    people = to_table(data) if isinstance(data, Baskets) else data
    if isinstance(bought, Model):
        kind, content = "model", saved_bytes(bought, args.out.name)
    else:
        kind, content = "query", (json.dumps(bought.to_json(), indent=1) + "\n").encode()
    write_entered(args, kind, people, f"private {offer.kind}", content, _promise(offer.cost))


def _promise(cost: Cost) -> str:
    """Return what a result promises, as the register says it."""
    if cost.epsilon is None:
        return "none"
    return f"epsilon {cost.epsilon:g}" + (f", delta {cost.delta:g}" if cost.delta else "")
