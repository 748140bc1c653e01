"""What a program discloses: said on it before it runs, checked at every opening."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Disclosure:
    """A value that may leave its shares: why, and to whom (nobody named: every party)."""

    because: str
    to: tuple[str, ...] = ()


def declares(*disclosures: str | Disclosure) -> Callable[[T], T]:
    """Say on a program what it discloses; a text alone means to every party."""
    declared = tuple(d if isinstance(d, Disclosure) else Disclosure(d) for d in disclosures)

    def keep(program: T) -> T:
        program.disclosures = declared  # type: ignore[attr-defined]
        return program

    return keep
