"""The house keeps its shape: who imports whom, and how light `import tacit` is."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

SRC = Path(tacit.__file__).parent
LEFT_OF = {
    "errors": set(),
    "_version": set(),
    "stats": {"errors"},
    "engines": {"errors", "stats"},
    "core": {"errors", "stats", "engines", "_version"},
    "protect": {"errors", "stats", "engines", "core", "_version"},
    "mine": {"errors", "stats", "engines", "core", "_version"},
}
LEFT_OF["joint"] = LEFT_OF["mine"]
LEFT_OF["attack"] = LEFT_OF["protect"] | {"protect", "mine", "joint"}
LEFT_OF["risk"] = LEFT_OF["attack"] | {"attack"}
LEFT_OF["report"] = LEFT_OF["risk"] | {"risk"}
LEFT_OF["cli"] = LEFT_OF["report"] | {"report"}
LEFT_OF["checks"] = LEFT_OF["cli"]
ONLY_IN = {
    "duckdb": {"engines"}, "polars": {"engines"}, "pyspark": {"engines"},
    "matplotlib": {"report"}, "cryptography": {"core", "joint"}, "pickle": set(), "joblib": set(),
}


def modules():
    return sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def imports(path: Path):
    """Yield every absolute module name imported anywhere in a file, type checking included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def test_every_room_imports_only_what_stands_left_of_it():
    wrong = []
    for path in modules():
        room = room_of(path)
        if room == "__main__":
            continue
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "tacit" and len(parts) > 1:
                other = parts[1]
                if other != room and other not in LEFT_OF[room]:
                    wrong.append(f"{path.relative_to(SRC)} imports {name}")
    assert wrong == []


def test_heavy_libraries_stay_in_their_rooms():
    wrong = [
        f"{path.relative_to(SRC)} imports {name}"
        for path in modules()
        for name in imports(path)
        if room_of(path) not in ONLY_IN.get(name.split(".")[0], {room_of(path)})
    ]
    assert wrong == []


def test_no_room_is_empty():
    for folder in SRC.iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert [p for p in folder.rglob("*.py") if p.name != "__init__.py"], folder


PROBE = """
import json, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF)
import tacit
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
print(json.dumps([cpu, sorted({name.split(".")[0] for name in sys.modules})]))
"""


def probe(code: str):
    env = {**os.environ, "PYTHONPATH": str(SRC.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=True, env=env)
    return json.loads(done.stdout)


def test_import_tacit_is_light():
    runs = [probe(PROBE) for _ in range(3)]
    heavy = {"pandas", "sklearn", "duckdb", "matplotlib", "scipy", "polars", "xgboost", "lightgbm"}
    assert heavy.isdisjoint(runs[0][1])
    # Processor time, not wall time: what else the machine does must not decide.
    assert min(cpu for cpu, _ in runs) < 0.3


@pytest.mark.parametrize("name", tacit.__all__)
def test_every_public_name_is_there(name):
    assert getattr(tacit, name) is not None
    assert name in dir(tacit)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tacit.nothing
