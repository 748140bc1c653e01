"""The guide to programs of one's own runs as it stands, and its broken twin is caught."""

from __future__ import annotations

import re

import pytest

from support.paths import ROOT
from unspoken.checks import joint_views
from unspoken.joint import declares, reveal, share


@pytest.mark.slow
def test_the_guide_runs_and_catches_the_careless_program():
    text = (ROOT / "docs" / "guides" / "own-programs.md").read_text("utf-8")
    names = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), names)
    assert [output.astype(int).tolist() for output in names["outputs"]] == [
        [1, 0, 1, 0, 1, 0, 0, 1]] * 2
    assert "reveal" in names["caught"][0]


def test_a_value_that_is_disclosed_under_another_name_is_seen():
    """The declared reason is given, and the result is the same: only the views differ."""
    def program(honest):
        @declares("result")
        async def run(party, data):
            value = await share(party, data if party.name == "p0" else None, "p0", (64,), 0, 1000)
            if not honest:
                await reveal(party, value, because="result")
            return await reveal(party, value - value, because="result")

        return run

    one, other = [[3] * 64, None], [list(range(64)), None]
    assert joint_views(program(True), one, other, runs=2) == []
    assert joint_views(program(False), one, other, runs=2)
