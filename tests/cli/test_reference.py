"""Every verb and option is documented, and the command starts without heavy libraries."""

import subprocess
import sys

import pytest

from support.paths import ROOT
from unspoken.cli.reference import main, options, reference, verbs

PAGE = ROOT / "docs" / "reference" / "cli.md"


def test_the_page_is_the_one_that_make_docs_writes(tmp_path):
    main(str(tmp_path / "sub" / "cli.md"))
    assert (tmp_path / "sub" / "cli.md").read_text() == reference()
    assert PAGE.read_text() == reference(), "run `make docs`"


@pytest.mark.slow
@pytest.mark.parametrize("name", verbs())
def test_every_verb_and_option_is_there_and_explained(name):
    text = PAGE.read_text()
    section = text.split(f"## unspoken {name}\n")[1].split("\n## ")[0]
    assert verbs()[name].description in section
    for action in options(verbs()[name]):
        assert action.help or not action.option_strings, f"{name}: {action.dest} has no help"
        for word in action.option_strings:
            assert word in section


def test_every_verb_has_json():
    assert all("--json" in verb._option_string_actions for verb in verbs().values())


@pytest.mark.slow
def test_help_loads_nothing_heavy():
    heavy = ("numpy", "pandas", "sklearn", "duckdb", "pyarrow", "matplotlib", "cryptography")
    code = ("import sys; from unspoken.cli.main import parser; parser().format_help(); "
            f"print([name for name in {heavy} if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_help_and_version():
    for words in (["--help"], ["--version"], ["protect", "--help"]):
        done = subprocess.run([sys.executable, "-m", "unspoken", *words], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0
        assert done.stdout
