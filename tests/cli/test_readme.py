"""What the README and the guides tell people to type really runs."""

import os
import re
import shlex
import subprocess
import sys

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.slow

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _python(text):
    return re.findall(r"```python\n(.*?)```", text, re.S)


def _run(code, folder):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                          check=False, env=env, timeout=120)


def test_the_python_example_runs(tmp_path):
    (code,) = _python(README)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    done = _run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "classification tree" in done.stdout
    share = float(done.stdout.split("right:")[1])
    assert share > 0.95
    assert {path.name for path in tmp_path.iterdir()} == {"release", "table.key"}


@pytest.mark.slow
def test_the_walk_runs(walk, tmp_path, command_in):
    (tmp_path / "patients.csv").write_bytes((walk / "table.csv").read_bytes())
    commands = re.findall(r"^\$ unspoken (.*)$", README, re.M)
    assert [shlex.split(line)[0] for line in commands] == [
        "start", "inspect", "protect", "audit", "mine", "decode", "verify"]
    for line in commands:
        done = command_in(*shlex.split(line), cwd=tmp_path)
        # The README says it: a small table under codes is not fit to be released to just anybody.
        assert done.status == (1 if line.startswith(("start", "audit")) else 0), (line, done.err)


@pytest.mark.slow
def test_the_miners_script_runs(copied):
    text = (ROOT / "docs" / "guides" / "miner.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"```python\n(.*?)```", text, re.S)
    done = _run("\n".join(line.removeprefix("   ") for line in code.splitlines()), copied)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("yes")
    assert (copied / "forest.json").exists()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *(
    str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs" / "guides").glob("*.md")))])
def test_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link


@pytest.mark.parametrize("page", ["README.md", "docs/guides/custodian.md", "docs/guides/miner.md",
                                  "docs/guides/officer.md", "docs/guides/joint.md"])
def test_every_option_that_is_named_exists(page):
    from unspoken.cli.reference import verbs

    known = {word for verb in verbs().values() for word in verb._option_string_actions}
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | {"--strict"}


def test_the_policy_of_the_officers_guide_is_one(tmp_path):
    from unspoken.risk import Policy

    text = (ROOT / "docs" / "guides" / "officer.md").read_text(encoding="utf-8")
    policies = re.findall(r"```toml\n(.*?)```", text, re.S)
    assert len(policies) == 2
    for toml in policies:
        (tmp_path / "policy.toml").write_text(
            "\n".join(line.removeprefix("   ") for line in toml.splitlines()))
        assert Policy.load(tmp_path / "policy.toml").radius == 0.02


def test_the_three_hospitals_run(tmp_path, command_here):
    """Every command of the guide, on tables in which smokers with high pressure are ill."""
    import json

    import numpy as np

    rng = np.random.default_rng(3)
    for name in ("north", "south", "east"):
        age, smoker, pressure = rng.integers(20, 90, 60), rng.integers(0, 2, 60), rng.integers(
            90, 180, 60)
        ill = (smoker == 1) & (pressure > 140)
        rows = [f"{a},{'yes' if s else 'no'},{p},{'yes' if i else 'no'}"
                for a, s, p, i in zip(age, smoker, pressure, ill, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,smoker,pressure,ill", *rows]) + "\n")
    text = (ROOT / "docs" / "guides" / "joint.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ unspoken (.*)$", text, re.M)
    assert [shlex.split(line)[1] for line in commands] == [
        "identity"] * 4 + ["new", "plan", "local", "ledger", "audit"]
    for line in commands:
        done = command_here(*shlex.split(line), cwd=tmp_path)
        assert done.status == 0, (line, done.err)
    assert "smoker" in json.dumps(json.loads((tmp_path / "tree.json").read_text()))


BESIDE = [("measure K, L and t", "pycanon", "K, L and t of 32,561 x 5", "pycanon"),
          ("less than, dealer", "SPU ABY3", "a million comparisons:", "(SPU ABY3"),
          ("less than, two-party", "SPU CHEETAH", "with a dealer (SPU ABY3", "(SPU CHEETAH")]
"""Row and peer in docs/bench.md; the words of the README before our seconds and the peer's."""


@pytest.mark.parametrize(("row", "peer", "ours", "theirs"), BESIDE)
def test_seconds_beside_other_tools_are_those_that_were_measured(row, peer, ours, theirs):
    bench = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    cells = next(cells for line in bench.splitlines() if line.startswith(f"| {row} ")
                 and (cells := line.split(" | "))[3] == peer)
    said = README.split("## Beside other tools")[1].split(ours)[1]
    told = [float(re.search(r"([\d.]+) s\b", part)[1])
            for part in (said[said.index("), ") if "ABY3" in ours else 0:], said.split(theirs)[1])]
    for seconds, measured in zip(told, (cells[2], cells[4]), strict=True):
        # One machine is not another, and not the same twice: twice as much would be a false claim.
        assert 0.5 < seconds / float(measured) < 2
