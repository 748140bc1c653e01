"""The walk of a custodian and an officer in a real browser, with the keyboard alone.

The tests of this file are the steps of one walk, in order, in one studio.
"""

import inspect
import json
import shlex
import shutil

import pytest

from support.axe import known_source, look_at
from support.browser import opened
from support.keyboard import bring, choose, press, tab_to, write
from support.studio_calls import HOSTILE, write_database, write_people
from support.studio_server import studio
from unspoken import mine
from unspoken.cli.main import main
from unspoken.release.record_signature import verify_file
from unspoken.release.release import Release

# One browser walks through all of them, one after the other.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("several processes")]
LIMIT = 120_000
LAX = "[people]\nmax_identified = 1.0\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("walk")
    write_people(found / "people.csv", 120)
    write_people(found / "other.csv", 60, 2)
    (found / "parts").mkdir()
    for part in range(2):
        write_people(found / "parts" / f"{part}.csv", 45, part)
    write_database(found / "clinic.db", "visits", HOSTILE)
    return found


@pytest.fixture(scope="module")
def running(folder):
    with studio(folder) as found:
        yield found


@pytest.fixture(scope="module")
def page(browser, running):
    with opened(browser, running) as found:
        yield found
        assert found.faults == []
        assert [one for one in found.asked if not one.startswith((running.base, "data:"))] == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    return known_source(tmp_path_factory.mktemp("axe"))


def role(page, column):
    return page.locator(f"select[aria-label='role of {column}']")


def step_walk_1_load_a_table_and_say_what_its_columns_are(page, running, axe):
    look_at(page, axe)
    write(page, "#path", "people.csv")
    press(page, "form[action='/data/open'] button")
    page.wait_for_selector("text=120 rows, 7 columns")
    text = page.inner_text("main")
    assert "of the people are the only one like them" in text
    assert "Most exposed records" in text
    assert role(page, "name").input_value() == "identifier"
    assert role(page, "age").input_value() == "quasi"
    choose(page, "select[aria-label='role of diagnosis']", "sensitive")
    choose(page, "select[aria-label='role of sex']", "target")
    press(page, "form[action='/data/roles'] button")
    page.wait_for_function("() => document.querySelector('[aria-label=\"role of sex\"]')"
                           ".value === 'target'")
    assert role(page, "diagnosis").input_value() == "sensitive"
    look_at(page, axe)


def load(page, path, table=""):
    """Load a table by its path, with the keyboard."""
    with page.expect_navigation():
        press(page, "nav a[href='/']")
    if page.locator("main > details:last-of-type summary").count():
        press(page, "main > details:last-of-type summary")
    write(page, "#path", path)
    write(page, "#inside", table)
    press(page, "form[action='/data/open'] button")


def step_walk_1_a_folder_and_a_table_of_a_database_are_loaded_too(page, folder):
    load(page, "parts")
    page.wait_for_selector("text=90 rows, 7 columns")
    load(page, "clinic.db")
    page.wait_for_selector("text=holds 2 tables")
    assert "400" in page.faults.pop()
    load(page, "clinic.db", HOSTILE)
    page.wait_for_selector("text=50 rows, 3 columns")
    assert HOSTILE in page.inner_text("h1")
    assert page.locator("img").count() == 0


def step_a_file_is_uploaded_as_it_is(page, running, folder):
    waiting = []
    page.route("**/studio.js", lambda route: waiting.append(route) if not waiting
               else route.continue_())
    page.goto(running.base + "/", wait_until="commit")
    # Whoever is faster than the script of the page is heard all the same.
    page.set_input_files("#file", folder / "other.csv")
    waiting[0].continue_()
    page.wait_for_selector("text=60 rows, 7 columns")
    page.unroute("**/studio.js")
    load(page, "people.csv")
    page.wait_for_selector("text=120 rows, 7 columns")
    choose(page, "select[aria-label='role of sex']", "target")
    press(page, "form[action='/data/roles'] button")
    page.wait_for_function("() => document.querySelector('[aria-label=\"role of sex\"]')"
                           ".value === 'target'")


def step_walk_2_sliders_change_figures_and_pictures(page, running, axe):
    press(page, "nav a[href='/try']")
    page.wait_for_selector("#look-0 figure svg:has(rect.after)")
    page.wait_for_selector("#look-1 figure svg:has(rect.after)")
    tab_to(page, "#c0-k")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#look-0:has-text('at least 6 others')")
    assert page.input_value(".card:first-child input[name='p.k']") == "7"
    page.wait_for_selector("#look-0 .bar-row:has-text('Singling out')")
    page.wait_for_selector("#look-0 .bar-row:has-text('Inferring')")
    assert "--option=k=7" in page.text_content("#look-0")
    look_at(page, axe)
    press(page, ".card:first-child button[formaction='/try/full']")
    page.wait_for_selector("text=On all 120 rows", timeout=LIMIT)
    look_at(page, axe)
    press(page, "nav a[href='/history']")
    press(page, "nav a[href='/try']")
    page.wait_for_selector("#look-0:has-text('at least 6 others')")
    assert page.input_value(".card:first-child input[name='p.k']") == "7"


def step_long_work_can_be_cancelled(page, running):
    press(page, "nav a[href='/frontier']")
    press(page, "form:has(#use) button")
    press(page, ".job button")
    page.wait_for_selector("text=Cancelled.")


def step_walk_3_the_frontier_says_how_to_have_it(page, running, folder, monkeypatch, axe):
    press(page, "nav a[href='/frontier']")
    look_at(page, axe)
    write(page, "#k", "3")
    press(page, "form:has(#k) button")
    page.wait_for_selector("svg.scatter", timeout=LIMIT)
    look_at(page, axe)
    tab_to(page, "svg.scatter a:last-of-type")
    page.keyboard.press("Enter")
    shown = page.locator(".choice:target")
    shown.wait_for()
    command, python = shown.locator("pre").all_inner_texts()
    words = shlex.split(command)
    assert words[:2] == ["unspoken", "protect"]
    for place, run in (("by-command", lambda: main(words[1:])),
                       ("by-python", lambda: exec(python, {}))):
        (folder / place).mkdir()
        monkeypatch.chdir(folder / place)
        assert run() in (0, None)
        assert Release.load(folder / place / "release").table.rows > 0


def step_walk_4_a_draft_is_made_and_one_is_taken_back(page, running, folder, axe):
    press(page, "nav a[href='/try']")
    choose(page, "#m0", "piecewise")
    page.wait_for_selector(".card:first-child h2:has-text('piecewise')")
    page.wait_for_selector("#look-0 figure")
    press(page, ".card:first-child button[formaction='/decide/choose']")
    page.wait_for_url("**/decide")
    look_at(page, axe)
    write(page, "#recipient", "The institute")
    write(page, "#policy", LAX)
    write(page, "#passphrase", "of the key")
    press(page, "form[action='/decide/drafts'] button")
    page.wait_for_url("**/decide/drafts/*", timeout=LIMIT)
    (made,) = (folder / "studio" / "drafts").iterdir()
    shutil.copytree(made, made.with_name("f" * 16))
    press(page, "nav a[href='/decide']")
    press(page, f"a[href$='{'f' * 16}']")
    page.wait_for_url("**/decide/drafts/f*")
    look_at(page, axe)
    press(page, "form[action$='/undo'] button")
    page.wait_for_url("**/decide")
    assert list((folder / "studio" / "drafts").iterdir()) == [made]
    assert list((folder / "studio" / "signed").iterdir()) == []


def step_walk_4_decide_sign_and_see_the_history(page, running, folder, axe):
    press(page, "main a[href^='/decide/drafts/']")
    page.wait_for_url("**/decide/drafts/*")
    assert page.locator(".verdict .word").first.inner_text()
    assert list((folder / "studio" / "signed").iterdir()) == []
    write(page, "#by", "Olga <b>Officer</b>")
    write(page, "#signing", "of the officer")
    press(page, "button[value='release']")
    page.wait_for_url("**/history")
    look_at(page, axe)
    assert "By Olga <b>Officer</b>" in page.inner_text("main")
    assert "signature holds" in page.inner_text("main")
    assert "The register: what left, and to whom" in page.inner_text("main")
    (place,) = (folder / "studio" / "signed").iterdir()
    decision = json.loads((place / "decision.json").read_text())
    assert decision["decision"] == "release"
    assert verify_file(place / "decision.json")
    assert verify_file(place / "record.html")
    assert set(decision["sha256"]) == {"record", "report", "data", "manifest", "key"}
    assert "The institute" in (folder / "studio" / "register.jsonl").read_text()
    assert list((folder / "studio" / "drafts").iterdir()) == []


def step_walk_5_a_mined_model_is_decoded_verified_and_tried(page, running, folder, axe):
    (place,) = (folder / "studio" / "signed").iterdir()
    mined = mine.fit(Release.load(place / "release"), "tree", max_depth=3)
    mined.save(folder / "mined.json")
    press(page, "nav a[href='/models']")
    page.wait_for_url("**/models")
    bring(page, "input[type=file]", folder / "mined.json")
    page.wait_for_selector("text=As it was mined, on released values")
    bring(page, "[data-upload$=recipe] input[type=file]", folder / "mined.json.recipe")
    page.wait_for_selector("text=It is there, and the model can be verified.")
    write(page, "#secret", "of the key")
    press(page, "form[action$='/decode'] button")
    page.wait_for_selector("text=identical, bit for bit", timeout=LIMIT)
    assert "age <=" in page.inner_text(".tree")
    write(page, "#f0", "40")
    press(page, "form[action$='/try'] button")
    page.wait_for_selector("text=It says:")
    look_at(page, axe)


def step_walk_8_questions_are_answered_out_of_the_budget(page, running, axe):
    press(page, "nav a[href='/history']")
    write(page, "#epsilon", "0.25")
    press(page, "form[action='/history/budget'] button")
    page.wait_for_selector("text=Nothing was booked yet")
    press(page, "nav a[href='/queries']")
    look_at(page, axe)
    write(page, "#columns", "age = { bounds = [0, 120], step = 1 }\n"
                            'sex = { values = ["F", "M"] }')
    press(page, "form[action='/queries/start'] button")
    page.wait_for_selector("text=0.25 of an epsilon of 0.25 is left")
    for question, left in (("select count() where age > 40", "0.15"),
                           ("select mean(age) group by sex", "0.05")):
        write(page, "#question", question)
        press(page, "form[action='/queries'] button")
        page.wait_for_selector(f"text={left} of an epsilon of 0.25 is left")
        assert "±" in page.inner_text("main")
    look_at(page, axe)
    write(page, "#question", "select count() where age > 50")
    press(page, "form[action='/queries'] button")
    page.wait_for_selector("text=The budget refuses")
    write(page, "#question", "select secrets()")
    press(page, "form[action='/queries'] button")
    page.wait_for_selector("text=Not answered")
    press(page, "nav a[href='/history']")
    page.wait_for_selector("text=epsilon 0.2 of 0.25")
    assert "mean(age)" in page.inner_text("main")


def step_a_second_browser_without_the_token_gets_nothing(browser, running):
    context = browser.new_context()
    try:
        other = context.new_page()
        for place in ("/", "/decide", "/assets/studio.css", running.address[len(running.base):]):
            assert other.goto(running.base + place).status == 403
            assert "people.csv" not in other.content()
    finally:
        context.close()


def step_after_kill_9_everything_is_where_it_was(browser, running, folder):
    running.process.kill()
    running.process.wait()
    with studio(folder) as again, opened(browser, again) as page:
        page.wait_for_selector("text=120 rows, 7 columns")
        assert role(page, "sex").input_value() == "target"
        press(page, "nav a[href='/try']")
        page.wait_for_selector(".card:first-child h2:has-text('piecewise')")
        press(page, "nav a[href='/frontier']")
        page.wait_for_selector("svg.scatter")
        press(page, "nav a[href='/decide']")
        page.wait_for_selector("h2:has-text('piecewise')")
        press(page, "nav a[href='/history']")
        page.wait_for_selector("text=1 released, 0 refused")
        assert "signature holds" in page.inner_text("main")


def test_the_whole_walk(request):
    """One test: steps that another process, or a new studio, went on with would find nothing."""
    for name, step in list(globals().items()):
        if name.startswith("step_"):
            step(*map(request.getfixturevalue, inspect.signature(step).parameters))
