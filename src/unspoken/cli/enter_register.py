"""The register on the command line: the option, the environment, and entering before disclosing."""

from __future__ import annotations

import argparse
import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.cli.common import file_options, progress

if TYPE_CHECKING:
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table

_HELP = "(default: the file that the environment variable UNSPOKEN_REGISTER names, if it is set)"


def add_register(parser: argparse.ArgumentParser, what: str, to: bool = True) -> None:
    """Add the options that name the register and the recipient."""
    parser.add_argument("--register", type=Path, metavar="FILE",
                        help=f"enter {what} into the custodian's register {_HELP}")
    if to:
        parser.add_argument("--to", default="", metavar="NAME",
                            help="who gets it, for the register")


def register_of(args: argparse.Namespace) -> Path | None:
    """Return the register of this command."""
    from unspoken.release.automatic_entries import configured

    return configured(args.register)


def enter(args: argparse.Namespace, kind: str, table: Table, what: str, to: str,
          guarantee: str = "none") -> None:
    """Enter something into the register, if there is one, before it is given away."""
    from unspoken.release.automatic_entries import enter_once

    path = register_of(args)
    if path is not None:
        enter_once(path, kind, table, what, to, guarantee)


def write_entered(args: argparse.Namespace, kind: str, table: Table | None, what: str,
                  data: bytes, guarantee: str = "none", mode: int = 0o644) -> None:
    """Enter a file by its content, if there is a register, and write it to `--out`."""
    from unspoken.release.automatic_entries import file_words
    from unspoken.table.atomic_files import write_file

    if table is not None:
        enter(args, kind, table, file_words(what, args.out, data), args.to, guarantee)
    write_file(args.out, data, mode, overwrite=False)


def check_register(args: argparse.Namespace) -> None:
    """Refuse a register that cannot be read or written, before anything else is written."""
    from unspoken.errors import InputError
    from unspoken.release.register import Register

    path = register_of(args)
    if path is None:
        return
    Register.load(path)
    if not os.access(path.absolute().parent, os.W_OK):
        raise InputError(f"The register '{path}' must lie in a folder that can be written to. "
                         "Check the path; nothing was written.")


def save_release(args: argparse.Namespace, table: Table, release: Release, key: Key,
                 secret: str | None = None, *, key_file: Path, overwrite: bool = False,
                 released: dict[str, str] | None = None) -> Release:
    """Write key and release, or neither; the release is entered before it is in its place.

    The key comes first: a release whose key was lost could never be decoded. `released` are the
    names of its columns, where they are others.
    """
    folder = args.out if isinstance(args.out, Path) and not args.out.exists() else None
    key.save(key_file, secret)
    try:
        with progress("protect", release.table.rows) as step:
            return release.save(args.out, overwrite, step,
                                enter=partial(_enter_release, args, table, release, released))
    except BaseException:
        key_file.unlink(missing_ok=True)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _enter_release(args: argparse.Namespace, table: Table, release: Release,
                   released: dict[str, str] | None) -> None:
    from unspoken.release.register import Register

    path = register_of(args)
    if path is not None:
        place = args.out.absolute() if isinstance(args.out, Path) else args.out
        Register.load(path).add_release(table, release, args.to, str(place), released)


def people_of(args: argparse.Namespace, source: Any) -> Table:
    """Return the table whose people data is about: a table, baskets, or a file of either."""
    from unspoken.errors import UnspokenError
    from unspoken.table.basket_files import read_baskets
    from unspoken.table.basket_tables import to_table
    from unspoken.table.baskets import Baskets
    from unspoken.table.read import read

    if isinstance(source, Baskets):
        return to_table(source)
    try:
        return read(source, show=False, **file_options(args))
    except UnspokenError:
        return to_table(read_baskets(source, repeats="drop", **file_options(args)))
