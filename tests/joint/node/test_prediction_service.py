"""A model that peers may ask, within a budget of records: what is agreed to, and what is not."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from support.node_end import End
from support.node_fleet import Fleet
from unspoken.cli.main import main
from unspoken.errors import InputError
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.node.catalogue import Catalogue
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_log import NodeLog
from unspoken.joint.node.prediction_service import Offer, PredictionService
from unspoken.joint.node.proposing import asked_for, write_proposal
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.program_bayes import ClassifyPrivately, Sides
from unspoken.joint.tasks.naive_bayes.params import layout_of
from unspoken.joint.tasks.naive_bayes.score_tables import table_of
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal

MODEL = MixedBayes("ill", ("no", "yes"), np.array([0.5, 0.5]), (
    Nominal("smoker", ("no", "yes"), np.array([[0.75, 0.25], [0.25, 0.75]])),
    Normal("age", np.array([40.0, 60.0]), np.array([100.0, 100.0]))))
SERVICE = """
[[service]]
name = "risk"
model = "risk.json"
for = ["south"]
records = 100
modes = ["authenticated"]
dealers = ["dora"]
range.age = [0, 120]
"""
RULE = """
[[standing]]
tasks = ["classify"]
from = ["south"]
receivers = ["south", "north", "dora"]
tables = []
columns = []
modes = ["authenticated"]
dealers = ["dora"]
studies = 9
"""


@pytest.fixture
def fleet(tmp_path):
    fleet = Fleet(tmp_path, names=("north", "south", "dora"))
    (tmp_path / "north" / "risk.json").write_text(json.dumps(MODEL.to_json()))
    for name, text in (("north", SERVICE), ("dora", RULE)):
        place = tmp_path / name / "node.toml"
        place.write_text(place.read_text() + text)
        fleet.configs[name] = NodeConfig.load(tmp_path / name)
    return fleet


def offer_to(fleet, name="south"):
    answer = asyncio.run(Catalogue(fleet.configs["north"]).answer(name, fleet.state("north"),
                                                                  NodeLog(io.StringIO())))
    return [Offer.from_json(json.loads(json.dumps(offer))) for offer in answer["services"]]


def asked(fleet, records, **changes):
    [offer] = offer_to(fleet)
    wanted = replace(asked_for(offer, "north", "south", "people", records), **changes)
    return write_proposal(fleet.configs["south"], fleet.state("south"), wanted)[0]


def agreed(fleet, proposal):
    end = End(fleet, "north")
    end.take("south", {"proposal": proposal.to_json()})
    assert not end.refusals()
    return "north" in end.state.verdicts(proposal.id)


@pytest.mark.slow
def test_an_asker_sees_the_columns_and_not_the_numbers_of_the_model(fleet):
    [offer] = offer_to(fleet)
    assert offer_to(fleet, "dora") == []
    assert offer.parameters == {"target": "ill", "classes": ["no", "yes"], "columns": [
        "smoker", "age"], "categories.smoker": ["no", "yes"], "range.age": [0, 120]}
    assert (offer.left, offer.dealers) == (100, ("dora",))
    assert "0.75" not in json.dumps(offer.parameters)
    assert Catalogue(fleet.configs["north"]).shown_to(None)[-1].columns == ()
    (fleet.folder / "north" / "risk.json").write_text("{}")
    assert offer_to(fleet) == [], "what is wrong with the model is not told to others"


@pytest.mark.slow
def test_the_budget_counts_records_and_nothing_is_agreed_to_beyond_it(fleet):
    assert agreed(fleet, asked(fleet, 60))
    [offer] = offer_to(fleet)
    assert offer.left == 40
    with pytest.raises(InputError, match="has 40 records left"):
        asked_for(offer, "north", "south", "people", 41)
    more = replace(offer, left=1000)
    wanted = asked_for(more, "north", "south", "people", 41)
    beyond = write_proposal(fleet.configs["south"], fleet.state("south"), wanted)[0]
    assert not agreed(fleet, beyond)
    assert agreed(fleet, asked(fleet, 40))
    assert offer_to(fleet)[0].left == 0


@pytest.mark.slow
@pytest.mark.parametrize("changes", [
    {"attempts": 2}, {"receivers": ("south", "north")}, {"tables": {"north": "people",
                                                                    "south": "people"}}])
def test_another_study_waits_for_a_person(fleet, changes):
    assert not agreed(fleet, asked(fleet, 5, **changes))


@pytest.mark.slow
@pytest.mark.parametrize("change", [
    {"range.age": [0, 60]}, {"classes": ["yes", "no"]}, {"most": None}, {"alien": 1},
    {"columns": ["smoker"]}, {"model": "south", "asks": "north"}])
def test_a_study_that_says_something_else_than_the_offer_is_not_agreed_to(fleet, change):
    service = fleet.configs["north"].services[0]
    proposal = asked(fleet, 5)
    said = {key: value for key, value in {**proposal.study.parameters, **change}.items()
            if value is not None}
    other = replace(proposal, study=replace(proposal.study, parameters=said))
    assert service.admits(proposal, "north", 0)
    assert not service.admits(other, "north", 0)


@pytest.mark.slow
def test_more_records_than_were_agreed_are_refused_before_the_model_is_shared(fleet):
    layout = layout_of(asked(fleet, 5).study.parameters)
    records = layout.records({"smoker": np.array(["no", "yes"], object),
                              "age": np.array([30.0, 70.0])})
    run = [table_of(MODEL, layout), records]
    [(classes, _), _] = run_local(ClassifyPrivately(layout, Sides("p0", "p1", (), 2)), run)
    assert classes.tolist() == ["no", "yes"]
    with pytest.raises(RefusedError, match="At most 1 records may be classified"):
        run_local(ClassifyPrivately(layout, Sides("p0", "p1", (), 1)), run)


@pytest.mark.parametrize(("change", "match"), [
    ({"for": []}, "must say 'for'"), ({"records": 0}, "must say 'records'"),
    ({"records": -1}, "a whole number above 0"), ({"modes": ["x"]}, "'modes' cannot be 'x'"),
    ({"rows": 1}, "has no field 'rows'"), ({"range": {"age": [3, 1]}}, "two increasing numbers")])
def test_a_service_that_leaves_something_open_is_refused(tmp_path, change, match):
    whole = {"name": "risk", "model": "risk.json", "for": ["south"], "records": 5,
             "modes": ["authenticated"]}
    with pytest.raises(StudyError, match=match):
        PredictionService.of(tmp_path, {**whole, **change})


@pytest.mark.slow
@pytest.mark.xdist_group("several processes")
def test_records_are_classified_by_a_service_without_a_person_there(fleet, tmp_path, capsys):
    with fleet:
        fleet.serve()
        for name in fleet.names:
            fleet.until(lambda name=name: any(e["event"] == "started" for e in fleet.log(name)),
                        f"{name} listens")
        assert main(["node", "predict", "risk", "--of", "north", "--table", "people", "--yes",
                     "--folder", str(tmp_path / "south"), "--json"]) == 0
        study = json.loads(capsys.readouterr().out)["study"]
        state = fleet.state("south")
        fleet.until(lambda: state.get(study).result, "the study ends")
        assert state.get(study).result == "complete", state.get(study).story
        folder = fleet.configs["south"].study_folder(study)
        [classes] = json.loads((folder / "result.json").read_text()).values()
        state.close()
        assert not (fleet.configs["north"].study_folder(study) / "result.json").exists()
    import pandas as pd

    rows = pd.read_csv(tmp_path / "south" / "people.csv")
    assert classes == MODEL.predict(rows).tolist()
