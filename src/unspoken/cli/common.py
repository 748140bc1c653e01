"""What several verbs share: options, passphrases, output, progress and files that must be new."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.errors import DataError, InputError, explain

if TYPE_CHECKING:
    from unspoken.release.key import Key
    from unspoken.table.formats.data_urls import Place
    from unspoken.table.table import Table

Adder = Any
"""What `add_subparsers` returns; its class has no public name."""
ROWS_IN = (".csv", ".parquet")
"""How files of rows end that a verb writes."""


def verb(verbs: Adder, name: str, run: Callable[[Any], int], text: str) -> argparse.ArgumentParser:
    """Add the subparser of a verb, with the options that every verb has."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text.split(". ")[0].rstrip("."), description=text)
    parser.set_defaults(run=run, worded=str)
    parser.add_argument("--json", action="store_true",
                        help="print the result as one JSON object, and nothing else, on stdout")
    return parser


def nested_verb(under: Adder, name: str, run: Callable[[Any], int],
                text: str) -> argparse.ArgumentParser:
    """Add a verb under another one; `--json` counts before it and after it."""
    parser = verb(under, name, run, text)
    for action in parser._actions:
        if action.dest == "json":
            action.default = argparse.SUPPRESS
    return parser


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that declare what the columns of a table are."""
    parser.add_argument("--table", metavar="NAME", help="the table to read in a database")
    parser.add_argument("--kind", action="append", default=[], metavar="COLUMN=KIND",
                        help="declare a column numeric, ordinal, categorical or basket; the order "
                             "of texts as ordinal:low<medium<high (repeat)")
    parser.add_argument("--identifiers", type=names, default=(), metavar="A,B",
                        help="columns that name a person or thing; they are never released")
    parser.add_argument("--sensitive", type=names, default=(), metavar="A,B",
                        help="columns that nobody should learn about a person")
    parser.add_argument("--quasi", type=names, default=(), metavar="A,B",
                        help="columns by which a person could be found elsewhere")
    parser.add_argument("--keep", action="append", default=[], metavar="COLUMN",
                        help="release a column that seems to name people, or free text (repeat)")
    parser.add_argument("--drop-missing-target", action="store_true",
                        help="leave out the records that have no target")
    parser.add_argument("--engine", choices=["local", "spark"],
                        help="where rows are counted and changed: in this process, or on Apache "
                             "Spark, which reads Parquet (default: local)")
    add_file_options(parser)


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a file is written, where it does not show that itself."""
    parser.add_argument("--delimiter", metavar="SIGN",
                        help="what stands between the entries of a text file, such as ';' or tab "
                             "(default: detected from its first lines)")
    parser.add_argument("--encoding", metavar="NAME",
                        help="encoding of a text file, such as windows-1252 or utf-16 (default: "
                             "UTF-8, or what the file is marked as)")
    parser.add_argument("--missing", type=names, metavar="A,B",
                        help="words that stand for a missing value, as an empty cell always does "
                             "(default: NA, N/A, NaN, null, and ? among numbers)")
    parser.add_argument("--decimal", choices=[".", ","],
                        help="the sign before the fraction of a number in a text file "
                             "(default: .)")
    parser.add_argument("--thousands", metavar="SIGN",
                        help="the sign between the thousands of numbers in a text file, such as , "
                             "in 1,234 (default: none; such cells are text)")


def file_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options that say how a file is written, as `read` takes them."""
    return {name: getattr(args, name, None)
            for name in ("delimiter", "encoding", "missing", "decimal", "thousands")}


def add_passphrase(parser: argparse.ArgumentParser) -> None:
    """Add the two ways to give a passphrase; it never stands on the command line itself."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--passphrase-file", type=Path, metavar="FILE",
                       help="read the key's passphrase from the first line of a file")
    group.add_argument("--ask-passphrase", action="store_true",
                       help="ask for the key's passphrase on the terminal")


def names(text: str) -> tuple[str, ...]:
    """Split a list of column names at commas; a name with a comma in it stands in quotes."""
    listed = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(name.strip() for name in listed if name.strip())


def listed(columns: Sequence[str]) -> str:
    """Return column names as `names` reads them."""
    return ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
                    for name in columns)


def reading_words(args: argparse.Namespace) -> list[str]:
    """Return the options about reading as they were given, for a verb that reads the same file."""
    words: list[str] = []
    for name in ("table", "engine", "delimiter", "encoding", "decimal", "thousands"):
        value = getattr(args, name)
        words += [] if value is None else [f"--{name}={value}"]
    for name in ("identifiers", "sensitive", "quasi", "missing"):
        columns = getattr(args, name)
        words += [f"--{name}={listed(columns)}"] if columns else []
    words += ["--drop-missing-target"] if args.drop_missing_target else []
    return words + [f"--{name}={one}" for name in ("kind", "keep") for one in getattr(args, name)]


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Split NAME=VALUE options."""
    by_name: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(explain(f"'{option}'", "NAME=VALUE", text))
        if name in by_name:
            raise InputError(f"'{option} {name}' is given twice. Give it once.")
        by_name[name] = value
    return by_name


def read_table(args: argparse.Namespace, path: Place, target: str | None,
               notes: bool = True) -> Table:
    """Read a table as the options declare it; `notes` says on stderr what was done to it."""
    from unspoken.table.read import read

    table = read(path, target=target, sensitive=args.sensitive, quasi=args.quasi,
                 identifiers=args.identifiers, kinds=pairs(args.kind, "--kind"),
                 table=args.table, keep=args.keep, show=False, engine=args.engine,
                 drop_missing_target=args.drop_missing_target,
                 **file_options(args))
    for note in table.notes if notes else ():
        print(f"unspoken: note: {args.worded(note)}", file=sys.stderr)
    return table


def refuse_missing_target(table: Table) -> None:
    """Refuse a target that some rows lack, before anything else is done with the table."""
    name = table.schema.target
    missing = 0 if name is None else table.engine.count_missing(table.frame, name)
    if missing:
        raise DataError(f"Target '{name}' must have a value in every row. {missing} rows have "
                        "none. Leave those rows out with --drop-missing-target.")


def passphrase(args: argparse.Namespace, new: bool = False) -> str | None:
    """Return the passphrase that was asked for or lies in a file; None if neither was said."""
    if args.passphrase_file is not None:
        lines = args.passphrase_file.read_text(encoding="utf-8").splitlines()
        if not lines or not lines[0]:
            raise InputError(f"'{args.passphrase_file}' must hold the passphrase in its first "
                             "line. That line is empty.")
        return str(lines[0])
    return _asked(new) if args.ask_passphrase else None


def _asked(new: bool) -> str:
    from getpass import getpass

    first = getpass("Passphrase of the key: ")
    if new and getpass("The same again: ") != first:
        raise InputError("The two passphrases must be the same. They differ. Nothing was written.")
    return first


def load_key(args: argparse.Namespace) -> Key:
    """Load the key that `--key` names."""
    from unspoken.release.key import Key

    return Key.load(args.key, passphrase(args))


def must_be_new(path: Path, what: str, how: str = "Choose another name.") -> None:
    """Refuse an existing output, and a folder that is not there, before any work is done."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{what} '{path}' must not exist yet. {how}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{what} '{path}' must lie in an existing folder. "
                         f"There is no '{path.absolute().parent}'.")


def save_model(model: Any, path: Path) -> None:
    """Write a model of any supported kind at once or not at all."""
    from unspoken.table.atomic_files import write_file

    write_file(path, saved_bytes(model, path.name), overwrite=False)


def saved_bytes(thing: Any, name: str = "model.json") -> bytes:
    """Return what `thing.save` writes to a file of this name."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / name
        thing.save(whole)
        return whole.read_bytes()


def emit(args: argparse.Namespace, data: dict[str, Any], text: str) -> None:
    """Print the result: JSON if that was asked for, else text.

    A disclosure that no budget counts (`args.unbooked`, the data) says so.
    """
    unbooked = getattr(args, "unbooked", None)
    if unbooked is not None:
        data = {**data, "booked": False}
        place = f"It would be {unbooked}.budget; " if isinstance(unbooked, Path) else ""
        text += ("\nNothing was booked, because there is no budget. "
                 f"{place}'unspoken budget' starts one.")
    print(json.dumps(data, allow_nan=False, default=str) if args.json else text)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that moves a bar on a terminal; None where nobody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total or None, desc=label, unit="row", unit_scale=True, leave=False) as bar:
        yield lambda rows: bar.update(rows) and None


@contextmanager
def shown_passes() -> Iterator[None]:
    """Show long passes over a table on a terminal: rows done, rows a second, time left."""
    from unspoken.table.long_passes import shown_by

    with shown_by(progress):
        yield


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return rows of text as aligned columns; those in `right` are set to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(cell.rjust(width) if i in right else cell.ljust(width)
                       for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
             for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def write_rows(path: Path, rows: Any) -> None:
    """Write an Arrow table as CSV or Parquet, by the file's ending, readable by its owner alone."""
    import io

    import pyarrow.csv
    import pyarrow.parquet

    from unspoken.table.atomic_files import write_file

    if path.suffix.lower() not in ROWS_IN:
        raise InputError(explain("'--out'", f"a file that ends in {' or '.join(ROWS_IN)}",
                                 str(path)))
    content = io.BytesIO()
    write = pyarrow.csv.write_csv if path.suffix.lower() == ".csv" else pyarrow.parquet.write_table
    write(rows, content)
    write_file(path, content.getvalue(), 0o600, overwrite=False)
