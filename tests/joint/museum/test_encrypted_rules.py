"""The book's rules over columns by commutative encryption, and what is wrong with them."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import json
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("rbcl")

from hypothesis import HealthCheck, given, settings

import unspoken
from support.basket_columns import ALL, GROUPS, TERMS, columns, spread
from support.joint_commands import joint_command
from support.replayed import forecast_holds
from support.study_people import stated
from unspoken.errors import InputError
from unspoken.joint.joint_errors import PeerGarbageError, RefusedError, StudyError
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.museum import ciphertext_counter as counting
from unspoken.joint.museum.encrypted_rules import (
    CANDIDATES,
    OWN,
    TABLE,
    ByIntersection,
    EncryptedColumns,
    exposure,
    mine_rules_by_counter,
    notes,
    safe,
)
from unspoken.joint.museum.message_leaks import matched_rows
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_local
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.record_order import COMMON
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import RULES, SETS, RuleParams
from unspoken.joint.tasks.rules.pooled import pooled_columns as pooled
from unspoken.joint.tasks.rules.program_columns import ROWS
from unspoken.joint.tasks.task_list import all_tasks
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, parse
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets

pytestmark = pytest.mark.slow

SITES = Sites.of(GROUPS)
CENTRAL = pooled(list(columns().values()), TERMS, SITES)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spread())
def test_the_counter_finds_what_mining_in_one_place_does(case):
    lists, groups, support, confidence = case
    parts = columns(lists, groups)
    items = tuple("".join(groups.values()))
    terms = RuleParams(items, support, confidence, supports="shown")
    found, _ = mine_rules_by_counter(parts, terms, fewest=1)
    assert found.same_as(pooled(list(parts.values()), terms, Sites.of(groups)))


def test_by_intersections():
    few = ALL[:8]
    parts = columns(few, {"north": "ac", "south": "b", "east": "d"})
    terms = RuleParams(tuple("acbd"), 0.5, supports="shown")
    found, ledgers = mine_rules_by_counter(parts, terms, "intersection", fewest=1)
    assert found.same_as(pooled(list(parts.values()), terms, Sites.of(
        {"north": "ac", "south": "b", "east": "d"})))
    told = {o.because for o in ledgers["north"].openings}
    assert {ROWS, SETS, CANDIDATES} <= told
    # Lists are padded to all baskets, so that lengths say nothing.
    assert {row.shape[0] for row in ledgers["south"].rows if row.label.startswith("set.hop")} == {8}


def test_who_learns_what():
    _, ledgers = mine_rules_by_counter(columns(), TERMS, fewest=1)
    opened = {o.because: o.to for o in ledgers["north"].openings}
    assert opened[TABLE] == opened[SETS] == opened[RULES] == ("counter",)
    assert opened[OWN] == ("north", "south", "east")
    received = {row.label for row in ledgers["south"].rows if row.direction == "received"}
    assert received == {"agree", "ready", "rows", "rules.hop1", "rules.hop2", "rules.flags",
                        "done"}


def test_columns_that_the_counter_reads_are_booked_as_a_disclosure():
    """They travel in the clear, in an order that it does not know: nothing about them is hidden."""
    _, ledgers = mine_rules_by_counter(columns(), TERMS, fewest=1)
    sent = {name: {row.purpose for row in ledger.rows if row.label == "rules.columns"}
            for name, ledger in ledgers.items()}
    assert sent["counter"] == {"disclosure"}
    assert all(purposes <= {"disclosure"} for purposes in sent.values())
    assert TABLE in {opening.because for opening in ledgers["counter"].learned()}


def test_a_counter_with_data_is_refused():
    for program in (EncryptedColumns, ByIntersection):
        for receivers in (["north"], []):
            with pytest.raises(RefusedError, match="unique patterns"):
                program(TERMS, SITES, receivers)


def test_other_baskets_and_other_items_are_refused():
    parts = {**columns(), "east": Baskets.of([["e"]] * 16, ("e", "f"))}
    with pytest.raises(RefusedError, match="same baskets"):
        mine_rules_by_counter(parts, TERMS, fewest=1)
    parts = {**columns(), "east": Baskets.of([["e"]], ("e", "milk"))}
    with pytest.raises(InputError, match="in their order"):
        mine_rules_by_counter(parts, TERMS, fewest=1)
    with pytest.raises(InputError, match="one of encrypted"):
        mine_rules_by_counter(columns(), TERMS, "best")


def seen_by_counter():
    """Run once; return the columns and the ciphertexts that the counter got of each owner."""
    got = {}

    def tap(source, to, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.kind is Kind.DATA and header.label in ("rules.columns", "rules.rows",
                                                         "rules.hop1"):
            got[source, to, header.label] = np.frombuffer(frame[HEADER_BYTES:], header.dtype)
        return frame

    program = EncryptedColumns(TERMS, SITES, ("counter",), 1)
    roles = Roles((*GROUPS, "counter"), tuple(GROUPS))
    outcomes = asyncio.run(in_memory(program, [*columns().values(), None], roles, tap=tap))
    assert [one.error for one in outcomes] == [None] * 4
    return got


def orders():
    """Return how the counter saw the columns of 'north' in several runs."""
    return {seen_by_counter()["north", "counter", "rules.columns"].tobytes() for _ in range(8)}


def test_rows_and_items_come_in_a_secret_order(monkeypatch):
    assert len(orders()) > 6
    monkeypatch.setattr(group, "fresh_order", lambda count: np.arange(count))
    assert len(orders()) == 1


def test_ciphertexts_of_two_runs_have_nothing_in_common(monkeypatch):
    def points():
        return {(key, bytes(point)) for key, words in seen_by_counter().items()
                if key[2] != "rules.columns" for point in words.reshape(-1, 32)}

    assert not points() & points()
    monkeypatch.setattr(group, "fresh_scalar", lambda: (7).to_bytes(32, "little"))
    monkeypatch.setattr(group, "domain", lambda *parts: b"0" * 32)
    assert points() & points()


def test_nobody_sees_a_ciphertext_under_all_keys_but_the_counter():
    got = seen_by_counter()
    full = {bytes(point) for key, words in got.items() if key[2] == "rules.rows"
            for point in words.reshape(-1, 32)}
    on_the_way = {bytes(point) for key, words in got.items() if key[2] == "rules.hop1"
                  for point in words.reshape(-1, 32)}
    assert len(full) == len(ALL)
    assert not full & on_the_way


@pytest.mark.parametrize("spoil", ["zeros", "twice"])
def test_bad_points_end_the_run(monkeypatch, spoil):
    real = group.hash_points

    def bad(where, items):
        points = np.array(real(where, items))
        points[0] = 0 if spoil == "zeros" else points[1]
        return points

    monkeypatch.setattr(counting.group, "hash_points", bad)
    with pytest.raises(PeerGarbageError):
        mine_rules_by_counter(columns(), TERMS, fewest=1)


def test_exposure_is_what_the_attack_finds():
    """A site that had the encrypted columns would find its baskets: the literal protocol."""
    random = np.random.default_rng(3)
    table = random.random((200, 7)) < 0.35
    baskets = Baskets.of([[str(i) for i in np.flatnonzero(row)] for row in table],
                         tuple(map(str, range(7))))
    order = random.permutation(200)
    # Encrypted, every value of a column is another one; which rows are equal stays.
    found = matched_rows(table, table[order] + 10 * np.arange(7))
    assert exposure(baskets) == found.share > 0.05
    assert np.array_equal(found.own_row[found.own_row >= 0], order[found.own_row >= 0])


def test_half_of_real_baskets_would_be_found(shared):
    path = shared("T10I4D100K.dat.gz")
    whole = unspoken.read_baskets(path)
    mine = set(whole.items[:290])
    here = whole.codes < 290
    part = Baskets.from_rows(whole.rows[here], whole.codes[here], len(whole), whole.items[:290])
    with gzip.open(path, "rt") as file:
        patterns = [frozenset(line.split()) & mine for line in file]
    once = sum(count == 1 for count in Counter(patterns).values())
    assert exposure(part) == once / 100_000 > 0.49


def member(name, *roles):
    return Member(name, f"{name}.example:7700", roles, name * 8, name.encode())


def study(mode="dealer", **parameters):
    owners = [member(name, "owner", *extra) for name, extra in (
        ("north", ("holder", "receiver")), ("south", ("holder", "receiver")), ("east", ()))]
    if mode == "sums":
        owners = [member(name, "owner") for name in GROUPS] + [member("counter", "receiver")]
    dealer = [member("d", "dealer")] if mode == "dealer" else []
    items = {f"items_{name}": list(letters) for name, letters in GROUPS.items()}
    return Study("both", "rules-columns", mode, (*owners, *dealer),
                 stated("rules-columns", {"support": 0.25, **items, **parameters}))


TASK = all_tasks()["rules-columns"]


@pytest.mark.parametrize(("parameters", "why"), [
    ({"support": 2}, "'support' of task 'rules-columns'"), ({"x": 1}, "no parameter 'x'"),
    ({"fewest": 0}, "fewest"),
    ({"items_east": ["a"]}, "nobody those"), ({"method": "encrypted"}, "no parameter 'method'"),
    ({"queries": 0}, "an int >= 1"), ({"items_east": "a"}, "a list of names")])
def test_wrong_parameters_are_named(parameters, why):
    with pytest.raises(StudyError, match=why):
        TASK.check(study(**parameters).parameters)


def test_plans_say_who_learns_what():
    made = TASK.plan(study())
    assert made.learns["north"] == [ROWS, SETS, RULES]
    assert made.learns["east"] == [ROWS, SETS]
    assert made.learns["d"] == ["how many baskets, and how many candidates of each size"]
    with pytest.raises(StudyError, match="a mode with shares"):
        TASK.plan(study("sums"))
    with pytest.raises(StudyError, match="one for each of"):
        TASK.plan(study(items_west=["x"]))


def test_encrypted_columns_say_what_the_counter_sees():
    sites = Sites.of(GROUPS)
    program = EncryptedColumns(RuleParams(sites.names, 0.25), sites, ("counter",))
    seen = [d.because for d in program.disclosures if not d.to or "counter" in d.to]
    assert seen == [ROWS, TABLE, SETS, RULES]
    assert "49 to 60%" in notes("encrypted")[0]
    assert "never the counter with an owner" in safe(tuple(GROUPS))


def test_planned_bytes_are_those_of_a_run():
    from unspoken.joint.tasks.rules.program_columns import RulesOverColumns

    random = np.random.default_rng(1)
    names = {f"p{k}": tuple(f"{k}.{i}" for i in range(30)) for k in range(3)}
    parts = [Baskets.of([[n for n in own if random.random() < 0.3] for _ in range(3000)], own)
             for own in names.values()]
    sites = Sites.of(names)
    terms = RuleParams(sites.names, 0.2, most=1 << 12)
    forecast_holds(RulesOverColumns(terms, sites), dict(zip(names, parts, strict=True)))


def test_files_in_another_order_are_aligned_by_their_ids(tmp_path):
    """Owners list the same baskets in different orders, and some that others do not have."""
    random = np.random.default_rng(2)
    given = study(ids="card", least=4, fewest=4, confidence=0.75)
    given = dataclasses.replace(given, disclosures=TASK.disclosures(given))
    data = {}
    for name, part in columns().items():
        lines = [",".join([f"card{i}", *row]) for i, row in enumerate(part.lists())]
        lines.append(f"{name} alone," + GROUPS[name][0])
        path = tmp_path / f"{name}.csv"
        path.write_text("card,goods\n" + "".join(lines[i] + "\n"
                                                 for i in random.permutation(len(lines))))
        data[name] = TASK.load(path, given)
    program = TASK.program(given)
    assert program.disclosures == TASK.disclosures(given)
    results = run_local(program, list(data.values()), names=list(data))
    assert results[0][0].same_as(CENTRAL)
    assert results[2][0] is None
    assert COMMON in {o.because for o in results[2][1].openings}
    with pytest.raises(StudyError, match="'ids' of task 'rules-columns' must be a column's name"):
        TASK.check(study(ids=True).parameters)


@pytest.mark.parametrize(("name", "text", "why"), [
    ("a.csv", "", "begin with an id"), ("a.csv", "c1,a\n\n", "begin with an id"),
    ("a.csv", "c1,a\nc2,b\n", "must begin with 'card'"),
    ("a.parquet", "x", "whose lines begin"), ("a.csv.gz", "x", "cannot be read")])
def test_files_without_ids_are_refused(tmp_path, name, text, why):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=why):
        TASK.load(tmp_path / name, study(ids="card"))


@pytest.mark.slow
def test_from_files_to_rules(tmp_path, capsys):
    for name, part in columns().items():
        joint_command("identity", name, "--folder", tmp_path)
        part.save(tmp_path / f"{name}.csv")
    joint_command("identity", "dora", "--folder", tmp_path)
    parties = [word for i, name in enumerate(GROUPS)
               for word in ("--party", f"{tmp_path / name}.crt=host{i}.example:7700")]
    sets = [word for name, items in GROUPS.items()
            for word in ("--set", f"items_{name}={json.dumps(list(items))}")]
    files = [word for name in GROUPS for word in ("--data", f"{name}={tmp_path / name}.csv")]
    common = ["--task", "rules-columns", "--set", "support=0.25", "--set", "confidence=0.75",
              "--set", "fewest=4", "--set", "queries=1", "--set", "same_order=true",
              *sets, *parties]
    joint_command("new", tmp_path / "a.toml", "--name", "a", *common,
                "--dealer", f"{tmp_path / 'dora.crt'}=host9.example:7700")
    assert joint_command("local", tmp_path / "a.toml", *files, "--out", tmp_path / "a.json") == 0
    assert Associations.load(tmp_path / "a.json").same_as(CENTRAL)
    assert "rules of confidence 0.75" in capsys.readouterr().out
    with pytest.raises(RefusedError, match="All were made"):
        joint_command("local", tmp_path / "a.toml", *files)
    (tmp_path / "north.csv").write_text("milk\n")
    with pytest.raises(RefusedError, match="not in the agreed list"):
        joint_command("local", tmp_path / "a.toml", *files)

