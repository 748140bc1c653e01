"""What every pattern shares: one JSON file, written at once and read as hostile input."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from unspoken.models.hostile_json import DEFAULT_LIMITS, Limits, Source, parse_json, read_bytes
from unspoken.table.atomic_files import write_file


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
        """Write a JSON file, at once or not at all.

        Parameters
        ----------
        path : path
            Where it goes.
        """
        write_file(Path(path), json.dumps(self.to_json(), allow_nan=False).encode())

    @classmethod
    def load(cls, source: Source, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read a JSON file as hostile input.

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
        return cls.from_json(parse_json(read_bytes(source, limits), limits), limits)
