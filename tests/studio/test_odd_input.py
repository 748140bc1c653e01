"""Odd names, paths, fields and ranges: answered with a sentence, and never in another's place."""

import pytest

from support.studio_calls import HOST, Calls, write_people
from unspoken.studio.form_fields import safe_name


@pytest.fixture
def calls(tmp_path):
    write_people(tmp_path / "people.csv", 30)
    return Calls(tmp_path).enter()


@pytest.mark.parametrize("path", ["people\0.csv", "x" * 300, "x/" * 600, "y" * 5000])
def test_a_path_that_cannot_be_is_refused_with_a_sentence(calls, path):
    status, _, text = calls.post("/data/open", path=path)
    assert status == 400
    assert "path" in text


@pytest.mark.slow
def test_a_field_with_an_odd_digit_is_none_of_a_column(calls):
    calls.post("/data/open", path="people.csv")
    for field in ("role.²", "kind.٣", f"role.{'9' * 5000}"):
        assert calls.post("/data/roles", **{field: "target"})[0] == 303, field
    assert "target" not in calls.desk.dataset.source.roles.values()


@pytest.mark.parametrize("ends", ["1.2.3..4", "1..2..3", "...", "٣..٤", "1e9..2", "5..1"])
def test_a_range_that_is_none_is_refused_with_a_sentence(calls, ends):
    fields = {"title": "Pay", "text.0": "How much?", "way.0": "number", "epsilon.0": "1"}
    status, _, text = calls.post("/surveys", **fields, **{"values.0": ends})
    assert status == 400
    assert "needs a range, such as 0..100" in text
    for whole in ("0..100", "-1.5 .. 2.25", ".5..1"):
        assert calls.post("/surveys", **fields, **{"values.0": whole})[0] == 303


def test_a_long_name_is_not_hidden_and_fits_a_file_system():
    assert safe_name("x" * 50 + "." * 5 + "y" * 95) == "y" * 95
    assert len(safe_name("ü" * 400 + ".csv").encode()) <= 100
    assert safe_name("ü" * 400 + ".csv").endswith("ü.csv")


@pytest.mark.slow
def test_an_upload_never_takes_the_place_of_another(calls, tmp_path):
    (calls.folder.part("uploads") / ".people.csv.part").symlink_to(tmp_path / "people.csv")
    old = (tmp_path / "people.csv").read_bytes()
    for _ in range(2):
        assert calls.ask("POST", "/data/upload?name=people.csv", b"age,pay\n1,2\n3,4\n",
                         Cookie=calls.cookie, Origin=f"http://{HOST}",
                         X_CSRF_Token=calls.csrf)[0] == 200
    assert (tmp_path / "people.csv").read_bytes() == old
    names = {one.name for one in calls.folder.part("uploads").glob("[!.]*")}
    assert names == {"people.csv", "people-2.csv"}
