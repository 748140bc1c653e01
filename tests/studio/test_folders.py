"""A folder of files is opened as one table, and refused once anything in it has changed."""

import pytest

from support.studio_calls import Calls, write_people
from unspoken.errors import InputError
from unspoken.studio.desk import Source
from unspoken.studio.run_studio import StudioSettings, check_settings
from unspoken.table.formats.file_sets import digest_of


@pytest.fixture
def calls(tmp_path):
    (tmp_path / "visits").mkdir()
    for part in range(3):
        write_people(tmp_path / "visits" / f"part-{part}.csv", 50, seed=part)
    return Calls(tmp_path).enter()


@pytest.mark.slow
def test_all_files_of_a_folder_are_one_table(calls):
    assert 'value="visits/"' in calls.get("/")[2]
    assert 'value="studio/"' not in calls.get("/")[2]
    assert calls.post("/data/open", path="visits/")[0] == 303
    text = calls.get("/")[2]
    assert "150 rows, 7 columns" in text
    assert "<title>visits" in text
    source = calls.desk.dataset.source
    assert Source.from_json(source.to_json()).read().rows == 150


@pytest.mark.slow
@pytest.mark.parametrize("change", ["edit", "add", "rename", "remove"])
def test_a_folder_that_was_changed_after_loading_is_refused(calls, tmp_path, change):
    calls.post("/data/open", path="visits")
    file = tmp_path / "visits" / "part-1.csv"
    if change == "edit":
        write_people(file, 50, seed=9)
    elif change == "add":
        write_people(tmp_path / "visits" / "part-4.csv", 50, seed=1)
    else:
        file.rename(tmp_path / ("visits/part-7.csv" if change == "rename" else "away.csv"))
    with pytest.raises(InputError, match="changed after it was loaded"):
        calls.desk.dataset.source.read()


def test_a_link_inside_a_folder_leads_nowhere(calls, tmp_path, tmp_path_factory):
    outside = write_people(tmp_path_factory.mktemp("elsewhere") / "secret.csv", 50)
    (tmp_path / "visits" / "part-9.csv").symlink_to(outside)
    status, _, text = calls.post("/data/open", path="visits")
    assert (status, "must lie under" in text) == (400, True)


@pytest.mark.slow
def test_files_that_do_not_belong_together_are_named(calls, tmp_path):
    (tmp_path / "visits" / "odd.csv").write_text("a,b\n1,2\n")
    status, _, text = calls.post("/data/open", path="visits")
    assert status == 400
    assert "odd.csv" in text


def test_the_command_takes_a_folder(calls, tmp_path):
    check_settings(StudioSettings(tmp_path / "s", tmp_path, data=tmp_path / "visits"))
    with pytest.raises(InputError, match="or a folder of files"):
        check_settings(StudioSettings(tmp_path / "s", tmp_path, data=tmp_path / "nothing"))


def test_names_and_contents_count_in_the_digest_of_a_folder(tmp_path):
    for name, text in (("one", "ab"), ("two", "ab")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.csv").write_text(text)
    assert digest_of(tmp_path / "one") != digest_of(tmp_path / "two")
