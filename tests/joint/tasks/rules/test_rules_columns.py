"""Association rules over baskets whose items are spread among owners (vcz2006 section 6.2.2)."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import unspoken
from support.basket_columns import ALL, GROUPS, ITEMS, TERMS, columns, spread
from support.basket_data import as_sets, by_hand
from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.hostile_party import force_send
from support.watching import masked_frames
from unspoken.errors import InputError
from unspoken.joint import reveal
from unspoken.joint.joint_errors import DisclosureError, RefusedError
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.mpc.ops import pair_counts as pairs
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_outcomes
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.rules.item_sites import Sites
from unspoken.joint.tasks.rules.params import RULES, SETS, SUPPORTS, RuleParams
from unspoken.joint.tasks.rules.pooled import pooled_columns as pooled
from unspoken.joint.tasks.rules.program_columns import (
    ROWS,
    Mining,
    RulesOverColumns,
    mine_rules_columns,
)
from unspoken.joint.wire.frames import HEADER_BYTES, Purpose, parse
from unspoken.numerics.packed_bits import bit_counts
from unspoken.table.baskets import Baskets

pytestmark = pytest.mark.slow


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spread())
def test_the_result_is_that_of_whole_baskets(case):
    lists, groups, support, confidence = case
    parts = columns(lists, groups)
    items = tuple("".join(groups.values()))
    terms = RuleParams(items, support, confidence, most=100, supports="shown")
    found, _ = mine_rules_columns(parts, terms, fewest=1)
    count, rules = by_hand(lists, support, confidence)
    named = {tuple(sorted(found[0].names(s))): int(c) for s, c in zip(
        found[0].sets, found[0].counts, strict=True)}
    assert named == count
    assert {(tuple(sorted(a)), tuple(sorted(b))) for a, b in as_sets(found[0])[1]} == rules
    assert all(one.same_as(pooled(list(parts.values()), terms, Sites.of(groups)))
               for one in found)


@pytest.mark.parametrize("mode", ["dealer", "three-party", "two-party", "spu", "authenticated"])
def test_every_mode(mode):
    if mode == "spu" and spu_python() is None:
        pytest.skip("SPU is not installed")
    found, ledgers = mine_rules_columns(columns(), TERMS, mode, fewest=4)
    assert found[0].same_as(pooled(list(columns().values()), TERMS, Sites.of(GROUPS)))
    assert ("c", "b", "d") in as_sets(found[2])[0]
    assert {opening.because for opening in ledgers[0].openings} == {ROWS, SETS, RULES}


def test_the_same_as_the_miners_of_one_place(shared):
    whole = unspoken.read_baskets(shared("groceries.csv.gz"), repeats="drop").take(slice(0, 3000))
    parts, names = {}, np.array(whole.items)
    for i in range(3):
        here = np.isin(whole.codes, np.arange(i, 169, 3))
        parts[f"p{i}"] = Baskets.from_rows(whole.rows[here], whole.codes[here] // 3, len(whole),
                                           tuple(names[i::3]))
    items = tuple(name for part in parts.values() for name in part.items)
    found, _ = mine_rules_columns(parts, RuleParams(items, 0.02, 0.2, supports="shown"))
    alone = unspoken.mine.itemsets(whole, 0.02)
    assert {tuple(sorted(n)): s for n, s in found[0].itemsets} == {
        tuple(sorted(n)): s for n, s in alone}
    assert len(found[0].rules) == len(unspoken.mine.rules(alone, 0.2)) > 10


def bad():
    good = columns()
    return {
        "no baskets": {**good, "east": Baskets.of([], ("e", "f"))},
        "an item that is not": {**good, "east": Baskets.of([["e", "milk"]] * 17)},
        "cannot be used": {**good, "east": [["e"]]},
        "more baskets": {**good, "east": Baskets.of([["e"]] * 1001, ("e", "f"))},
        "same baskets": {**good, "east": Baskets.of([["e"]] * 16, ("e", "f"))},
    }


BEFORE = {"agree", "ready", "ready.end", "rows", "deal.seed", "abort"}


@pytest.mark.parametrize("what", bad())
def test_bad_input_is_refused_by_all_before_anything_is_sent(what):
    program = RulesOverColumns(TERMS, Sites.of(GROUPS), fewest=4)
    outcomes = run_outcomes(program, list(bad()[what].values()), names=list(GROUPS))
    for outcome in outcomes[:3]:
        assert isinstance(outcome.error, RefusedError)
        assert what in str(outcome.error)
        assert "'east'" in str(outcome.error)
        assert {row.label for row in outcome.ledger.rows} <= BEFORE


def test_another_coding_is_refused_by_all():
    other = {**GROUPS, "east": "fe"}

    async def program(party, data):
        groups = other if party.name == "east" else GROUPS
        sites = Sites.of(groups)
        return await RulesOverColumns(RuleParams(sites.names, 0.25), sites, fewest=1)(party, data)

    outcomes = run_outcomes(program, list(columns().values()), names=list(GROUPS))
    for outcome in outcomes[:3]:
        assert "another list of items" in str(outcome.error)


@pytest.mark.parametrize("groups", [{"a": "xy", "b": "yz"}, {"a": "xy", "b": ""}])
def test_items_of_two_or_of_none_are_refused(groups):
    with pytest.raises(InputError, match="nobody those of another"):
        Sites.of(groups)


def test_thresholds_that_ask_about_single_baskets_are_refused():
    with pytest.raises(RefusedError, match="at least 10 baskets"):
        mine_rules_columns(columns(), TERMS)


def test_who_is_no_receiver_learns_no_rules_and_no_supports():
    terms = RuleParams(ITEMS, 0.25, supports="shown")
    found, ledgers = mine_rules_columns(columns(), terms, receivers=["south"], fewest=1)
    assert found[0] is None
    assert found[2] is None
    assert found[1].baskets == len(ALL)
    assert all(o.to == ("south",) for o in ledgers[0].openings if o.because in (RULES, SUPPORTS))


def course(lists):
    program = RulesOverColumns(TERMS, Sites.of(GROUPS), fewest=1)
    names = dict(zip(GROUPS, ("p0", "p1", "p2"), strict=True))
    program.sites = Sites({names[k]: v for k, v in program.sites.items.items()})
    return masked_frames(program, list(columns(lists).values()), "dealer")[1]


# Other counts of rare items, and more baskets with items of the third owner: the same result.
OTHERS = ["ef" if one == "gh" else one for one in ALL]


def told_more_than_the_result():
    return course(ALL) != course(OTHERS)


def test_lengths_and_calls_depend_on_the_result_alone():
    first, second = (pooled(list(columns(lists).values()), TERMS, Sites.of(GROUPS))
                     for lists in (ALL, OTHERS))
    assert first.same_as(second)
    assert not told_more_than_the_result()


def test_a_size_on_the_way_is_caught(monkeypatch):
    """A mutant that leaves rows out that have none of its items tells how many these are."""
    real = Mining._pairs

    async def fewer(self, sets):
        self.party.begin("rows")
        mine = int(bit_counts(np.bitwise_or.reduce(self.bitmaps, axis=0)))
        if self.party.index == 2:
            await force_send(self.party, "p0", "rows", np.zeros(mine, np.uint8),
                             Purpose.CONTROL)
        elif self.party.index == 0:
            await self.party.seam.receive("p2")
        return await real(self, sets)

    monkeypatch.setattr(Mining, "_pairs", fewer)
    assert told_more_than_the_result()


def test_a_count_that_nobody_declared_stays_in(monkeypatch):
    async def opened(self, least):
        counts = await self._counts()
        await reveal(self.party, counts, because="counts of candidates")

    monkeypatch.setattr(Mining, "level", opened)
    with pytest.raises(DisclosureError, match="must be declared"):
        mine_rules_columns(columns(), TERMS, fewest=1)


def test_a_count_that_is_opened_under_another_name_is_caught(monkeypatch):
    async def opened(self, least):
        counts = await self._counts()
        frequent = (await reveal(self.party, counts, because=SETS)) >= least
        self.kept.append(counts[np.flatnonzero(frequent)])
        self.ladder.keep(frequent)

    assert words_beyond_the_result() == 0
    monkeypatch.setattr(Mining, "level", opened)
    assert words_beyond_the_result() > 0


def words_beyond_the_result():
    """Return how many more words a bystander received than the bits of the result have."""
    program = RulesOverColumns(TERMS, Sites.of(GROUPS), fewest=1)
    outcomes = run_outcomes(program, list(columns().values()), names=list(GROUPS))
    ledger = outcomes[2].ledger
    rows = [row for row in ledger.rows if row.label == "reveal"]
    bits = [opening.shape for opening in ledger.openings if opening.because != ROWS]
    return sum(row.shape[0] for row in rows) - sum(2 * -(-shape[0] // 64) for shape in bits)


def test_no_frame_comes_twice():
    """Two runs over the same data have no masked frame in common."""
    program = RulesOverColumns(
        RuleParams(tuple("ab"), 0.25), Sites.of({"p0": "a", "p1": "b"}), fewest=1
    )
    parts = list(columns(groups={"p0": "a", "p1": "b"}).values())
    first, second = (set(masked_frames(program, parts, "dealer")[0]) for _ in range(2))
    assert len(first) > 5
    assert not {one for one in first & second if len(one) >= 16}


RUNS = 6
WIDE = {f"p{k}": tuple(f"{k}{i}" for i in range(4)) for k in range(3)}


def views():
    """Return every masked or shared message of whole words, the first of each kind, of runs.

    All sets of up to three items are frequent, so that every part of the protocol takes part.
    """
    found = {}
    parts = [Baskets.of([names] * 1024, names) for names in WIDE.values()]
    sites = Sites.of(WIDE)
    program = RulesOverColumns(RuleParams(sites.names, 0.5, longest=3), sites)
    for _ in range(RUNS):
        got = {}

        def tap(source, to, frame, got=got):
            header = parse(frame[:HEADER_BYTES])
            hidden = header.purpose in (Purpose.MASKED, Purpose.SHARE)
            if hidden and header.dtype == "<u8" and header.chunk == 0:
                got.setdefault((source, to, header.label), np.frombuffer(
                    frame[HEADER_BYTES:], np.uint64))
            return frame

        outcomes = asyncio.run(in_memory(program, parts, roles_for(list(WIDE), "dealer"), tap=tap))
        assert [one.error for one in outcomes] == [None] * 4
        for key, words in got.items():
            found.setdefault(key, []).append(words)
    return {key: np.array(runs)[:, None, :] for key, runs in found.items()}


def test_every_view_looks_uniform():
    found = views()
    assert {key[2] for key in found} >= {"share", "bits", "and.open", "numbers.open",
                                         "compare.level0", "deal.correction"}
    for view in found.values():
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize("module", [party_module, sources])
def test_broken_masks_are_caught(monkeypatch, module):
    monkeypatch.setattr(module, "Stream", spoiled(BROKEN["left out"]))
    assert min(tell_apart(view, uniform_like(view)) for view in views().values()) < SUSPICIOUS


def test_pairs_are_counted_together(monkeypatch):
    calls = []
    real = pairs.pair_counts

    async def counted(*given):
        calls.append(given[2])
        return await real(*given)

    monkeypatch.setattr("unspoken.joint.tasks.rules.program_columns.pair_counts", counted)
    mine_rules_columns(columns(), TERMS, fewest=1)
    assert calls == [{"north": 2, "south": 2, "east": 0}] * 3
