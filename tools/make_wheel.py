"""Build the wheel so that everybody gets the same bytes, and write down what is in it.

    python tools/make_wheel.py dist

writes the wheel, `sbom.cdx.json` (CycloneDX 1.5: unspoken and everything it needs, as installed
here), `licences.md` (name, version, licence) and `SHA256SUMS` over all of them. Times in the wheel
are those of the last commit (SOURCE_DATE_EPOCH), the build tool is pinned, and the source is a copy
without anything that git does not know. No host, user or path of this machine is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD_TOOL = "setuptools==80.9.0"
NAME = re.compile(r"[A-Za-z0-9._-]+")
EXTRA = re.compile(r"extra\s*==")


def main(folder: Path) -> None:
    """Write everything to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = build_wheel(folder, commit_time())
    parts = needed("unspoken")
    (folder / "sbom.cdx.json").write_text(json.dumps(sbom(wheel, parts), indent=1) + "\n")
    (folder / "licences.md").write_text(licences(parts))
    files = [wheel, folder / "sbom.cdx.json", folder / "licences.md"]
    sums = "".join(f"{sha256(path)}  {path.name}\n" for path in files)
    (folder / "SHA256SUMS").write_text(sums)
    print(sums, end="")


def commit_time() -> str:
    """Return the time of the last commit, which every checkout of it shares."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return given or _git("log", "-1", "--format=%ct").strip()


def build_wheel(folder: Path, epoch: str) -> Path:
    """Build from a copy of what git knows; return the wheel."""
    with tempfile.TemporaryDirectory() as copy:
        for name in _git("ls-files", "-z").split("\0"):
            if name and (ROOT / name).is_file():
                target = Path(copy) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((ROOT / name).read_bytes())
                target.chmod(0o644)
        constraint = Path(copy) / "build-tool.txt"
        constraint.write_text(BUILD_TOOL + "\n")
        env = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": "0", "TZ": "UTC",
               "PIP_CONSTRAINT": str(constraint), "PIP_BUILD_CONSTRAINT": str(constraint)}
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                        "--disable-pip-version-check", "--wheel-dir", str(folder.resolve()), copy],
                       check=True, env=env)
    return max(folder.glob("unspoken-*.whl"), key=lambda path: path.stat().st_mtime)


def needed(name: str) -> list[Distribution]:
    """Return a distribution and all that it needs without extras, as they are installed here."""
    chosen: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        try:
            one = distribution(waiting.pop())
        except PackageNotFoundError:
            continue
        key = one.metadata["Name"].lower()
        if key not in chosen:
            chosen[key] = one
            waiting += [NAME.match(text)[0] for text in one.requires or ()  # type: ignore[index]
                        if not EXTRA.search(text)]
    return [chosen[key] for key in sorted(chosen)]


def licence(one: Distribution) -> str:
    """Return the licence that a distribution states: expression, classifier, or first line."""
    stated = one.metadata.get("License-Expression")
    classes = [text.rpartition(" :: ")[2] for text in one.metadata.get_all("Classifier") or ()
               if text.startswith("License ::")]
    words = (one.metadata.get("License") or "").strip().splitlines()
    return str(stated or ", ".join(classes) or (words[0][:80] if words else "not stated"))


def sbom(wheel: Path, parts: list[Distribution]) -> dict[str, Any]:
    """Return a CycloneDX bill of materials; its serial number follows from the wheel."""
    digest = sha256(wheel)
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
            "metadata": {"component": {**_component(own_of(parts), "application"),
                                       "hashes": [{"alg": "SHA-256", "content": digest}]}},
            "components": [_component(one, "library") for one in parts
                           if one is not own_of(parts)]}


def own_of(parts: list[Distribution]) -> Distribution:
    """Return the entry of unspoken itself."""
    return next(one for one in parts if one.metadata["Name"].lower() == "unspoken")


def _component(one: Distribution, kind: str) -> dict[str, Any]:
    name, version = one.metadata["Name"], one.version
    return {"type": kind, "name": name, "version": version,
            "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
            "licenses": [{"license": {"name": licence(one)}}]}


def licences(parts: list[Distribution]) -> str:
    """Return the list of licences as a table."""
    rows = [f"| {one.metadata['Name']} | {one.version} | {licence(one)} |" for one in parts]
    return "\n".join(["# Licences", "", "| package | version | licence |", "| --- | --- | --- |",
                      *rows]) + "\n"


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
