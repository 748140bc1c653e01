"""Catalogues: what others see of a table, and what follows when several are held together."""

from __future__ import annotations

import json

import pytest

from support.node_fleet import Fleet
from unspoken.errors import UnspokenError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node.catalogue import Catalogue, ColumnView, TableView
from unspoken.joint.node.schema_handshake import columns_of, compare, filled, with_schema
from unspoken.joint.tasks.task_list import all_tasks


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    return Fleet(tmp_path_factory.mktemp("nodes"))


def views(fleet):
    return {name: Catalogue(fleet.configs[name]).shown_to("north")[0]
            for name in ("north", "south", "east")}


@pytest.mark.slow
def test_a_catalogue_has_schemas_and_no_rows(fleet):
    view = views(fleet)["south"]
    assert [(c.name, c.kind, c.unit, c.range, c.categories) for c in view.columns] == [
        ("age", "numeric", "years", (0, 120), None),
        ("smoker", "categorical", "", None, ("no", "yes")),
        ("ill", "categorical", "", None, ("no", "yes"))]
    assert TableView.from_json(json.loads(json.dumps(view.to_json()))) == view


@pytest.mark.slow
def test_a_table_is_shown_to_whom_its_owner_names_alone(fleet):
    catalogue = Catalogue(fleet.configs["south"])
    assert catalogue.shown_to("somebody") == []
    assert len(catalogue.shown_to(None)) == 1


@pytest.mark.slow
def test_the_parameters_of_a_tree_follow_from_the_catalogues(fleet):
    parameters = {"target": "ill", "attributes": ["age", "smoker"]}
    agreement = compare(views(fleet), columns_of(parameters))
    whole = filled(all_tasks()["tree"], parameters, agreement)
    assert whole["classes"] == ["no", "yes"]
    assert whole["categories.smoker"] == ["no", "yes"]
    assert whole["range.age"] == [0, 120, 7, 8]
    all_tasks()["tree"].check(whole)


def test_categories_are_united_and_ranges_span_all():
    tables = {"a": TableView("t", (ColumnView("c", "categorical", categories=("x", "y")),
                                   ColumnView("n", "numeric", range=(0, 5)))),
              "b": TableView("t", (ColumnView("c", "categorical", categories=("y", "z")),
                                   ColumnView("n", "numeric", range=(-1, 3), missing=True)))}
    agreement = compare(tables, ["c", "n"])
    assert agreement.columns["c"].categories == ("x", "y", "z")
    assert agreement.columns["n"].range == (-1, 5)
    assert agreement.notes == ("column 'c': 'a' lists no z", "column 'c': 'b' lists no x",
                               "column 'n' has missing values at b")


@pytest.mark.parametrize(("theirs", "match"), [
    ((), "'age' is not in the table of b"),
    ((ColumnView("age", "categorical", categories=("old",)),), "different kinds: numeric at a"),
    ((ColumnView("age", "numeric", unit="months"),), "different units: years at a, months at b"),
    ((ColumnView("age", "numeric", "identifier"),), "names people at 'b'")])
def test_what_does_not_fit_together_is_named(theirs, match):
    tables = {"a": TableView("t", (ColumnView("age", "numeric", unit="years"),)),
              "b": TableView("t", theirs)}
    with pytest.raises(StudyError, match=match):
        filled(all_tasks()["sum"], {"columns": ["age"]}, compare(tables, ["age"]))


def test_what_nobody_declared_is_asked_for():
    tables = {"a": TableView("t", (ColumnView("age", "numeric"),))}
    with pytest.raises(StudyError, match="range = "):
        filled(all_tasks()["tree"], {"attributes": ["age"]}, compare(tables, ["age"]))


@pytest.mark.parametrize("junk", [
    None, [], {"name": "t"}, {"name": "t", "columns": [{"name": "a", "kind": "rows"}]},
    {"name": "t", "columns": [{"name": "a", "kind": "numeric", "role": "plain", "rows": [1]}]},
    {"name": "t", "columns": [{"name": "a\n", "kind": "numeric", "role": "plain"}]},
    {"name": "../t", "columns": []}, {"name": "t", "columns": [{}] * 20_000}])
def test_a_hostile_catalogue_is_refused(junk):
    with pytest.raises(UnspokenError):
        TableView.from_json(junk)


def test_what_catalogues_leave_open_comes_from_a_private_schema():
    bare = {owner: TableView("people", (ColumnView("age", "numeric"),
                                        ColumnView("smoker", "categorical"),
                                        ColumnView("ill", "categorical"))) for owner in "ab"}
    parameters = {"target": "ill", "attributes": ["age", "smoker"]}
    agreement = compare(bare, ["age", "smoker", "ill"])
    with pytest.raises(StudyError, match="unite them privately: unspoken node propose"):
        filled(all_tasks()["tree"], parameters, agreement)
    schema = {"categories": {"smoker": ["no", "yes"], "ill": ["n", "y"], "other": ["x"]},
              "range": {"age": [0.0, 120.0]}}
    whole = filled(all_tasks()["tree"], parameters, with_schema(agreement, schema))
    assert whole["classes"] == ["n", "y"]
    assert whole["categories.smoker"] == ["no", "yes"]
    assert whole["range.age"][:2] == [0.0, 120.0]
