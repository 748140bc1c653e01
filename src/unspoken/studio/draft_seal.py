"""That what is signed is what was audited: files by their hashes, `draft.json` by a seal.

The seal is keyed with a secret of the studio's folder. What left after the audit is looked up in
the register, since a release that was harmless alone may not be beside another one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, ReleaseError
from unspoken.release.register import Entry, Register
from unspoken.release.release import Release
from unspoken.table.atomic_files import sha256_of
from unspoken.table.table import Table

SEAL = "seal"
_AGAIN = "Take it back and draft it again."


def sealed(about: Mapping[str, Any], secret: bytes) -> dict[str, Any]:
    """Return what a draft says about itself, with a seal that only this studio can make."""
    plain = json.loads(json.dumps(about, default=str))
    return {**plain, SEAL: _seal(plain, secret)}


def _seal(about: Mapping[str, Any], secret: bytes) -> str:
    text = json.dumps({name: one for name, one in about.items() if name != SEAL}, sort_keys=True)
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def file_hashes(draft: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of files of a draft, by name."""
    return {name: sha256_of(draft / name) for name in names}


def register_head(register: Register, count: int | None = None) -> dict[str, Any]:
    """Return how many entries a register has, and what tells these from others."""
    entries = register.entries[:count]
    text = json.dumps([[one.kind, one.what, one.to, one.when] for one in entries])
    return {"entries": len(entries), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def check_about(about: Mapping[str, Any], secret: bytes) -> None:
    """Refuse a draft whose description was not written by this studio as it is."""
    brought = about.get(SEAL)
    if not isinstance(brought, str) or not hmac.compare_digest(brought.encode(),
                                                               _seal(about, secret).encode()):
        raise InputError(f"What this draft says about itself was changed after the audit. {_AGAIN}")


def check_files(draft: Path, hashes: Mapping[str, str], folder: str | None) -> None:
    """Refuse a draft with a changed file, or with a file more in the folder that would leave."""
    here = {str(one.relative_to(draft)) for one in (draft / folder).rglob("*")} if folder else set()
    if here - set(hashes):
        raise InputError(f"'{min(here - set(hashes))}' was put into this draft after the audit. "
                         f"{_AGAIN}")
    for name, digest in hashes.items():
        file = draft / name
        if file.is_symlink() or not file.is_file() or sha256_of(file) != digest:
            raise InputError(f"'{name}' of this draft was changed after the audit. {_AGAIN}")


def audited_release(place: Path, fingerprint: str) -> Release:
    """Load the release of a draft; one that is not the audited one is refused."""
    try:
        release = Release.load(place)
    except ReleaseError as error:
        raise InputError(f"The release of this draft cannot be read. {error} {_AGAIN}") from None
    if release.fingerprint != fingerprint:
        raise InputError(f"The release of this draft is not the one that was audited. {_AGAIN}")
    return release


def check_nothing_left_since(register: Register, head: Mapping[str, Any], table: Table,
                             fingerprint: str) -> None:
    """Refuse a draft that was audited before something else left of the same table."""
    count = head["entries"]
    if register_head(register, count) != head:
        raise InputError(f"The register is not the one that this draft was audited with. {_AGAIN}")
    since = [one for one in register.entries[count:] if one.what != fingerprint]
    known = register.before(table) if since else ()
    for one in since:
        if one in known:
            raise InputError(f"{_named(one)} has left since this was audited, and both together "
                             f"tell more. {_AGAIN}")


def _named(one: Entry) -> str:
    return f"A {one.kind} ({one.what[:40]}, to {one.to or 'nobody named'}, {one.when})"
