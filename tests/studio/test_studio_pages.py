"""Pages without a browser: what is loaded, escaped, counted, chosen and refused."""

import json
import re
import stat

import pytest

from support.report_cases import Reader
from support.studio_calls import HOST, HOSTILE, Calls, write_people


@pytest.fixture
def calls(tmp_path):
    write_people(tmp_path / "people.csv")
    found = Calls(tmp_path).enter()
    assert found.post("/data/open", path="people.csv")[0] == 303
    return found


def upload(calls, name, data):
    return calls.ask("POST", f"/data/upload?name={name}", data, Cookie=calls.cookie,
                     Origin=f"http://{HOST}", X_CSRF_Token=calls.csrf)


@pytest.mark.slow
def test_a_loaded_table_shows_flags_and_raw_risks(calls):
    text = calls.get("/")[2]
    assert "400 rows, 7 columns" in text
    assert "1 column seems to name people and will be withheld" in text
    assert "HIPAA: names" in text
    assert re.search(r"[\d.]+% of the people are the only one like them", text)
    assert "Pairs of columns that single people out" in text


@pytest.mark.slow
def test_roles_can_be_changed_and_the_risks_follow(calls):
    names = calls.desk.dataset.table.schema.names
    before = calls.desk.dataset.source.roles
    assert before["age"] == before["sex"] == "quasi"
    fields = {f"role.{names.index(name)}": "plain" for name in names if before[name] == "quasi"}
    fields[f"role.{names.index('sex')}"] = "quasi"
    assert calls.post("/data/roles", **fields)[0] == 303
    assert calls.desk.dataset.table.schema.with_role("quasi") == ("sex",)
    assert "0% of the people are the only one like them" in calls.get("/")[2]


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"role.0": "king"}, {"kind.1": "colour"}])
def test_a_role_that_is_none_is_refused(calls, fields):
    assert calls.post("/data/roles", **fields)[0] == 400


@pytest.mark.slow
def test_what_a_child_reads_is_what_the_page_shows(calls):
    from unspoken.studio.desk import Source

    names = calls.desk.dataset.table.schema.names
    calls.post("/data/roles", **{f"role.{names.index('name')}": "plain",
                                 f"kind.{names.index('visits')}": "categorical"})
    source = calls.desk.dataset.source
    again = Source.from_json(json.loads(json.dumps(source.to_json()))).read()
    assert again.schema.to_json() == calls.desk.dataset.table.schema.to_json()
    assert source.keep == ("name",)


@pytest.mark.slow
def test_a_file_that_was_changed_after_loading_is_refused(calls, tmp_path):
    from unspoken.errors import InputError

    write_people(tmp_path / "people.csv", seed=2)
    with pytest.raises(InputError, match="changed after it was loaded"):
        calls.desk.dataset.source.read()


@pytest.mark.slow
def test_an_upload_is_kept_for_its_owner_alone(tmp_path):
    calls = Calls(tmp_path).enter()
    data = write_people(tmp_path / "x.csv", 60).read_bytes()
    status, _, place = upload(calls, "../../evil%3Cb%3E.csv", data)
    assert (status, place) == (200, "/")
    file = calls.desk.dataset.source.path
    assert file.parent == calls.folder.part("uploads")
    assert "<" not in file.name
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_an_upload_that_is_no_table_leaves_nothing(tmp_path):
    calls = Calls(tmp_path).enter()
    assert upload(calls, "x.csv", b"")[0] == 400
    assert upload(calls, "x.exe", b"MZ")[0] == 400
    assert list(calls.folder.part("uploads").iterdir()) == []


@pytest.mark.slow
def test_hostile_names_and_cells_are_text(tmp_path):
    hostile = [HOSTILE] * 30 + ["plain"] * 30
    write_people(tmp_path / "h.csv", 60, **{HOSTILE: hostile, "x": [f"{HOSTILE}{k % 4}"
                                                                   for k in range(60)]})
    calls = Calls(tmp_path).enter()
    calls.post("/data/open", path="h.csv")
    names = calls.desk.dataset.table.schema.names
    calls.post("/data/roles", **{f"role.{k}": "quasi" for k in range(1, len(names))})
    text = calls.get("/")[2]
    look = calls.post("/try/look", method="mondrian", card="0", **{"p.k": "3", "p.others": "drop"})
    assert look[0] == 200
    for page in (text, look[2], calls.get("/try")[2]):
        reader = Reader(page)
        assert "img" not in reader.tags
        assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert HOSTILE in "".join(Reader(text).words)
    assert HOSTILE.split()[0] in "".join(Reader(look[2]).words)


@pytest.mark.slow
def test_an_error_is_a_sentence_on_a_page(calls):
    status, _, text = calls.post("/data/open", path="absent.csv")
    assert status == 400
    assert "There is no file &#x27;absent.csv&#x27;" in text


@pytest.mark.slow
def test_a_look_shows_promise_use_and_distributions(calls):
    status, _, text = calls.post("/try/look", method="mondrian", card="0",
                                 **{"p.k": "7", "p.others": "drop", "p.diversity": "distinct",
                                    "p.c": "3"})
    assert status == 200
    assert "at least 6 others" in text
    assert text.count("<figure") >= 3
    assert "--option=k=7" in text
    attacked = calls.post("/try/look", method="mondrian", card="0", more="attack",
                          **{"p.k": "7", "p.others": "drop"})[2]
    assert "Singling out" in attacked
    assert "Inferring" in attacked


@pytest.mark.slow
@pytest.mark.parametrize(("field", "value"), [("p.k", "0"), ("p.k", "2.5"), ("p.k", "many"),
                                              ("p.others", "sell"), ("p.suppression", "1.5")])
def test_a_look_out_of_range_is_refused_by_name(calls, field, value):
    fields = {"p.k": "5", "p.others": "drop", "p.suppression": "0", field: value}
    status, _, text = calls.post("/try/look", method="mondrian", card="0", **fields)
    assert status == 400
    assert field.removeprefix("p.") in text
    assert "must be" in text


def test_every_method_has_controls_and_starts_inside_their_ranges():
    from unspoken.studio.parameter_controls import controls, read_parameters, start_values
    from unspoken.studio.try_pages import offered

    for method in offered().values():
        made = {one.name: one for one in controls(method)}
        assert made, method.name
        for name, value in start_values(method).items():
            assert made[name].parameter.rule.admits(value), (method.name, name, value)
            assert made[name].markup("c", value)
            if made[name].step:
                assert made[name].low <= made[name].start <= made[name].high, (method.name, name)
        method.build(read_parameters(method, {}))


@pytest.mark.slow
def test_the_commands_say_what_was_tried(calls):
    from unspoken.release.method import method_of
    from unspoken.studio.spelled_out import command_line, python_lines

    source = calls.desk.dataset.source
    words = command_line(source, method_of("mondrian"), {"k": 7, "others": "drop"})
    assert words.startswith("unspoken protect ")
    assert "--option=k=7" in words
    assert "MondrianAnonymizer(k=7, others='drop')" in python_lines(
        source, method_of("mondrian"), {"k": 7, "others": "drop"})


@pytest.mark.slow
def test_two_studios_do_not_share_a_folder(calls, tmp_path):
    from unspoken.errors import InputError
    from unspoken.studio.session_folder import SessionFolder

    with pytest.raises(InputError, match="Another studio works"):
        SessionFolder(tmp_path / "studio").prepare()


def test_what_a_killed_studio_left_half_written_is_removed(tmp_path):
    from unspoken.studio.session_folder import SessionFolder

    for name in ("drafts/.abc.part/release", "uploads"):
        (tmp_path / "s" / name).mkdir(parents=True)
    (tmp_path / "s" / "uploads" / ".x.csv.part").write_text("half")
    SessionFolder(tmp_path / "s").prepare()
    assert not list((tmp_path / "s").glob("*/.*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mondrian", "noise", "swap", "piecewise"])
def test_looks_skip_a_search_that_finds_nothing_in_releases_of_ones_own(calls, name):
    from unspoken.audit.people.side_by_side import side_by_side
    from unspoken.release.method import method_of
    from unspoken.studio.method_figures import tried
    from unspoken.studio.parameter_controls import read_parameters

    method = method_of(name)
    one = tried(calls.desk.dataset.sample, method, read_parameters(method, {}))
    assert one.beside == side_by_side(one.table, one.release, one.key)
