"""Behind a reverse proxy, in a real browser: what each role sees, and what it does not."""

from contextlib import contextmanager

import pytest

from support.axe import known_source, look_at
from support.browser import DESKTOP
from support.keyboard import press, write
from support.studio_calls import write_people
from support.studio_server import studio
from support.studio_users import SECRET

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roles")
    write_people(folder / "people.csv", 60)
    (folder / "proxy.secret").write_text(SECRET)
    (folder / "proxy.secret").chmod(0o600)
    with studio(folder, "--host", "studio.example.org", "--proxy-secret",
                folder / "proxy.secret") as found:
        yield found


@contextmanager
def as_user(browser, running, name, role):
    """Open the studio as the proxy would for somebody."""
    context = browser.new_context(viewport=DESKTOP, extra_http_headers={
        "X-Unspoken-Proxy": SECRET, "X-Unspoken-User": name, "X-Unspoken-Role": role})
    try:
        page = context.new_page()
        page.goto(running.base + "/queries")
        yield page
    finally:
        context.close()


def links(page):
    return page.locator("nav a").all_inner_texts()


def test_custodian_officer_and_analyst_see_what_is_theirs(browser, running, tmp_path):
    axe = known_source(tmp_path)
    with as_user(browser, running, "ann", "custodian") as page:
        press(page, "nav a[href='/']")
        write(page, "#path", "people.csv")
        press(page, "form[action='/data/open'] button")
        page.wait_for_selector("text=60 rows, 7 columns")
        assert "Tables of others" not in page.inner_text("main")
    with as_user(browser, running, "olga", "officer") as page:
        press(page, "nav a[href='/']")
        press(page, "form[action='/data/look'] button")
        page.wait_for_selector("text=60 rows, 7 columns")
        assert len(links(page)) == 9
    with as_user(browser, running, "carl", "analyst") as page:
        assert links(page) == ["Queries"]
        look_at(page, axe)
        assert page.goto(running.base + "/").status == 403
        assert "Your role does not allow this" in page.inner_text("main")
        assert "people.csv" not in page.content()
        look_at(page, axe)


def test_whoever_does_not_come_through_the_proxy_gets_nothing(browser, running):
    context = browser.new_context()
    try:
        page = context.new_page()
        for place in ("/", "/queries", "/assets/studio.css"):
            assert page.goto(running.base + place).status == 403
    finally:
        context.close()
