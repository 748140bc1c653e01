"""One budget for everything: what is booked, what fits, what is noticed, and races."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pytest

import unspoken
from support.paths import ROOT
from unspoken.errors import BudgetError, DataError, InputError
from unspoken.release.budget import Budget
from unspoken.release.budget_costs import GAUSSIAN, LAPLACE, NONE, Cost, total_epsilon
from unspoken.release.budget_entries import Draw
from unspoken.release.budget_releases import release_draws
from unspoken.report.budget_picture import budget_figure, save_picture


def table(rows=40, shift=0):
    return unspoken.read(pa.table({"age": [20 + shift + i % 30 for i in range(rows)],
                                   "who": [i // 2 for i in range(rows)],
                                   "ill": ["yes" if i % 3 else "no" for i in range(rows)]}),
                         target="ill", keep=["who"], show=False)


def start(tmp_path, **terms):
    return Budget.start(tmp_path / "b", table(), **{"epsilon": 1.0, **terms})


def test_what_is_booked_adds_up_and_no_more_fits(tmp_path):
    budget = start(tmp_path)
    for _ in range(10):
        budget.draw(Cost(0.1), to="institute", what="table")
    assert budget.spent() == 1.0
    assert budget.left() == 0.0
    with pytest.raises(BudgetError, match=r"1 of it is spent.*does not fit"):
        budget.draw(Cost(1e-9), to="institute")
    assert len(Budget(tmp_path / "b").draws) == 10


def test_what_has_no_epsilon_is_listed_beside_the_rest(tmp_path):
    budget = start(tmp_path)
    budget.draw(Cost(None, law=NONE), to="press", what="a piecewise release")
    assert budget.spent() == 0.0
    assert [one["what"] for one in budget.to_json()["without_epsilon"]] == ["a piecewise release"]


def test_a_recipient_gets_no_more_than_its_share(tmp_path):
    budget = start(tmp_path, recipients={"press": 0.2})
    budget.draw(Cost(0.2), to="press")
    with pytest.raises(BudgetError, match=r"'press' may get 0.2"):
        budget.draw(Cost(0.1), to="press")
    budget.draw(Cost(0.8), to="institute")
    assert budget.left("press") == 0.0


def test_a_person_with_several_rows_costs_more(tmp_path):
    budget = start(tmp_path, unit="who", rows=2)
    budget.draw(Cost(0.2))
    assert budget.spent() == pytest.approx(0.4)
    budget.draw(Cost(0.2), per_unit=True)
    assert budget.spent() == pytest.approx(0.6)


@pytest.mark.parametrize(("ids", "message"), [
    (["p"] * 7 + ["q", "q"], "at most 2 rows. One id in column 'who' has 7"),
    (["p", "p", None, "q"], "must have an id in column 'who'. 1 have none"),
    ([1.0, 2.0, float("nan")], "1 have none"),
])
def test_a_person_with_more_rows_than_stated_is_refused(tmp_path, ids, message):
    crowd = unspoken.read(pa.table({"who": ids, "ill": ["yes"] * len(ids)}), keep=["who"],
                          show=False)
    with pytest.raises(DataError, match=message):
        Budget.start(tmp_path / "b", crowd, epsilon=1.0, unit="who", rows=2)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(("cost", "rows", "epsilon", "delta"), [
    (Cost(0.5), 3, 1.5, 0.0),
    (Cost(0.5, 1e-6), 2, 1.0, 1e-6 * (1 + math.exp(0.5))),
])
def test_groups(cost, rows, epsilon, delta):
    grown = cost.for_rows(rows)
    assert grown.epsilon == pytest.approx(epsilon)
    assert grown.delta == pytest.approx(delta)
    assert Cost(None, law=GAUSSIAN, multiplier=6.0).for_rows(3).multiplier == 2.0


@pytest.mark.slow
def test_ten_thousand_releases_add_up_as_dp_accounting_says():
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    counts = {Cost(0.01, law=LAPLACE): 7000, Cost(None, law=GAUSSIAN, multiplier=200.0): 3000}
    theirs = PLDAccountant()
    theirs.compose(dp_event.LaplaceDpEvent(100.0), 7000)
    theirs.compose(dp_event.GaussianDpEvent(200.0), 3000)
    began = time.process_time()
    assert total_epsilon(counts, 1e-6) == pytest.approx(theirs.get_epsilon(1e-6), abs=1e-9)
    print(f"10,000 releases in {time.process_time() - began:.2f} s of processor time")
    assert total_epsilon({Cost(0.01): 10_000}) == 100.0
    assert total_epsilon({Cost(0.01): 10_000}, 1e-6) < 6
    assert total_epsilon(counts, 0.0) == math.inf


@pytest.mark.slow
def test_with_a_delta_more_fits_and_the_total_stays_below(tmp_path):
    pytest.importorskip("dp_accounting")
    budget = start(tmp_path, delta=1e-6, epsilon=1.0)
    booked = sum(budget.draw_each([Draw(Cost(0.01), "a", "query", "q")] * 1000))
    assert 200 < booked < 1000
    assert total_epsilon({Cost(0.01): booked + 1}, 1e-6) > 1.0
    assert budget.spent() <= 1.0
    assert budget.draw_each([Draw(Cost(0.01), "a", "query", "q")]) == [False]


def test_a_head_elsewhere_is_found_by_everything_that_draws(tmp_path):
    (tmp_path / "disk").mkdir()
    head = tmp_path / "disk" / "head"
    start(tmp_path, head=head).draw(Cost(0.1))
    older = head.read_bytes()
    Budget(tmp_path / "b").draw(Cost(0.2))
    assert Budget(tmp_path / "b", head).spent() == pytest.approx(0.3)
    assert not (tmp_path / "b.head").exists()
    (tmp_path / "b").write_bytes(b"".join((tmp_path / "b").read_bytes().splitlines(True)[:-1]))
    with pytest.raises(BudgetError, match="is not the log that its head"):
        Budget(tmp_path / "b")
    head.unlink()
    (tmp_path / "b.head").write_bytes(older)
    with pytest.raises(BudgetError, match="It is missing"):
        Budget(tmp_path / "b")


def test_a_gaussian_release_needs_a_delta(tmp_path):
    with pytest.raises(BudgetError):
        start(tmp_path).draw(Cost(None, law=GAUSSIAN, multiplier=5.0))


def test_a_second_budget_another_table_and_a_cut_tail_are_noticed(tmp_path):
    budget = start(tmp_path)
    with pytest.raises(BudgetError, match="exists"):
        start(tmp_path)
    with pytest.raises(BudgetError, match="another table"):
        budget.check_table(table(shift=1))
    budget.check_table(table())
    budget.draw(Cost(0.5))
    lines = (tmp_path / "b").read_bytes().splitlines(keepends=True)
    (tmp_path / "b").write_bytes(b"".join(lines[:-1]))
    with pytest.raises(BudgetError, match="its end was cut off"):
        Budget(tmp_path / "b")
    (tmp_path / "b").write_bytes(b"".join(lines).replace(b"0.5", b"0.1"))
    with pytest.raises(BudgetError, match="damaged"):
        Budget(tmp_path / "b")
    with pytest.raises(BudgetError, match="There is no budget"):
        Budget(tmp_path / "nothing")


def test_a_full_disk_books_nothing_and_discloses_nothing(tmp_path, monkeypatch):
    budget = start(tmp_path)
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with pytest.raises(BudgetError, match="cannot be written"):
        budget.draw(Cost(0.5))
    monkeypatch.undo()
    with pytest.raises(BudgetError):
        budget.draw(Cost(0.5))
    assert Budget(tmp_path / "b").spent() == 0.0


@pytest.mark.parametrize("wrong", [
    lambda: Cost(0.0), lambda: Cost(math.nan), lambda: Cost(1.0, 2.0), lambda: Cost(1.0, law="x"),
    lambda: Cost(None, law=GAUSSIAN), lambda: Draw(Cost(1.0), "a", "gift", "w"),
    lambda: Draw(Cost(1.0), "a" * 501, "release", "w")])
def test_wrong_costs_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()


@pytest.mark.parametrize("terms", [{"epsilon": 0}, {"delta": 0.5}, {"rows": 2}, {"unit": "nobody"},
                                   {"recipients": {"a": 2.0}}])
def test_wrong_terms_are_refused(tmp_path, terms):
    with pytest.raises(InputError):
        start(tmp_path, **terms)


@pytest.mark.parametrize("method", ["noise", "response"])
def test_who_has_no_value_is_listed_outside_the_budget_by_column(method):
    from unspoken.protect import NoiseAdder, RandomizedResponse

    data = unspoken.read(pa.table({"age": [20.0, None, 40.0, 60.0] * 20, "wage": [1.0, 2.0] * 40,
                                   "ill": ["no", "yes", None, "no"] * 20,
                                   "sex": ["F", "M"] * 40}), show=False)
    if method == "noise":
        change = NoiseAdder("laplace", scale=10.0, ranges={"age": (0, 100), "wage": (0, 9)},
                            columns=["age", "wage"], others="drop")
    else:
        change = RandomizedResponse(gamma=5.0, columns=["ill", "sex"], others="drop",
                                    values={"ill": ["no", "yes"], "sex": ["F", "M"]})
    release, _ = change.protect(data)
    blank = {"noise": "age", "response": "ill"}[method]
    for known in (data, None):
        first, second = release_draws(release, "institute", table=known)
        assert first.cost.epsilon == pytest.approx(release.guarantee.facts["epsilon_total"])
        assert second.cost.law == NONE
        assert second.what.endswith(f": who has no value, as it is: {blank}")


def test_a_release_is_booked_for_what_it_states():
    from unspoken.protect import NoiseAdder

    data = table()
    release, _ = NoiseAdder("laplace", scale=10.0, ranges={"age": (0, 100)}, columns=["age"],
                            others="drop").protect(data)
    first, second = release_draws(release, "institute")
    assert first.cost.epsilon == pytest.approx(release.guarantee.facts["epsilon_total"])
    assert second.cost.law == NONE
    assert "ill as they are" in second.what
    undeclared, _ = NoiseAdder("laplace", columns=["age"], others="drop").protect(data)
    assert [one.cost.law for one in release_draws(undeclared, "")] == [NONE]
    seeded, _ = NoiseAdder("laplace", scale=10.0, ranges={"age": (0, 100)}, columns=["age"],
                           others="drop", random_state=1).protect(data)
    assert release_draws(seeded, "")[0].cost.law == NONE


@pytest.mark.slow
def test_the_picture(tmp_path):
    budget = start(tmp_path, recipients={"press": 0.3})
    budget.draw(Cost(0.2), to="press")
    budget.draw(Cost(None, law=NONE), to="$x$")
    save_picture(budget, tmp_path / "b.svg")
    assert (tmp_path / "b.svg").stat().st_size > 1000
    with pytest.raises(InputError, match="must not exist"):
        save_picture(budget, tmp_path / "b.svg")
    with pytest.raises(InputError, match="one of"):
        save_picture(budget, tmp_path / "b.exe")


def racers(path, count, epsilon, size):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    code = ROOT / "tests" / "support" / "budget_racer.py"
    running = [subprocess.Popen(
        [sys.executable, str(code), str(path), f"r{k}", str(epsilon), str(size)], env=env,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for k in range(count)]
    for one in running:
        assert one.stdout.readline() == "ready\n"
    return running


@pytest.mark.slow
def test_processes_never_disclose_what_was_not_booked(tmp_path):
    """Three processes draw at once and one is killed: the file holds at least what was answered."""
    Budget.start(tmp_path / "b", table(), epsilon=3.0)
    running = racers(tmp_path / "b", 3, 0.01, 5)
    for one in running:
        one.stdin.write("go\n")
        one.stdin.flush()
    # The other two may have spent everything before this one came to its second draw.
    answered = [int(line) for line in (running[0].stdout.readline() for _ in range(2)) if line]
    running[0].send_signal(signal.SIGKILL)
    outs = [one.communicate(timeout=120)[0].split() for one in running]
    answered += [int(text) for out in outs for text in out]
    budget = Budget(tmp_path / "b")
    assert sum(answered) <= len(budget.draws) == 300
    assert sum(answered) >= 300 - 5
    assert budget.spent() == 3.0
    assert budget.left() == 0.0


@pytest.mark.slow
def test_kill_at_any_moment(tmp_path):
    """Killed while it writes, again and again: every answer that got out is in the file."""
    Budget.start(tmp_path / "b", table(), epsilon=900.0)
    answered = 0
    for lines in range(1, 6):
        runner = racers(tmp_path / "b", 1, 0.001, 3)[0]
        runner.stdin.write("go\n")
        runner.stdin.flush()
        answered += sum(int(runner.stdout.readline()) for _ in range(lines * 7))
        runner.send_signal(signal.SIGKILL)
        answered += sum(int(line) for line in runner.communicate()[0].split())
        booked = len(Budget(tmp_path / "b").draws)
        assert answered <= booked <= answered + 3 * lines
    assert answered >= 315


def test_json(tmp_path):
    budget = start(tmp_path)
    budget.draw(Cost(0.25), to="a", kind="query", what="count")
    told = json.loads(json.dumps(budget.to_json()))
    assert told["spent"] == 0.25
    assert told["by_recipient"] == {"a": {"spent": 0.25, "left": 0.75, "disclosures": 1}}


@pytest.mark.parametrize("method", ["noise", "response"])
def test_who_chose_to_report_the_truth_is_outside_the_budget_and_the_text(method):
    """Half of the people report what they have: no noise of anybody covers them."""
    from unspoken.protect import NoiseAdder, RandomizedResponse

    data = unspoken.read(pa.table({"age": [20.0, 30.0] * 40, "ill": ["no", "yes"] * 40,
                                   "says": ["truth", "distort"] * 40}), show=False)
    name = {"noise": "age", "response": "ill"}[method]
    if method == "noise":
        change = NoiseAdder("laplace", scale=10.0, ranges={"age": (0, 100)}, columns=["age"],
                            others="drop", choices={"age": "says"})
    else:
        change = RandomizedResponse(gamma=5.0, columns=["ill"], others="drop",
                                    values={"ill": ["no", "yes"]}, choices={"ill": "says"})
    release, _ = change.protect(data)
    assert release.guarantee.statement.startswith("Of those who chose to distort: ")
    listed = [one.what for one in release_draws(release, "") if one.cost.law == NONE]
    assert any(what.endswith(f": values of those who chose to report them: {name}")
               for what in listed)


def test_the_picture_says_what_is_left_and_names_who_got_what_has_no_epsilon(tmp_path):
    """Nobody has more left than all together; who is not drawn is counted."""
    budget = start(tmp_path, epsilon=5.0, recipients={"press": 1.0})
    for place in range(34):
        budget.draw(Cost(0.1 + place / 1000), to=f"institute {place}")
    budget.draw(Cost(None, law=NONE), to="press")
    (axes,) = budget_figure(budget).axes
    told = dict(zip((one.get_text() for one in axes.get_yticklabels()),
                    (one.get_text().strip() for one in axes.texts), strict=True))
    assert told["all together"] == "3.96 spent, 1.04 left, 1 without epsilon"
    assert told["institute 33"] == "0.133 spent, 1.04 left"
    assert told["press"] == "0 spent, 1 left, 1 without epsilon"
    assert "institute 0" not in told
    assert axes.get_title() == "5 more, who got the least, are not drawn"
