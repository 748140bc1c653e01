"""Walk 6: a study with other owners, from the identity to the ledger; the others use commands."""

import csv

import pytest

from support.axe import known_source, look_at
from support.browser import opened
from support.joint_commands import ended, free_ports, joint_command, spawn
from support.keyboard import bring, choose, press, write
from support.studio_calls import Calls
from support.studio_server import studio
from unspoken.errors import InputError
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.new_study import member_of
from unspoken.studio.joint_desk import check_data

pytestmark = pytest.mark.xdist_group("several processes")

LIMIT = 120_000


@pytest.fixture
def parties(tmp_path):
    """Three owners with a small table each; north uses the studio."""
    for place, name in enumerate(("north", "south", "east")):
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([["visits"], *([place + k] for k in range(5))])
    for name in ("south", "east"):
        joint_command("identity", name, "--folder", tmp_path)
    return tmp_path


def test_a_refusal_sends_nothing_and_a_stranger_cannot_agree(parties):
    calls = Calls(parties).enter()
    assert calls.post("/joint/identity", name="north")[0] == 303
    lines = "\n".join(f"{name}.crt 127.0.0.1:{1000 + k}"
                      for k, name in enumerate(("north", "south", "east")))
    status, headers, _ = calls.post("/joint/studies", name="visits", task="sum", mode="sums",
                                    author="north", parties=lines, settings='columns = ["visits"]')
    assert status == 303
    place = headers["location"]
    text = calls.get(place)[2]
    assert "Who learns what" in text
    assert "Broken by" in text
    status, _, text = calls.post(f"{place}/consent", answer="no", **{"as": "north"})
    assert (status, "Nothing was sent" in text) == (200, True)
    assert list(calls.folder.part("runs").iterdir()) == []
    assert calls.post(f"{place}/consent", answer="yes", data="../x.csv", approver="Ann",
                      **{"as": "north"})[0] == 400
    assert calls.post("/joint/studies", name="v2", task="sum", parties="north.crt",
                      settings="")[0] == 400
    assert calls.post("/joint/studies", name="v2", task="nothing", parties=lines,
                      settings="")[0] == 400


def told(page, lines):
    """Add to the line of each party the fingerprint that its page shows."""
    shown = {one.locator("th").inner_text(): one.locator("td").last.inner_text()
             for one in page.locator("tr:has(td:has-text('.crt'))").all()}
    assert set(shown) == {"south", "east"}
    return "\n".join(f"{line} {shown.get(line.partition('.')[0], '')}"
                     for line in lines.splitlines())


@pytest.mark.slow
def test_walk_6_write_plan_agree_watch_and_read_the_ledger(browser, parties, tmp_path, capsys):
    ports, axe = free_ports(3), known_source(tmp_path)
    lines = "\n".join(f"{name}.crt 127.0.0.1:{port}"
                      for name, port in zip(("north", "south", "east"), ports, strict=True))
    with studio(parties) as running, opened(browser, running) as page:
        press(page, "nav a[href='/joint']")
        write(page, "#party", "north")
        press(page, "form[action='/joint/identity'] button")
        page.wait_for_selector("text=read this to the others by telephone")
        for name in ("south", "east"):
            bring(page, ".drop input[type=file]", parties / f"{name}.crt")
            page.wait_for_selector(f"td:has-text('{name}.crt')")
        lines = told(page, lines)
        press(page, "main > details > summary")
        write(page, "#name", "visits")
        choose(page, "#task", "sum")
        choose(page, "#mode", "sums")
        look_at(page, axe)
        write(page, "#author", "north")
        write(page, "#parties", lines)
        write(page, "#settings", 'columns = ["visits"]')
        press(page, "form[action='/joint/studies'] button")
        page.wait_for_selector("text=Who learns what")
        press(page, "button[value='no']")
        page.wait_for_selector("text=Nothing was sent")
        look_at(page, axe)
        press(page, "nav a[href='/joint']")
        press(page, "a[href='/joint/studies/visits']")
        page.wait_for_selector("text=You refused")
        look_at(page, axe)
        assert page.locator("svg[aria-label*='north learns']").count() == 1
        write(page, "#data", "north.csv")
        write(page, "#approver", "Ann <b>of north</b>")
        press(page, "button[value='yes']")
        page.wait_for_selector("#parties")
        look_at(page, axe)
        others = [spawn("join", parties / "studio" / "joint" / "visits.toml", "--as", name,
                        "--data", f"{name}.csv", "--yes", cwd=parties)
                  for name in ("south", "east")]
        try:
            page.wait_for_selector("text=The study is complete", timeout=LIMIT)
        finally:
            said = ended(others)
        assert all("45" in out for out, _ in said), said
        text = page.inner_text("main")
        assert "45" in text
        assert "What was opened" in text
        assert "Ann <b>of north</b>, in the studio" in text
        assert "complete" in text
        assert "bytes received" in text
        look_at(page, axe)
        assert page.faults == []
    with studio(parties) as after, opened(browser, after) as page:
        press(page, "nav a[href='/joint']")
        press(page, "a[href^='/joint/runs/']")
        page.wait_for_selector("text=The study is complete")
        assert "45" in page.inner_text("main")
    assert "study visits (sum)" in (parties / "studio" / "register.jsonl").read_text()


def written(calls, lines, **fields):
    """Write a study of two owners on the page."""
    chosen = {"name": "visits", "task": "sum", "mode": "", "author": "north", "dealer": "",
              "parties": "\n".join(lines[:2]), "settings": 'columns = ["visits"]', **fields}
    return calls.post("/joint/studies", **chosen)


@pytest.fixture
def with_dealer(parties):
    """North in the studio, south elsewhere, and east's key as that of a dealer."""
    calls = Calls(parties).enter()
    assert calls.post("/joint/identity", name="north")[0] == 303
    return calls, [f"{name}.crt 127.0.0.1:{port}" for name, port
                   in zip(("north", "south", "east"), free_ports(3), strict=True)]


def test_a_study_with_a_dealer_outside_is_written_planned_and_needs_one(with_dealer):
    calls, lines = with_dealer
    status, headers, _ = written(calls, lines, dealer=lines[2])
    assert status == 303
    text = calls.get(headers["location"])[2]
    assert "authenticated" in text
    assert "dealer" in text
    study = Study.load(calls.folder.part("joint") / "visits.toml")
    assert (study.mode, study.outside_dealer) == ("authenticated", "east")
    assert study.having("owner") == ("north", "south")
    for name, wrong, words in (
            ("a", {"mode": "dealer"}, "needs a dealer outside"),
            ("b", {"mode": "sums", "dealer": lines[2]}, "has no dealer outside"),
            ("c", {"dealer": "\n".join(lines[1:])}, "at most one dealer"),
            ("d", {"dealer": "east.crt"}, "one party in each line")):
        status, _, text = written(calls, lines, name=name, **wrong)
        assert (status, words in text) == (400, True), (name, text)


def test_a_fingerprint_that_was_told_is_compared_with_the_certificate(with_dealer):
    calls, lines = with_dealer
    shown = {name: member_of(calls.folder.root.parent / f"{name}.crt", "", ()).fingerprint
             for name in ("south", "east")}
    wrong = [lines[0], f"{lines[1]} {shown['east']}"]
    status, _, text = written(calls, wrong)
    assert (status, "has another fingerprint" in text) == (400, True)
    right = [lines[0], f"{lines[1]} {shown['south']}"]
    assert written(calls, right, dealer=lines[2])[0] == 303


def test_a_run_that_the_studio_did_not_survive_is_said(with_dealer):
    calls, _ = with_dealer
    place = calls.folder.new("runs")
    place.mkdir()
    (place / "agreed.json").write_text('{"study": "visits", "as": "north", "by": "Ann"}')
    assert "not begun" in calls.get("/joint")[2]
    text = calls.get(f"/joint/runs/{place.name}")[2]
    assert "The study did not come to its end" in text
    assert "It ended with the studio" in text


def test_a_dealer_brings_no_table_and_an_owner_brings_one(with_dealer):
    calls, lines = with_dealer
    written(calls, lines, dealer=lines[2])
    study = Study.load(calls.folder.part("joint") / "visits.toml")
    check_data(study, "north", True)
    check_data(study, "east", False)
    with pytest.raises(InputError, match="'north' owns data"):
        check_data(study, "north", False)
    with pytest.raises(InputError, match="'east' owns no data"):
        check_data(study, "east", True)


@pytest.mark.slow
def test_a_study_with_a_dealer_outside_runs_from_the_page(with_dealer, parties):
    calls, lines = with_dealer
    place = written(calls, lines, dealer=lines[2])[1]["location"]
    study = calls.folder.part("joint") / "visits.toml"
    others = [spawn("join", study, "--as", "south", "--data", "south.csv", "--yes", cwd=parties),
              spawn("join", study, "--as", "east", "--yes", cwd=parties)]
    try:
        status, headers, _ = calls.post(f"{place}/consent", answer="yes", data="north.csv",
                                        approver="Ann", **{"as": "north"})
        assert status == 303
        job = calls.desk.common.runs[headers["location"].rpartition("/")[2]]
        job.process.wait(120)
    finally:
        said = ended(others)
    text = calls.get(headers["location"])[2]
    assert "25" in said[0][0], said
    assert "What was opened" in text
    assert "complete" in text
