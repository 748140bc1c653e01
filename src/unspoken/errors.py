"""Every error and warning that unspoken raises on purpose.

    UnspokenError
    ├── InputError            a parameter or a table that cannot be used (also a ValueError)
    │   ├── SchemaError       names, kinds or roles that do not fit the table
    │   ├── DataError         values that cannot be used: infinities, mixed types, no rows
    │   └── UnseenValueError  a value that was not there when the method was fitted
    ├── NotCoveredError       a promise was asked for that the guarantee does not make
    ├── ReleaseError          a release directory that cannot be read or written
    ├── KeyFileError          a key file that cannot be used
    │   ├── NotAKeyError      something else than a key file
    │   ├── TruncatedKeyError shorter than it says it is
    │   ├── DamagedKeyError   its checksum does not match
    │   ├── KeyVersionError   written by a newer unspoken
    │   ├── PassphraseError   wrong passphrase, or none given for a sealed key
    │   └── ForeignKeyError   the key of another release
    ├── ModelError            a mined model that is malformed or hostile
    ├── DecodeError           a well-formed model that cannot be decoded exactly
    ├── MissingExtraError     an optional dependency that is not installed
    ├── QueryRefusedError     a query that a guard does not answer; `rule` says which rule
    ├── QueryLogError         a query log that cannot be used
    ├── BudgetError           a budget that is spent, or whose file cannot be used
    └── PolicyError           a policy that cannot be read

    UnpromisedModelWarning (UserWarning) a decoded model that may be another than the original's
    LeakWarning (UserWarning) something that was asked for gives more away than the default
    └── SeededWarning         a release that anyone who guesses its seed can undo
    ClampedWarning (UserWarning) values outside a declared range were moved into it

Every message says what is wrong, what came and what to do, in whole sentences. `explain` builds
those about a value out of range.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BudgetError",
    "ClampedWarning",
    "DamagedKeyError",
    "DataError",
    "DecodeError",
    "ForeignKeyError",
    "InputError",
    "KeyFileError",
    "KeyVersionError",
    "LeakWarning",
    "MissingExtraError",
    "ModelError",
    "NotAKeyError",
    "NotCoveredError",
    "PassphraseError",
    "PolicyError",
    "QueryLogError",
    "QueryRefusedError",
    "ReleaseError",
    "SchemaError",
    "SeededWarning",
    "TruncatedKeyError",
    "UnpromisedModelWarning",
    "UnseenValueError",
    "UnspokenError",
    "explain",
    "unknown",
]


class UnspokenError(Exception):
    """Base of every error that unspoken raises on purpose."""


class InputError(UnspokenError, ValueError):
    """A parameter or a table that cannot be used."""


class SchemaError(InputError):
    """Names, kinds or roles that do not fit the table."""


class DataError(InputError):
    """Values that cannot be used."""


class UnseenValueError(InputError):
    """A value that was not there when the method was fitted."""


class NotCoveredError(UnspokenError):
    """A promise was asked for that the guarantee does not make."""


class ReleaseError(UnspokenError):
    """A release directory that cannot be read or written."""


class KeyFileError(UnspokenError):
    """A key file that cannot be used."""


class NotAKeyError(KeyFileError):
    """Something else than a key file."""


class TruncatedKeyError(KeyFileError):
    """A key file that is shorter than it says it is."""


class DamagedKeyError(KeyFileError):
    """A key file whose checksum does not match."""


class KeyVersionError(KeyFileError):
    """A key file written by a newer unspoken."""


class PassphraseError(KeyFileError):
    """A wrong passphrase, or none for a sealed key."""


class ForeignKeyError(KeyFileError):
    """The key of another release."""


class ModelError(UnspokenError):
    """A mined model that is malformed or hostile."""


class DecodeError(UnspokenError):
    """A well-formed model that cannot be decoded exactly."""


class MissingExtraError(UnspokenError, ImportError):
    """An optional dependency that is not installed."""


class QueryRefusedError(UnspokenError):
    """A query that a guard does not answer, by a rule that never looks at the answer."""

    def __init__(self, message: str, rule: str) -> None:
        super().__init__(message)
        self.rule = rule


class QueryLogError(UnspokenError):
    """A query log that cannot be used."""


class BudgetError(UnspokenError):
    """A budget that is spent, or whose file cannot be used."""


class PolicyError(InputError):
    """A policy that cannot be read."""


class UnpromisedModelWarning(UserWarning):
    """A decoded model that may be another one than the original's."""


class LeakWarning(UserWarning):
    """Something that was asked for gives more away than the default."""


class SeededWarning(LeakWarning):
    """A release was made with a seed: anyone who guesses the seed can undo the release."""


class ClampedWarning(UserWarning):
    """Values outside a declared range, or categories that were not declared, were moved into it."""


def explain(what: str, allowed: str, got: object, do: str = "") -> str:
    """Return the message "WHAT must be ALLOWED. Got GOT. DO".

    For a value that is out of range. If the sentence would read bent, write it out instead.

    Parameters
    ----------
    what : str
        The thing that is wrong, such as "'k'".
    allowed : str
        What it may be, such as "a whole number of at least 2".
    got : object
        What came; shortened to 200 characters.
    do : str, default ""
        A sentence that says what to do.

    Returns
    -------
    str

    Examples
    --------
    >>> explain("'k'", "a whole number of at least 2", 1)
    "'k' must be a whole number of at least 2. Got 1."
    """
    shown = got if isinstance(got, str) else repr(got)
    if len(shown) > 200:
        shown = shown[:197] + "..."
    return f"{what} must be {allowed}. Got {shown}." + (f" {do}" if do else "")


def unknown(what: str, got: object, known: Iterable[str]) -> str:
    """Return the message about an unknown name: which names exist, and which one is closest.

    Parameters
    ----------
    what : str
        What was named, such as "An adversary".
    got : object
        The name that is not known.
    known : iterable of str
        The names that are.

    Returns
    -------
    str
    """
    names = list(known)
    near = difflib.get_close_matches(str(got), names, 1)
    return explain(what, "one of " + ", ".join(names), got,
                   f"Did you mean '{near[0]}'?" if near else "")


def reason(error: BaseException) -> str:
    """Return what the system or another library says of an error, as one sentence.

    Without the number that the system gives it, and with one full stop.
    """
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    words = " ".join(text.split()).removeprefix("[Errno ")
    number, sign, rest = words.partition("] ")
    plain = rest if sign and number.isdigit() else words
    return f"{plain[:200].rstrip(' .!') or type(error).__name__}."
