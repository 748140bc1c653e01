"""What code a party runs: a digest of every file that takes part in a protocol, and versions.

A version is a label; two parties with one label may have different code. So parties compare this
digest before they start. It covers `unspoken.joint` and what it computes with, as it lies on the
disk; it shows accidents and honest mistakes, not a party that sends another's digest.
"""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import unspoken
from unspoken._version import __version__

PARTS = ("joint", "numerics", "arrays.py", "errors.py")
LIBRARIES = ("numpy", "cryptography", "rbcl")


@cache
def code_digest() -> str:
    """Return the SHA-256 over the names and contents of the protocols' source files."""
    root = Path(unspoken.__file__).parent
    files = [path for part in PARTS for path in
             ([root / part] if part.endswith(".py") else (root / part).rglob("*.py"))]
    state = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        state.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    return state.hexdigest()


def versions() -> dict[str, str]:
    """Return what a ledger says about the code that ran."""
    return {"unspoken": __version__, "protocol code": code_digest(),
            "python": platform.python_version(),
            **{name: _version(name) for name in LIBRARIES}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
