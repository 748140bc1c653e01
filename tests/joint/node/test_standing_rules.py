"""Consent in advance covers what a rule names, and nothing that it leaves open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.node_fleet import Fleet
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node.standing_rules import StandingRule

RULE = {"tasks": ["sum"], "from": ["north"], "receivers": ["north", "south", "east"],
        "tables": ["people"], "columns": ["age"], "studies": 1, "modes": ["authenticated"],
        "dealers": ["dora"]}
NOISY = {"columns": ["age"], "range.age": [0, 120], "epsilon": 0.5}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("nodes"))


def admits(proposal, without=(), **more):
    rule = {name: value for name, value in {**RULE, **more}.items() if name not in without}
    return StandingRule.of(rule).admits(proposal, "south", 0)


@pytest.mark.parametrize("name", ["tasks", "from", "receivers", "tables", "columns"])
def test_a_rule_that_names_nothing_is_refused(name):
    with pytest.raises(StudyError, match=f"'{name}' of a standing consent names nothing"):
        StandingRule.of({**RULE, name: []})


def test_a_node_without_tables_names_none():
    assert StandingRule.of({**RULE, "tables": [], "columns": []}).columns == ()


def test_modes_and_dealers_are_those_that_are_named(fleet):
    proposal = fleet.proposal()
    assert admits(proposal)
    assert not admits(proposal, without=("modes",))
    assert not admits(proposal, without=("dealers",))
    assert not admits(proposal, modes=["dealer"])
    assert not admits(proposal, dealers=["dolly"])


def test_two_owners_without_shares_wait_for_a_person(tmp_path):
    three = Fleet(tmp_path, names=("north", "south", "east")).proposal(mode="sums")
    *owners, last = three.study.members
    two = replace(three, study=replace(three.study, members=(*owners, replace(
        last, roles=("receiver",)))))
    assert admits(three, modes=["sums"])
    assert not admits(two, modes=["sums"])
    assert not admits(three, modes=["sums"], owners=4)
    assert admits(two, modes=["sums"], owners=2)


def test_every_attempt_counts_against_the_largest_epsilon(fleet):
    assert admits(fleet.proposal(parameters=NOISY, attempts=1), max_epsilon=0.5)
    assert not admits(fleet.proposal(parameters=NOISY, attempts=2), max_epsilon=0.5)
    assert admits(fleet.proposal(parameters=NOISY, attempts=2), max_epsilon=1.0)


def test_a_rule_limits_how_often_a_study_begins(fleet):
    assert admits(fleet.proposal(attempts=20))
    assert not admits(fleet.proposal(attempts=21))
    assert admits(fleet.proposal(attempts=21), attempts=21)
    with pytest.raises(StudyError, match="'attempts' of a standing consent must be"):
        StandingRule.of({**RULE, "attempts": 0})
