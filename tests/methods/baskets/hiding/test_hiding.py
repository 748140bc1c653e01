"""Hiding rules: what is hidden, with how few changes, and what else it does."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import DataError, InputError, NotCoveredError, UnseenValueError
from unspoken.methods.baskets.hiding.lost_rule_costs import Watched
from unspoken.methods.baskets.hiding.thresholds import Thresholds
from unspoken.protect import RuleHider
from unspoken.table.baskets_with_unknowns import Bounds, PartlyKnown, read_partly_known

ITEMS = ("a", "b", "c", "d")


def numbers(rows, left, right):
    """Support and confidence as fractions, counted one by one."""
    both = sum(set(left) | set(right) <= row for row in rows)
    alone = sum(set(left) <= row for row in rows)
    return Fraction(both, len(rows)), Fraction(both, max(alone, 1))


def shown(rows, rule, support, confidence):
    s, c = numbers(rows, *rule)
    return s > 0 and s >= support and c >= confidence


def every_rule(rows, support, confidence, items):
    found = set()
    for size in range(2, len(items) + 1):
        for both in combinations(items, size):
            for k in range(1, size):
                for left in combinations(both, k):
                    rule = left, tuple(i for i in both if i not in left)
                    if shown(rows, rule, support, confidence):
                        found.add(rule)
    return found


def text(rule):
    return " -> ".join(", ".join(side) for side in rule)


def sets_of(baskets):
    return [frozenset(row) for row in baskets.lists()]


def cells(rows):
    return {(i, item) for i, row in enumerate(rows) for item in row}


rows_ = st.lists(st.frozensets(st.sampled_from(ITEMS)), min_size=3, max_size=9)
rules_ = st.sampled_from([(("a",), ("b",)), (("a", "b"), ("c",)), (("c",), ("a", "d"))])
shares_ = st.sampled_from([(0.2, 0.4), (0.25, 0.5), (1 / 3, 0.6), (0.1, 0.9)])


def exact(shares):
    """The fractions that are meant: 0.2 is a fifth."""
    return tuple(Fraction(share).limit_denominator(1000) for share in shares)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["removal", "insertion", "unknown"])
@settings(max_examples=40)
@given(rows=rows_, rules=st.lists(rules_, min_size=1, max_size=2, unique=True), shares=shares_)
def test_targets_go_and_side_effects_are_those_counted_one_by_one(by, rows, rules, shares):
    baskets = unspoken.Baskets.of(rows, ITEMS)
    hider = RuleHider([text(rule) for rule in rules], by, *shares, random_state=1)
    try:
        found = hider.hide(baskets)
    except NotCoveredError:
        assert by == "insertion"
        return
    effects = found.effects
    before = every_rule(rows, *exact(shares), ITEMS)
    assert effects.before == len(before)
    assert all(one.hidden for one in effects.targets)
    assert [one.was_shown for one in effects.targets] == [rule in before for rule in rules]
    if by == "unknown":
        after = claimed(found.baskets, shares)
        assert effects.ghosts == ()
    else:
        after = every_rule(sets_of(found.baskets), *exact(shares), ITEMS)
        gone, come = (cells(rows) - cells(sets_of(found.baskets)),
                      cells(sets_of(found.baskets)) - cells(rows))
        assert (effects.removed, effects.inserted) == (len(gone), len(come))
        assert len(come if by == "removal" else gone) == 0
    assert not after & set(rules)
    assert set(effects.lost) == {text(r) for r in before - after - set(rules)}
    assert set(effects.ghosts) == {text(r) for r in after - before}
    assert effects.after == len(after)


def claimed(partly, shares):
    """Rules that hold whatever the unknown cells are: every way to fill them in is tried."""
    sure, open_ = sets_of(partly.sure), [(i, item) for i, row in enumerate(sets_of(partly.unknown))
                                         for item in row]
    assume(len(open_) <= 6)
    found = None
    for bits in product([0, 1], repeat=len(open_)):
        rows = [row | {item for (j, item), bit in zip(open_, bits, strict=True) if bit and j == i}
                for i, row in enumerate(sure)]
        some = every_rule(rows, *exact(shares), ITEMS)
        found = some if found is None else found & some
    return found


@pytest.mark.slow
@settings(max_examples=40)
@given(rows=st.lists(st.frozensets(st.sampled_from("abc")), min_size=3, max_size=5),
       rule=st.sampled_from([(("a",), ("b",)), (("a", "b"), ("c",)), (("a",), ("b", "c"))]),
       shares=shares_)
def test_one_rule_takes_the_fewest_changes_there_are(rows, rule, shares):
    assume(shown(rows, rule, *exact(shares)))
    baskets = unspoken.Baskets.of(rows, "abc")
    hider = RuleHider([text(rule)], "removal", *shares)
    assert hider.hide(baskets).effects.removed == fewest(rows, rule, shares, "removal")
    least = fewest(rows, rule, shares, "insertion")
    hider.set_params(by="insertion")
    if least is None:
        with pytest.raises(NotCoveredError):
            hider.hide(baskets)
    else:
        assert hider.hide(baskets).effects.inserted == least


def fewest(rows, rule, shares, by):
    """The least number of cells whose change hides a rule, by trying all."""
    everything = {(i, item) for i in range(len(rows)) for item in "abc"}
    free = sorted(cells(rows) if by == "removal" else everything - cells(rows))
    for size in range(len(free) + 1):
        for some in combinations(free, size):
            changed = [row ^ {item for j, item in some if j == i} for i, row in enumerate(rows)]
            if not shown(changed, rule, *exact(shares)):
                return size
    return None


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(st.frozensets(st.sampled_from("abc")),
                          st.frozensets(st.sampled_from("abc"))), min_size=1, max_size=4))
def test_bounds_over_unknown_cells_are_the_extremes_of_all_fillings(parts):
    sure = [s for s, _ in parts]
    open_ = [(i, item) for i, (s, u) in enumerate(parts) for item in sorted(u - s)]
    assume(len(open_) <= 6)
    partly = PartlyKnown(unspoken.Baskets.of(sure, "abc"),
                         unspoken.Baskets.of([u - s for s, u in parts], "abc"))
    bounds = Bounds(partly)
    seen = [], []
    for bits in product([0, 1], repeat=len(open_)):
        rows = [row | {item for (j, item), bit in zip(open_, bits, strict=True) if bit and j == i}
                for i, row in enumerate(sure)]
        seen[0].append(sum({"a", "b"} <= row for row in rows))
        seen[1].append(float(numbers(rows, "a", "bc")[1]))
    assert bounds.count((0, 1)) == (min(seen[0]), max(seen[0]))
    assert bounds.confidence(((0,), (1, 2))) == pytest.approx((min(seen[1]), max(seen[1])))


# Ten baskets; a -> b has support 4/10 and confidence 4/5, c -> d support 3/10, confidence 1.
LISTS = [["a", "b"], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "x"], ["a"], ["c", "d"],
         ["c", "d", "x"], ["x"], ["x"], []]


def test_by_hand():
    baskets = unspoken.Baskets.of(LISTS)
    found = RuleHider(["a -> b"], min_support=0.3, min_confidence=0.6).hide(baskets)
    # Confidence below 0.6 takes two removals of b, support below 0.3 two removals as well.
    assert found.effects.removed == 2
    assert found.effects.accidents == ()
    assert not {(("a",), ("b",)), (("b",), ("a",))} & every_rule(
        sets_of(found.baskets), 0.3, 0.6, "abcdx")
    assert numbers(sets_of(found.baskets), "c", "d") == (Fraction(3, 10), 1)
    found = RuleHider(["a -> b"], "insertion", min_support=0.3, min_confidence=0.6).hide(baskets)
    # Four of seven is below 0.6, four of six is not.
    assert found.effects.inserted == 2
    assert found.effects.targets[0].confidence == (0.8, pytest.approx(4 / 7))
    found = RuleHider(["a -> b"], min_support=0.3, min_confidence=0.6, margin=0.5).hide(baskets)
    # Half of the support is 0.15: one basket of ten at most; half of the confidence is 0.3.
    assert found.effects.removed == 3


def test_lower_says_what_falls():
    baskets = unspoken.Baskets.of([["a", "b"]] * 6 + [["a"]] * 4 + [["b"]] * 10)
    for lower, many in (("support", 4), ("confidence", 2), ("either", 2)):
        found = RuleHider(["a -> b"], min_support=0.15, min_confidence=0.5, lower=lower)
        assert found.hide(baskets).effects.removed == many


def test_baskets_that_miss_least_gain_the_left_side():
    # Six of six becomes six of eleven; five baskets miss b only, smaller ones miss both.
    lists = [["a", "b", "c"]] * 6 + [["a", "x", "y"]] * 5 + [[]] * 9
    found = RuleHider(["a, b -> c"], "insertion", 0.1, 0.6).hide(unspoken.Baskets.of(lists))
    assert found.effects.inserted == 5
    assert [set(row) for row in found.baskets.lists()[6:11]] == [{"a", "b", "x", "y"}] * 5


def test_insertion_does_not_complete_another_target():
    # The smallest baskets without b are those with e alone, but a there would show e -> a.
    lists = [["a", "b"]] * 6 + [["e"]] * 8 + [["a", "e"]] * 3 + [["x", "y", "z"]] * 20
    found = RuleHider(["a -> b", "e -> a"], "insertion", 0.05, 0.5).hide(unspoken.Baskets.of(lists))
    assert found.effects.inserted == 4
    assert sum({"a", "e"} <= set(row) for row in found.baskets.lists()) == 3


def test_a_basket_that_serves_two_rules_goes_first():
    lists = [["a", "b"]] * 3 + [["b", "c"]] * 3 + [["a", "b", "c"]] * 3 + [[]] * 11
    for by, cells_ in (("removal", 3), ("unknown", 3)):
        found = RuleHider(["a -> b", "c -> b"], by, 0.2, 0.01, decoys=0.0)
        assert found.hide(unspoken.Baskets.of(lists)).effects.changed == cells_


def test_what_a_change_costs_rules_that_should_stay():
    baskets = unspoken.Baskets.of([["c", "d"]] * 4 + [["c"]] * 2 + [["d"]] * 2 + [[]] * 2)
    watched = Watched.of([((0,), (1,))], {0}, baskets, Thresholds(0.3, 0.5))
    rows = np.array([0, 4, 6, 8])
    out, in_ = (watched.harm(baskets, rows, [0], there) for there in (False, True))
    # c -> d: four of six, one support and one unit of confidence to lose (4 - 0.5 * 6 = 1).
    # Without c, basket 0 takes one from the support and a half from the confidence.
    assert out.tolist() == pytest.approx([1 / 2 + 0.5 / 2, 0, 0, 0])
    # With c, only a basket without d takes from the confidence: a half.
    assert in_.tolist() == pytest.approx([0, 0, 0, 0.5 / 2])


def test_sets_that_hold_a_hidden_set_had_to_go():
    baskets = unspoken.Baskets.of([["a", "b", "c"]] * 5 + [["c"]] * 5)
    effects = RuleHider(["a -> b"], min_support=0.5, min_confidence=0.5,
                        lower="support").hide(baskets).effects
    assert effects.removed == 1
    assert "a -> b, c" in effects.forced
    assert "b -> a" in effects.forced
    assert "hidden" in effects.summary()
    assert effects.to_json()["removed"] == 1


def test_unknown_cells_do_not_all_stand_for_ones():
    baskets = unspoken.Baskets.of(LISTS)
    found = RuleHider(["a -> b"], "unknown", 0.3, 0.6, decoys=1.0).hide(baskets)
    assert (found.effects.unknown, found.effects.zeros_unknown) == (4, 2)
    assert "Nothing was unknown before" in found.effects.summary()
    bare = RuleHider(["a -> b"], "unknown", 0.3, 0.6, decoys=0.0).hide(baskets)
    assert (bare.effects.unknown, bare.effects.zeros_unknown) == (2, 0)
    # Nothing false is said: what is sure was there, what is neither was not.
    original = cells(sets_of(baskets))
    assert cells(sets_of(found.baskets.sure)) <= original
    assert original <= cells(sets_of(found.baskets.filled()))


def test_decoys_are_fresh_at_every_call():
    baskets = unspoken.Baskets.of([["a", "b"]] * 300 + [["a"]] * 100 + [["x"]] * 2000)
    places = {tuple(RuleHider(["a -> b"], "unknown", 0.01, 0.5).hide(baskets)
                    .baskets.unknown.rows.tolist()) for _ in range(3)}
    assert len(places) == 3


def test_partly_known_baskets_are_written_and_read(tmp_path):
    found = RuleHider(["a -> b"], "unknown", 0.3, 0.6).hide(unspoken.Baskets.of(LISTS)).baskets
    found.save(tmp_path / "out.parquet")
    again = read_partly_known(tmp_path / "out.parquet")
    assert again.sure.same_as(found.sure)
    assert again.unknown.same_as(found.unknown)
    with pytest.raises(DataError, match=r"\.parquet"):
        found.save(tmp_path / "out.csv")
    more = RuleHider(["c -> d"], "unknown", 0.3, 0.6).hide(again)
    assert more.effects.unknown_before == found.unknown.codes.size
    with pytest.raises(InputError, match="unknown"):
        RuleHider(["c -> d"], "removal", 0.3, 0.6).hide(again)


@pytest.mark.parametrize(("options", "says"), [
    ({"rules": []}, "rules"), ({"rules": "a -> b"}, "rules"), ({"rules": ["a b"]}, "->"),
    ({"rules": ["a -> a"]}, "none on both"), ({"rules": [("a", "b")]}, "two lists"),
    ({"by": "magic"}, "by"), ({"min_support": 0}, "min_support"), ({"margin": 1}, "margin"),
    ({"min_confidence": 1.5}, "min_confidence"), ({"decoys": -1}, "decoys"),
    ({"lower": "both"}, "lower"), ({"lower": "support", "by": "insertion"}, "lower")])
def test_what_cannot_be_hidden_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        RuleHider(**{"rules": ["a -> b"], **options}).hide(unspoken.Baskets.of(LISTS))


def test_items_that_are_not_there():
    with pytest.raises(UnseenValueError, match="'z'"):
        RuleHider(["a -> z"]).hide(unspoken.Baskets.of(LISTS))
    with pytest.raises(InputError, match="at least one"):
        RuleHider(["a -> b"]).hide(unspoken.Baskets.of([], ["a", "b"]))


def test_names_with_commas_arrows_and_blanks():
    baskets = unspoken.Baskets.of([["a, b", "x->y", "cream "]] * 4 + [["a, b"]])
    rule = '"a, b", cream -> "x->y"'
    found = RuleHider([rule], min_support=0.2, min_confidence=0.9).hide(baskets)
    assert found.effects.targets[0].rule == '"a, b", "cream " -> "x->y"'
    assert found.effects.removed == 1
    again = RuleHider([found.effects.targets[0].rule], min_support=0.2, min_confidence=0.9)
    assert again.hide(found.baskets).effects.removed == 0


@pytest.mark.slow
def test_groceries_against_mlxtend_and_against_chance(shared, monkeypatch):
    """Counted again by another program; choosing baskets at random loses far more rules."""
    pd = pytest.importorskip("pandas")
    frequent = pytest.importorskip("mlxtend.frequent_patterns")
    baskets = unspoken.read_baskets(shared("groceries.csv.gz"))
    targets = ["root vegetables, butter -> whole milk", "curd, yogurt -> whole milk"]
    hider = RuleHider(targets, "removal", 0.005, 0.4)

    def mined(some):
        table = np.zeros((len(some), len(some.items)), np.bool_)
        table[some.rows, some.codes] = True
        sets = frequent.fpgrowth(pd.DataFrame(table), 0.005)
        rules = frequent.association_rules(sets, metric="confidence", min_threshold=0.4)
        return {(tuple(sorted(a)), tuple(sorted(b)))
                for a, b in zip(rules.antecedents, rules.consequents, strict=True)}

    found = hider.hide(baskets)
    before, after = mined(baskets), mined(found.baskets)
    assert len(before) == 270
    assert (found.effects.before, found.effects.after) == (len(before), len(after))
    assert len(before - after) == len(found.effects.lost) + 2
    assert len(after - before) == len(found.effects.ghosts)
    rng = np.random.default_rng(0)
    monkeypatch.setattr(Watched, "harm", lambda self, b, rows, codes, there: rng.random(rows.size))
    careless = hider.hide(baskets)
    assert careless.effects.removed == found.effects.removed
    assert 2 * len(found.effects.accidents) <= len(careless.effects.accidents) + 5
