"""Where data is, as an argument of the command line: a path, a pattern, or an address."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from unspoken.errors import InputError

if TYPE_CHECKING:
    from unspoken.table.formats.data_urls import Place

DATA_HELP = ("Parquet, CSV, DuckDB or SQLite file, a folder or pattern of files, or an address "
             "such as postgresql://USER@HOST/DB?table=NAME")


def data_place(text: str) -> Place:
    """Return where data is; the parser would repeat an address that is refused, this does not."""
    from unspoken.table.formats.data_urls import as_place

    try:
        return as_place(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from None
