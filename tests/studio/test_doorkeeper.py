"""Who gets in, and what a request must bring."""

import pytest

from support.studio_calls import HOST, Calls, write_people
from unspoken.studio.doorkeeper import POLICY
from unspoken.studio.form_fields import MOST_BYTES


@pytest.fixture
def calls(tmp_path):
    write_people(tmp_path / "people.csv", 60)
    return Calls(tmp_path)


PLACES = ("/", "/try", "/decide", "/history", "/assets/studio.css", "/jobs/none", "/data/risks",
          "/queries", "/surveys", "/models", "/joint")


@pytest.mark.parametrize("place", PLACES)
def test_without_the_token_nothing_is_given(calls, place):
    status, _, text = calls.ask("GET", place)
    assert status == 403
    assert "studio" in text
    assert "people.csv" not in text


def test_the_address_works_once_and_the_cookie_is_kept_from_scripts_and_other_sites(calls):
    token = calls.app.token
    status, headers, _ = calls.ask("GET", f"/open?token={token}")
    assert status == 200
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]
    status, headers, _ = calls.ask("GET", f"/open?token={token}")
    assert status == 403
    assert "set-cookie" not in headers


@pytest.mark.parametrize("token", ["", "x", "A" * 43])
def test_a_wrong_token_opens_nothing_and_spends_nothing(calls, token):
    assert calls.ask("GET", f"/open?token={token}")[0] == 403
    assert calls.enter().get("/")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7777", "127.0.0.1:7778", ""])
def test_another_host_is_refused_even_with_the_cookie(calls, host):
    calls.enter()
    assert calls.ask("GET", "/", Host=host, Cookie=calls.cookie)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", f"https://{HOST}"])
def test_a_form_from_elsewhere_is_refused(calls, origin):
    calls.enter()
    body = f"csrf={calls.csrf}&path=people.csv".encode()
    status, _, _ = calls.ask("POST", "/data/open", body, Cookie=calls.cookie, Origin=origin)
    assert status == 403
    assert not calls.desk.loaded


def test_a_request_that_another_site_started_is_refused(calls):
    calls.enter()
    body = f"csrf={calls.csrf}&path=people.csv".encode()
    status, _, _ = calls.ask("POST", "/data/open", body, Cookie=calls.cookie,
                             Origin=f"http://{HOST}", Sec_Fetch_Site="cross-site")
    assert status == 403
    assert not calls.desk.loaded


@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_a_form_without_the_visitors_token_is_refused(calls, csrf):
    calls.enter()
    calls.csrf = csrf
    assert calls.post("/data/open", path="people.csv")[0] == 403
    assert not calls.desk.loaded


@pytest.mark.slow
def test_with_all_of_it_the_form_works(calls):
    calls.enter()
    assert calls.post("/data/open", path="people.csv")[0] == 303
    assert calls.desk.loaded


def test_every_answer_has_the_strict_policy(calls):
    for status, headers, _ in (calls.ask("GET", "/"), calls.enter().get("/"),
                               calls.get("/nothing"), calls.get("/assets/studio.js")):
        assert headers["content-security-policy"] == POLICY, status
        assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_a_long_form_is_refused(calls):
    calls.enter()
    assert calls.post("/data/open", path="x" * (MOST_BYTES + 1))[0] == 400


@pytest.mark.parametrize("path", ["../x.csv", "/etc/passwd", "a/../../x.csv"])
def test_only_files_under_the_chosen_folder_are_opened(calls, path):
    calls.enter()
    status, _, text = calls.post("/data/open", path=path)
    assert status == 400
    assert "must lie under" in text


@pytest.mark.parametrize("name", ["../../x.css", "%2e%2e/x", "studio.py", "__init__.py"])
def test_assets_are_those_that_ship(calls, name):
    assert calls.enter().get(f"/assets/{name}")[0] in (400, 404)


SECRET = "s" * 40


def proxied(calls, place, method="GET", body=b"", **headers):
    return calls.ask(method, place, body, X_Unspoken_Proxy=SECRET, Origin=f"http://{HOST}",
                     **headers)


@pytest.fixture
def behind(tmp_path):
    write_people(tmp_path / "people.csv", 60)
    return Calls(tmp_path, proxy_secret=SECRET)


def test_behind_a_proxy_its_secret_and_a_role_are_needed(behind):
    who = {"X_Unspoken_User": "ann", "X_Unspoken_Role": "custodian"}
    assert proxied(behind, "/", **who)[0] == 200
    assert behind.ask("GET", "/", **who)[0] == 403
    assert behind.ask("GET", "/", X_Unspoken_Proxy="s" * 39, **who)[0] == 403
    assert proxied(behind, "/", X_Unspoken_User="ann")[0] == 403
    assert proxied(behind, "/", X_Unspoken_User="ann", X_Unspoken_Role="king")[0] == 403
    assert proxied(behind, "/", X_Unspoken_User="", X_Unspoken_Role="officer")[0] == 403
    assert behind.app.token == ""
    assert behind.ask("GET", "/open?token=")[0] == 403


def test_an_analyst_sees_neither_table_nor_decisions(behind):
    who = {"X_Unspoken_User": "ann", "X_Unspoken_Role": "analyst"}
    for place in ("/", "/try", "/decide", "/history", "/frontier"):
        assert proxied(behind, place, **who)[0] == 403, place


def test_one_users_form_token_is_not_anothers(behind):
    texts = [proxied(behind, "/", X_Unspoken_User=name, X_Unspoken_Role="custodian")[2]
             for name in ("ann", "bob")]
    tokens = [text.split('name="csrf" content="')[1][:64] for text in texts]
    assert tokens[0] != tokens[1]
    body = f"csrf={tokens[0]}&path=people.csv".encode()
    assert proxied(behind, "/data/open", "POST", body, X_Unspoken_User="bob",
                   X_Unspoken_Role="custodian")[0] == 403


def test_an_officer_loads_nothing_and_a_custodian_signs_nothing(behind):
    for role, place in (("officer", "/data/open"), ("custodian", "/decide/drafts/x/sign")):
        who = {"X_Unspoken_User": "ann", "X_Unspoken_Role": role}
        csrf = proxied(behind, "/", **who)[2].split('name="csrf" content="')[1][:64]
        status, _, text = proxied(behind, place, "POST", f"csrf={csrf}&path=people.csv".encode(),
                                  **who)
        assert status == 403
        assert "role" in text


def test_a_foreign_cookie_does_not_lock_the_owner_out(calls):
    calls.enter()
    for foreign in ('seen={"a":"b, c"}', 'x="', "=;;=", "a b[]=1"):
        assert calls.ask("GET", "/", Cookie=f"{foreign}; {calls.cookie}")[0] == 200, foreign
        assert calls.ask("GET", "/", Cookie=f"{calls.cookie}; {foreign}")[0] == 200, foreign
        assert calls.ask("GET", "/", Cookie=foreign)[0] == 403


def test_an_officer_looks_at_surveys_and_starts_none(behind):
    from unspoken.studio.survey_laws import SurveyQuestion
    from unspoken.studio.survey_store import start_survey

    one = start_survey(behind.folder.part("surveys"), "Tools at home",
                       [SurveyQuestion("Yes?", "response", 1.0, ("yes", "no"))])
    who = {"X_Unspoken_User": "olga", "X_Unspoken_Role": "officer"}
    pages = [proxied(behind, place, **who) for place in ("/surveys", f"/surveys/{one.name}")]
    for status, _, text in pages:
        assert status == 200
        assert "Tools at home" in text
        assert "Start it" not in text
        assert "Close it" not in text
    csrf = pages[0][2].split('name="csrf" content="')[1][:64]
    assert proxied(behind, f"/surveys/{one.name}/close", "POST", f"csrf={csrf}".encode(),
                   **who)[0] == 403
