"""The register: what went out, and what the next release would add."""

from __future__ import annotations

import stat

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.people import people, release_of
from unspoken.errors import InputError, ReleaseError
from unspoken.release.register import Entry
from unspoken.risk import Register, attack_together, digest, what_it_adds


def other_class(table):
    rows = table.arrow().drop_columns(["group"])
    heavy = pa.array(np.where(rows["weight"].to_numpy() > 80, "heavy", "light"))
    return unspoken.read(rows.append_column("group", heavy), target="group", show=False)


def test_a_digest_does_not_depend_on_the_order_of_rows_or_columns():
    table = people(missing=True)
    rows = table.arrow()
    order = np.random.default_rng(0).permutation(rows.num_rows)
    names = rows.column_names
    mixed = unspoken.read(rows.take(pa.array(order)).select(names[::-1]), show=False)
    assert digest(mixed).table == digest(table).table
    assert digest(people(seed=1)).table != digest(table).table


def test_entries_are_kept_in_a_file_only_the_owner_reads(tmp_path):
    path = tmp_path / "register"
    table = people()
    release, _ = release_of(table)
    register = Register.load(path)
    assert register.entries == ()
    register = register.add_release(table, release, "university")
    register = register.add_other("query", table, "mean of age", "ministry")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = Register.load(path)
    assert again == register
    first, second = again.entries
    assert (first.kind, first.to, first.what) == ("release", "university", release.fingerprint)
    assert first.guarantee == "same-tree"
    assert set(first.columns) == {"age", "salary", "weight", "group"}
    assert (second.kind, second.guarantee) == ("query", "none")
    assert "secret" not in path.read_text()


def test_entries_made_elsewhere_in_between_are_not_lost(tmp_path):
    path, table = tmp_path / "register", people()
    stale = Register.load(path)
    stale.add_other("study", table, "one", "a")
    assert len(stale.add_other("study", table, "two", "b").entries) == 2


def test_a_table_is_recognised_by_any_of_its_columns(tmp_path):
    table = people()
    release, _ = release_of(table)
    register = Register.load(tmp_path / "r").add_release(table, release, "x")
    part = unspoken.read(table.arrow(["age"]), show=False)
    assert register.before(part)
    assert not register.before(people(seed=3))


def same_people(rows, **roles):
    return unspoken.read(rows, show=False, **roles)


def changes(rows):
    """Return the same people after what happens to tables."""
    heavier = pa.array(rows["weight"].to_numpy() * 2.2046)
    names = {"age": "Age", "salary": "SALARY", "weight": "weight ", "group": "group"}
    return {
        "one row less": rows.slice(1), "one row more": pa.concat_tables([rows, rows.slice(7, 1)]),
        "half of them": rows.take(pa.array(np.arange(0, rows.num_rows, 2))),
        "another order": rows.take(pa.array(np.arange(rows.num_rows)[::-1])),
        "another unit": rows.set_column(2, "weight", heavier),
        "an edited column": rows.set_column(0, "age", pa.array(np.zeros(rows.num_rows))),
        "a column less": rows.drop_columns(["salary"]),
        "a column more": rows.append_column("new", pa.array(np.arange(rows.num_rows) % 9)),
        "names spelt otherwise": rows.rename_columns([names[n] for n in rows.column_names]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("change", changes(people().arrow()))
def test_the_same_people_are_known_again(tmp_path, change):
    table = people()
    register = Register.load(tmp_path / "r").add_other("study", table, "x", "y")
    again = same_people(changes(table.arrow())[change])
    assert register.before(again), register.known_people(again)
    assert register.known_people(again)[0] >= 0.5
    assert register.known_people(people(seed=3))[0] < 0.4


def test_people_are_known_by_their_identifiers(tmp_path):
    rng = np.random.default_rng(0)
    ids = [f"AB-{n:05d}" for n in rng.permutation(400)]
    first = same_people(pa.table({"id": ids, "x": rng.normal(size=400)}), identifiers=["id"])
    other = same_people(pa.table({"number": [one.replace("-", "").lower() for one in ids[:300]],
                                  "y": rng.normal(size=300)}), identifiers=["number"])
    register = Register.load(tmp_path / "r").add_other("model", first, "a tree", "clinic")
    assert register.known_people(other)[0] == 1.0
    strangers = same_people(pa.table({"number": [f"ZZ{n}" for n in range(300)],
                                      "y": rng.normal(size=300)}), identifiers=["number"])
    assert register.before(strangers) == ()


def test_nothing_in_the_register_can_be_found_by_trying(tmp_path):
    path = tmp_path / "r"
    table = people()
    Register.load(path).add_other("query", table, "mean", "x")
    text = path.read_text()
    known = digest(table)
    assert known.table not in text
    assert not [one for one in known.columns.values() if one in text]
    assert stat.S_IMODE((tmp_path / "r.key").stat().st_mode) == 0o600


def test_an_edited_or_shortened_register_is_noticed(tmp_path):
    path, table = tmp_path / "r", people(40)
    for number in range(3):
        Register.load(path).add_other("study", table, f"study {number}", "x")
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    for broken in (text.replace("study 1", "study 7"), lines[0] + lines[2], "".join(lines[:2]),
                   "".join([lines[1], lines[0], lines[2]]), lines[0] * 3):
        path.write_text(broken)
        with pytest.raises(ReleaseError, match="register"):
            Register.load(path)
    path.write_text("")
    with pytest.raises(ReleaseError, match="cut off"):
        Register.load(path)
    path.write_text(text)
    assert len(Register.load(path).entries) == 3
    (tmp_path / "r.key").unlink()
    with pytest.raises(ReleaseError, match="key"):
        Register.load(path)


def test_a_lost_register_is_not_an_empty_one(tmp_path):
    path, table = tmp_path / "r", people(40)
    fresh = Register.load(path)
    fresh.add_other("study", table, "one", "x")
    path.unlink()
    with pytest.raises(ReleaseError, match="is not there any more"):
        Register.load(path)
    with pytest.raises(ReleaseError, match="Nothing was added"):
        fresh.add_other("study", table, "two", "x")
    assert not path.exists()


def test_a_key_without_any_entry_is_an_empty_register(tmp_path):
    assert Register.load(tmp_path / "r").entries == ()
    assert Register(tmp_path / "r").keyed(Entry("study", "", {}, "a", "b", "", "none"))
    assert (tmp_path / "r.key").exists()
    assert Register.load(tmp_path / "r").entries == ()


def _enter(args):
    path, number = args
    Register.load(path).add_other("study", people(40), f"study {number}", "x")


def test_two_writers_wait_for_each_other(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(_enter, [(tmp_path / "r", number) for number in range(8)]))
    entered = {one.what for one in Register.load(tmp_path / "r").entries}
    assert entered == {f"study {number}" for number in range(8)}


def test_baskets_are_entered(tmp_path):
    baskets = unspoken.Baskets.of([["a", "b"], ["c"], ["a"], ["b", "c"]] * 5)
    release, _ = unspoken.protect.Mask(0.9).protect(baskets)
    from unspoken.table.basket_tables import as_table

    whole = as_table(baskets, release.mechanism)
    register = Register.load(tmp_path / "r").add_release(whole, release, "x")
    assert register.entries[0].kind == "baskets"
    assert register.before(whole)


@pytest.mark.parametrize("broken", ["nonsense\n", '{"kind": "release"}\n', "[1]\n"])
def test_a_broken_register_is_refused_by_name(tmp_path, broken):
    path = tmp_path / "register"
    path.write_text(broken)
    with pytest.raises(ReleaseError, match="register"):
        Register.load(path)


def test_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match="release, study, query"):
        Register.load(tmp_path / "r").add_other("rumour", people(), "x", "y")


@pytest.mark.slow
def test_two_strict_releases_add_nothing(tmp_path):
    table = people()
    first, _ = release_of(table)
    first = first.save(tmp_path / "first")
    second, _ = release_of(table, random_state=2)
    register = Register.load(tmp_path / "r").add_release(table, first, "x", str(tmp_path / "first"))
    found = what_it_adds(register, table, second)
    assert {one.column for one in found} == {"age", "salary", "weight"}
    for one in found:
        assert (one.before, one.next_alone, one.together) == (1.0, 1.0, 1.0)
        assert "no more order" in one.words


@pytest.mark.slow
def test_max_mono_releases_with_other_classes_add_order(tmp_path):
    table = people()
    other = other_class(table)
    first, _ = release_of(table, mode="max-mono")
    first = first.save(tmp_path / "first")
    register = Register.load(tmp_path / "r").add_release(table, first, "x", str(tmp_path / "first"))
    second, key = release_of(other, mode="max-mono", random_state=4, neutral_names=True)
    from unspoken.methods.encoding.code_book import PiecewiseBook

    names = {c.name: c.released for c in PiecewiseBook.from_key(key).columns}
    found = {one.column: one for one in what_it_adds(register, other, second, names)}
    assert set(found) == {"age", "salary", "weight"}
    assert found["age"].together > found["age"].before
    assert "in exact order" in found["age"].words


@pytest.mark.slow
def test_an_earlier_release_that_is_not_at_hand_is_said_to_be(tmp_path):
    table = people()
    strict, _ = release_of(table)
    mono, _ = release_of(table, mode="max-mono", random_state=2)
    register = Register.load(tmp_path / "r").add_release(table, strict, "x", str(tmp_path / "no"))
    again, _ = release_of(table, random_state=3)
    assert "nothing about order" in what_it_adds(register, table, again)[0].words
    assert "could not be read" in what_it_adds(register, table, mono)[0].words
    assert what_it_adds(register, table, strict) == ()


def test_columns_that_only_one_release_holds_are_left_out():
    table = people()
    first, _ = release_of(table)
    second, _ = release_of(table, random_state=2)
    assert set(attack_together(first, second, {"age": "age", "nothing": "salary"})) == {"age"}
