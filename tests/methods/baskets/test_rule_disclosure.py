"""The risk that published rules pose, against counting people one by one."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken import mine, risk
from unspoken.errors import InputError, UnseenValueError
from unspoken.methods.baskets.rule_disclosure import people_exposed, rule_risks

# Ten people. Of four smokers with a cough three are ill; of six others one.
LISTS = ([["smokes", "cough", "ill"]] * 3 + [["smokes", "cough"]] + [["smokes"]] * 2
         + [["ill"]] + [["drinks"]] * 3)


def rules_of(lists, support=0.1, confidence=0.1):
    baskets = unspoken.Baskets.of(lists)
    return baskets, mine.rules(mine.itemsets(baskets, support), confidence)


def row(risks, name):
    return next(one for one in risks.to_json() if one["rule"] == name)


def test_by_hand():
    _, rules = rules_of(LISTS)
    risks = rule_risks(rules, {"smokes": 1.0, "cough": 0.5}, ["ill"])
    found = row(risks, "cough, smokes -> ill")
    # Four people meet the left side, of half of them it is known, and three of four are ill.
    assert found["people"] == pytest.approx(2.0)
    assert found["confidence"] == pytest.approx(0.75)
    assert found["exposure"] == pytest.approx(1.5)
    assert found["gain"] == pytest.approx(0.75 - 0.4)
    assert row(risks, "smokes -> ill")["exposure"] == pytest.approx(3.0)
    names = [one["rule"] for one in risks.to_json()]
    assert names[0] == "smokes -> ill"
    assert all("ill" in name.split("->")[1] and "ill" not in name.split("->")[0]
               for name in names)
    assert risks.silent == len(rules) - len(risks)
    assert "75.0% sure (anybody: 40.0%)" in risks.summary()


def test_several_items_known_at_once():
    _, rules = rules_of(LISTS)
    known = {"smokes": 0.5, "cough": 0.4}
    worst = row(rule_risks(rules, known, ["ill"]), "cough, smokes -> ill")
    alone = row(rule_risks(rules, known, ["ill"], together="independent"), "cough, smokes -> ill")
    assert (worst["known"], alone["known"]) == pytest.approx((0.4, 0.2))


def test_private_is_what_is_not_known_unless_said():
    _, rules = rules_of(LISTS)
    risks = rule_risks(rules, ["smokes"])
    assert {one["rule"] for one in risks.to_json()} == {
        "smokes -> ill", "smokes -> cough", "smokes -> cough, ill"}


def test_estimated_rules_count_with_their_upper_bounds():
    rng = np.random.default_rng(0)
    baskets = unspoken.Baskets.of([["a", "b"] if rng.random() < .5 else ["c"] for _ in range(2000)])
    release, _ = unspoken.protect.Mask(0.9, random_state=1).protect(baskets)
    rules = mine.rules(mine.itemsets(release, 0.3), 0.5)
    risks = rule_risks(rules, ["a"])
    assert len(risks) > 0
    for i in range(len(risks)):
        assert risks.confidence[i] == risks.rules.interval("confidence")[1][i]
        assert risks.confidence[i] >= min(risks.rules.confidence[i], 1.0)


def test_people_are_counted_once_against_a_loop():
    baskets, rules = rules_of(LISTS)
    found = people_exposed(baskets, rules, ["smokes", "cough"], ["ill"], alert=0.5)
    exposed = right = 0
    for person in LISTS:
        best = 0.0
        for left, then, sure in zip(rules.left, rules.right, rules.confidence, strict=True):
            if set(rules.names(left)) <= set(person) & {"smokes", "cough"} \
                    and "ill" in rules.names(then):
                best = max(best, sure)
        if best >= 0.5:
            exposed += 1
            right += "ill" in person
    assert (found.exposed, found.right) == (exposed, right)
    assert found.expected == pytest.approx(0.4 * exposed)
    assert "people meet a rule" in found.summary()
    assert people_exposed(baskets, rules, ["drinks"], ["ill"]).exposed == 0


def test_the_surest_rule_counts():
    # Three of four with s have p, two of four have q.
    baskets, rules = rules_of([["s", "p"], ["s", "p"], ["s", "p", "q"], ["s", "q"], ["x"]])
    found = people_exposed(baskets, rules, ["s"], ["p", "q"])
    assert (found.exposed, found.right) == (4, 3)
    assert found.expected == pytest.approx(4 * 0.6)


def test_what_is_refused():
    baskets, rules = rules_of(LISTS)
    with pytest.raises(UnseenValueError, match="Item 'wine'"):
        rule_risks(rules, ["wine"])
    with pytest.raises(InputError, match="from 0 to 1"):
        rule_risks(rules, {"smokes": 2})
    with pytest.raises(InputError, match="a list"):
        rule_risks(rules, "smokes")
    with pytest.raises(InputError, match="together"):
        rule_risks(rules, ["smokes"], together="perhaps")
    with pytest.raises(InputError, match="alert"):
        people_exposed(baskets, rules, ["smokes"], alert=0)
    with pytest.raises(InputError, match="over the same items"):
        people_exposed(unspoken.Baskets.of([["smokes"]]), rules, ["smokes"])


def test_hiding_a_rule_takes_its_risk_away():
    baskets, rules = rules_of(LISTS, 0.2, 0.6)
    assert len(risk.rule_risks(rules, ["smokes", "cough"], ["ill"])) > 0
    hider = unspoken.protect.RuleHider(
        [rule["rule"] for rule in rule_risks(rules, ["smokes", "cough"], ["ill"]).to_json()],
        min_support=0.2, min_confidence=0.6)
    after = mine.rules(mine.itemsets(hider.hide(baskets).baskets, 0.2), 0.6)
    assert len(risk.rule_risks(after, ["smokes", "cough"], ["ill"])) == 0
