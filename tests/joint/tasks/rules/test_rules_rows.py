"""Association rules over the baskets of several owners (vcz2006 section 6.2.1)."""

from __future__ import annotations

import asyncio
import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unspoken
from support.basket_data import NAMES, SHOPS, as_sets, by_hand, shops, spread
from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.hostile_party import force_send
from support.joint_commands import joint_command
from support.replayed import forecast_holds
from support.watching import masked_frames
from unspoken.errors import InputError, ModelError
from unspoken.joint import reveal, share_sum
from unspoken.joint.joint_errors import DisclosureError, RefusedError, StudyError
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.museum.itemset_union import UNION, RulesByUnion, mine_rules_by_union
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.rules import candidate_levels as ladder
from unspoken.joint.tasks.rules.params import RULES, SETS, RuleParams
from unspoken.joint.tasks.rules.pooled import pooled
from unspoken.joint.tasks.rules.program_rows import (
    Mining,
    RulesOverRows,
    mine_rules_rows,
)
from unspoken.joint.tasks.task_list import all_tasks
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, Purpose, parse
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets

pytestmark = pytest.mark.slow

TASK = all_tasks()["rules"]

TERMS = RuleParams(NAMES, 0.25, 0.75, most=1000)
ALL = [one for shop in SHOPS for one in shop]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spread())
def test_the_result_is_that_of_all_baskets_in_one_place(case):
    lists, owner, support, confidence = case
    parts = [Baskets.of([lists[i] for i in np.flatnonzero(owner == k)], NAMES)
             for k in range(owner.max() + 1)]
    terms = RuleParams(NAMES, support, confidence, most=24)
    count, rules = by_hand(lists, support, confidence)
    found, _ = mine_rules_rows(parts, terms)
    assert as_sets(found[0]) == (set(count), rules)
    assert all(one.same_as(pooled(parts, terms)) for one in found)
    if len(parts) > 2:
        shown = RuleParams(NAMES, support, confidence, most=24, supports="shown")
        counted, _ = mine_rules_rows(parts, shown)
        assert {counted[0].names(s): int(c) for s, c in zip(
            counted[0].sets, counted[0].counts, strict=True)} == count
        assert counted[0].same_as(pooled(parts, shown))


@pytest.mark.parametrize("mode", ["dealer", "three-party", "two-party", "spu"])
def test_every_mode(mode):
    if mode == "spu" and spu_python() is None:
        pytest.skip("SPU is not installed")
    found, ledgers = mine_rules_rows(shops(), TERMS, mode)
    assert as_sets(found[2])[0] == set(by_hand(ALL, 0.25, 0.75)[0])
    assert found[0].same_as(pooled(shops(), TERMS))
    assert {opening.because for opening in ledgers[0].openings} == {SETS, RULES}


def test_the_same_as_the_miners_of_one_place(shared):
    baskets = unspoken.read_baskets(shared("groceries.csv.gz"), repeats="drop")
    parts = [baskets.take(np.arange(len(baskets)) % 4 == i) for i in range(4)]
    found, _ = mine_rules_rows(parts, RuleParams(baskets.items, 0.01, 0.3, supports="shown"))
    alone = unspoken.mine.itemsets(baskets, 0.01)
    assert found[0].itemsets.same_as(alone)
    assert found[0].rules.same_as(unspoken.mine.rules(alone, 0.3))
    assert len(found[0].sets) == 333


@pytest.mark.parametrize("method", ["union", "union-encrypted"])
@pytest.mark.parametrize("fakes", [0, 3])
def test_the_books_union_finds_the_same(method, fakes):
    pytest.importorskip("rbcl")
    found, ledgers = mine_rules_by_union(shops(), TERMS, method=method, fakes=fakes)
    assert found[0].same_as(pooled(shops(), TERMS))
    assert UNION in {opening.because for opening in ledgers[0].openings}


def test_only_the_union_is_compared():
    rare = [Baskets.of([["a", "b"]] * 9 + [["c"]], NAMES) for _ in range(3)]
    sizes = {}
    for method, mine in (("every", mine_rules_rows), ("union", mine_rules_by_union)):
        _, ledgers = mine(rare, RuleParams(NAMES, 0.2))
        sizes[method] = [o.shape for o in ledgers[0].openings if o.because == SETS]
    assert sizes == {"every": [(8,), (1,)], "union": [(2,), (1,)]}


def test_a_set_that_is_rare_at_every_owner_but_one_is_found():
    parts = [Baskets.of([["a", "b", "c"]] * 6, NAMES), Baskets.of([["d"]] * 4, NAMES),
             Baskets.of([["e"]], NAMES)]
    found, _ = mine_rules_rows(parts, RuleParams(NAMES, 0.5, 1.0))
    assert ("a", "b", "c") in as_sets(found[0])[0]


def test_thresholds_are_reached_exactly():
    parts = [Baskets.of([["a"]] * 1 + [[]] * 99, NAMES), Baskets.of([[]] * 100, NAMES)]
    for support, there in ((0.005, {("a",)}), (0.005001, set())):
        found, _ = mine_rules_rows(parts, RuleParams(NAMES, support))
        assert as_sets(found[0])[0] == there


def test_who_is_no_receiver_gets_no_rules():
    found, ledgers = mine_rules_rows(shops(), TERMS, receivers=["p1"])
    assert found[0] is None
    assert found[2] is None
    assert found[1].same_as(pooled(shops(), TERMS))
    assert all(o.to == ("p1",) for o in ledgers[0].openings if o.because == RULES)


def bad_shops():
    few = shops()
    return {
        "no baskets": [*few[:2], Baskets.of([], NAMES)],
        "an item that is not": [*few[:2], Baskets.of([["a", "milk"]])],
        "cannot be used": [*few[:2], [["a"]]],
        "more baskets": [*few[:2], Baskets.of([["a"]] * 1001, NAMES)],
    }


# What goes over the links before anything that depends on data.
BEFORE = {"agree", "ready", "ready.end", "deal.seed", "abort"}


@pytest.mark.parametrize("what", bad_shops())
def test_bad_input_is_refused_by_all_before_anything_is_sent(what):
    outcomes = run_outcomes(RulesOverRows(TERMS), bad_shops()[what])
    for outcome in outcomes[:3]:
        assert isinstance(outcome.error, RefusedError)
        assert "'p2' " in str(outcome.error)
        assert what in str(outcome.error)
        assert {row.label for row in outcome.ledger.rows} <= BEFORE


def test_another_list_of_items_is_refused_by_all():
    """One party has another coding of the same items: every program is its own."""
    others = {"p0": NAMES, "p1": NAMES, "p2": NAMES[::-1]}

    async def program(party, data):
        return await RulesOverRows(RuleParams(others[party.name], 0.25))(party, data)

    outcomes = run_outcomes(program, shops())
    for outcome in outcomes[:3]:
        assert isinstance(outcome.error, RefusedError)
        assert "another list of items" in str(outcome.error)
        assert {row.label for row in outcome.ledger.rows} <= BEFORE


def test_shown_supports_of_two_are_refused():
    shown = RuleParams(NAMES, 0.25, supports="shown")
    with pytest.raises(RefusedError, match="subtract its own"):
        mine_rules_rows(shops()[:2], shown)


def test_items_in_another_order_are_recoded_by_name():
    parts = [shops()[0], shops()[1], shops(NAMES[::-1])[2]]
    assert mine_rules_rows(parts, TERMS)[0][0].same_as(pooled(shops(), TERMS))


@pytest.mark.parametrize("wrong", [{"min_support": 0}, {"min_support": 1.2}, {"longest": 0},
                                   {"supports": "some"}, {"items": ("a", "a")}, {"items": ()},
                                   {"min_confidence": 0.0}, {"most": 0}])
def test_wrong_terms_are_refused(wrong):
    with pytest.raises(InputError):
        RuleParams(**{"items": NAMES, "min_support": 0.5, **wrong})


def test_too_fine_thresholds_are_refused():
    with pytest.raises(InputError, match="six decimals"):
        _ = RuleParams(NAMES, 0.12345678).support


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.8, 0.95]))
def test_candidates_are_the_sets_whose_parts_are_all_frequent(seed, rate):
    random, steps = np.random.default_rng(seed), ladder.Ladder(8, 6)
    frequent = {()}
    while steps.going:
        size = steps.sets.shape[1]
        expected = [one for one in combinations(range(8), size)
                    if all(part in frequent for part in combinations(one, size - 1))]
        assert [tuple(row) for row in steps.sets.tolist()] == expected
        kept = random.random(len(expected)) < rate
        frequent |= {one for one, keep in zip(expected, kept, strict=True) if keep}
        steps.keep(kept)
    assert set(steps.frequent()) == frequent - {()}


def test_too_many_rules_are_refused(monkeypatch):
    monkeypatch.setattr(ladder, "MOST", 10)
    with pytest.raises(RefusedError, match="Rules to test"):
        mine_rules_rows(shops(), TERMS)


WORDS, RUNS = 128, 6
# So bounded, differences have 32 bits, and what is opened fills its words.
WIDE = RuleParams(tuple(map(str, range(WORDS))), 0.5, most=1 << 28)


def even(rows):
    """Baskets in which every item is in a third: nothing is frequent."""
    return Baskets.of([[str(i) for i in range(WORDS) if (i + r) % 3 == 0] for r in range(rows)],
                      WIDE.items)


def views(program=None):
    """Return what the holders and a bystander received, each as (runs, steps, words)."""
    found = {}
    for _ in range(RUNS):
        got = {}

        def tap(source, to, frame, got=got):
            header = parse(frame[:HEADER_BYTES])
            if header.kind is Kind.DATA and header.purpose in (Purpose.MASKED, Purpose.SHARE):
                got.setdefault((source, to, header.label), np.frombuffer(
                    frame[HEADER_BYTES:], np.uint64))
            return frame

        roles = roles_for(["p0", "p1", "p2"], "dealer")
        outcomes = asyncio.run(in_memory(program or RulesOverRows(WIDE),
                                         [even(3), even(6), even(9)], roles, tap=tap))
        assert [one.error for one in outcomes] == [None] * 4
        for key, words in got.items():
            found.setdefault(key, []).append(words)
    return {key: np.array(runs)[:, None, :] for key, runs in found.items()
            if key[2] != sources.SEED}


def caught():
    return min(tell_apart(view, uniform_like(view)) for view in views().values()) < SUSPICIOUS


def test_every_view_looks_uniform():
    found = views()
    assert {key[2] for key in found} >= {"share", "compare.open", "compare.level0",
                                         sources.DEAL}
    for view in found.values():
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize("name", ["left out", "left out on the last", "32 bits"])
@pytest.mark.parametrize("module", [party_module, sources])
def test_broken_masks_are_caught(monkeypatch, name, module):
    monkeypatch.setattr(module, "Stream", spoiled(BROKEN[name]))
    assert caught()


def course(parts, terms=TERMS):
    """Return all lengths of a run, and how many bits were opened."""
    _, lengths = masked_frames(RulesOverRows(terms), parts, "dealer")
    return lengths


def other_counts():
    """Other baskets, other numbers of them and of large sets, the same result."""
    return [Baskets.of([list(one) for shop in SHOPS[:2] for one in shop] * 2, NAMES),
            Baskets.of([list(one) for one in SHOPS[2]] * 2, NAMES),
            Baskets.of([["h"], []], NAMES)]


def told_more_than_the_result():
    return course(shops()) != course(other_counts())


def test_lengths_and_calls_depend_on_the_result_alone():
    assert pooled(shops(), TERMS).same_as(pooled(other_counts(), TERMS))
    assert not told_more_than_the_result()


def test_calls_that_depend_on_an_owners_own_sets_are_caught(monkeypatch):
    real = Mining.level

    async def level(self):
        often = 2 * self.local._baskets.frequencies() >= self.rows
        self.party.begin("size")
        if self.party.name == "p2":
            await force_send(self.party, "p1", "size", np.zeros(often.sum(), np.uint8),
                             Purpose.CONTROL)
        elif self.party.name == "p1":
            await self.party.seam.receive("p2")
        await real(self)

    monkeypatch.setattr(Mining, "level", level)
    assert told_more_than_the_result()


def test_a_count_that_is_opened_instead_of_compared_is_caught(monkeypatch):
    async def opened(self, over, under, ratio, because, to):
        num, den = ratio
        part = den * over - num * under
        shared = await share_sum(self.party, part, part.shape, -num * self.terms.most,
                                 den * self.terms.most)
        found = await reveal(self.party, shared, because=because, to=to)
        return None if found is None else found >= 0

    assert disclosed_bits() == 0
    monkeypatch.setattr(Mining, "_reached", opened)
    assert disclosed_bits() > 0


def disclosed_bits():
    """Return how many more words were opened than the bits of the result have."""
    outcomes = run_outcomes(RulesOverRows(TERMS), shops())
    rows = [row for row in outcomes[2].ledger.rows if row.label == "reveal"]
    bits = [opening.shape for opening in outcomes[2].ledger.openings]
    return sum(row.shape[0] for row in rows) - sum(2 * -(-shape[0] // 64) for shape in bits)


def test_a_count_that_nobody_declared_stays_in(monkeypatch):
    async def more(self, counts, receivers):
        shared = await share_sum(self.party, counts, counts.shape, 0, self.terms.most)
        return await reveal(self.party, shared, because="counts")

    monkeypatch.setattr(Mining, "_supports", more)
    with pytest.raises(DisclosureError, match="must be declared"):
        mine_rules_rows(shops(), RuleParams(NAMES, 0.25, supports="shown"))


def test_the_pattern_is_read_as_it_was_written():
    for terms in (TERMS, RuleParams(NAMES, 0.25, supports="shown")):
        found = pooled(shops(), terms)
        again = Associations.load(json.dumps(found.to_json()))
        assert again.same_as(found)
        assert str(len(found.sets)) in found.summary()
    hidden = pooled(shops(), TERMS)
    assert not hidden.same_as(pooled(shops(), RuleParams(NAMES, 0.25, 0.75, supports="shown")))
    with pytest.raises(InputError, match="were not"):
        _ = hidden.rules


@pytest.mark.parametrize("change", [
    {"format": "x"}, {"left_codes": [9]}, {"min_support": 2}, {"sets_sizes": [99]},
    {"min_confidence": True}, {"items": "a"}, {"counts": [-1]}])
def test_damaged_patterns_are_refused(change):
    data = pooled(shops(), TERMS).to_json() | change
    with pytest.raises(ModelError):
        Associations.from_json(data)


def member(name, *roles):
    return Member(name, f"{name}.example:7700", roles, name * 8, name.encode())


def study(mode="dealer", **parameters):
    roles = ("owner", "receiver", "holder")
    dealer = (member("d", "dealer"),) if mode == "dealer" else ()
    return Study("shops", "rules", mode, (member("a", *roles), member("b", *roles),
                                          member("c", *roles[:2]), *dealer),
                 {"support": 0.25, "items": list(NAMES), **parameters})


@pytest.mark.parametrize(("parameters", "why"), [
    ({"support": 0}, "'support'"), ({"items": []}, "a list of names"), ({"x": 1}, "no parameter"),
    ({"items": ["x" * 60_000]}, "letters"), ({"supports": "?"}, "supports"),
    ({"support": "1%"}, "'support'"), ({"longest": 0}, "longest"),
    ({"method": "union"}, "no parameter 'method'"), ({"fakes": 1}, "no parameter 'fakes'")])
def test_wrong_parameters_are_named(parameters, why):
    with pytest.raises(StudyError, match=why):
        TASK.check(study(**parameters).parameters)


def test_the_plan_says_who_learns_what():
    made = TASK.plan(study())
    assert made.learns["a"] == [SETS, RULES]
    assert made.learns["d"] == ["how many candidates and rules there are of each size"]
    assert UNION in {d.because for d in RulesByUnion(TERMS).disclosures}
    with pytest.raises(StudyError, match="mode with shares"):
        TASK.plan(study("sums"))
    with pytest.raises(InputError, match="'method'"):
        RulesByUnion(TERMS, method="best")
    assert [d.because for d in TASK.disclosures(study())] == [SETS, RULES]


def test_planned_bytes_are_those_of_a_run():
    terms = RuleParams(tuple(map(str, range(2000))), 0.001, most=1 << 17)
    parts = [Baskets.of([["1", "2"]] + [[str(r), str(r + 1)] for r in range(900)], terms.items)
             for _ in range(3)]
    forecast_holds(RulesOverRows(terms), dict(zip("abc", parts, strict=True)))


@pytest.mark.slow
def test_from_files_to_rules(tmp_path, capsys):
    for name, shop in zip(("north", "south", "east"), SHOPS, strict=True):
        joint_command("identity", name, "--folder", tmp_path)
        (tmp_path / f"{name}.csv").write_text("".join(",".join(one) + "\n" for one in shop))
    joint_command("identity", "dora", "--folder", tmp_path)
    parties = [word for i, name in enumerate(("north", "south", "east"))
               for word in ("--party", f"{tmp_path / name}.crt=host{i}.example:7700")]
    joint_command("new", tmp_path / "study.toml", "--name", "shops", "--task", "rules",
                "--set", "support=0.25", "--set", "confidence=0.75", "--set",
                f"items={json.dumps(list(NAMES))}", *parties,
                "--dealer", f"{tmp_path / 'dora.crt'}=host9.example:7700")
    files = [word for name in ("north", "south", "east")
             for word in ("--data", f"{name}={tmp_path / name}.csv")]
    assert joint_command("local", tmp_path / "study.toml", *files, "--out",
                       tmp_path / "rules.json") == 0
    assert "rules of confidence 0.75" in capsys.readouterr().out
    assert Associations.load(tmp_path / "rules.json").same_as(pooled(shops(), TERMS))
    (tmp_path / "east.csv").write_text("a,milk\n")
    with pytest.raises(RefusedError, match="not in the agreed list") as refused:
        joint_command("local", tmp_path / "study.toml", *files)
    assert "milk" not in str(refused.value)
