"""The manifest of a release directory: a JSON file that somebody else may have written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from unspoken.errors import ReleaseError

FORMAT = "unspoken-release"
VERSION = 1
DATA = "data.parquet"
MANIFEST = "manifest.json"
_MAX_MANIFEST = 1 << 24


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the manifest of a release directory as hostile input."""
    file = path / MANIFEST
    try:
        if file.stat().st_size > _MAX_MANIFEST:
            raise ReleaseError(f"'{file}' must be below {_MAX_MANIFEST} bytes.")
        manifest = json.loads(file.read_bytes(), parse_constant=_finite, parse_float=_finite)
    except OSError:
        raise ReleaseError(
            f"'{path}' must be a release directory with {DATA} and {MANIFEST}. "
            "Check the path."
        ) from None
    except (ValueError, RecursionError):
        raise ReleaseError(f"'{file}' must be JSON. It cannot be read.") from None
    _check_manifest(manifest, file)
    return dict(manifest)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value


def _check_manifest(manifest: Any, file: Path) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ReleaseError(f"'{file}' must describe an unspoken release. It does not.")
    version = manifest.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ReleaseError(
            f"'{file}' must be of version {VERSION} or older. Got {version!r}. "
            "Install a newer unspoken."
        )
    fields = {"id": str, "fingerprint": str, "mechanism": dict, "schema": list,
              "guarantee": dict, "data": dict}
    for name, kind in fields.items():
        if not isinstance(manifest.get(name), kind):
            raise ReleaseError(f"'{file}': field '{name}' must be a {kind.__name__}.")
    if not (file.parent / DATA).is_file():
        raise ReleaseError(f"'{file.parent}' must hold {DATA}. It does not.")
