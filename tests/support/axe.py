"""axe-core (MPL-2.0), which finds faults of accessibility; fetched, never kept here."""

import subprocess
import tarfile

import pytest

from support.browser import DESKTOP, PHONE

VERSION = "axe-core@4.10.3"
SERIOUS = ("serious", "critical")


def axe_source(folder):
    """Fetch the script; skips and says so where that is not possible."""
    try:
        done = subprocess.run(["npm", "pack", "--silent", VERSION], cwd=folder, timeout=60,
                              capture_output=True, text=True)
    except (OSError, subprocess.TimeoutExpired):
        pytest.skip("npm cannot be run: pages were not looked at by axe-core")
    packed = next(iter(folder.glob("axe-core-*.tgz")), None)
    if done.returncode or packed is None:
        pytest.skip("axe-core cannot be had here: pages were not looked at by it")
    with tarfile.open(packed) as file:
        return file.extractfile("package/axe.min.js").read().decode()


def known_source(folder):
    """Return the script, or None where it cannot be had: a walk goes on without it."""
    try:
        return axe_source(folder)
    except pytest.skip.Exception:
        return None


def faults(page, source, *rules):
    """Return what axe-core calls serious or worse on a page, by some rules or by all."""
    page.evaluate(source)
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("options => axe.run(document, options)", options)
    return [(one["id"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in found["violations"] if one["impact"] in SERIOUS]


def look_at(page, source):
    """Hold a page as it stands against every rule, light and dark, and against a phone's width."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert source is None or faults(page, source) == [], (page.url, scheme)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], page.url
    page.set_viewport_size(DESKTOP)
