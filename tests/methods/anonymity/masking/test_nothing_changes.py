"""A release that would be the table as it is, in whatever order, is refused."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.protect import (
    CellSuppressor,
    DataSwapper,
    Generalizer,
    MondrianAnonymizer,
    OptimalRecoder,
    PostRandomizer,
    SampleReleaser,
    TopBottomCoder,
)

SAME = Hierarchy.of([[value, value, "*"] for value in "abcd"])


def letters():
    return unspoken.read(pa.table({"q": [*"aabbccdd"], "s": [*"uvuvuvuv"]}), quasi=["q"],
                         sensitive="s", show=False)


def numbers(**more):
    return unspoken.read(pa.table({"x": [1.5, 1.5, 2.0, 2.0, None, None], **more}), quasi=["x"],
                         show=False)


@pytest.mark.parametrize("method", [MondrianAnonymizer(2), CellSuppressor(2),
                                    Generalizer({"q": SAME}, 1), Generalizer({"q": SAME}, 1, k=2)])
def test_categories_that_would_stay_are_refused(method):
    with pytest.raises(DataError, match="nothing would change"):
        method.protect(letters())


@pytest.mark.parametrize("method", [
    TopBottomCoder(top=9, share=None), DataSwapper(1.0), CellSuppressor(2),
    MondrianAnonymizer(2), MondrianAnonymizer(2, publish="mean")])
def test_numbers_that_would_stay_are_refused(method):
    with pytest.raises(DataError, match="nothing would change"):
        method.protect(numbers())


def test_a_refusal_says_that_the_table_satisfies_k_and_what_to_do():
    with pytest.raises(DataError, match=r"already satisfies .* Ask for a larger k"):
        MondrianAnonymizer(2).protect(letters())


def test_a_sample_of_everybody_is_refused():
    with pytest.raises(InputError, match="leaves out none of 8 records"):
        SampleReleaser(0.99).protect(letters())


def test_what_changes_is_released():
    assert MondrianAnonymizer(3).protect(letters())[0].table.rows == 8
    assert SampleReleaser(0.9).protect(letters())[0].table.rows == 7
    table = unspoken.read(pa.table({"x": list(range(40)), "z": list(range(40))}), quasi=["x"],
                          keep=["z"], show=False)
    swapped, _ = DataSwapper(1.0, columns=["x"], others="keep").protect(table)
    assert sorted(swapped.table.arrow()["x"].to_pylist()) == list(range(40))


@pytest.mark.parametrize("values", [
    [True, False], [date(2020, 1, 2), date(2021, 3, 4)], [Decimal("1.50"), Decimal("2")], [1, 2],
    [datetime(2020, 1, 2), datetime(2021, 3, 4)], [1.0, 2.5], ["u", "v"]])
def test_a_local_recoding_that_spells_the_values_as_they_are_is_refused(values):
    table = unspoken.read(pa.table({"q": values * 10, "s": ["x", "y"] * 10}), quasi=["q"],
                          sensitive="s", show=False)
    with pytest.raises(DataError, match="nothing would change"):
        OptimalRecoder(5, local=True).protect(table)


def test_a_quasi_identifier_that_a_method_cannot_change_is_called_one():
    table = unspoken.read(pa.table({"x": [1.5, 2.5] * 4, "q": [*"aabbccdd"]}), quasi=["x", "q"],
                          show=False)
    with pytest.raises(SchemaError, match="'x' is a quasi-identifier that this method does not"):
        PostRandomizer().protect(table)
    with pytest.raises(SchemaError, match="'q' is a quasi-identifier that this method does not"):
        TopBottomCoder(share=0.2).protect(table)
