"""What a decision record is about: the release whose content it was written for.

A signature shows that a record was not changed, not that a release is the one that was decided on.
So the record holds the digest of what was audited, and whoever checks the record compares it with
the release at hand: for a folder the digest of its manifest, which names the digests of all else
that the release holds, for a table or a model that of the file.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from unspoken.errors import InputError, UnspokenError
from unspoken.release.manifest_files import MANIFEST
from unspoken.release.release import Release
from unspoken.table.atomic_files import sha256_of

_MARK = "data-unspoken-release"
_HELD = re.compile(rf'<div hidden {_MARK}="([^"]*)"></div>')
_LARGEST = 1 << 28


@dataclass(frozen=True)
class Subject:
    """The name of a release beside its record, and the digest of its content."""

    name: str
    sha256: str

    def markup(self) -> str:
        """Return the part of a record that says what it is about; it does not show."""
        return f'<div hidden {_MARK}="{html.escape(json.dumps(asdict(self)))}"></div>'

    def beside(self, folders: Sequence[Path]) -> Path | None:
        """Return the release of this name in the first of some folders that has one."""
        places = [folder / self.name for folder in folders]
        return next((place for place in places if place.exists()), None)

    def why_not(self, release: Path) -> str:
        """Return why a release is not the one of the record, nothing if it is."""
        try:
            if release.is_dir():
                Release.load(release)
            found = digest_of(release)
        except (UnspokenError, OSError) as error:
            return f"the release '{release.name}' cannot be checked: {error}"
        return "" if found == self.sha256 else \
            f"the record is about another release than '{release.name}', or that was changed"


def digest_of(release: Path) -> str:
    """Return the digest of what is released: of a folder by its manifest, else of the file."""
    place = release / MANIFEST if release.is_dir() else release
    if not place.is_file():
        raise InputError(f"'{release}' must be a release or a file. It is not.")
    return sha256_of(place)


def subject_in(record: Path) -> Subject | None:
    """Return what a record is about, None if it says nothing; two answers are refused."""
    if record.stat().st_size > _LARGEST:
        raise InputError(f"'{record}' must be below {_LARGEST:,} bytes to be a decision record.")
    found = _HELD.findall(record.read_text(encoding="utf-8", errors="replace"))
    if not found:
        return None
    try:
        said = json.loads(html.unescape(found[0]))
        name, digest = said["name"], said["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name = digest = None
    if len(found) > 1 or not isinstance(digest, str) or not isinstance(name, str) \
            or Path(name).name != name:
        raise InputError(f"'{record}' must say once which release it is about. It does not.")
    return Subject(name, digest)
