"""Requests and desks that somebody meddled with: each is refused, and nobody's desk is reached."""

import re

import pytest

from support.studio_calls import HOST, Calls, write_people
from support.studio_users import SECRET, User
from unspoken.errors import InputError
from unspoken.joint.session.identity import make_identity
from unspoken.studio.desk import Common
from unspoken.studio.joint_desk import JOINT, _certificate, refusals
from unspoken.studio.kept_desks import desk_file
from unspoken.table.formats.data_urls import as_place


@pytest.fixture
def calls(tmp_path):
    (tmp_path / "root").mkdir()
    write_people(tmp_path / "outside.csv", 30)
    write_people(tmp_path / "root" / "people.csv", 30)
    write_people(tmp_path / "root" / "others.csv", 40, seed=2)
    return Calls(tmp_path / "root").enter()


@pytest.fixture
def behind(tmp_path):
    write_people(tmp_path / "people.csv", 30)
    return Calls(tmp_path, proxy_secret=SECRET)


@pytest.mark.parametrize("beginning", ["file://", "FILE://", "file:"])
def test_an_address_of_a_file_does_not_lead_out_of_the_chosen_folder(calls, tmp_path, beginning):
    status, _, _ = calls.post("/data/open", path=f"{beginning}{tmp_path}/outside.csv")
    assert (status, calls.desk.loaded) == (400, False)


@pytest.mark.parametrize("scheme", ["file", "duckdb", "sqlite"])
def test_a_kept_desk_is_not_led_out_of_the_chosen_folder_by_an_address(calls, tmp_path, scheme):
    address = as_place(f"{scheme}:///{tmp_path}/outside.csv")
    with pytest.raises(InputError, match="is named by its path"):
        calls.desk.check_place(address)
    calls.desk.common = Common(data=address)
    calls.desk.check_place(address)


def test_names_of_users_are_not_cut_to_the_name_of_another(behind):
    assert User(behind, "a" * 200).get("/")[0] == 200
    who = {"X_Unspoken_Proxy": SECRET, "X_Unspoken_Role": "custodian"}
    assert behind.ask("GET", "/", X_Unspoken_User="a" * 201, **who)[0] == 403


@pytest.mark.parametrize("header", ["X_Unspoken_Role", "X_Unspoken_User", "X_Unspoken_Proxy",
                                    "Origin", "Host"])
def test_a_header_that_a_client_sent_beside_the_proxy_s_is_refused(behind, header):
    own = {"Host": HOST, "Origin": f"http://{HOST}", "X_Unspoken_Proxy": SECRET,
           "X_Unspoken_User": "ann", "X_Unspoken_Role": "officer"}
    assert asked(behind, list(own.items()))[0] == 200
    status, text = asked(behind, [*own.items(), (header, own[header])])
    assert (status, "twice" in text) == (403, True)


def asked(calls, headers):
    """Return status and text of a page that is asked for with these headers."""
    through = calls.app

    async def meddled(scope, receive, send):
        scope["headers"] = [(name.replace("_", "-").lower().encode(), value.encode())
                            for name, value in headers]
        await through(scope, receive, send)

    calls.app = meddled
    try:
        status, _, text = calls.ask("GET", "/")
    finally:
        calls.app = through
    return status, text


def test_an_opening_address_with_many_fields_is_refused_as_any_other(calls):
    assert calls.ask("GET", "/open?" + "a=1&" * 9)[0] == 403


@pytest.mark.slow
def test_a_desk_that_was_copied_to_another_user_is_not_theirs(behind, tmp_path):
    assert User(behind, "ann").post("/data/open", path="people.csv")[0] == 303
    file = desk_file(behind.folder, "ann")
    desk_file(behind.folder, "bob").write_bytes(file.read_bytes())
    page = User(behind, "bob").get("/")[2]
    assert "could not be put back" in page
    assert "30 rows" not in page
    file.unlink()
    behind.app._app.state.desks._named.clear()
    assert "on the desk of" not in User(behind, "olga", "officer").get("/")[2]


@pytest.mark.slow
def test_roles_that_were_chosen_for_one_table_are_not_given_to_another(calls):
    assert calls.post("/data/open", path="people.csv")[0] == 303
    meant = meant_by(calls.get("/")[2])
    assert calls.post("/data/roles", meant=meant, **{"role.1": "plain"})[0] == 303
    assert calls.post("/data/open", path="others.csv")[0] == 303
    status, _, text = calls.post("/data/roles", meant=meant, **{"role.0": "plain"})
    assert (status, "Load this page again" in text) == (400, True)
    assert calls.desk.dataset.table.schema["name"].role == "identifier"
    status, _, text = calls.post("/history/budget", meant=meant, epsilon="1")
    assert (status, "Load this page again" in text) == (400, True)


@pytest.mark.slow
def test_a_draft_is_made_of_what_its_page_showed(calls):
    calls.post("/data/open", path="people.csv")
    calls.desk.found["chosen"] = ("mondrian", {"k": 50})
    meant = meant_by(calls.get("/decide")[2])
    calls.desk.found["chosen"] = ["mondrian", {"k": 50}]
    said = calls.post("/decide/drafts", meant=meant, passphrase="short")[2]
    assert "passphrase of the key" in said
    calls.desk.found["chosen"] = ("mondrian", {"k": 2})
    status, _, text = calls.post("/decide/drafts", meant=meant, passphrase="long enough")
    assert (status, "Load this page again" in text) == (400, True)
    assert not calls.desk.jobs.running()


def meant_by(page):
    return re.search(r'name="meant" value="(\w+)"', page)[1]


def test_a_certificate_that_is_named_by_a_path_is_not_one_that_was_brought(calls, tmp_path):
    brought = calls.folder.part(JOINT) / "north.crt"
    brought.write_text("brought")
    (tmp_path / "root" / "trusted").mkdir()
    named = tmp_path / "root" / "trusted" / "north.crt"
    named.write_text("named")
    assert _certificate(calls.desk, "north.crt") == brought
    assert _certificate(calls.desk, "trusted/north.crt") == named


@pytest.mark.slow
def test_behind_a_proxy_nobody_answers_a_study_in_the_name_of_another(behind, tmp_path):
    ann = User(behind, "ann")
    assert ann.post("/joint/identity", name="north")[0] == 303
    for name in ("south", "east"):
        make_identity(name, tmp_path)
    lines = "\n".join(f"{name}.crt 127.0.0.1:{1000 + k}"
                      for k, name in enumerate(("north", "south", "east")))
    place = ann.post("/joint/studies", name="visits", task="sum", mode="sums", parties=lines,
                     settings='columns = ["visits"]')[1]["location"]
    study = behind.folder.part(JOINT) / "visits.toml"
    said = {"answer": "no", "approver": "olga"}
    assert ann.post(f"{place}/consent", **said, **{"as": "north"})[0] == 200
    assert [(one["as"], one["by"]) for one in refusals(study)] == [("north", "ann")]
    assert ann.post(f"{place}/consent", **said, **{"as": "x" * 9999})[0] == 400
    assert len(refusals(study)) == 1
