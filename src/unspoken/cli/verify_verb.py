"""`unspoken verify`: are two models identical, bit for bit? Exit status 0 yes, 1 no."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import Adder, add_passphrase, add_reading, emit, load_key, verb
from unspoken.cli.data_places import data_place
from unspoken.cli.mine_verb import add_learner, params
from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.mine import Recipe
    from unspoken.models.comparison import Comparison
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "verify", run,
                  "Compare two models bit for bit, or a mined model with the original data. "
                  "With --release, --key and --data, MODEL is decoded and compared with the model "
                  "that the same learner finds in the original, in the released order. With "
                  "--against, MODEL is a release directory, and what it promises is verified "
                  "against the original: K, L and t are counted again, trees learned again; "
                  "with --key, other promises are checked record by record. Exit status 0: "
                  "identical, or as promised; 1: different.")
    parser.add_argument("model", type=Path, metavar="MODEL",
                        help="the original's model, or with --release the mined one")
    parser.add_argument("decoded", type=Path, nargs="?", metavar="DECODED",
                        help="the decoded model")
    parser.add_argument("--release", type=Path, metavar="DIR", help="release directory")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the key file")
    add_passphrase(parser)
    parser.add_argument("--data", type=data_place, metavar="DATA", help="the original table")
    parser.add_argument("--against", type=data_place, metavar="DATA",
                        help="the original table; MODEL is then a release directory")
    add_reading(parser)
    parser.add_argument("--recipe", type=Path, metavar="FILE",
                        help="how MODEL was mined (default: MODEL.recipe)")
    add_learner(parser, None)


def run(args: argparse.Namespace) -> int:
    """Compare, and say in words where the first difference is."""
    if args.against is not None:
        return _release(args)
    comparison = _with_original(args) if args.decoded is None else _two_files(args)
    words = "identical, bit for bit" if comparison else str(comparison)
    emit(args, {"identical": bool(comparison), "difference": comparison.difference}, words)
    return 0 if comparison else 1


def _release(args: argparse.Namespace) -> int:
    """Verify what a release promises against the original."""
    from unspoken.release.release import Release

    if args.decoded or args.release or args.data:
        raise InputError("Give a release directory with --against, and no other model, --release "
                         "or --data.")
    release = Release.load(args.model)
    key = load_key(args) if args.key is not None else None
    broken = _broken(args, release, key)
    unsaid = "" if key is not None else (" Which record is whose was not checked: give the --key "
                                         "of the release.")
    emit(args, {"identical": broken is None, "difference": broken},
         f"verified: {release.guarantee.statement}{unsaid}" if broken is None
         else f"not as promised: {broken}")
    return 0 if broken is None else 1


def _broken(args: argparse.Namespace, release: Release, key: Key | None) -> str | None:
    """Return where a release is not what it promises, None if it is."""
    promise: Any = release.guarantee
    counted = hasattr(promise, "verify")
    if not counted and (key is None or release.schema.of_kind("basket")):
        raise InputError(f"The guarantee of '{args.model}' ('{promise.name}') has nothing that "
                         "can be verified against the original without its key. Use unspoken "
                         "audit, or give the --key of a table's release.")
    fault = None if key is None else _record_by_record(args, release, key)
    if fault is not None or not counted:
        return fault
    verdict = promise.verify(_as_released(args, release, key is None), release, key)
    return None if verdict else str(getattr(verdict, "difference", None) or verdict.reason)


def _record_by_record(args: argparse.Namespace, release: Release, key: Key) -> str | None:
    """Compare every released record with its own; another table or another key is refused."""
    from unspoken.audit.kept_promises import faults_of
    from unspoken.cli.original import read_original
    from unspoken.release.record_key import as_protected

    key.fits(release)
    table = as_protected(read_original(args, args.against, key), key)
    return next(iter(faults_of(table, release, key)), None)


def _as_released(args: argparse.Namespace, release: Release, notes: bool) -> Table:
    """Read the original with the kinds that the release gives its columns."""
    from unspoken.cli.common import read_table

    table = read_table(args, args.against, release.schema.target, notes)
    kinds = {c.name: c.kind for c in release.schema.columns if c.name in table.schema.names}
    return table.with_frame(table.frame, table.schema.declare({}, kinds))


def _two_files(args: argparse.Namespace) -> Comparison:
    from unspoken.models.readers import read_model
    from unspoken.models.verify import verify

    if args.release or args.key or args.data:
        raise InputError("Give either two models, or one model with --release, --key and --data. "
                         "Got both.")
    return verify(read_model(args.model), read_model(args.decoded))


def _with_original(args: argparse.Namespace) -> Comparison:
    from unspoken.cli.original import read_original
    from unspoken.models.readers import read_model
    from unspoken.release.release import Release

    if not (args.release and args.key and args.data):
        raise InputError("Give two models, or one model with --release, --key and --data. "
                         "Got one model and not all three of them.")
    key = load_key(args)
    key.fits(Release.load(args.release))
    model = read_model(args.model)
    return compare_with_original(model, _recipe(args), key, read_original(args, args.data, key))


def compare_with_original(model: Any, recipe: Recipe, key: Key, table: Table) -> Comparison:
    """Decode a mined model and compare it with the one mined from the original."""
    from unspoken.methods.encoding.decode.mined_again import decoded_and_mined_again
    from unspoken.models.verify import verify

    decoded, original = decoded_and_mined_again(model, recipe, key, table)
    return verify(original.to_bytes(), decoded)


def _recipe(args: argparse.Namespace) -> Recipe:
    """Return how to mine: from the options if a learner is named, else from the recipe file."""
    from unspoken.methods.encoding.learners.mine_trees import recipe_path
    from unspoken.mine import Recipe

    path = args.recipe or recipe_path(args.model)
    if args.learner is None and not path.exists():
        raise InputError(f"Verifying needs to know how '{args.model}' was mined. There is no "
                         f"'{path}'. Ask the miner for it, or say --learner and --param.")
    if args.learner is None:
        return Recipe.load(path)
    return Recipe(args.learner, args.task or _task(args), params(args.param), ())


def _task(args: argparse.Namespace) -> str:
    from unspoken.models.readers import read_model

    return str(getattr(read_model(args.model), "task", "classification"))
