"""What a release is for: purpose, legal basis, recipient, retention; for manifest and record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from unspoken.errors import InputError
from unspoken.release.release import Release

TERMS = "terms"
LONGEST = 500


@dataclass(frozen=True)
class Terms:
    """Why something is released, to whom, on what basis and until when; empty where not said.

    Attributes
    ----------
    purpose : str
        What it is for.
    legal_basis : str
        What allows it, such as consent or a section of a law.
    recipient : str
        Who gets it.
    retention : str
        Until when it may be kept.
    """

    purpose: str = ""
    legal_basis: str = ""
    recipient: str = ""
    retention: str = ""

    def __post_init__(self) -> None:
        for name, text in asdict(self).items():
            if not isinstance(text, str) or len(text) > LONGEST:
                raise InputError(f"'{name}' must be a text of at most {LONGEST} letters.")

    @classmethod
    def of(cls, release: Release | Mapping[str, Any]) -> Terms:
        """Read them from a release or its manifest; what is not there is empty."""
        known = release.details if isinstance(release, Release) else release
        said = known.get(TERMS)
        fields = asdict(cls())
        return cls(**{n: str(said.get(n, ""))[:LONGEST] for n in fields}) \
            if isinstance(said, Mapping) else cls()

    def __bool__(self) -> bool:
        return any(asdict(self).values())

    def onto(self, release: Release) -> Release:
        """Return a release whose manifest says them."""
        return replace(release, details={**release.details, TERMS: asdict(self)}) if self \
            else release

    def missing(self) -> tuple[str, ...]:
        """Return what was not said."""
        return tuple(name.replace("_", " ") for name, text in asdict(self).items() if not text)

    def filled(self, other: Terms) -> Terms:
        """Return these, and where nothing was said the other ones."""
        return Terms(**{n: text or getattr(other, n) for n, text in asdict(self).items()})
