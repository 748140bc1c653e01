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
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import ReleaseError

SECRET = "release_seal"  # noqa: S105
"""Under this name the secret lies in the key."""

_AGAIN = "Ask for the release that was sent, or load it from where it was saved."


def make_seal(
    secret: bytes, about: Mapping[str, Any], sha256: str, columns: Mapping[str, str]
) -> dict[str, Any]:
    """Return the seal of a release whose file and columns have these digests."""
    return {"file": _mac(secret, "file", about, sha256), "about": _mac(secret, "about", about),
            "columns": dict(columns)}


def column_digests(
    secret: bytes, release_id: str, names: Sequence[str], batches: Iterable[Any]
) -> dict[str, str]:
    """Return the keyed digest of each column, the same however the rows are cut into batches."""
    streams = [ContentDigest(secret) for _ in names]
    for batch in batches:
        for name, stream in zip(names, streams, strict=True):
            stream.add(batch.column(name))
    return {name: _mac(secret, "column", release_id, name, stream.hexdigest())
            for name, stream in zip(names, streams, strict=True)}


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
    _check_columns(secret, release, seal["columns"])
    if not _same(seal["about"], _mac(secret, "about", release.about)):
        raise ReleaseError("The description of the release is not the one that was written with "
                           "it: its manifest was changed. " + _AGAIN)


def _check_columns(secret: bytes, release: Any, sealed: Mapping[str, Any]) -> None:
    names = release.schema.names
    digests = column_digests(secret, release.release_id, names, release.table.batches(names))
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


class ContentDigest:
    """A keyed digest of one column's values in row order, whatever the width of its type."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._known, self._sizes, self._values = (
            hashlib.blake2b(key=secret, person=part) for part in (b"known", b"sizes", b"values"))
        self._inner: ContentDigest | None = None

    def add(self, column: Any) -> None:
        """Add the next values."""
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            self._add(chunk)

    def _add(self, array: Any) -> None:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        known = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.uint8)
        self._known.update(known.tobytes())
        if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            self._add_lists(array)
        elif pa.types.is_boolean(array.type):
            self._add_numbers(array.cast(pa.uint8()), pa.int64())
        elif pa.types.is_integer(array.type):
            self._add_numbers(array, pa.int64())
        elif pa.types.is_floating(array.type):
            self._add_numbers(array, pa.float64())
        else:
            self._add_texts(array)

    def _add_numbers(self, array: Any, kind: Any) -> None:
        plain = array.cast(kind, safe=False).fill_null(0)
        self._values.update(plain.to_numpy(zero_copy_only=False).tobytes())

    def _add_texts(self, array: Any) -> None:
        texts = array.cast(pa.large_string()).fill_null("")
        _, edges, values = texts.buffers()
        ends = np.frombuffer(edges, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        self._sizes.update(np.diff(ends).tobytes())
        if values is not None and len(texts):
            self._values.update(memoryview(values)[int(ends[0]) : int(ends[-1])])

    def _add_lists(self, array: Any) -> None:
        sizes = pc.list_value_length(array).fill_null(0).cast(pa.int64())
        self._sizes.update(sizes.to_numpy(zero_copy_only=False).tobytes())
        if self._inner is None:
            self._inner = ContentDigest(self._secret)
        self._inner.add(array.flatten())

    def hexdigest(self) -> str:
        """Return the digest of everything that was added."""
        parts = [stream.hexdigest() for stream in (self._known, self._sizes, self._values)]
        return "-".join([*parts, *([self._inner.hexdigest()] if self._inner else [])])
