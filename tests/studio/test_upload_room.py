"""What may be brought has limits, for one user and for all, and what is refused leaves nothing."""

import os

import pytest

from support.studio_calls import HOST, Calls, write_people
from support.studio_users import SECRET, User
from unspoken.errors import InputError
from unspoken.studio.desk import Common
from unspoken.studio.upload_room import UploadRoom, in_words, taken_by, taken_together

TABLE = b"age,pay\n" + b"".join(b"%d,%d\n" % (k, 9 * k) for k in range(40))
SIZE = len(TABLE)


def room(**limits):
    return Common(room=UploadRoom(**{"of_one": 2 * SIZE + 9, "together": 3 * SIZE + 9,
                                     "spared": 0, **limits}))


@pytest.fixture
def users(tmp_path):
    calls = Calls(tmp_path, common=room(), proxy_secret=SECRET)
    return calls, User(calls, "ann"), User(calls, "bob")


def bring(calls, user, name="t.csv", body=TABLE, place="/data/upload", **headers):
    return calls.ask("POST", f"{place}?name={name}", body,
                     **{**user.headers, "X_CSRF_Token": user.csrf, **headers})


def files(calls):
    return sorted(str(one.relative_to(calls.folder.root)) for part in ("uploads", "models")
                  for one in calls.folder.part(part).rglob("*") if one.is_file())


def test_one_user_cannot_take_the_room_of_all(users):
    calls, ann, bob = users
    assert [bring(calls, ann)[0] for _ in range(2)] == [200, 200]
    before = files(calls)
    status, _, text = bring(calls, ann)
    assert status == 400
    assert f"you have brought {in_words(2 * SIZE)} of {in_words(2 * SIZE + 9)}" in text
    assert "Nothing of it was kept" in text
    assert files(calls) == before
    assert bring(calls, bob)[0] == 200
    status, _, text = bring(calls, bob)
    assert (status, "all users together have brought" in text) == (400, True)


def test_what_is_announced_too_long_is_refused_before_anything_is_written(users, monkeypatch):
    calls, ann, _ = users
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("something was written"))
    for length in (3 * SIZE, 5 << 30):
        status, _, text = bring(calls, ann, Content_Length=str(length))
        assert (status, "Nothing of it was kept" in text) == (400, True)


def test_a_length_that_nobody_announced_is_counted_as_it_comes(users):
    calls, ann, _ = users
    assert bring(calls, ann, body=TABLE * 3)[0] == 400
    assert bring(calls, ann, body=TABLE * 3, Content_Length="many")[0] == 400
    assert files(calls) == []
    assert list(calls.folder.part("uploads").rglob(".*")) == []


def test_what_is_on_its_way_counts_too(users):
    calls, _, _ = users
    held = calls.desk.common.room
    with held.hold(calls.folder, "ann") as first, held.hold(calls.folder, "ann") as second:
        first.grow_to(2 * SIZE)
        with pytest.raises(InputError, match="no room for this file"):
            second.grow_to(SIZE)
        second.grow_to(9)
    with held.hold(calls.folder, "ann") as third:
        third.grow_to(2 * SIZE)


def test_the_number_of_files_has_a_limit(tmp_path):
    calls = Calls(tmp_path, common=room(files=1), proxy_secret=SECRET)
    ann = User(calls, "ann")
    assert bring(calls, ann)[0] == 200
    status, _, text = bring(calls, ann)
    assert (status, "more are not kept" in text) == (400, True)
    assert bring(calls, User(calls, "bob"))[0] == 200


def test_the_last_of_the_disk_is_for_decisions(tmp_path):
    calls = Calls(tmp_path, common=room(spared=1 << 60), proxy_secret=SECRET)
    status, _, text = bring(calls, User(calls, "ann"))
    assert (status, "disk of the studio has no room" in text) == (400, True)
    assert files(calls) == []


def test_models_and_certificates_count_too(tmp_path):
    model = b'{"format": "unspoken-tree"}'
    calls = Calls(tmp_path, common=room(of_one=20, together=20), proxy_secret=SECRET)
    ann = User(calls, "ann")
    for place in ("/models/upload", "/joint/upload"):
        status, _, text = bring(calls, ann, "m.json", model, place)
        assert (status, "There is no room" in text) == (400, True), place
    (calls.folder.part("models") / "m1").mkdir()
    (calls.folder.part("models") / "m1" / "about.json").write_text('{"by": "ann"}')
    assert taken_by(calls.folder, "ann") == taken_together(calls.folder) == 13
    assert taken_by(calls.folder, "bob") == 0


def test_a_file_is_opened_again_and_removed_by_whoever_brought_it_alone(users):
    calls, ann, bob = users
    assert [bring(calls, ann, name)[0] for name in ("one.csv", "two.csv")] == [200, 200]
    page = ann.get("/")[2]
    assert "Files you brought" in page
    assert f"{in_words(2 * SIZE)} of" in page
    assert "Files you brought" not in bob.get("/")[2]
    for what in ("open", "remove"):
        assert bob.post("/data/brought", name="one.csv", do=what)[0] == 400
        assert bob.post("/data/brought", name="../x/one.csv", do=what)[0] == 400
    assert User(calls, "olga", "officer").post("/data/brought", name="one.csv",
                                               do="remove")[0] == 403
    status, _, text = ann.post("/data/brought", name="two.csv", do="remove")
    assert (status, "Clear the desk first" in text) == (400, True)
    assert ann.post("/data/brought", name="one.csv", do="open")[0] == 303
    assert ann.post("/data/brought", name="two.csv", do="remove")[0] == 303
    assert [one.rpartition("/")[2] for one in files(calls)] == ["one.csv"]
    assert bring(calls, ann)[0] == 200


def test_two_users_with_files_of_one_name_have_their_own(users):
    calls, ann, bob = users
    other = TABLE.replace(b"pay", b"sum")
    assert bring(calls, ann)[0] == bring(calls, bob, body=other)[0] == 200
    assert "pay" in ann.get("/")[2]
    assert "sum" in bob.get("/")[2]
    assert bob.post("/data/clear")[0] == 303
    assert bob.post("/data/brought", name="t.csv", do="open")[0] == 303
    assert "sum" in bob.get("/")[2]


def test_on_ones_own_machine_the_room_is_the_same(tmp_path):
    calls = Calls(tmp_path, common=room()).enter()
    for want in (200, 200, 400):
        assert calls.ask("POST", "/data/upload?name=t.csv", TABLE, Cookie=calls.cookie,
                         Origin=f"http://{HOST}", X_CSRF_Token=calls.csrf)[0] == want


def test_files_that_lead_out_of_the_root_are_not_even_listed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    write_people(outside / "people.csv", 30)
    root = tmp_path / "root"
    root.mkdir()
    write_people(root / "own.csv", 30)
    (root / "folder").symlink_to(outside)
    (root / "file.csv").symlink_to(outside / "people.csv")
    calls = Calls(tmp_path)
    calls.desk.data_root = root
    page = calls.enter().get("/")[2]
    assert 'value="own.csv"' in page
    assert 'value="folder/"' not in page
    assert 'value="file.csv"' not in page
