"""The wheel is the same bytes for everybody, and its bill of materials names all parts."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


def load_tool():
    spec = importlib.util.spec_from_file_location("make_wheel", ROOT / "tools" / "make_wheel.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_bill_of_materials_names_every_part_and_no_place(tmp_path):
    tool = load_tool()
    wheel = tmp_path / "unspoken-0.whl"
    wheel.write_bytes(b"x")
    parts = tool.needed("unspoken")
    bill = tool.sbom(wheel, parts)
    names = {part["name"].lower() for part in bill["components"]}
    assert {"numpy", "cryptography", "duckdb", "pyarrow", "scikit-learn"} <= names
    assert "unspoken" not in names
    assert not {"pytest", "mypy", "ruff", "xgboost-cpu"} & names
    assert all(part["version"] and part["licenses"] for part in bill["components"])
    text = json.dumps(bill) + tool.licences(parts)
    assert str(ROOT) not in text
    assert "://" not in text
    assert "| numpy |" in tool.licences(parts)


def test_two_builds_are_the_same_bytes(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    tool = load_tool()
    probe = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                            "--dest", str(tmp_path / "probe"), tool.BUILD_TOOL],
                           capture_output=True)
    if probe.returncode:
        pytest.skip("the build tool cannot be had here")
    one, other = (tool.build_wheel(tmp_path / name, "1700000000") for name in ("one", "other"))
    assert tool.sha256(one) == tool.sha256(other)
    with zipfile.ZipFile(one) as wheel:
        assert {entry.date_time[0] for entry in wheel.infolist()} == {2023}
        assert "unspoken/py.typed" in wheel.namelist()
        for name in ("studio.css", "studio.js", "survey.js"):
            assert f"unspoken/studio/assets/{name}" in wheel.namelist()
        assert not any(name.startswith("tests") for name in wheel.namelist())
