"""The documentation site is built without a warning, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.slow
sphinx = pytest.importorskip("sphinx", reason="the site needs: pip install 'unspoken[docs]'")


class Links(HTMLParser):
    """Collect links and the names that links may lead to."""

    def __init__(self):
        super().__init__()
        self.links, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html",
                           # tests/test_notebooks.py runs them.
                           "-D", "nb_execution_mode=off", "-d", str(folder / "trees"),
                           str(ROOT / "docs"), str(folder / "html")],
                          capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "html"


def read(path: Path) -> Links:
    links = Links()
    links.feed(path.read_text(encoding="utf-8"))
    return links


def test_every_page_is_there_and_every_link_resolves(site):
    sources = [path.relative_to(ROOT / "docs").with_suffix(".html")
               for path in (ROOT / "docs").rglob("*.md")]
    missing = [str(path) for path in sources if not (site / path).is_file()]
    assert missing == []
    pages = {path: read(path) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target, _, name = unquote(link).partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            there = (path.parent / target).resolve() if target else path
            if not there.exists() or (name and there in pages and name not in pages[there].names):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_the_start_page_leads_to_all_four_guides_and_every_method_is_in_the_threat_model(site):
    from unspoken.release.method import methods

    home = (site / "index.html").read_text(encoding="utf-8")
    for guide in ("custodian", "miner", "officer", "joint"):
        assert f"guides/{guide}.html" in home
    threats = (site / "made" / "threats.html").read_text(encoding="utf-8")
    assert [name for name in methods() if f">{name}</span>" not in threats] == []


def test_nothing_is_fetched_from_elsewhere(site):
    """Fonts, scripts and styles come with the pages."""
    for path in site.rglob("*.html"):
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', path.read_text())
