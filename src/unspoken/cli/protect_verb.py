"""`unspoken protect`: a table in, a release directory and a key file out."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli import basket_verbs as baskets
from unspoken.cli.book_release import book_release
from unspoken.cli.common import (
    Adder,
    add_passphrase,
    add_reading,
    emit,
    must_be_new,
    passphrase,
    read_table,
    verb,
)
from unspoken.cli.data_places import DATA_HELP, data_place
from unspoken.cli.enter_register import add_register, check_register, register_of, save_release
from unspoken.cli.method_options import add_flags, build, key_place, key_words
from unspoken.cli.record_options import add_terms, terms_of
from unspoken.release.method import method_of, methods

if TYPE_CHECKING:
    from unspoken.release.release import Release


def add(verbs: Adder) -> None:
    """Add the verb."""
    parser = verb(verbs, "protect", run,
                  "Write a release for a miner, and the key that only the custodian keeps. "
                  "The default method shows codes in place of values; their order stays visible.")
    parser.add_argument("data", type=data_place, metavar="DATA",
                        help=f"{DATA_HELP}; of baskets also .dat")
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be predicted")
    parser.add_argument("--out", type=data_place, required=True, metavar="DIR",
                        help="where the release goes: a directory that is not there yet, or a "
                             "table of a database (postgresql://USER@HOST/DB?table=NAME)")
    parser.add_argument("--key", type=Path, metavar="FILE",
                        help="where the key goes: a file that is not there yet, outside DIR "
                             "(default, where it only says which record is which: DIR.key)")
    add_passphrase(parser)
    add_register(parser, "the release")
    parser.add_argument("--budget", type=Path, metavar="FILE",
                        help="book the release in the budget of the table before it is written; "
                             "one that does not fit is not written")
    add_terms(parser)
    add_reading(parser)
    _add_method(parser)
    parser.more_help = _all_options  # type: ignore[attr-defined]


def _all_options() -> str:
    from unspoken.cli.method_examples import all_options

    return all_options()


def _add_method(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", default="piecewise", metavar="METHOD",
                        help=f"the release method: {', '.join(methods())} (default: %(default)s); "
                             "'unspoken methods METHOD' says what it takes and promises")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the method, such as translation=true or "
                             "privacy=0.5; values are JSON or text (repeat)")
    add_flags(parser)
    baskets.add_columns(parser)
    parser.add_argument("--overwrite", action="store_true",
                        help="replace a release in DIR; a key file is never replaced")


def run(args: argparse.Namespace) -> int:
    """Protect a table."""
    described = method_of(args.method)
    args.register = register_of(args)
    method = build(args)
    args.key = key_place(args)
    _check_places(args)
    if described.takes_baskets:
        return baskets.protect(args, method)
    baskets.refuse_columns(args)
    table = read_table(args, args.data, args.target)
    secret = passphrase(args, new=True)
    release, key = method.protect(table)
    book_release(args, table, release)
    release = terms_of(args).onto(release)
    release = save_release(args, table, release, key, secret, key_file=args.key,
                           overwrite=args.overwrite,
                           released=described.released_names(key, release))
    out = described.released_names(key, release)
    missing = [name for name in table.schema.names if name not in out]
    emit(args, _data(args, release, missing, secret is not None), _text(args, release, missing))
    return 0


def _check_places(args: argparse.Namespace) -> None:
    from unspoken.errors import InputError

    _check_key_place(args)
    check_register(args)
    if not isinstance(args.out, Path):
        from unspoken.release.release_tables import check_release_place

        check_release_place(args.out, args.overwrite)
    elif not args.overwrite and args.out.exists() and not _is_empty_folder(args.out):
        raise InputError(f"The release directory '{args.out}' must not exist yet or be empty. "
                         "Choose another name, or say --overwrite.")


def _check_key_place(args: argparse.Namespace) -> None:
    from unspoken.errors import InputError

    must_be_new(args.key, "The key file")
    if isinstance(args.out, Path) and args.key.resolve().is_relative_to(args.out.resolve()):
        raise InputError(f"The key file '{args.key}' must lie outside the release directory "
                         f"'{args.out}'. Whoever gets the release would get the key with it.")


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _data(args: argparse.Namespace, release: Release, missing: list[str],
          sealed: bool) -> dict[str, Any]:
    return {
        "release": str(args.out), "key": str(args.key), "sealed": sealed,
        "fingerprint": release.fingerprint, "rows": release.table.rows,
        "mechanism": dict(release.mechanism), "schema": release.schema.to_json(),
        "not_released": missing,
        "guarantee": release.guarantee.to_json(),
    }


def _text(args: argparse.Namespace, release: Release, missing: list[str]) -> str:
    lines = [release.summary(), ""]
    if missing:
        lines.append(f"Not released: {', '.join(missing)}")
    lines.append(f"Release written to {args.out}: this "
                 f"{'directory' if isinstance(args.out, Path) else 'table'} goes to the miner.")
    lines.append(key_words(args))
    if note := method_of(args.method).note:
        lines.append(note)
    if not isinstance(args.out, Path):
        return "\n".join([*lines, "Nobody has attacked this release. One that was written into a "
                          "directory can be audited, and then copied into a database, in "
                          "Python: Release.load(DIR).save(ADDRESS)."])
    return "\n".join([*lines, f"Before you send the release: unspoken audit {args.out} "
                      f"--against {shlex.quote(str(args.data))} --key {args.key} "
                      "--out report.html"])
