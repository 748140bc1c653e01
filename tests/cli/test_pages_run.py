"""What pages tell people to type runs as it stands, or says why it is not run."""

from __future__ import annotations

import contextlib
import csv
import io
import random

import pytest

from support.doc_blocks import blocks
from support.paths import ROOT
from unspoken.cli.main import parser

GUIDES = [ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "tutorial.md",
          ROOT / "docs" / "reproduce.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
RUN = ("tutorial", "guides/custodian", "guides/miner", "guides/officer", "guides/first-hour")
ELSEWHERE = {"README.md": "tests/cli/test_readme.py", "joint.md": "tests/cli/test_readme.py",
             "joint-retailers.md": "tests/cli/test_retailers_guide.py",
             "studio.md": "it opens a page in a browser", "operate-a-node.md": "it needs servers",
             "link-records.md": "it has tests of its own",
             "own-programs.md": "tests/joint/session/test_own_programs_guide.py",
             "databases-and-folders.md":
             "it needs databases"}
"""Pages that other tests run, or that need more than a folder: their commands are read only."""
RESULTS = 'forms = ["predictions", "rules"]\nmax_depth = 4\n'


def people(path, rows, seed, gaps=True):
    """Write made-up patients: names, numbers (with gaps), text and an outcome."""
    rng = random.Random(seed)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["name", "age", "income", "town", "outcome"])
        for number in range(rows):
            age, income = rng.randint(20, 90), rng.choice(["" if gaps else 30, rng.randint(9, 180)])
            ill = age > 55 and rng.random() < 0.8
            out.writerow([f"patient {seed}-{number}", age, income,
                          rng.choice(["Ulm", "Bonn", "Kiel"]), "ill" if ill else "well"])


@pytest.fixture
def world(tmp_path, command_here):
    people(tmp_path / "patients.csv", 160, 1)
    people(tmp_path / "others.csv", 160, 2)
    (tmp_path / "results.toml").write_text(RESULTS)
    return tmp_path


def needs_a_release(page):
    return page in ("guides/miner", "guides/officer")


def execute(block, world, command_here):
    """Run a block: hidden commands first, then what it says."""
    if "before" in block.notes:
        typed(block.notes["before"].split(), 0, world, command_here, block)
    if "file" in block.notes:
        (world / block.notes["file"]).write_text(block.text)
    elif block.kind == "python":
        with contextlib.chdir(world), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block.text, f"line {block.line}", "exec"), {"__name__": "page"})
    for words in block.commands:
        typed(words, int(block.notes.get("status", "0")), world, command_here, block)


def typed(words, status, world, command_here, block):
    assert words[0] == "unspoken", words
    done = command_here(*words[1:], cwd=world)
    assert done.status == status, (block.line, words, done.status, done.err)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_page_runs_from_top_to_bottom(page, world, command_here):
    if page == "guides/miner":
        # AdaBoost, which the page shows, takes no missing values.
        people(world / "patients.csv", 160, 1, gaps=False)
    if needs_a_release(page):
        for words in (["protect", "patients.csv", "--target", "outcome", "--out", "release",
                       "--key", "patients.key", "--register", "register.jsonl", "--to", "Acme"],):
            assert command_here(*words, cwd=world).status == 0
    for block in blocks((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        if "not run" not in block.notes:
            execute(block, world, command_here)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_every_command_that_is_shown_can_be_typed(page):
    """Options and arguments of every command are read by the real parser."""
    top = parser()
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            compile(block.text, f"{page.name}, line {block.line}", "exec")
        for words in block.commands:
            usage = any(word == "..." or word.startswith("[") for word in words)
            if words[0] == "unspoken" and not usage:
                err = io.StringIO()
                with contextlib.redirect_stderr(err):
                    try:
                        top.parse_args(words[1:])
                    except SystemExit:
                        pytest.fail(f"line {block.line}: {' '.join(words)}: {err.getvalue()}")


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in GUIDES if page.name not in ELSEWHERE],
                         ids=lambda page: page.stem)
def test_what_is_not_run_says_why(page):
    name = str(page.relative_to(ROOT / "docs").with_suffix(""))
    if name in RUN:
        return
    silent = [block.line for block in blocks(page.read_text(encoding="utf-8"))
              if (block.commands or block.kind == "python") and "not run" not in block.notes]
    assert silent == [], f"{name}: add it to RUN, or say `<!-- not run: REASON -->` above line"


def test_notes_and_commands_are_read():
    page = ("<!-- before: unspoken inspect x -->\n<!-- status: 1 -->\n```console\n$ unspoken a \\\n"
            "    --b 'c d'\noutput\n```\n\n<!-- not run: why -->\n\n    unspoken e  # f\n\ntext\n")
    first, second = blocks(page)
    assert first.commands == [["unspoken", "a", "--b", "c d"]]
    assert first.notes == {"before": "unspoken inspect x", "status": "1"}
    assert second.commands == [["unspoken", "e"]]
    assert second.notes == {"not run": "why"}
