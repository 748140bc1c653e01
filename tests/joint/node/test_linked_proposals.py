"""A linkage unit that is a node: proposed by name, shown in the plan, admitted by rule alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from support.linked_people import LINK
from support.node_fleet import Fleet
from support.study_people import members_in
from unspoken.errors import InputError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.engines.modes import mode_of
from unspoken.joint.mpc.linkage.linkage_rules import ENCODED
from unspoken.joint.node.catalogue import ColumnView, TableView
from unspoken.joint.node.proposal import Proposal
from unspoken.joint.node.proposing import Wanted, write_proposal
from unspoken.joint.node.schema_handshake import compare_owned, filled
from unspoken.joint.node.standing_rules import StandingRule
from unspoken.joint.node.study_process import _own_data, agreed_attempt
from unspoken.joint.session.consent import consent
from unspoken.joint.tasks.task_list import all_tasks

MINED = {"response": "pressure", "held": "south", "columns": ["north:dose"], "condition": 4096}
LINKED = {**MINED, "link": list(LINK)}
RULE = {"tasks": ["regression-columns"], "from": ["north"], "receivers": ["north", "south"],
        "tables": ["people"], "columns": ["pressure"], "studies": 1, "modes": ["dealer"],
        "dealers": ["dora"]}
NAMES = [ColumnView(word.partition(":")[0], "categorical") for word in LINK]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("nodes"), names=("north", "south", "dora", "lina"))


def written(fleet, linkers=("lina",), dealers=("dora",), **parameters):
    """Return what 'north' proposes while nobody else is there."""
    state = fleet.state("north")
    try:
        return write_proposal(fleet.configs["north"], state, Wanted(
            "heart", "regression-columns", mode_of("dealer"), {"north": "people",
                                                               "south": "people"},
            {**MINED, **parameters}, dealers, linkers=linkers))
    finally:
        state.close()


@pytest.fixture
def alone(monkeypatch):
    """Let no catalogue be asked for, as if everybody else were offline."""
    def nobody(config, peer):
        raise InputError(f"'{peer.name}' is away.")

    monkeypatch.setattr("unspoken.joint.node.proposing.asked_catalogue", nobody)


@pytest.fixture
def proposal(fleet, alone):
    (fleet.folder / "north" / "people.csv").write_text(
        "first,last,born,postcode,dose\nann,lee,1980-01-02,01234,1.5\n")
    return written(fleet, link=list(LINK))[0]


def test_the_unit_is_in_the_proposal_and_in_every_plan(proposal):
    study = Proposal.from_json(json.loads(json.dumps(proposal.to_json()))).study
    assert study.having("linker") == ("lina",)
    assert "lina" not in proposal.tables
    for name in study.names:
        shown = consent(study, name)
        assert "'lina' links records: it sees a keyed encoding of each" in shown
        assert f"'lina' learns: {ENCODED}\n" in shown
        assert "What it can guess alone is measured by" in shown
        assert "'dora' learns: kinds and sizes of what is computed" in shown


@pytest.mark.parametrize(("more", "error", "word"), [
    ({"link": list(LINK), "linkers": ()}, StudyError, "Name a unit with --linker"),
    ({"link": list(LINK), "linkers": ("lena",)}, InputError, "'lena' is not a trusted node"),
    ({"link": list(LINK), "linkers": ("dora",)}, StudyError, "'dora' appears twice"),
    ({"link": list(LINK), "linkers": ("south",)}, StudyError, "'south' appears twice"),
    ({"link": list(LINK), "linkers": ("lina", "dora"), "dealers": ()}, StudyError, "deal"),
    ({"same_order": True}, StudyError, "the study links no records"),
    ({"link": list(LINK), "link_on": "shares"}, StudyError, "without a linkage unit"),
    ({"link": list(LINK), "ids": "id"}, StudyError, "Keep one"),
    ({"link": 5}, StudyError, "Parameter 'link'"),
    ({"link": ["first:sound"]}, StudyError, "'link'"),
    ({"link": ["maiden:name"]}, StudyError, "column 'maiden' is not in the table of north"),
])
def test_a_node_proposes_no_linkage_that_a_study_by_hand_refuses(fleet, proposal, more, error,
                                                                 word):
    with pytest.raises(error, match=word):
        written(fleet, **more)


def test_owners_that_are_away_are_named_and_waited_for(fleet, proposal):
    _, agreement = written(fleet, link=list(LINK))
    assert agreement.notes == ("the columns of 'south' were not compared: 'south' is away.",)


def test_a_table_that_the_proposing_node_has_not_is_refused(fleet, proposal):
    state = fleet.state("north")
    with pytest.raises(InputError, match="'north' shows no table 'pay'"):
        write_proposal(fleet.configs["north"], state, Wanted(
            "heart", "regression-columns", mode_of("dealer"), {"north": "pay", "south": "people"},
            LINKED, ("dora",), linkers=("lina",)))
    state.close()


def test_a_standing_consent_names_the_unit_or_waits_for_a_person(proposal):
    def admits(**more):
        return StandingRule.of({**RULE, **more}).admits(proposal, "south", 0)

    assert admits(linkers=["lina"])
    assert not admits()
    assert not admits(linkers=["lena"])
    assert not admits(receivers=["north", "south", "lina"]), "who receives may not link"
    assert not admits(linkers=["lina"], receivers=["north"])


def tables(**without):
    """Return what both owners' catalogues show, each without a column."""
    columns = {"north": [*NAMES, ColumnView("dose", "numeric")],
               "south": [*NAMES, ColumnView("pressure", "numeric"),
                         ColumnView("ill", "categorical", categories=("no", "yes"))]}
    return {owner: TableView("people", tuple(c for c in own if c.name != without.get(owner)))
            for owner, own in columns.items()}


@pytest.mark.parametrize(("without", "parameters", "words"), [
    ({}, LINKED, ()),
    ({"south": "born"}, LINKED, ("column 'born' is not in the table of south",)),
    ({"north": "dose"}, LINKED, ("column 'dose' is not in the table of north",)),
    ({"south": "pressure"}, LINKED, ("column 'pressure' is not in the table of south",)),
    ({}, {**MINED, "ids": "patient"}, ("column 'patient' is not in the table of north",
                                       "column 'patient' is not in the table of south")),
    ({"south": "born"}, {**MINED, "same_order": True}, ())])
def test_columns_that_an_owner_lacks_are_named_before_a_study_is_written(without, parameters,
                                                                         words):
    assert compare_owned(tables(**without), parameters).problems == words


def test_classes_over_columns_come_from_the_catalogue_of_their_site():
    parameters = {"class_site": "south", "target": "ill", "ids": "last"}
    whole = filled(all_tasks()["tree-columns"], parameters,
                   compare_owned(tables(), parameters))
    assert whole["classes"] == ["no", "yes"]
    with pytest.raises(StudyError, match="lists the categories of column 'ill'"):
        filled(all_tasks()["tree-columns"], parameters, compare_owned({}, parameters))


def test_a_table_without_columns_is_not_held_against_a_study():
    shown = {**tables(), "south": TableView("baskets")}
    assert compare_owned(shown, LINKED).problems == ()


def test_a_standing_consent_to_columns_keeps_names_and_codes_as_they_are_written(fleet, proposal):
    (fleet.folder / "south" / "people.csv").write_text(
        "first,last,born,postcode,pressure,ill\n" + "ann,lee,1980-01-02,01234,1.5,no\n" * 12)
    state, allowed = fleet.state("south"), json.dumps([*(c.name for c in NAMES), "pressure"])
    state.keep(proposal)
    for name in fleet.names:
        state.answer(fleet.verdict(name, proposal), columns=allowed if name == "south" else "")
    state.close()
    attempt = agreed_attempt(fleet.configs["south"], proposal.id, 1)
    records = _own_data(attempt, attempt.config.identity)
    assert [column[0] for column in records.linked_by] == ["ann", "lee", "1980-01-02", "01234"]


def test_a_unit_with_another_certificate_is_another_study(proposal, tmp_path):
    other = members_in(tmp_path, {"lina": ("linker",)})[0]
    members = tuple(replace(m, certificate=other.certificate, fingerprint=other.fingerprint)
                    if m.name == "lina" else m for m in proposal.study.members)
    changed = replace(proposal, study=replace(proposal.study, members=members))
    assert changed.id != proposal.id
