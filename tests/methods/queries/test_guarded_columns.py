"""What a guard with an epsilon refuses does not follow from a protected value."""

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.service_people import policy_data
from unspoken.errors import InputError
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.protect import QueryGuard
from unspoken.release.budget import Budget


def guard(folder, cell, **limits):
    """A table of a text file with one cell of its own."""
    path = folder / f"{cell}.csv"
    rows = [f"{20 + k % 50},{k % 7},w{k % 3}" for k in range(199)]
    path.write_text("\n".join(["age,mark,work", *rows, f"{cell},{cell},w1", ""]))
    return QueryGuard(unspoken.read(path, show=False), folder / f"{cell}.log", epsilon=90.0,
                      each=10.0, **limits)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["31", "XX", "30.5"])
def test_a_text_among_numbers_refuses_nothing_and_moves_no_other_row(tmp_path, cell):
    one = guard(tmp_path, cell, bounds={"age": (18, 90)}, grid={"age": 1})
    assert abs(one.mean("age").value - 44) < 2
    assert abs(one.count("age > 30").value - 156) < 5
    assert abs(one.count("mark >= 5").value - 56) < 5
    assert abs(one.count("mark = 3").value - 28) < 5
    assert abs(one.count("mark = '3'").value - 28) < 5
    assert abs(one.count("mark != 3 and work = 'w1'").value - 58) < 5
    with pytest.raises(InputError, match="can only be compared by = or != with a text"):
        one.count("mark < 'XX'")


def towns(different):
    return unspoken.read(pa.table({"town": [f"t{k if k < different else 0}" for k in range(100)],
                                   "age": np.arange(100) % 60 + 18}), show=False)


@pytest.mark.parametrize(("different", "role"), [(96, "identifier"), (95, "plain")])
def test_what_may_be_asked_about_does_not_follow_from_the_values(tmp_path, different, role):
    table = towns(different)
    assert table.schema["town"].role == role
    one = QueryGuard(table, tmp_path / "guard.log")
    assert one.count("town = 't5'").error > 0
    Budget.start(tmp_path / "b", table, epsilon=9.0)
    data = policy_data() | {"columns": {"town": {"values": ["t1", "t2"]}}}
    service = QueryService(table, ServicePolicy.parse(data, tmp_path))
    assert list(service.about()["columns"]) == ["town", "age"]
