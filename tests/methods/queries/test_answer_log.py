"""The log: restarts, races of real processes, torn lines, tampering, tables that change."""

import fcntl
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import unspoken
from support.query_people import linear_guard
from unspoken.errors import InputError, QueryLogError, QueryRefusedError
from unspoken.methods.queries import answer_log as log_module


def people(n=200, **more):
    rng = np.random.default_rng(5)
    data = {"unit": np.arange(n), "income": rng.integers(1000, 10**6, n).astype(float),
            "sick": rng.random(n) < 0.5, "sex": rng.choice(["F", "M"], n)} | more
    return unspoken.read(data, sensitive=["income", "sick"], keep="unit", show=False)


def refused(ask, *args):
    with pytest.raises(QueryRefusedError) as found:
        ask(*args)
    return found.value.rule


def lines(path):
    return [json.loads(line)["entry"] for line in path.read_bytes().splitlines()]


def test_a_restart_remembers(tmp_path):
    log = tmp_path / "log"
    first = linear_guard(people(), log, noise={"sick": 5}, count_noise=2, smallest=5)
    exact, noisy = first.sum("income", "unit < 50"), first.count("unit < 50 and sick = true")
    again = linear_guard(people(), log)
    assert again.settings == first.settings
    assert again.sum("income", "not unit >= 50").value == exact.value
    assert again.count("unit < 50 and sick = true") == noisy
    assert refused(again.sum, "income", "unit < 51") == "audit"
    assert refused(first.sum, "income", "unit < 49") == "audit"


def test_two_guards_on_one_log_see_each_other(tmp_path):
    one, two = linear_guard(people(), tmp_path / "log"), linear_guard(people(), tmp_path / "log")
    one.sum("income", "unit < 50")
    assert refused(two.sum, "income", "unit < 51") == "audit"
    two.sum("income", "unit >= 100")
    assert refused(one.sum, "income", "unit >= 99") == "audit"


def test_the_log_is_written_before_the_answer(tmp_path, monkeypatch):
    guard = linear_guard(people(), tmp_path / "log")
    monkeypatch.setattr("unspoken.methods.queries.refusal_rules.answer",
                        lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        guard.sum("income", "unit < 50")
    monkeypatch.undo()
    assert refused(linear_guard(people(), tmp_path / "log").sum, "income", "unit < 51") == "audit"


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_torn_last_line_was_never_answered(tmp_path, cut):
    log = tmp_path / "log"
    guard = linear_guard(people(), log)
    guard.sum("income", "unit < 50")
    whole, head = log.read_bytes(), (tmp_path / "log.head").read_bytes()
    guard.sum("income", "unit < 80")
    # Stopped while the line was written: the head, which comes after it, has not moved.
    log.write_bytes(log.read_bytes()[:-cut])
    (tmp_path / "log.head").write_bytes(head)
    later = linear_guard(people(), log)
    assert log.read_bytes() == whole
    later.sum("income", "unit < 81")
    assert refused(linear_guard(people(), log).sum, "income", "unit < 80") == "audit"


def test_a_full_disk_answers_nothing(tmp_path, monkeypatch):
    log = tmp_path / "log"
    guard = linear_guard(people(), log)
    before = log.read_bytes()
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, data[:30], at))
    with pytest.raises(QueryLogError, match="Nothing was answered"):
        guard.sum("income", "unit < 50")
    monkeypatch.undo()
    assert log.read_bytes() == before
    guard.sum("income", "unit < 51")


def _edited(raw):
    return raw.replace(b"unit < 50", b"unit < 90")


def _without_the_second(raw):
    return b"".join(line for i, line in enumerate(raw.splitlines(True)) if i != 1)


def _turned(raw):
    parts = raw.splitlines(True)
    return b"".join([parts[0], parts[2], parts[1]])


@pytest.mark.parametrize("change", [_edited, _without_the_second, _turned,
                                    lambda raw: b"x" + raw, lambda raw: raw + b"{}\n",
                                    lambda raw: raw.replace(b'"group":2', b'"group":1')])
def test_a_changed_log_is_seen(tmp_path, change):
    log = tmp_path / "log"
    guard = linear_guard(people(), log)
    guard.sum("income", "unit < 50")
    guard.sum("income", "unit < 80")
    log.write_bytes(change(log.read_bytes()))
    with pytest.raises(QueryLogError):
        linear_guard(people(), log)


def test_a_log_that_is_cut_or_removed(tmp_path):
    log = tmp_path / "log"
    guard = linear_guard(people(), log)
    short = log.read_bytes()
    guard.sum("income", "unit < 50")
    log.write_bytes(short)
    with pytest.raises(QueryLogError, match="replaced or cut"):
        guard.sum("income", "unit < 51")
    log.unlink()
    with pytest.raises(QueryLogError, match="replaced or cut"):
        guard.sum("income", "unit < 51")
    with pytest.raises(QueryLogError, match="lost"):
        linear_guard(people(), log)


def _names(tmp_path):
    return [tmp_path / name for name in ("log", "log.key", "log.head")]


@pytest.mark.parametrize("lost", [1, 2, 60])
def test_a_log_whose_end_was_cut_is_refused(tmp_path, lost):
    log = tmp_path / "log"
    guard = linear_guard(people(), log)
    guard.sum("income", "unit < 50")
    guard.sum("income", "unit < 80")
    raw = log.read_bytes()
    cut = raw[:-lost] if lost == 60 else b"".join(raw.splitlines(True)[:-lost])
    log.write_bytes(cut)
    with pytest.raises(QueryLogError, match="its end was cut off"):
        linear_guard(people(), log)
    # Nothing is repaired that may be evidence, and the whole log serves again.
    assert log.read_bytes() == cut
    log.write_bytes(raw)
    assert refused(linear_guard(people(), log).sum, "income", "unit < 81") == "audit"


def test_a_second_log_in_its_place_is_refused(tmp_path):
    linear_guard(people(), tmp_path / "log").sum("income", "unit < 50")
    linear_guard(people(), tmp_path / "other").sum("income", "unit < 51")
    for end in ("", ".key"):
        (tmp_path / f"log{end}").write_bytes((tmp_path / f"other{end}").read_bytes())
    with pytest.raises(QueryLogError, match="another log was put in its place"):
        linear_guard(people(), tmp_path / "log")


def test_a_restored_backup_is_refused(tmp_path):
    head = tmp_path / "elsewhere.head"
    guard = linear_guard(people(), tmp_path / "log", head=head)
    guard.sum("income", "unit < 50")
    backup = [(path, path.read_bytes()) for path in _names(tmp_path)[:2]]
    guard.sum("income", "unit < 80")
    for path, content in backup:
        path.write_bytes(content)
    with pytest.raises(QueryLogError, match="older copy was restored"):
        linear_guard(people(), tmp_path / "log", head=head)


def test_a_lost_log_is_not_begun_anew(tmp_path):
    linear_guard(people(), tmp_path / "log").sum("income", "unit < 50")
    for path in _names(tmp_path)[:2]:
        path.unlink()
    with pytest.raises(QueryLogError, match="the log was lost"):
        linear_guard(people(), tmp_path / "log")
    assert not (tmp_path / "log.key").exists()


@pytest.mark.parametrize("content", [None, b"", b"{}",
                                     b'{"entries": 0, "unspoken-query-head": ""}'])
def test_a_head_that_is_missing_or_damaged_is_refused(tmp_path, content):
    linear_guard(people(), tmp_path / "log").sum("income", "unit < 50")
    head = tmp_path / "log.head"
    head.unlink() if content is None else head.write_bytes(content)
    with pytest.raises(QueryLogError, match=r"log\.head"):
        linear_guard(people(), tmp_path / "log")


def test_a_line_beyond_the_head_counts_as_answered(tmp_path):
    # Stopped between line and head: the answer was never given, and the query is spent.
    guard = linear_guard(people(), tmp_path / "log")
    head = (tmp_path / "log.head").read_bytes()
    guard.sum("income", "unit < 50")
    (tmp_path / "log.head").write_bytes(head)
    assert refused(linear_guard(people(), tmp_path / "log").sum, "income", "unit < 51") == "audit"


def test_both_files_are_their_owners_and_hold_no_answer(tmp_path):
    log, key, head = _names(tmp_path)
    guard = linear_guard(people(), log, count_noise=3)
    found = guard.sum("income", "unit < 50")
    told = guard.count("unit < 50 and sick = true")
    assert refused(guard.sum, "income", "unit < 51") == "audit"
    assert [path.stat().st_mode & 0o777 for path in (log, key, head)] == [0o600] * 3
    text = log.read_text()
    assert all(str(value) not in text for value in (found.value, int(found.value), told.value))
    assert json.loads(key.read_text())["unspoken-query-key"] not in text
    assert [entry.get("rule") for entry in lines(log)] == [None, None, None, "audit"]
    log.chmod(0o644)
    with pytest.raises(QueryLogError, match="chmod 600"):
        guard.sum("income", "unit < 60")
    log.chmod(0o600)
    key.chmod(0o640)
    with pytest.raises(QueryLogError, match="chmod 600"):
        linear_guard(people(), log)


def test_a_key_that_is_missing_or_another(tmp_path):
    linear_guard(people(), tmp_path / "a")
    linear_guard(people(), tmp_path / "b")
    (tmp_path / "a.key").write_bytes((tmp_path / "b.key").read_bytes())
    with pytest.raises(QueryLogError, match="damaged or was changed"):
        linear_guard(people(), tmp_path / "a")
    (tmp_path / "b.key").unlink()
    with pytest.raises(QueryLogError, match="key of the log"):
        linear_guard(people(), tmp_path / "b")


def test_another_table_or_other_limits(tmp_path):
    log = tmp_path / "log"
    linear_guard(people(), log, smallest=7)
    changed = people().arrow().to_pandas()
    changed.loc[3, "income"] += 1
    others = [people(n=201), people(sex=["F"] * 200),
              unspoken.read(changed, sensitive=["income", "sick"], show=False)]
    for other in others:
        with pytest.raises(QueryLogError, match="another table"):
            linear_guard(other, log)
    with pytest.raises(InputError, match="'smallest'"):
        linear_guard(people(), log, smallest=6)
    with pytest.raises(InputError, match="'public'"):
        linear_guard(people(), log, public=["unit", "sex", "sick"])
    assert linear_guard(unspoken.read(people(), show=False), log).settings.smallest == 7


def test_the_fingerprint_does_not_depend_on_chunks(tmp_path):
    import pyarrow as pa

    whole = people().arrow()
    parts = pa.concat_tables([whole.slice(0, 30), whole.slice(30, 5), whole.slice(35)])
    linear_guard(people(), tmp_path / "log")
    linear_guard(unspoken.read(parts, sensitive=["income", "sick"], show=False), tmp_path / "log")


def test_the_log_is_bounded(tmp_path, monkeypatch):
    guard = linear_guard(people(), tmp_path / "log")
    monkeypatch.setattr("unspoken.methods.queries.guard.MAX_ENTRIES", 2)
    guard.sum("income", "unit < 50")
    assert refused(guard.sum, "income", "unit < 60") == "full"
    guard.sum("income", "unit < 50")
    monkeypatch.undo()
    monkeypatch.setattr("unspoken.methods.queries.refusal_rules.MAX_ANSWERED", 1)
    assert refused(guard.sum, "income", "unit < 60") == "full"


def test_a_log_that_cannot_be_started_leaves_no_key(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with pytest.raises(QueryLogError, match="cannot be written"):
        linear_guard(people(), tmp_path / "log")
    monkeypatch.undo()
    linear_guard(people(), tmp_path / "log").count("unit < 50")


def test_limits_as_numpy_numbers(tmp_path):
    limits = {"smallest": np.int64(5), "largest": np.int64(60), "noise": {"sick": np.float32(8)}}
    linear_guard(people(), tmp_path / "log", **limits)
    guard = linear_guard(people(), tmp_path / "log", **limits)
    assert refused(guard.count, "unit < 61") == "largest"
    assert guard.count("unit < 60").value == 60


def test_threads_of_one_process(tmp_path):
    guard = linear_guard(people(), tmp_path / "log", smallest=5)

    def ask(size):
        try:
            return guard.sum("income", f"unit < {size}").value > 0
        except QueryRefusedError:
            return False

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(ask, range(20, 60)))
    # Two neighbours would tell one person's income.
    assert not any(a and b for a, b in itertools.pairwise(told))
    assert sum(entry.get("answered", False) for entry in lines(tmp_path / "log")) == sum(told)


def test_a_link_in_the_logs_place_is_refused(tmp_path):
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(QueryLogError):
        linear_guard(people(), tmp_path / "log")
    assert not (tmp_path / "elsewhere").exists()


def test_a_log_that_somebody_holds_for_ever_is_not_waited_for(tmp_path, monkeypatch):
    guard = linear_guard(people(), tmp_path / "log", smallest=5)
    before = (tmp_path / "log").read_bytes()
    monkeypatch.setattr(log_module, "WAIT", 0.05)
    with open(tmp_path / "log", "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(QueryLogError, match="Another process holds it"):
            guard.sum("income", "unit < 50")
    assert (tmp_path / "log").read_bytes() == before
    guard.sum("income", "unit < 50")
