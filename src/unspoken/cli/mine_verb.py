"""`unspoken mine`: a release in, a model file and its recipe out. Needs no key and no original."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from unspoken.cli import basket_verbs as baskets
from unspoken.cli import mine_distances, mine_distorted
from unspoken.cli.common import (
    Adder,
    add_file_options,
    emit,
    must_be_new,
    pairs,
    save_model,
    verb,
)
from unspoken.cli.enter_register import add_register
from unspoken.cli.mine_distorted import STRATEGIES
from unspoken.errors import InputError, explain

LEARNERS = ("tree", "forest", "xgboost", "lightgbm", "gradient", "histogram", "adaboost",
            "bagging", "c45")


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "mine", run,
                  "Mine a model from a release directory. "
                  "Writes the model and, beside it, MODEL.recipe, which says how it was mined.")
    parser.add_argument("release", type=Path, metavar="RELEASE",
                        help="release directory; for itemsets and rules also a file of baskets")
    add_learner(parser, "tree")
    baskets.add_columns(parser)
    add_file_options(parser)
    baskets.add_risk(parser)
    parser.add_argument("--strategy", choices=STRATEGIES,
                        help="how a tree is grown from distorted values (default: refined, which "
                             "goes on from byclass)")
    parser.add_argument("--tune", action="append", default=[], metavar="NAME=V1,V2",
                        help="a parameter to search for, and the values to try (repeat): the best "
                        "by cross-validation is then fitted on all rows")
    parser.add_argument("--folds", type=int, default=5, metavar="N",
                        help="how many folds --tune takes (default: %(default)s)")
    parser.add_argument("--test-share", type=float, metavar="SHARE",
                        help="hold this share of the rows out and print the score on it; the "
                        "recipe names the others, and decode takes them from there")
    parser.add_argument("--stop-after", type=int, metavar="N",
                        help="early stopping of xgboost and lightgbm: after N rounds without a "
                        "better score of rows that are held out; n_estimators is the most")
    parser.add_argument("--stop-share", type=float, default=0.1, metavar="SHARE",
                        help="the share of rows that --stop-after holds out and scores (default: "
                        "%(default)s)")
    parser.add_argument("--one-hot", action="store_true",
                        help="one column for each label, so that trees, forests, gradient "
                        "boosting, AdaBoost and bagging ask COLUMN == LABEL")
    parser.add_argument("--anyway", action="store_true",
                        help="mine even if the release promises nothing for this learner")
    add_register(parser, "itemsets or rules of plain baskets")
    parser.add_argument("--out", type=Path, required=True, metavar="MODEL",
                        help="where the model goes: JSON, or LightGBM's text")


def add_learner(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Add the options that say how to mine."""
    more = (("naive-bayes", "published", *mine_distances.LEARNERS, *baskets.LEARNERS)
            if default else ())
    words = ("; published: the manifest's tree, by its stopping rule (default: %(default)s)"
             if default else "")
    parser.add_argument("--learner", "--model", choices=(*LEARNERS, *more), default=default,
                        help="what to mine" + words)
    parser.add_argument("--task", choices=["classification", "regression"],
                        help="what the target is (default: follows the target)")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the learner, such as max_depth=4 (repeat)")


def params(texts: list[str]) -> dict[str, Any]:
    """Read the values of --param as JSON scalars; what is not JSON is taken as text."""
    return {name: _scalar(name, value) for name, value in pairs(texts, "--param").items()}


def _scalar(name: str, text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, list | dict) or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(explain(f"'--param {name}'", "a text, a number, true, false or null",
                                 text))
    return value


def _published(args: argparse.Namespace) -> int:
    """Grow the tree that was published with a release, by its stopping rule."""
    from unspoken import mine
    from unspoken.release.release import Release

    release = Release.load(args.release)
    grown, published = mine.grow(release), release.tree
    same = published.same_as(grown)
    save_model(grown, args.out)
    emit(args, {"model": str(args.out), "identical": bool(same), "difference": same.difference},
         f"{grown.summary()}\nCompared with the published tree: {same}.\n"
         f"Model written to {args.out}.")
    return 0 if same else 1


def _mined(args: argparse.Namespace, release: Any, wanted: dict[str, Any]) -> tuple[Any, Any]:
    """Mine as the options say; return the model, and its score if rows were held out."""
    from unspoken.methods.encoding.learners.mine_trees import Stopping, fit, fit_part
    from unspoken.methods.encoding.learners.tune_learners import Search

    seed = wanted.get("random_state", 0)
    grid = {name: [_scalar(name, value) for value in text.split(",")]
            for name, text in pairs(args.tune, "--tune").items()}
    tune = Search(grid, args.folds, seed if isinstance(seed, int) else 0) if grid else None
    stop = None if args.stop_after is None else Stopping(
        args.stop_after, args.stop_share, seed if isinstance(seed, int) else 0)
    options = {"task": args.task, "anyway": args.anyway, "tune": tune, "onehot": args.one_hot,
               "stop": stop, **wanted}
    if args.test_share is None:
        return fit(release, args.learner, **options), None
    return fit_part(release, args.learner, args.test_share, **options)


def run(args: argparse.Namespace) -> int:
    """Mine a release."""
    from unspoken.methods.encoding.learners.mine_trees import recipe_path
    from unspoken.release.release import Release

    must_be_new(args.out, "The model file")
    if args.register is not None and args.release.is_dir():
        raise InputError("What is mined from a release goes back to the custodian, who enters it "
                         "with the table: unspoken decode ... --register FILE. Leave --register "
                         "out.")
    baskets.refuse_risk(args)
    if args.learner == "published":
        return _published(args)
    if args.learner in baskets.LEARNERS:
        return baskets.mine(args, params(args.param))
    wanted = params(args.param)
    release = Release.load(args.release)
    if args.learner in mine_distances.LEARNERS:
        return mine_distances.run(args, release, wanted)
    must_be_new(recipe_path(args.out), "The recipe file")
    if mine_distorted.wanted(args, release):
        return mine_distorted.run(args, release, wanted)
    mined, scored = _mined(args, release, wanted)
    mined.save(args.out)
    held = "" if scored is None else f"\nscore on the rows held out: {scored:.4f}"
    emit(args, {
        "model": str(args.out), "recipe_file": str(recipe_path(args.out)),
        "recipe": mined.recipe.to_json(),
        "covered": bool(mined.verdict), "reason": mined.verdict.reason if mined.verdict else "",
        "held_out_score": scored,
    }, f"{mined.summary()}{held}\nModel written to {args.out}, its recipe to "
       f"{recipe_path(args.out)}: both go back to the custodian.")
    return 0
