"""Intersections, alignments and unions: right, refused where they must be, and in the ledger."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rbcl")

from support import set_programs
from support.set_programs import ANY, RUNS, UNIVERSE, WHY, aligning, counting, names, uniting
from support.watching import masked_frames
from unspoken.errors import InputError
from unspoken.joint import intersection_size
from unspoken.joint.joint_errors import DisclosureError, PeerAbortedError, RefusedError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.sets.alignment import plan_alignment
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import plain_intersection, plan_intersection
from unspoken.joint.mpc.sets.union import plain_union
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_local, run_outcomes
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.ledger import RECEIVED, SENT

pytestmark = pytest.mark.slow


def sets(parties, least=0):
    one = st.lists(st.sampled_from(UNIVERSE), unique=True, min_size=least, max_size=12)
    return st.lists(one, min_size=parties, max_size=parties)


@pytest.mark.parametrize("parties", [1, 2, 3, 5])
@pytest.mark.parametrize("pad", [0, 15])
@settings(max_examples=8)
@given(data=st.data())
def test_the_size_is_the_plain_size(parties, pad, data):
    given_ = data.draw(sets(parties))
    rules = SetRules(least=0, pad_to=pad)
    program = counting(names(parties), rules=rules)
    for output, _ in run_local(program, given_, "sums"):
        assert output == len(plain_intersection(given_))


@pytest.mark.parametrize("parties", [1, 2, 3, 4])
@settings(max_examples=8)
@given(data=st.data())
def test_aligned_rows_are_the_intersection_in_one_order(parties, data):
    given_ = data.draw(sets(parties))
    places = [output for output, _ in run_local(aligning(names(parties)), given_, "sums")]
    rows = [[ids[place] for place in one] for ids, one in zip(given_, places, strict=True)]
    assert all(row == rows[0] for row in rows)
    assert sorted(rows[0]) == sorted(plain_intersection(given_))


@pytest.mark.parametrize(("method", "parties"), [("shares", 1), ("shares", 2), ("shares", 5),
                                                 ("encryption", 1), ("encryption", 3),
                                                 ("encryption", 4), ("encryption", 5)])
@settings(max_examples=8)
@given(data=st.data())
def test_the_union_is_the_plain_union(method, parties, data):
    given_ = data.draw(sets(parties))
    rules = SetRules(least=0, pad_to=data.draw(st.sampled_from([0, 13])))
    program = uniting(names(parties), UNIVERSE, method, rules=rules)
    for output, _ in run_local(program, given_, "dealer" if method == "shares" else "sums"):
        assert set(output) == plain_union(given_)


@pytest.mark.parametrize("parties", [3, 4])
@settings(max_examples=8)
@given(data=st.data())
def test_overlaps_stay_hidden_on_shares(parties, data):
    given_ = data.draw(sets(parties))
    rules = SetRules(least=0, subsets="hidden")
    program = counting(names(parties), ["p1"], rules, UNIVERSE)
    results = run_local(program, given_)
    assert [out for out, _ in results] == [
        len(plain_intersection(given_)) if i == 1 else None for i in range(parties)]
    assert [opening.because for opening in results[1][1].openings] == [WHY]
    assert not any(row.purpose == "encrypted" for _, ledger in results for row in ledger.rows)


@pytest.mark.parametrize(("mode", "parties"), [("two-party", 2), ("three-party", 3),
                                               ("dealer", 2)])
def test_universes_work_in_every_mode_with_shares(mode, parties):
    given_ = [[1, 2, 3, 9], [3, 4, 9], [0, 3, 9]][:parties]
    everybody = names(parties)
    rules = SetRules(least=0, subsets="hidden")
    for output, ledger in run_local(counting(everybody, (), rules, UNIVERSE), given_, mode):
        assert output == 2
        assert [opening.because for opening in ledger.openings] == [WHY]
    for output, _ in run_local(uniting(everybody, UNIVERSE, "shares"), given_, mode):
        assert set(output) == plain_union(given_)


def test_text_bytes_and_numbers_are_the_same_ids():
    given_ = [["1", "zwei", "3"], np.array([1, 3, 4]), [b"3", "1", 5]]
    assert [out for out, _ in run_local(counting(names(3)), given_, "sums")] == [2] * 3


def test_only_the_named_learn_it():
    outputs = [out for out, _ in run_local(counting(names(4), ["p2", "p0"]), [[1, 2]] * 4, "sums")]
    assert outputs == [2, None, 2, None]


def outside(program, given_, owners):
    roles = Roles((*owners, "c"), tuple(owners))
    outcomes = asyncio.run(in_memory(program, [*given_, None], roles))
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return [outcome.output for outcome in outcomes]


def test_a_counter_without_data():
    given_ = [[1, 2, 3], [2, 3, 4]]
    assert outside(counting(names(2), ["c"]), given_, names(2)) == [None, None, 2]
    one, two, nothing = outside(aligning(names(2), "c"), given_, names(2))
    assert nothing is None
    assert [given_[0][i] for i in one] == [given_[1][i] for i in two]
    found = outside(uniting(names(2), UNIVERSE, "encryption", ["c"]), given_, names(2))
    assert found == [None, None, [1, 2, 3, 4]]


def test_a_union_of_two_is_refused_with_the_reason():
    program = uniting(names(2), UNIVERSE, "encryption")
    with pytest.raises(RefusedError, match="Find a third owner"):
        run_local(program, [[1], [2]], "sums")
    for outcome in run_outcomes(program, [[1], [2]], "sums"):
        assert outcome.ledger.openings == []
        assert not any(row.label.startswith("set") for row in outcome.ledger.rows)


@pytest.mark.parametrize(("data", "rules", "why"), [
    ([1, 2, 1], ANY, "Some stand twice"), ([1, 2], SetRules(least=3), "at least 3 ids"),
    ([1, 2, 3], SetRules(least=0, pad_to=2), "pads sets to 2"),
    ([1.5], ANY, "text, bytes or a whole number"), ([None], ANY, "text, bytes"),
    ([True], ANY, "text, bytes"), ([""], ANY, "not empty")])
def test_bad_sets_are_refused_before_anything_is_sent(data, rules, why):
    outcomes = run_outcomes(counting(names(2), rules=rules), [data] * 2, "sums")
    for outcome in outcomes:
        assert not any(row.label.startswith("set") for row in outcome.ledger.rows)
    # Both are wrong; one of them may hear of the other before it has looked at its own.
    own = [o.error for o in outcomes if isinstance(o.error, InputError)]
    assert own
    assert all(why in str(error) for error in own)
    assert all(o.error in own or isinstance(o.error, PeerAbortedError) for o in outcomes)


def test_a_small_set_of_another_is_refused_by_its_name():
    @declares(*counting(names(2), rules=ANY).disclosures)
    async def program(party, data):
        rules = SetRules(least=3 if party.index == 0 else 0)
        return await intersection_size(party, data, because=WHY, rules=rules)

    errors = [o.error for o in run_outcomes(program, [[1, 2, 3], [1]], "sums")]
    assert isinstance(errors[0], RefusedError)
    assert "'p1' has 1" in str(errors[0])


def test_duplicates_may_be_dropped():
    rules = SetRules(least=0, duplicates="drop")
    given_ = [[7, 5, 5, 7], [5, 6, 5]]
    assert run_local(counting(names(2), rules=rules), given_, "sums")[0][0] == 1
    one, two = (out for out, _ in run_local(aligning(names(2), rules=rules), given_, "sums"))
    assert (list(one), list(two)) == ([1], [0])


def test_hidden_overlaps_without_a_universe_are_refused():
    rules = SetRules(least=0, subsets="hidden")
    with pytest.raises(RefusedError, match="overlaps"):
        run_local(counting(names(3), rules=rules), [[1]] * 3, "sums")
    with pytest.raises(RefusedError, match="how their lists"):
        run_local(aligning(names(3), rules=rules), [[1]] * 3, "sums")
    # Two owners have no overlap but the one they ask for.
    assert run_local(counting(names(2), rules=rules), [[1]] * 2, "sums")[0][0] == 1


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_everything_that_is_disclosed_must_be_declared(missing):
    full = counting(names(3)).disclosures

    @declares(*(told for i, told in enumerate(full) if i != missing))
    async def program(party, data):
        return await intersection_size(party, data, because=WHY, rules=ANY)

    assert len(full) == 3
    with pytest.raises(DisclosureError, match="must be declared"):
        run_local(program, [[1]] * 3, "sums")


def test_elements_outside_the_universe_are_refused():
    for method, mode in (("shares", "dealer"), ("encryption", "sums")):
        with pytest.raises(RefusedError, match="are not in the public universe"):
            run_local(uniting(names(3), UNIVERSE, method), [[1], [2], [99]], mode)
    with pytest.raises(RefusedError, match="repeated elements"):
        run_local(uniting(names(3), [1, 1], "shares"), [[1]] * 3)
    with pytest.raises(InputError, match="shares, encryption"):
        run_local(uniting(names(3), UNIVERSE, "magic"), [[1]] * 3)


def test_the_ledger_has_purposes_openings_and_the_planned_bytes():
    given_ = [list(range(9)), list(range(3, 9)), list(range(5))]
    results = run_local(counting(names(3)), given_, "sums")
    ledgers = [ledger for _, ledger in results]
    rows = [row for ledger in ledgers for row in ledger.rows if row.label.startswith("set")]
    purposes = {row.label: row.purpose for row in rows}
    assert purposes == {"set.size": "disclosure", "set.commit": "control",
                        "set.hop1": "encrypted", "set.hop2": "encrypted",
                        "set.full": "encrypted", "set.total": "result"}
    sent = sum(row.bytes for row in rows if row.direction == SENT)
    assert sent == plan_intersection([9, 6, 5], 3)["bytes"]
    assert [opening.because for opening in ledgers[0].learned()] == [
        WHY, f"{WHY}: how many ids each owner has",
        f"{WHY}: sizes of the overlaps of any of the sets"]
    assert [opening.because for opening in ledgers[2].learned()] == [
        WHY, f"{WHY}: how many ids each owner has"]
    for one, ledger in zip(names(3), ledgers, strict=True):
        for other, peer in zip(names(3), ledgers, strict=True):
            assert one == other or (ledger.bytes_with(other, SENT)
                                    == peer.bytes_with(one, RECEIVED) > 0)


@pytest.mark.parametrize("parties", [2, 3, 5])
def test_the_plan_of_an_alignment_is_what_is_sent(parties):
    outputs = run_local(aligning(names(parties)), [list(range(40))] * parties, "sums")
    sent = sum(row.bytes for _, ledger in outputs for row in ledger.rows
               if row.direction == SENT and row.label.startswith("set."))
    assert plan_alignment(40, parties)[1] == sent


def test_lengths_depend_on_nothing_but_declared_sizes():
    for name in ("count", "union"):
        _, one = masked_frames(RUNS[name], [[0, 1, 2], [1, 2], [2, 3, 4, 5]])
        _, two = masked_frames(RUNS[name], [[9, 8, 7], [7, 8], [8, 10, 11, 0]])
        assert one == two
    rules = SetRules(least=0, pad_to=12)
    _, few = masked_frames(counting(names(3), rules=rules), [[1], [1], [1]])
    _, many = masked_frames(counting(names(3), rules=rules), [UNIVERSE] * 3)
    assert few == many


def test_real_processes_agree():
    given_ = [[f"id{i}" for i in range(40)], [f"id{i}" for i in range(20, 60)],
              [f"id{i}" for i in range(30, 90, 2)]]
    results = run_local(set_programs.in_processes, given_, "sums", True)
    assert [size for (size, _), _ in results] == [5] * 3
    rows = [[ids[i] for i in places] for ids, ((_, places), _) in zip(given_, results, strict=True)]
    assert rows[0] == rows[1] == rows[2]
    assert sorted(rows[0]) == ["id30", "id32", "id34", "id36", "id38"]


def test_a_budget_follows_the_records_and_not_the_name_of_the_study(tmp_path):
    """e5: three studies over sets that differ in one id."""
    path = tmp_path / "x.queries"
    ids = [b"%d" % i for i in range(100)]
    QueryBudget("flu", 1, 10**6, path).spend(ids)
    for name in ("flu-2", "flu-3"):
        with pytest.raises(RefusedError, match="A new name for the study does not change that"):
            QueryBudget(name, 1, 1, path).spend([*ids, b"100"])
        with pytest.raises(RefusedError, match="whatever study"):
            QueryBudget(name, 5, 10**6, path).spend([*ids, b"100"])
    QueryBudget("other", 1, 1, path).spend([b"x%d" % i for i in range(100)])
    assert QueryBudget("flu", 3, 1, path).left == 1
