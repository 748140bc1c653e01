"""`unspoken mixture`: sources send models in place of records (vcz2006 section 7.1.1)."""

from __future__ import annotations

import argparse
from pathlib import Path

from unspoken.cli.common import (
    Adder,
    add_reading,
    emit,
    must_be_new,
    nested_verb,
    read_table,
    save_model,
    saved_bytes,
    verb,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.enter_register import add_register, write_entered
from unspoken.errors import InputError


def add(verbs: Adder) -> None:
    """Add the verb with its two steps."""
    parser = verb(verbs, "mixture", _one_of,
                  "Cluster what several sources hold, each of which sends a model of its records "
                  "in place of them (generative clustering). A source fits its model (fit), the "
                  "server makes one of all (join) and tests whether the sources are alike. What a "
                  "source sends is measured, not bounded: it promises nothing about one record.")
    steps = parser.add_subparsers(title="steps", metavar="STEP", dest="step")
    _add_fit(steps)
    _add_join(steps)


def _one_of(args: argparse.Namespace) -> int:
    raise InputError("'unspoken mixture' needs the name of a step: fit or join.")


def _add_fit(steps: Adder) -> None:
    parser = nested_verb(steps, "fit", _fit, "Fit the mixture of Gaussians that a source sends: "
                         "weights, means and covariances of its numeric columns.")
    parser.add_argument("data", type=data_place, metavar="DATA", help=DATA_HELP)
    parser.add_argument("--target", metavar="COLUMN", help="a column to leave out")
    parser.add_argument("--components", type=int, default=3, metavar="N",
                        help="the most components (default: %(default)s)")
    parser.add_argument("--least", type=int, default=20, metavar="N",
                        help="records that every component must hold (default: %(default)s)")
    parser.add_argument("--most-cost", type=float, metavar="NATS",
                        help="widen the model until the mean log likelihood of the own records "
                             "under it is at most this (default: no limit)")
    parser.add_argument("--out", type=Path, required=True, metavar="MODEL",
                        help="where the model goes, as JSON; it is sent to the server")
    add_register(parser, "the model")
    add_reading(parser)


def _add_join(steps: Adder) -> None:
    parser = nested_verb(steps, "join", _join, "Fit one mixture to the average of the sources' "
                         "models, and test whether one population stands behind them. Exit status "
                         "1: the sources are not alike.")
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL",
                        help="what the sources sent, at least two")
    parser.add_argument("--components", type=int, default=3, metavar="N",
                        help="components of the model of all (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=39, metavar="N",
                        help="simulated rounds of the test (default: %(default)s)")
    parser.add_argument("--seed", type=int, metavar="N", help="makes the result repeatable")
    parser.add_argument("--out", type=Path, required=True, metavar="MODEL",
                        help="where the model of all goes, as JSON")


def _fit(args: argparse.Namespace) -> int:
    from unspoken.methods.mixtures.local_mixture import LocalMixture

    must_be_new(args.out, "The model")
    table = read_table(args, args.data, args.target)
    source = LocalMixture(args.components, least=args.least, most_cost=args.most_cost)
    model = source.protect(table)
    write_entered(args, "model", table, "mixture", saved_bytes(model, args.out.name))
    emit(args, {"model": str(args.out), "components": model.components, "records": model.records,
                "cost": source.cost_, "widened": source.widened_},
         f"{model.summary()}\nPrivacy cost: {source.cost_:.4g} nats a record, covariances widened "
         f"{source.widened_:.4g} times.\nModel written to {args.out}: it goes to the server in "
         "place of the records, and shows means and spreads of groups of at least "
         f"{args.least} of them.")
    return 0


def _join(args: argparse.Namespace) -> int:
    from unspoken.methods.mixtures.combine_mixtures import global_mixture
    from unspoken.models.load_model import load_model
    from unspoken.models.mixture import Mixture

    must_be_new(args.out, "The model")
    models = {path: load_model(path) for path in args.models}
    mixtures = [model for model in models.values() if isinstance(model, Mixture)]
    if len(mixtures) < len(models):
        strange = next(path for path, model in models.items() if not isinstance(model, Mixture))
        raise InputError(f"{strange} must be a mixture, as 'unspoken mixture fit' writes it. It "
                         f"is a {type(models[strange]).__name__}.")
    whole = global_mixture(mixtures, args.components, rounds=args.rounds, random_state=args.seed)
    save_model(whole.mixture, args.out)
    emit(args, {"model": str(args.out), "alike": whole.alike, "divergence": whole.divergence,
                "expected": whole.expected, "p_value": whole.p_value},
         f"{whole.summary()}\nModel written to {args.out}. 'unspoken predict' says which component "
         "a record belongs to.")
    return 0 if whole.alike else 1
