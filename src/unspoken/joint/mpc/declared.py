"""What a program discloses: declared on it before it runs, checked at every opening."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Disclosure:
    """A value that may be opened: why, and to whom.

    Attributes
    ----------
    because : str
        The reason, in words; `reveal` repeats it.
    to : tuple of str, default ()
        The parties that learn the value. Empty: every party.

    Examples
    --------
    >>> Disclosure("total per month", to=("north", "south"))  # doctest: +SKIP
    """

    because: str
    to: tuple[str, ...] = ()


def declares(*disclosures: str | Disclosure) -> Callable[[T], T]:
    """Declare what a program discloses; every opening is checked against it.

    Parameters
    ----------
    *disclosures : str or Disclosure
        What may be opened. A text alone means that every party learns it.

    Returns
    -------
    callable
        A decorator that sets `disclosures` on the program.

    Examples
    --------
    >>> program = declares("total per month")(program)  # doctest: +SKIP
    """
    declared = tuple(d if isinstance(d, Disclosure) else Disclosure(d) for d in disclosures)

    def keep(program: T) -> T:
        program.disclosures = declared  # type: ignore[attr-defined]
        return program

    return keep
