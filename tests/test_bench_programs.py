"""Programs that measure are run by hand and seldom: at least each of them starts."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
# They run in an environment of their own, or begin to compute at once.
ELSEWHERE = {"peer_spu", "peer_mpyc"}
NAMES = sorted(path.stem for path in (ROOT / "bench").glob("*.py") if path.stem not in ELSEWHERE)
WRITE_PARTS = """
import sys, pathlib, run
page = pathlib.Path(sys.argv[1])
page.write_text("by hand\\n")
run.write_part(page, ("[a]", "[b]"), "one\\n")
page.write_text(page.read_text() + "more")
run.write_part(page, ("[c]", "[d]"), "two\\n")
run.write_part(page, ("[a]", "[b]"), "three\\n")
"""
IMPORT_ALL = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"


FAST = ("axes_from_differences", "import_time", "mixture_over_rows", "rotate")


@pytest.mark.slow
def test_every_measuring_program_can_be_imported():
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL, *NAMES], cwd=ROOT / "bench",
                          env={"PYTHONPATH": f"{ROOT / 'bench'}:{ROOT / 'tests'}"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(NAMES) > 30


@pytest.mark.slow
def test_the_fastest_tasks_run_at_a_tiny_size_and_write_nothing():
    page = ROOT / "docs" / "bench.md"
    before = page.read_bytes()
    done = subprocess.run([sys.executable, str(ROOT / "bench" / "run.py"), "--smoke", *FAST],
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "| rotate | 10,000 x 50 |" in done.stdout
    assert "| EM over rows | 3,000 x 3" in done.stdout
    assert page.read_bytes() == before


@pytest.fixture
def bench(monkeypatch):
    """The modules of the bench, as they are where nobody asks for a part."""
    names = ("growth", "harness", "sizes", "long_runs", "fuzz_exchange")
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    monkeypatch.delenv("UNSPOKEN_BENCH_SCALE", raising=False)
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    for name in names:
        sys.modules.pop(name)


def test_sizes_are_the_published_ones_unless_a_part_is_asked_for(bench, monkeypatch):
    sizes = bench.sizes
    assert (sizes.scaled(1000, 10), sizes.repeats(5)) == (1000, 5)
    assert sizes.spread(7, 2).tolist() == list(range(7))
    monkeypatch.setattr(sizes, "SCALE", sizes.SMOKE)
    assert (sizes.scaled(1_000_000, 10), sizes.scaled(1000, 10), sizes.scaled(5, 10)) \
        == (1000, 10, 5)
    assert sizes.repeats(5) == 1
    assert sizes.spread(1000, 3).tolist() == [0, 499, 999]
    assert [sizes.in_words(n) for n in (20_000_000, 5000, 1_500_000)] \
        == ["20 million", "5,000", "1,500,000"]


def test_growth_is_the_slope_over_four_sizes_and_leaves_out_what_has_no_size(bench):
    def row(name, size, seconds):
        return bench.harness.Row(name, size, seconds, "", 1.0, "", 1.0)

    runs = {scale: [row("linear", f"{int(6400 * scale):,} x 10", 3 * scale),
                    row("squared", f"Adult, {int(64 * scale)} million", scale ** 2),
                    row("fixed", "1 process", 1.0)] for scale in bench.growth.SCALES}
    slopes = {name: slope for name, slope, _ in bench.growth.exponents(runs)}
    assert slopes == pytest.approx({"linear": 1.0, "squared": 2.0})
    runs.pop(1.0)
    assert bench.growth.exponents(runs) == []
    assert bench.growth.markdown([("linear", 1.0, [0.1, 2.0])]).endswith("| 1.00 | 0.1, 2 |")


@pytest.mark.slow
def test_parts_of_the_page_are_replaced_and_what_was_written_by_hand_stays(tmp_path):
    done = subprocess.run([sys.executable, "-c", WRITE_PARTS, str(tmp_path / "page.md")],
                          cwd=ROOT / "bench", env={"PYTHONPATH": f"{ROOT / 'bench'}"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "page.md").read_text() == "by hand\n[a]\nthree\n[b]\nmore[c]\ntwo\n[d]\n"


DIES_AT_FIVE = """
import json, os, pathlib, sys
first, count, place = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
for number in range(first, first + count):
    place.write_bytes(number.to_bytes(8, "little"))
    if number == 5:
        os.abort()
print(json.dumps({"counts": {"refused": count}, "wrong": [], "seconds": 0.5, "mib": 2.0}))
"""


def test_a_long_run_is_gone_on_with_where_it_was_stopped(bench, tmp_path):
    long_runs, path = bench.long_runs, tmp_path / "counts"
    run = long_runs.Progress.of(100, path)
    run.add({"refused": 3}, 103)
    run.reach({"MiB": 7.0})
    run.notes.append("case 101: odd")
    run.write()
    again = long_runs.Progress.of(100, path)
    assert (again.next, again.done, again.counts["refused"]) == (103, 3, 3)
    again.add({"refused": 1, "taken": 1}, 105)
    again.reach({"MiB": 2.0})
    again.write()
    last = long_runs.Progress.of(100, path)
    assert last.counts == {"refused": 4, "taken": 1}
    assert last.seconds >= again.seconds > 0
    assert last.largest == {"MiB": 7.0}
    assert "cases 100 to 104: 5 in" in last.summary()
    assert last.summary().endswith("case 101: odd")
    with pytest.raises(SystemExit, match="begins at case 100, not at 7"):
        long_runs.Progress.of(7, path)


def test_a_file_that_kills_its_process_is_counted_and_passed_over(bench, monkeypatch):
    fuzz = bench.fuzz_exchange
    monkeypatch.setattr(fuzz, "CHILD", (sys.executable, "-c", DIES_AT_FIVE))
    run = bench.long_runs.Progress.of(0, None)
    while run.next < 12:
        fuzz.run_batch(run.next, 12 - run.next, run)
    assert run.counts == {"died": 1, "refused": 11}
    assert run.notes == ["case 5: died"]
    assert run.largest["growth of a child in MiB"] == 2.0
    monkeypatch.setattr(fuzz, "CHILD", (sys.executable, "-c", "raise SystemExit('no module')"))
    with pytest.raises(SystemExit, match="no module"):
        fuzz.run_batch(20, 5, run)
