"""The Chromium of the machine, driven by playwright; skips and says so where there is none."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def chromium():
    """Yield a browser; every page of it must be closed by whoever opens it."""
    place = next((path for name in NAMES if (path := shutil.which(name))), None)
    if place is None:
        pytest.skip("no Chromium on PATH: pages were not walked through in a browser")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=place, args=["--no-sandbox",
                                         "--disable-dev-shm-usage", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, studio, **options):
    """Open a studio in a browser of its own, which notes what it asks for and what fails."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.faults, page.asked = [], []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: page.faults.append(said.text)
            if said.type == "error" else None)
    page.on("request", lambda request: page.asked.append(request.url))
    try:
        page.goto(studio.address)
        page.wait_for_url(studio.base + "/")
        yield page
    finally:
        context.close()
