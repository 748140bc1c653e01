"""The guide for retailers: what it tells people to type really runs."""

from __future__ import annotations

import re
import shlex

import pytest

import unspoken
from support.basket_data import as_sets, by_hand
from support.joint_commands import ended, free_ports, joint_command, spawn
from support.paths import ROOT

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "guides" / "joint-retailers.md").read_text("utf-8")
SHOPS = ("corner", "market", "kiosk")


def commands(ports):
    """Return the guide's commands, with ports that are free here."""
    text = GUIDE
    for i, port in enumerate(ports):
        text = text.replace(f":{7701 + i}", f":{port}")
    return [shlex.split(line) for line in re.findall(r"^\$ unspoken joint (.*)$", text, re.M)]


def test_the_guide_runs_from_certificates_to_rules(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make, read = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
    exec(make, {})
    told = commands(free_ports(4))
    assert [words[0] for words in told] == ["identity"] * 4 + [
        "new", "plan", "local", "dealer", "join", "join", "join", "ledger"]
    for words in told[:7]:
        assert joint_command(*words) == 0
    runs = [spawn(*words, cwd=tmp_path) for words in told[7:11]]
    for run, (_, err) in zip(runs, ended(runs), strict=True):
        assert run.returncode == 0, err
    capsys.readouterr()
    assert joint_command(*told[11]) == 0
    assert "which rules are sure enough" in capsys.readouterr().out
    lists = [line.split(",") if line else [] for shop in SHOPS
             for line in (tmp_path / f"{shop}.csv").read_text().split("\n")[:-1]]
    count, rules = by_hand(lists, 0.1, 0.6)
    for name in ("tried", *SHOPS):
        sets, found = as_sets(unspoken.Associations.load(tmp_path / f"{name}.json"))
        assert {tuple(sorted(one)) for one in sets} == set(count)
        assert {(tuple(sorted(a)), tuple(sorted(b))) for a, b in found} == rules
    assert (("bread", "butter"), ("jam",)) in rules
    exec(read, {})
    assert "rules of confidence 0.6 or more" in capsys.readouterr().out
