"""Every page for everybody: no serious fault of accessibility, on a desk and on a phone."""

import pytest

from support.axe import axe_source, faults
from support.browser import PHONE, opened
from support.studio_calls import write_people
from support.studio_server import studio

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]
PAGES = ("/", "/try", "/frontier", "/decide", "/history", "/models", "/surveys", "/queries",
         "/joint")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    write_people(folder / "people.csv", 120)
    with studio(folder, folder / "people.csv") as found:
        yield found


@pytest.fixture(scope="module")
def page(browser, running):
    with opened(browser, running) as found:
        yield found
        assert found.faults == []


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return axe_source(tmp_path_factory.mktemp("axe"))


def show(page, running, place):
    page.goto(running.base + place)
    if place == "/try":
        page.wait_for_selector("#look-0 figure")
        page.wait_for_selector("#look-1 figure")


@pytest.mark.parametrize(("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))])
def test_no_page_has_a_serious_fault(page, running, source, scheme, rules):
    page.emulate_media(color_scheme=scheme)
    for place in PAGES:
        show(page, running, place)
        assert faults(page, source, *rules) == [], place


def test_pages_fit_a_phone(page, running):
    page.set_viewport_size(PHONE)
    for place in PAGES:
        show(page, running, place)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], place


def test_dark_screens_get_dark_paper(page, running):
    show(page, running, "/")
    seen = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        seen.append(page.evaluate("getComputedStyle(document.querySelector('main'))"
                                  ".backgroundColor"))
    assert seen == ["rgb(255, 255, 255)", "rgb(23, 26, 31)"]


def test_what_is_counted_anew_stays_readable(page, running, source):
    """Under a slow machine figures are old for seconds: their pictures fade, their words do not."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    show(page, running, "/try")
    page.evaluate("document.getElementById('look-0').classList.add('busy')")
    assert faults(page, source, "color-contrast") == []
    shown = "getComputedStyle(document.querySelector('#look-0 figcaption').parentElement).opacity"
    assert page.evaluate(shown) == "1"
