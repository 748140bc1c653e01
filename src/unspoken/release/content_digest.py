"""A digest of one column's values in row order, whatever the width of its type.

Most columns are small whole numbers without gaps, so these cost least: four bytes a value, hashed
where they lie. What does not fit into four bytes, and what is missing, is added with the number of
its row. HMAC with SHA-256 is used because processors have instructions for it.
"""

from __future__ import annotations

import hmac
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.table.arrow_arrays import numpy_of

_PARTS = ("missing", "sizes", "values", "wide")


class ContentDigest:
    """A keyed digest of values that come one piece after the other, however they are cut."""

    def __init__(self, secret: bytes) -> None:
        self._secret, self._rows = secret, 0
        self._streams = {part: hmac.new(secret, part.encode(), "sha256") for part in _PARTS}
        self._inner: ContentDigest | None = None

    def add(self, column: Any) -> None:
        """Add the next values."""
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            self._add(chunk)
            self._rows += len(chunk)

    def _add(self, array: Any) -> None:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.null_count:
            self._update("missing", self._where(array.is_null()))
        if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            self._add_lists(array)
        elif pa.types.is_boolean(array.type):
            self._add_whole(array.cast(pa.uint8()))
        elif pa.types.is_integer(array.type):
            self._add_whole(array)
        elif pa.types.is_floating(array.type):
            self._update("values", _filled(array.cast(pa.float64())))
        else:
            self._add_texts(array)

    def _where(self, mask: Any) -> Any:
        """Return the numbers of the rows that a mask holds."""
        return np.flatnonzero(mask.to_numpy(zero_copy_only=False)) + self._rows

    def _update(self, part: str, values: Any) -> None:
        self._streams[part].update(np.ascontiguousarray(values).data)

    def _add_whole(self, array: Any) -> None:
        narrow = array.cast(pa.int32(), safe=False)
        self._update("values", _filled(narrow))
        if array.type.bit_width > 32 or array.type == pa.uint32():
            wide = array.cast(pa.int64(), safe=False)
            beyond = pc.not_equal(wide, narrow.cast(pa.int64()))
            if pc.any(beyond).as_py():
                places = self._where(beyond.fill_null(False))
                self._update("wide", np.stack([places, _filled(wide)[places - self._rows]], axis=1))

    def _add_texts(self, array: Any) -> None:
        texts = array.cast(pa.large_string()).fill_null("")
        _, edges, values = texts.buffers()
        ends = np.frombuffer(edges, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        self._update("sizes", np.diff(ends))
        if values is not None and len(texts):
            self._streams["values"].update(memoryview(values)[int(ends[0]) : int(ends[-1])])

    def _add_lists(self, array: Any) -> None:
        sizes = pc.list_value_length(array).fill_null(0).cast(pa.int64())
        self._update("sizes", sizes.to_numpy(zero_copy_only=False))
        if self._inner is None:
            self._inner = ContentDigest(self._secret)
        self._inner.add(array.flatten())

    def hexdigest(self) -> str:
        """Return the digest of everything that was added."""
        parts = [stream.hexdigest() for stream in self._streams.values()]
        inner = [] if self._inner is None else [self._inner.hexdigest()]
        return "-".join([str(self._rows), *parts, *inner])


def _filled(array: Any) -> Any:
    """Return numbers as an array, missing ones as zero."""
    return numpy_of(array.fill_null(0) if array.null_count else array)
