"""What every pattern shares: one JSON file, written at once and read as hostile input."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from unspoken.models.hostile_json import DEFAULT_LIMITS, Limits, Source, parse_json, read_bytes
from unspoken.models.packed_models import SUFFIX, is_packed, pack, unpack
from unspoken.table.atomic_files import named_path, write_file


class JsonFile(ABC):
    """Something with `to_json` and `from_json` that can be saved and loaded."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, at once or not at all.

        Parameters
        ----------
        path : path
            Where it goes. A name that ends in .unspoken makes a packed file, which is several times
            smaller than JSON and much quicker for large forests; anything else is JSON.
        """
        packed = named_path(path).suffix.lower() == SUFFIX
        write_file(named_path(path), self.packed() if packed
                   else json.dumps(self.to_json(), allow_nan=False).encode())

    def packed(self) -> bytes:
        """Return the content of a packed file, which `load` reads back bit for bit."""
        return pack(self._with_arrays())

    def _with_arrays(self) -> dict[str, Any]:
        """Return the document for a packed file: long lists of numbers as arrays, if there are."""
        return self.to_json()

    @classmethod
    def load(cls, source: Source, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read a file that `save` wrote, as hostile input.

        Parameters
        ----------
        source : path, str or bytes
            The file, or its text.
        limits : Limits
            How large it may be.

        Returns
        -------
        object of this class
            Anything malformed is a ModelError that names the field.
        """
        return cls.from_json(document_of(read_bytes(source, limits), limits), limits)


def document_of(content: bytes, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """Return the document that a file holds, as JSON or packed."""
    return unpack(content, limits) if is_packed(content) else parse_json(content, limits)
