"""Every page for every role: who gets it, and that nothing changes without its own token."""

import re

import pytest

from support.studio_calls import HOST, Calls
from support.studio_users import SECRET, User
from unspoken.release.method import method_of
from unspoken.studio.query_pages import _group
from unspoken.studio.spelled_out import method_words
from unspoken.studio.studio_app import PAGES
from unspoken.studio.visitor import ROLES

CHANGING = [place for method, place, _, _ in PAGES if method == "POST"]
PROMISED = {
    "custodian": {"/data/upload", "/data/open", "/data/brought", "/data/roles", "/decide/drafts",
                  "/surveys", "/surveys/{name}/close", "/models/upload", "/models/{name}/decode",
                  "/models/{name}/recipe", "/models/{name}/remove", "/queries/start",
                  "/joint/identity", "/joint/studies", "/joint/upload",
                  "/joint/studies/{name}/consent"},
    "officer": {"/data/look", "/decide/drafts/{name}/sign"}}


def filled(place):
    return re.sub(r"\{\w+\}", "0123456789abcdef", place)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return Calls(tmp_path_factory.mktemp("roles"), proxy_secret=SECRET)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_gets_its_own_pages_and_no_other(calls, role):
    user = User(calls, f"{role} one", role)
    for method, place, _, roles in PAGES:
        status, _, text = user.get(filled(place)) if method == "GET" else user.post(filled(place))
        allowed = "Your role does not allow this" not in text
        assert allowed == (role in roles), (method, place)
        assert allowed or status == 403, (method, place)


def test_what_the_guide_promises_to_one_role_is_for_no_other():
    roles = {(method, place): set(given) for method, place, _, given in PAGES}
    for role, places in PROMISED.items():
        for place in places:
            assert roles["POST", place] == {role}, place
    analyst = {pair for pair, given in roles.items() if "analyst" in given}
    assert analyst == {("GET", "/queries"), ("POST", "/queries")}


@pytest.mark.parametrize("place", CHANGING)
def test_nothing_changes_without_the_token_of_the_page_or_from_elsewhere(calls, place):
    user = User(calls, "all", ",".join(ROLES))
    own = {**user.headers, "Content_Type": "application/x-www-form-urlencoded"}
    other = User(calls, "another", ",".join(ROLES)).csrf
    for body, change in ((b"", {}), (f"csrf={other}".encode(), {}),
                         (f"csrf={user.csrf}".encode(), {"Origin": "http://evil.example"}),
                         (f"csrf={user.csrf}".encode(), {"Origin": "null"}),
                         (f"csrf={user.csrf}".encode(), {"Sec_Fetch_Site": "cross-site"}),
                         (f"csrf={user.csrf}".encode(), {"Host": "evil.example"}),
                         (f"csrf={user.csrf}".encode(), {"X_Unspoken_Proxy": "s" * 39})):
        assert calls.ask("POST", filled(place), body, **{**own, **change})[0] == 403, change
    no_origin = {name: value for name, value in own.items() if name != "Origin"}
    assert calls.ask("POST", filled(place), b"", X_CSRF_Token=user.csrf, **no_origin)[0] == 403


@pytest.mark.parametrize("place", [place for method, place, _, _ in PAGES if method == "GET"])
def test_every_page_has_the_content_policy_and_is_not_kept_by_browsers(calls, place):
    user = User(calls, "all", ",".join(ROLES))
    _, headers, text = user.get(filled(place))
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text)
    assert not re.search(r"<script(?! src)|\son\w+=|\sstyle=", text)
    assert calls.ask("GET", filled(place), Host=HOST)[0] == 403


def test_words_say_the_demand_even_where_it_is_the_usual_one():
    assert method_words(method_of("mondrian"), {"others": "drop"}).startswith("mondrian (k = ")
    assert method_words(method_of("mondrian"), {"k": 7}) == "mondrian (k = 7)"
    assert _group(None) == "(no value)"
    assert _group("F") == "F"
