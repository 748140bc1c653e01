"""The seal of a release: keyed digests that only the key's holder can make or check.

A hash beside the data shows accidental damage; a person who changes the data can change the hash.
The seal is computed with a secret that lies in the key and nowhere else: one digest of the
description with the file's hash, one of the description alone, and one for each column's content
in row order. The first is enough for an untouched copy; the others say what was changed, and accept
the same content in a file that was written anew.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import pyarrow as pa

from unspoken.errors import ReleaseError
from unspoken.release.content_digest import ContentDigest

SECRET = "release_seal"  # noqa: S105
"""Under this name the secret lies in the key."""

FORM = 2
"""How columns are digested; until 0.1 it was another way, and seals had no such number."""

_AGAIN = "Ask for the release that was sent, or load it from where it was saved."


def make_seal(
    secret: bytes, about: Mapping[str, Any], sha256: str, columns: Mapping[str, str]
) -> dict[str, Any]:
    """Return the seal of a release whose file and columns have these digests."""
    return {"file": _mac(secret, "file", about, sha256), "about": _mac(secret, "about", about),
            "columns": dict(columns), "form": FORM}


def column_digests(
    secret: bytes, release_id: str, names: Sequence[str], batches: Iterable[Any]
) -> dict[str, str]:
    """Return the keyed digest of each column, the same however the rows are cut into batches."""
    with ColumnSeals(secret, names) as seals:
        for batch in batches:
            seals.add(batch)
        return seals.digests(release_id)


class ColumnSeals:
    """The digests of all columns of batches that come one after the other, on two threads."""

    def __init__(self, secret: bytes, names: Sequence[str]) -> None:
        self._secret = secret
        self._streams = {name: ContentDigest(secret) for name in names}
        self._pool = ThreadPoolExecutor(2)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def add(self, batch: Any) -> None:
        """Add the next rows; hashing lets other threads run."""
        added = [self._pool.submit(stream.add, batch.column(name))
                 for name, stream in self._streams.items()]
        for one in added:
            one.result()

    def digests(self, release_id: str) -> dict[str, str]:
        """Return the digest of every column."""
        return {name: _mac(self._secret, "column", release_id, name, stream.hexdigest())
                for name, stream in self._streams.items()}


def stays_as_written(schema: Any) -> bool:
    """Return True if a file gives back columns of these types exactly as they went in."""
    return all(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind)
               or pa.types.is_large_string(kind) or kind in (pa.float32(), pa.float64())
               for kind in schema.types)


def check_release(secret: bytes, release: Any) -> None:
    """Raise ReleaseError if this is not, part by part, the release that was made with the key."""
    if release.data_sha256 is None:
        if release.seal_key != secret:
            raise ReleaseError("The release must be the one that was made with this key. "
                               "Got another one that was never saved.")
        return
    seal = release.seal
    if not _is_seal(seal):
        raise ReleaseError("The release must carry the seal that was written with it. Got none. "
                           + _AGAIN)
    if _same(seal["file"], _mac(secret, "file", release.about, release.data_sha256)):
        return
    if seal.get("form") != FORM:
        raise ReleaseError("The file of a release that another version of unspoken sealed must be "
                           "the one that was written then. This one is not. " + _AGAIN)
    _check_columns(secret, release, seal["columns"])
    if not _same(seal["about"], _mac(secret, "about", release.about)):
        raise ReleaseError("The description of the release is not the one that was written with "
                           "it: its manifest was changed. " + _AGAIN)


def _check_columns(secret: bytes, release: Any, sealed: Mapping[str, Any]) -> None:
    names = release.schema.names
    try:
        digests = column_digests(secret, release.release_id, names, release.table.batches(names))
    except pa.ArrowException:
        raise ReleaseError("A column of the release is of a type that was never released: its "
                           f"data was changed. {_AGAIN}") from None
    for name in names:
        if not _same(str(sealed.get(name, "")), digests[name]):
            part = ("The labels" if name == release.schema.target else "The values")
            raise ReleaseError(f"{part} of the release (column '{name}') are not those that were "
                               f"released: its data was changed. {_AGAIN}")


def _is_seal(seal: Any) -> bool:
    return (isinstance(seal, Mapping) and isinstance(seal.get("file"), str)
            and isinstance(seal.get("about"), str) and isinstance(seal.get("columns"), Mapping))


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _mac(secret: bytes, *parts: Any) -> str:
    # Through JSON twice: what is compared was read from a file once.
    plain = json.loads(json.dumps(parts, allow_nan=False))
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), key=secret, digest_size=32).hexdigest()
