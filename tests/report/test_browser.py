"""Pages in a real browser: they render, stay inside their width, fetch nothing, and print."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from support.report_cases import HOSTILE, Reader, audited
from unspoken.report import Page, audit_page, plots

pytestmark = pytest.mark.slow

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1")
BODY = 62 * 16
"""Widest body of a page, in pixels."""


@pytest.fixture(scope="session")
def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on PATH: pages were not looked at in a browser")
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found, release, table, key = audited(folder=folder / "release")
    audit_page(found, release=release, table=table, key=key).save(
        folder / "audit.html")
    wide = Page(HOSTILE, HOSTILE).box([HOSTILE]).text("x" * 400).code("y" * 400)
    wide.table([HOSTILE] * 9, [["z" * 300, *[HOSTILE] * 8]], HOSTILE).bullets(["w" * 300])
    wide.figure(plots.recovered_venn([HOSTILE] * 3, {}), HOSTILE)
    wide.save(folder / "wide.html")
    return {path.stem: path for path in folder.glob("*.html")}


def run(browser: str, tmp_path: Path, page: Path, *more: str) -> str:
    command = [browser, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *more, page.as_uri()]
    done = subprocess.run(command, check=True, capture_output=True, timeout=120)
    return done.stdout.decode("utf-8", "replace")


def shot(browser: str, tmp_path: Path, page: Path, width: int, *more: str) -> np.ndarray:
    from matplotlib.image import imread

    file = tmp_path / "shot.png"
    run(browser, tmp_path, page, f"--window-size={width},1600", f"--screenshot={file}", *more)
    return (imread(file)[:, :, :3] * 255).round().astype(np.uint8)


def plain_strip(picture: np.ndarray, left: int, right: int) -> bool:
    """Say whether nothing was drawn in a strip of the picture."""
    strip = picture[:, left:right].reshape(-1, 3)
    return bool((strip == strip[0]).all())


@pytest.mark.parametrize("name", ["audit", "wide"])
def test_pages_are_drawn_and_stay_inside(browser, pages, tmp_path, name: str) -> None:
    picture = shot(browser, tmp_path, pages[name], 1300)
    assert picture.shape[:2] == (1600, 1300)
    dark = (picture.astype(int).sum(axis=2) < 300).mean()
    assert 0.005 < dark < 0.4
    margin = (1300 - BODY) // 2
    assert plain_strip(picture, 1300 - margin + 2, 1300)
    assert plain_strip(picture, 0, margin - 2)
    inner = picture[:, margin:1300 - margin]
    assert not plain_strip(inner, 24, inner.shape[1] - 24)
    assert plain_strip(inner, 2, 22)
    assert plain_strip(inner, inner.shape[1] - 22, inner.shape[1] - 2)


@pytest.mark.parametrize("name", ["audit", "wide"])
def test_narrow_screens_have_no_horizontal_overflow(browser, pages, tmp_path, name: str) -> None:
    picture = shot(browser, tmp_path, pages[name], 600)
    assert plain_strip(picture, 0, 22)
    assert plain_strip(picture, 600 - 22, 600)


def test_dark_screens_get_light_ink(browser, pages, tmp_path) -> None:
    bright = shot(browser, tmp_path, pages["audit"], 1300)
    dark = shot(browser, tmp_path, pages["audit"], 1300,
                "--blink-settings=preferredColorScheme=0")
    assert bright.mean() > 200
    assert dark.mean() < 60
    assert (dark.astype(int).sum(axis=2) > 600).mean() > 0.005


def test_the_browser_sees_no_script_and_every_drawing(browser, pages, tmp_path) -> None:
    seen = run(browser, tmp_path, pages["audit"], "--dump-dom")
    source = Reader(pages["audit"].read_text(encoding="utf-8"))
    found = Reader(seen)
    assert not {"script", "img", "iframe", "link"} & set(found.tags)
    assert found.tags.count("figure") == found.tags.count("svg") == source.tags.count("figure") > 5
    assert found.tags.count("table") == source.tags.count("table")
    assert HOSTILE in "".join(found.words)
    links = [value for name, value in found.attributes if name in ("src", "href")]
    assert all(str(value).startswith("#") for value in links)


@pytest.mark.parametrize("name", ["audit", "wide"])
def test_pages_print(browser, pages, tmp_path, name: str) -> None:
    file = tmp_path / "page.pdf"
    run(browser, tmp_path, pages[name], f"--print-to-pdf={file}", "--no-pdf-header-footer")
    data = file.read_bytes()
    assert data.startswith(b"%PDF-")
    count = len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
    assert (4 if name == "audit" else 1) <= count <= 60
