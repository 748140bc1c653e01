"""unspoken query: answers, refusals, and what is left behind, as commands."""

import contextlib
import json
import stat

import pyarrow as pa
import pyarrow.csv
import pytest

from unspoken.cli.main import main

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
        "value": truth, "error": 0.0, "done": [], "epsilon": None}
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
