"""How a file is to be read, where its own bytes do not say so."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from unspoken.errors import InputError, SchemaError, explain

DELIMITERS = (",", ";", "\t", "|")
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")
"""Words of a text file that stand for a missing value unless others are named."""
UNSURE = "?"
"""Stands for a missing value in columns that hold numbers otherwise."""
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "blank": " "}
OPTIONS = ("delimiter", "encoding", "missing", "decimal", "thousands")
THOUSANDS = (",", ".", " ", "'", "_", "\u00a0", "\u202f")


@dataclass(frozen=True)
class ReadOptions:
    """Options of `read` and `read_baskets` about the file; None means: look at the file.

    `missing` names the words that stand for a missing value; an empty cell always does.
    `decimal` is the sign before the fraction of a number, `thousands` the one between its
    thousands. `table` names a table of a database.
    """

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    decimal: str = "."
    table: str | None = None
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise InputError(explain("'delimiter'", "one character, such as ';' or tab",
                                     self.delimiter))
        if self.decimal not in (".", ","):
            raise InputError(explain("'decimal'", "'.' or ','", self.decimal))
        if self.delimiter == self.decimal:
            raise InputError("'delimiter' and 'decimal' must differ. Got the same sign for both.")
        if self.thousands is not None and (self.thousands not in THOUSANDS
                                           or self.thousands == self.decimal):
            raise InputError(explain("'thousands'", "one of , . ' _ and a blank, and another sign "
                                     "than 'decimal'", self.thousands))
        if self.encoding is not None:
            _known_encoding(self.encoding)

    @classmethod
    def of(cls, delimiter: str | None = None, encoding: str | None = None,
           missing: str | Iterable[str] | None = None, decimal: str | None = None,
           table: str | None = None, thousands: str | None = None) -> ReadOptions:
        """Take the options as a user gives them: names for signs, one word or several."""
        words = (missing,) if isinstance(missing, str) else missing
        if words is not None and not all(isinstance(word, str) for word in words):
            raise InputError(explain("'missing'", "a list of words", list(words)))
        sign = None if delimiter is None else _NAMED.get(delimiter, delimiter)
        apart = None if thousands is None else _NAMED.get(thousands, thousands)
        return cls(sign, encoding, None if words is None else tuple(words), decimal or ".", table,
                   apart)

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that stand for a missing value in a text file, the empty one first."""
        chosen = MISSING if self.missing is None else self.missing
        return ("", *(word for word in dict.fromkeys(chosen) if word))

    @property
    def about_text(self) -> list[str]:
        """Return the options in use that only text files have."""
        return [name for name in ("delimiter", "encoding", "thousands")
                if getattr(self, name) is not None] \
            + (["decimal"] if self.decimal != "." else [])


def take_options(options: dict[str, Any], table: str | None = None) -> ReadOptions:
    """Take the options of reading out of a function's keywords; any that is left is refused."""
    chosen = {name: options.pop(name, None) for name in OPTIONS}
    if options:
        raise SchemaError(explain("Options of read", "show, lazy, table, columns, keep, "
                                  "suggest_roles, engine, order, drop_missing_target, "
                                  + ", ".join(OPTIONS), list(options)))
    return ReadOptions.of(**chosen, table=table)


def _known_encoding(name: str) -> None:
    try:
        known = bool(getattr(codecs.lookup(name), "_is_text_encoding", True))
    except LookupError:
        known = False
    if not known:
        raise InputError(explain("'encoding'", "the name of an encoding, such as utf-8, utf-16, "
                                 "windows-1252 or latin-1", name))
