"""Every story runs by one command and ends in a page that says what it should."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]
STORIES = {
    "hospital_outsources_a_tree": ("yes, bit for bit", "same knowledge without it"),
    "survey_with_randomised_response": ("in truth", "unpaid in {yes}"),
    "statistical_office_publishes": ("nobody stands alone", "mondrian"),
    "three_banks_mine_jointly": ("Together they find", "country"),
    "data_room_with_queries": ("the room closed by itself", "select mean(spend)"),
}


def test_every_story_is_here():
    written = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"story"}
    assert written == set(STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_the_story_runs(name, tmp_path):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(ROOT / "examples" / f"{name}.py"), "--quick",
                           "--out", "page.html"], cwd=tmp_path, capture_output=True, text=True,
                          check=False, env=env, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for words in STORIES[name]:
        assert words in page
    assert "<svg" in page
    assert "nan" not in page.lower().split()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
