"""The house keeps its shape: who imports whom, and how light `import unspoken` is."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

import unspoken
from unspoken.joint.mpc.engines.modes import MODE_NAMES

SRC = Path(unspoken.__file__).parent
LEFT_OF: dict[str, set[str]] = {"errors": set(), "_version": set(), "arrays": set()}
LEFT_OF["numerics"] = {"errors", "arrays", "_version"}
LEFT_OF["table"] = LEFT_OF["numerics"] | {"numerics"}
LEFT_OF["models"] = LEFT_OF["table"] | {"table", "release"}
LEFT_OF["release"] = LEFT_OF["table"] | {"table", "models"}
LEFT_OF["disclosure"] = LEFT_OF["table"] | {"table", "models", "release"}
LEFT_OF["joint"] = LEFT_OF["disclosure"] | {"disclosure"}
LEFT_OF["methods"] = LEFT_OF["disclosure"] | {"disclosure"}
LEFT_OF["audit"] = LEFT_OF["methods"] | {"methods", "joint"}
LEFT_OF["protect"] = LEFT_OF["mine"] = LEFT_OF["audit"]
LEFT_OF["attack"] = LEFT_OF["risk"] = LEFT_OF["audit"] | {"audit"}
LEFT_OF["report"] = LEFT_OF["risk"] | {"protect", "mine", "attack", "risk"}
LEFT_OF["advice"] = LEFT_OF["report"]
LEFT_OF["studio"] = LEFT_OF["report"] | {"report", "advice"}
LEFT_OF["cli"] = LEFT_OF["studio"] | {"studio"}
LEFT_OF["checks"] = LEFT_OF["cli"]
FACADES = ("protect", "mine", "attack", "risk")
ONLY_IN = {
    "duckdb": ("table/engines",), "polars": ("table/engines",), "pyspark": ("table/engines",),
    "matplotlib": ("report",), "cryptography": ("release", "joint", "methods/queries"),
    "adbc_driver_postgresql": ("table/engines",), "sqlite3": ("table/engines", "joint/node"),
    "deltalake": ("table/formats",), "fsspec": ("table/formats",), "pickle": (), "joblib": (),
}


def modules():
    return sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def name_of(path: Path) -> str:
    parts = ("unspoken", *path.relative_to(SRC).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path): path for path in [SRC / "__init__.py", *modules()]}


def only_for_types(tree: ast.AST) -> set[int]:
    """Return the nodes under `if TYPE_CHECKING`, which are never run."""
    return {id(inner) for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            for inner in ast.walk(node)}


def names_in(path: Path, node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert node.level == 0, f"{path}: relative import"
    return [f"{node.module}.{alias.name}" for alias in node.names]


@cache
def parsed(path: Path) -> list[tuple[str, bool]]:
    """Return every imported name of a file, and whether only type checkers see it."""
    tree = ast.parse(path.read_text())
    skipped = only_for_types(tree)
    return [(name, id(node) in skipped) for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom) for name in names_in(path, node)]


def imports(path: Path, types: bool = True) -> list[str]:
    """Return every absolute name imported anywhere in a file, inside functions too."""
    return [name for name, hidden in parsed(path) if types or not hidden]


def package_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


@pytest.mark.slow
def test_every_package_imports_only_what_stands_left_of_it():
    wrong = []
    for path in modules():
        package = package_of(path)
        if package == "__main__":
            continue
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "unspoken" and len(parts) > 1:
                other = parts[1]
                if other != package and other not in LEFT_OF[package]:
                    wrong.append(f"{path.relative_to(SRC)} imports {name}")
    assert wrong == []


@pytest.mark.slow
def test_families_of_methods_never_import_each_other():
    wrong = []
    for path in (SRC / "methods").rglob("*.py"):
        parts = path.relative_to(SRC / "methods").parts
        if len(parts) < 2:
            continue
        wrong += [f"{path.relative_to(SRC)} imports {name}" for name in imports(path)
                  if name.startswith("unspoken.methods.") and name.split(".")[2] != parts[0]]
    assert wrong == []


def edges():
    """Return who runs whose code on import: modules, and the doors of their packages."""
    out = defaultdict(set)
    for name, path in NAMES.items():
        for found in imports(path, types=False):
            target = found if found in NAMES else found.rpartition(".")[0]
            if target.partition(".")[0] != "unspoken":
                continue
            parts = target.split(".")
            doors = (".".join(parts[:size]) for size in range(2, len(parts)))
            out[name].add(target)
            out[name].update(d for d in doors if d != name and not name.startswith(d + "."))
    return out


def cycles():
    """Return every group of modules that import each other (Tarjan)."""
    graph, index, low, stack, found = edges(), {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(sorted(group))

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        for name in list(NAMES):
            if name not in index:
                visit(name)
    finally:
        sys.setrecursionlimit(before)
    return found


@pytest.mark.slow
def test_nothing_imports_itself_over_others():
    assert cycles() == []


JOINT_LEFT_OF = {"joint_errors": set(), "wire": {"joint_errors"}, "mpc": {"joint_errors", "wire"}}
JOINT_LEFT_OF["result_control"] = {"joint_errors"}
JOINT_LEFT_OF["session"] = JOINT_LEFT_OF["mpc"] | {"mpc"}
JOINT_LEFT_OF["tasks"] = JOINT_LEFT_OF["session"] | {"session", "result_control"}
JOINT_LEFT_OF["museum"] = JOINT_LEFT_OF["node"] = JOINT_LEFT_OF["tasks"] | {"tasks"}


@pytest.mark.slow
def test_inside_joint_a_layer_imports_only_what_stands_left_of_it():
    """Imports for types count too: a layer must be readable without those above it."""
    wrong = []
    for path in (SRC / "joint").rglob("*.py"):
        layer = path.relative_to(SRC / "joint").parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        for name in imports(path):
            parts = name.split(".")
            if parts[:2] == ["unspoken", "joint"] and parts[2] != layer \
                    and parts[2] not in JOINT_LEFT_OF[layer]:
                wrong.append(f"{path.relative_to(SRC)} imports {name}")
    assert wrong == []


@pytest.mark.slow
def test_weak_protocols_of_the_book_are_imported_by_nobody_else():
    wrong = [f"{path.relative_to(SRC)} imports {name}" for path in modules()
             if not path.is_relative_to(SRC / "joint" / "museum")
             for name in imports(path) if name.startswith("unspoken.joint.museum")]
    # Visitors come in by one door: the verb that plays them on invented data.
    assert wrong == ["cli/joint_museum.py imports unspoken.joint.museum.exhibits.exhibits"]


MODE_WORDS = {"two-party", "three-party", "spu", "dealer", *MODE_NAMES} - {"sums"}
"""Names that mean nothing but a mode; "sums" is a result, too, and told by `.mode` beside it."""


def asks_for_a_mode(node: ast.AST, by_attribute: bool = True) -> bool:
    """Say whether code decides by the name of a mode, instead of asking the mode for a fact.

    `by_attribute`: anything compared with something's `.mode`, as well as the names themselves.
    """
    if isinstance(node, ast.Attribute):
        return node.attr in ("by_transfer", "is_dealt")
    if isinstance(node, ast.Dict):
        return any(isinstance(key, ast.Constant) and key.value in MODE_WORDS for key in node.keys)
    if isinstance(node, ast.MatchValue):
        return isinstance(node.value, ast.Constant) and node.value.value in MODE_WORDS
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    named = any(isinstance(inner, ast.Constant) and inner.value in MODE_WORDS
                for side in sides for inner in ast.walk(side))
    fixed = any(isinstance(side, ast.Constant) and side.value is not None for side in sides)
    return named or (by_attribute and fixed and any(
        isinstance(side, ast.Attribute) and side.attr == "mode" for side in sides))


@pytest.mark.slow
def test_nobody_but_the_engines_asks_which_mode_it_is():
    engines = SRC / "joint" / "mpc" / "engines"
    # Methods of release never see a study: their `mode` is how a column is drawn or a class is cut.
    wrong = [f"{path.relative_to(SRC)}:{node.lineno}" for path in modules()
             if not path.is_relative_to(engines)
             for node in ast.walk(ast.parse(path.read_text()))
             if asks_for_a_mode(node, not path.is_relative_to(SRC / "methods"))]
    assert wrong == []


@pytest.mark.parametrize("code", [
    'study.mode == "sums"', 'mode in ("spu", "sums")', '{"two-party": 1}.get(mode)',
    "party.roles.by_transfer", "party.is_dealt", '"dealer" != said'])
def test_asking_for_a_mode_is_noticed(code):
    assert any(asks_for_a_mode(node) for node in ast.walk(ast.parse(code)))


def test_facades_only_pass_names_on():
    for name in FACADES:
        body = ast.parse((SRC / f"{name}.py").read_text()).body
        assert not [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)], name


SAME_MEANING = {"guarantee", "audit", "method", "params", "pooled", "program_rows",
                "program_columns", "task"}
"""Doors that every family or every task has under the same name."""


def test_no_file_name_has_two_meanings():
    names = Counter(path.stem for path in modules() if path.stem != "__init__")
    assert sorted(name for name, count in names.items()
                  if count > 1 and name not in SAME_MEANING) == []


def test_no_file_has_more_than_one_subject():
    """A file of more than 300 lines holds two: part it by subject."""
    lengths = {str(path.relative_to(SRC)): len(path.read_text().splitlines())
               for path in modules()}
    assert {name: length for name, length in lengths.items() if length > 300} == {}


@pytest.mark.slow
def test_heavy_libraries_stay_where_they_belong():
    wrong = [
        f"{path.relative_to(SRC)} imports {name}"
        for path in modules()
        for name in imports(path)
        if name.split(".")[0] in ONLY_IN and not any(
            path.is_relative_to(SRC / folder) for folder in ONLY_IN[name.split(".")[0]])
    ]
    assert wrong == []


def test_no_package_is_empty():
    for folder in SRC.iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert [p for p in folder.rglob("*.py") if p.name != "__init__.py"], folder


PROBE = """
import json, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF)
import unspoken
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
print(json.dumps([cpu, sorted({name.split(".")[0] for name in sys.modules})]))
"""


def probe(code: str):
    env = {**os.environ, "PYTHONPATH": str(SRC.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          check=True, env=env)
    return json.loads(done.stdout)


def test_import_unspoken_is_light():
    runs = [probe(PROBE) for _ in range(3)]
    heavy = {"pandas", "sklearn", "duckdb", "matplotlib", "scipy", "polars", "xgboost", "lightgbm"}
    assert heavy.isdisjoint(runs[0][1])
    # Processor time, not wall time: what else the machine does must not decide.
    assert min(cpu for cpu, _ in runs) < 0.3


@pytest.mark.parametrize("name", unspoken.__all__)
def test_every_public_name_is_there(name):
    assert getattr(unspoken, name) is not None
    assert name in dir(unspoken)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        unspoken.nothing


def test_both_pages_on_the_house_say_the_same():
    """Layers, and who imports what, stand in two pages: one that goes stale misleads."""
    root = Path(__file__).parents[1]
    pages = [(root / name).read_text() for name in ("CONTRIBUTING.md", "docs/architecture.md")]
    layers = [next(line.strip() for line in page.splitlines() if "numerics <- table" in line)
              for page in pages]
    assert layers[0] == layers[1]
    assert all(f" {name} " in f"{layers[0]} " or f" {name}," in layers[0]
               for name in ("audit", "report", "advice", "studio", "cli"))
    for page in pages:
        words = " ".join(page.split())
        assert "Only `table/engines/` imports duckdb, pyspark and the drivers of databases" in words
        assert "nothing has to list it" in words
