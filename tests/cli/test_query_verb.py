"""unspoken query: answers, refusals, and what is left behind, as commands."""

import contextlib
import json
import shutil
import stat

import pyarrow as pa
import pyarrow.csv
import pytest

from unspoken.cli.main import main
from unspoken.risk import Budget

pytestmark = pytest.mark.slow


@pytest.fixture
def house(tmp_path):
    rows = range(100)
    pa.csv.write_csv(pa.table({
        "age": [20 + i % 50 for i in rows], "place": list(rows), "sex": ["FM"[i % 2] for i in rows],
        "income": [1000.5 * i for i in rows], "sick": [i % 3 == 0 for i in rows],
    }), tmp_path / "people.csv")
    return tmp_path


def test_a_difference_is_refused_across_commands(command_in, house):
    ask = ("query", "people.csv", "--keep", "place", "--log", "queries.log")
    first = command_in(*ask, "--sum", "income", "--where", "age > 30 and sex = 'F'",
                     "--public", "age,place,sex", "--audit", "linear", "--sensitive", "income,sick",
                     "--count-noise", "4", "--smallest", "5", "--json", cwd=house)
    assert first.status == 0, first.err
    truth = sum(1000.5 * i for i in range(100) if 20 + i % 50 > 30 and i % 2 == 0)
    assert json.loads(first.out) == {
        "answered": True, "query": "sum of income where age > 30 and sex = 'F'",
        "value": truth, "error": 0.0, "done": [], "epsilon": None, "booked": False}
    again = command_in(*ask, "--mean", "income", "--where", "age > 28 and sex = 'F'", cwd=house)
    assert again.status == 0, again.err
    assert again.out.startswith("mean of income where age > 28 and sex = 'F': ")
    count = command_in(*ask, "--count", "--where", "age > 30 and sick = 'true'", "--json",
                       cwd=house)
    assert json.loads(count.out)["error"] == 4
    small = command_in(*ask, "--sum", "income", "--where", "age = 30 and sex = 'M'", "--json",
                     cwd=house)
    assert (small.status, json.loads(small.out)["rule"]) == (1, "smallest")
    assert stat.S_IMODE((house / "queries.log").stat().st_mode) == 0o600


@pytest.mark.parametrize(("args", "word"), [
    (("--count", "--public", "age,place,sex,income,sick"), "not public"),
    (("--sum", "income", "--public", "age,place"), "never from the data"),
    (("--count", "--bounds", "income=7"), "--bounds"),
    (("--sum", "income", "--where", "age >", "--sensitive", "income"), "condition"),
    (("--sum", "nothing", "--sensitive", "income"), "nothing"),
    (("--count", "--sensitive", "income", "--smallest", "0"), "smallest"),
    (("--count", "--sensitive", "income", "--noise", "much"), "--noise"),
    (("--sensitive", "income"), "required"),
])
def test_what_cannot_be_done_is_one_line(house, capsys, args, word):
    status, out, err = inside(house, capsys, "--log", "queries.log", *args)
    assert status == 2
    assert out == ""
    assert word in err
    assert len(err.splitlines()) == 1
    assert not [path.name for path in house.iterdir() if path.name == "queries.log.key"
                and not (house / "queries.log").stat().st_size]


def inside(house, capsys, *args):
    """Run the command in this process, which is faster."""
    with contextlib.chdir(house):
        try:
            status = main(["query", "people.csv", "--keep", "place", *args])
        except SystemExit as leaving:
            status = leaving.code
    return status, *capsys.readouterr()


def test_the_budget_runs_out_across_commands(house, capsys):
    ask = ("--log", "q", "--public", "age,place,sex", "--bounds", "income=0..100000",
           "--epsilon", "0.2", "--head", "elsewhere")
    for place in (40, 60):
        status, out, _ = inside(house, capsys, *ask, "--sum", "income", "--where",
                                f"place < {place}", "--json")
        assert (status, json.loads(out)["epsilon"]) == (0, 0.1)
    status, out, _ = inside(house, capsys, *ask, "--count", "--where", "sick = 'true'", "--json")
    assert (status, json.loads(out)["rule"]) == (1, "budget")
    assert (house / "elsewhere").exists()


@pytest.mark.filterwarnings("ignore::unspoken.errors.LeakWarning")
def test_noise_by_column(house, capsys):
    status, out, _ = inside(house, capsys, "--log", "q", "--mean", "income", "--public",
                            "age,place,sex,sick", "--audit", "linear",
                            "--noise", "income=500", "--noise", "age=3", "--json")
    assert (status, json.loads(out)["error"]) == (0, 5)
    status, _, err = inside(house, capsys, "--log", "q", "--count", "--group", "3")
    assert status == 2
    assert "'group'" in err


@pytest.mark.filterwarnings("ignore::unspoken.errors.LeakWarning")
def test_the_next_woman_is_refused(house, capsys):
    # 100 people, fifty ages: every age and sex holds two, so single rows need another column.
    ask = ("--log", "q", "--public", "age,place,sex,sick", "--audit", "linear", "--smallest", "5")
    assert inside(house, capsys, *ask, "--sum", "income", "--where", "place < 40")[0] == 0
    status, out, _ = inside(house, capsys, *ask, "--sum", "income", "--where", "place < 41")
    assert (status, out.startswith("Refused.")) == (1, True)


def test_a_log_draws_all_that_it_may_spend_from_the_budget_beside_the_data(house, capsys):
    data = next(house.glob("*.csv"))
    assert main(["budget", f"{data}.budget", "--start", str(data), "--epsilon", "1"]) == 0
    asked = ["query", str(data), "--count", "--where", "income > 5", "--log", str(house / "l.log")]
    assert main([*asked, "--epsilon", "0.75"]) == 0
    assert main(asked) == 0
    assert Budget(f"{data}.budget").spent() == pytest.approx(0.75)
    capsys.readouterr()
    asked[-1] = str(house / "second.log")
    assert main([*asked, "--epsilon", "0.75"]) == 1
    assert "does not fit" in capsys.readouterr().out
    assert Budget(f"{data}.budget").spent() == pytest.approx(0.75)


def test_of_copied_logs_one_goes_on_and_the_others_are_refused(house, capsys):
    data = next(house.glob("*.csv"))
    assert main(["budget", f"{data}.budget", "--start", str(data), "--epsilon", "2"]) == 0
    logs = [house / f"{name}.log" for name in "abc"]
    asked = ["query", str(data), "--count", "--epsilon", "1", "--each", "0.4", "--json"]
    assert main([*asked, "--where", "income > 5", "--log", str(logs[0])]) == 0
    for copy in logs[1:]:
        for end in ("", ".key", ".head"):
            shutil.copy(f"{logs[0]}{end}", f"{copy}{end}")
    answered = 0.4
    for place, log in enumerate([*logs, *logs]):
        capsys.readouterr()
        if main([*asked, "--where", f"income > {10 + place}", "--log", str(log)]) == 0:
            answered += 0.4
        else:
            reason = json.loads(capsys.readouterr().out)["reason"]
            # Every copy counts what it asked for; in the second round its own epsilon is spent.
            assert place > 2 or "it is an older copy, or another copy went on" in reason
    # The first copy that went on has answered until its own epsilon was spent.
    assert answered == pytest.approx(0.8)
    assert Budget(f"{data}.budget").spent() >= answered


def test_an_answer_that_was_logged_and_not_given_binds_no_other_copy(house, monkeypatch):
    data = next(house.glob("*.csv"))
    assert main(["budget", f"{data}.budget", "--start", str(data), "--epsilon", "2"]) == 0
    asked = ["query", str(data), "--count", "--where", "income > 5", "--log", str(house / "l.log")]
    with monkeypatch.context() as patch:
        patch.setattr(Budget, "follow", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main(asked) == 130
    for end in ("", ".key", ".head"):
        shutil.copy(house / f"l.log{end}", house / f"copy.log{end}")
    assert main(asked) == 0
    assert main([*asked[:-1], str(house / "copy.log")]) == 0
    assert main([*asked[:4], "income > 6", *asked[5:]]) == 0
    assert main([*asked[:4], "income > 7", "--log", str(house / "copy.log")]) == 1
