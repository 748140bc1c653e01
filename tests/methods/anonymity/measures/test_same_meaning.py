"""Spellings of one value count once, and texts have the order that somebody stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity.audit import audit_tables
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.measures.diversity_rules import Secret
from unspoken.methods.anonymity.measures.same_meaning import said_by
from unspoken.protect import (
    Anatomizer,
    CellSuppressor,
    MondrianAnonymizer,
    OptimalRecoder,
    TreePreservingAnonymizer,
)

FLU = ["Flu", "flu", "FLU", "flu ", "Ｆlu", "flu\u200b"]
ONE = ["1", "1.0", "01", "1 ", "1e0"]


@pytest.mark.parametrize("spellings", [FLU, ONE, ["caf\u00e9", "CAFE\u0301", " caf\u00e9"]])
def test_spellings_of_one_value_are_one(spellings):
    assert len({said_by(one) for one in spellings}) == 1
    secret = Secret.of("s", pa.array([*spellings, "other", None]), "categorical")
    assert secret.missing == 2
    assert secret.spellings == len(spellings) - 1


def test_blanks_inside_and_signs_of_zero_make_no_other_value():
    assert said_by("lung  cancer") == said_by("lung\u00a0cancer ") == said_by("Lung cancer")
    zeros = Secret.of("s", pa.array([0.0, -0.0, 1.5, None, float("nan")]), "numeric")
    assert (zeros.missing, zeros.spellings) == (2, 1)
    assert zeros.codes.tolist() == [0, 0, 1, 2, 2]


def test_a_text_that_says_nothing_is_no_value():
    secret = Secret.of("s", pa.array(["", " ", "\u200b", "HIV", None]), "categorical")
    assert (secret.missing, secret.spellings) == (1, 0)
    assert secret.codes.tolist() == [1, 1, 1, 0, 1]


@pytest.mark.parametrize("ill", [["HIV", ""], ["HIV", " "]])
def test_no_method_takes_blanks_for_diversity(ill):
    table = sick(ill)
    assert measure(table)["ill"].distinct == 0
    for method in (MondrianAnonymizer(5, l=2), OptimalRecoder(5, l=2), Anatomizer(2),
                   TreePreservingAnonymizer(5, l=2)):
        with pytest.raises((DataError, InputError)):
            method.protect(table)


def test_an_audit_counts_l_and_t_as_methods_do():
    table = sick(["HIV", None, None, "flu", None, "HIV"], {"ill": "categorical"})
    release, key = MondrianAnonymizer(2, columns=["age"], others="drop").protect(table)
    found = measure(release, ["age"], ["ill"])["ill"]
    row = {one.measure: one.value for one in
           audit_tables(table, release, key, trials=1).select(adversary="classes", column="ill")}
    assert (row["l"], found.distinct) == (0, 0)
    assert row["t"] == pytest.approx(found.t)


def test_an_audit_takes_the_distances_that_a_release_states():
    kinds = {"ill": "ordinal:low<medium<high"}
    table = sick(["low", "low", "medium", "high"], kinds)
    release, key = MondrianAnonymizer(6, t=0.4).protect(table)
    row = audit_tables(table, release, key, trials=1).select(measure="t")[0]
    own = measure(release, ["age"], ["ill"])["ill"].t
    assert row.value <= 0.4 + 1e-9
    assert row.value != pytest.approx(own), "the release alone does not know the order"


def test_other_values_stay_apart():
    assert len({said_by(one) for one in ("1", "10", "1.5", "a", "ab", "a b", "-1")}) == 7


def sick(ill, kinds=None):
    size = 60
    rows = {"age": np.arange(size), "ill": pa.array([ill[at % len(ill)] for at in range(size)]),
            "y": ["u", "v"] * (size // 2)}
    return unspoken.read(pa.table(rows), quasi="age", sensitive="ill", target="y", kinds=kinds,
                         show=False, keep=["ill"])


@pytest.mark.parametrize("method", [
    MondrianAnonymizer(5, l=2), OptimalRecoder(5, l=2), CellSuppressor(5, l=2), Anatomizer(2),
    TreePreservingAnonymizer(5, l=2)], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("ill", [FLU, ONE])
def test_no_method_takes_spellings_for_diversity(method, ill):
    with pytest.raises((DataError, InputError)):
        method.protect(sick(ill))


def test_measures_and_audits_count_what_is_said_and_a_release_says_so():
    table = sick([*FLU, "cold", "cold", "Cold"])
    assert measure(sick(FLU))["ill"].distinct == 1
    release, key = MondrianAnonymizer(9, l=2).protect(table)
    assert any("'ill'" in line and "counted as one" in line
               for line in release.guarantee.conditions)
    rows = audit_tables(table, release, key, trials=1).select(measure="l")
    assert rows[0].value <= 2


ORDER = ["low", "medium", "high", "critical"]


def severe(column, **options):
    return unspoken.read(pa.table({"g": ["a"] * 4 + ["b"] * 4, "s": column}), quasi="g",
                         sensitive="s", show=False, **options)


def column(ordered):
    codes = pa.array([0, 1, 2, 3, 0, 0, 0, 0], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(ORDER), ordered=ordered)


@pytest.mark.parametrize("options", [
    {"column": column(True), "kinds": {"s": "ordinal"}},
    {"column": column(False), "kinds": {"s": "ordinal:low<medium<high<critical"}}])
def test_ordered_t_takes_the_order_that_was_stated(options):
    # P = (5, 1, 1, 1) / 8; both classes: (3/8 + 2/8 + 1/8) / 3.
    assert measure(severe(**options))["s"].t == pytest.approx(0.25)


def test_the_order_of_a_pandas_categorical_is_kept():
    frame = pd.DataFrame({"g": range(4), "s": pd.Categorical(["high", "low"] * 2, ["low", "high"],
                                                             ordered=True)})
    assert unspoken.read(frame, show=False).schema["s"].order == ("low", "high")


def test_ordered_t_of_texts_without_an_order_is_refused():
    table = sick(["low", "high", "medium"], {"ill": "ordinal"})
    with pytest.raises(InputError, match="ordinal:low<high"):
        MondrianAnonymizer(5, t=0.5).protect(table)
    with pytest.raises(SchemaError, match="low<low"):
        sick(["low", "high"], {"ill": "ordinal:low<low"})


@pytest.mark.slow
@pytest.mark.parametrize("method", [MondrianAnonymizer(6, t=0.2), OptimalRecoder(6, t=0.2),
                                    TreePreservingAnonymizer(6, t=0.2)],
                         ids=lambda one: type(one).__name__)
def test_a_release_with_an_order_is_verified_by_it(method, tmp_path):
    table = sick(["low", "high", "medium"], {"ill": "ordinal:low<medium<high"})
    release, _ = method.protect(table)
    release.save(tmp_path / "release")
    loaded = unspoken.Release.load(tmp_path / "release")
    assert loaded.guarantee.verify(table, loaded)
