"""Columns of text files: what one row says changes neither form nor refusal of an answer."""

import pytest

import unspoken
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.service_records import ServiceRecords
from unspoken.release.budget import Budget

CHANGES = ["41", "40.5", "N.N."]


def served(folder, change, columns):
    (folder / "t.csv").write_text("age,code\n" + "40,1\n30,2\n" * 200 + f"{change},{change}\n")
    table = unspoken.read(folder / "t.csv", keep=["age", "code"], show=False)
    Budget.start(folder / "b", table, epsilon=100)
    data = {"service": {"budget": "b", "log": "l", "each": 50.0}, "columns": columns}
    return QueryService(table, ServicePolicy.parse(data, folder))


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_column_with_bounds_is_summed_on_the_same_grid(tmp_path, change):
    one = served(tmp_path, change, {"age": {"bounds": [0, 100]}})
    assert one.about()["columns"] == {"age": {"kind": "numeric", "bounds": [0, 100]},
                                      "code": {"kind": "not declared"}}
    assert float(one.records.column("age").step) == 2.0**-14
    reply = one.ask("a", question_of("select sum(age) where age > 35"))
    assert reply["done"][1].endswith("in steps of 6.10352e-05")
    assert abs(reply["value"] - 8000) < 150


@pytest.mark.slow
@pytest.mark.parametrize("values", [["1", "2"], [1, 2], ["1.0", "2.0"]])
@pytest.mark.parametrize("change", CHANGES)
def test_declared_values_are_counted_whatever_the_column_was_read_as(tmp_path, change, values):
    one = served(tmp_path, change, {"code": {"values": values}})
    groups = one.ask("a", question_of("select count() group by code"))["groups"]
    assert [group["group"] for group in groups[:2]] == [[values[0]], [values[1]]]
    assert all(abs(group["value"] - 200) < 5 for group in groups[:2])


@pytest.mark.slow
@pytest.mark.parametrize("change", ["31.12.2020", "XX", "2020-12-31"])
@pytest.mark.parametrize("unit", ["row", "who"])
def test_dates_are_counted_as_they_are_written(tmp_path, change, unit):
    days = ["31.12.2020", "01.01.2021"]
    rows = "".join(f"{k},{days[k % 2]}\n" for k in range(400))
    (tmp_path / "t.csv").write_text(f"who,day\n{rows}400,{change}\n")
    table = unspoken.read(tmp_path / "t.csv", keep=["day"], identifiers=["who"], show=False)
    Budget.start(tmp_path / "b", table, epsilon=100, unit=unit)
    service = QueryService(table, ServicePolicy.parse({
        "service": {"budget": "b", "log": "l", "each": 50.0},
        "columns": {"day": {"values": days}}}, tmp_path))
    groups = service.ask("a", question_of("select count() group by day"))["groups"]
    assert all(abs(group["value"] - 200) < 5 for group in groups[:2])


@pytest.mark.slow
def test_a_column_called_edges_has_groups_of_its_own(tmp_path):
    (tmp_path / "t.csv").write_text("age,edges\n" + "40,a\n30,b\n" * 20)
    table = unspoken.read(tmp_path / "t.csv", keep=["age", "edges"], show=False)
    policy = ServicePolicy.parse({
        "service": {"budget": "b", "log": "l"},
        "columns": {"age": {"bounds": [0, 100], "public": True},
                    "edges": {"values": ["a", "b"]}}}, tmp_path)
    records = ServiceRecords(table, policy, None, 1)
    bins = records.bins("age", ())
    assert len(records.groups(["age", "edges"]).labels[0]) == 2
    assert records.bins("age", ()) is bins
