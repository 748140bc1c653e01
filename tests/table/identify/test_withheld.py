"""What is flagged does not leave unless it is named, whatever the method."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from support import made_up_people as made
from unspoken import checks, protect
from unspoken.errors import SchemaError
from unspoken.table import read as reading
from unspoken.table.identify import identify

ROWS = 120
METHODS = {
    "piecewise": lambda: protect.PiecewiseEncoder(categorical="relabel"),
    "rotation": protect.Rotation,
    "pairwise-rotation": protect.PairwiseRotation,
    "random-projection": protect.RandomProjection,
    "noise": protect.NoiseAdder,
    "multiplicative-noise": protect.MultiplicativeNoise,
    "discretize": protect.Discretizer,
    "randomized-response": lambda: protect.RandomizedResponse(others="keep"),
    "mondrian": lambda: protect.MondrianAnonymizer(k=5, others="keep"),
    "generalize": lambda: protect.Generalizer(k=5, suppression=0.9, others="keep"),
    "top-bottom": protect.TopBottomCoder,
    "suppress-cells": lambda: protect.CellSuppressor(k=5, others="keep"),
    "swap": protect.DataSwapper,
    "sample": protect.SampleReleaser,
}


def people(**options):
    """Return a table in which names and addresses repeat: no column is different in every row."""
    draw = np.random.default_rng(0)
    names = [str(draw.choice(made.FIRST)) for _ in range(ROWS)]
    columns = {"name": names, "email": [f"{name.lower()}@example.org" for name in names],
               "reach": [f"+49 30 {901820 + i % 40}" for i in range(ROWS)],
               "age": draw.integers(18, 90, ROWS), "dose": draw.normal(50, 10, ROWS).round(1),
               "visits": draw.integers(0, 4, ROWS),
               "outcome": draw.choice(["ill", "well"], ROWS)}
    return unspoken.read(columns, target="outcome", kinds={"visits": "ordinal"}, show=False,
                         **options)


def content_of(method, table):
    release, _ = method.protect(table)
    return release.schema.names, checks._bytes_of(release)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_names_and_addresses_never_leave(name):
    names, content = content_of(METHODS[name](), people(quasi=["age"]))
    assert {"name", "email", "reach"}.isdisjoint(names)
    assert [text for text in (b"email", b"example.org", b"+49 30") if text in content] == []


def test_without_the_hook_they_would(monkeypatch):
    """The test above would notice if nothing were withheld at reading."""
    monkeypatch.setattr(reading, "identify", lambda table, columns=None: ())
    names, content = content_of(protect.SampleReleaser(), people(quasi=["age"]))
    assert {"name", "email", "reach"} <= set(names)
    assert b"example.org" in content


def test_a_flagged_column_is_released_when_it_is_named():
    table = people(keep=["reach"])
    assert table.schema.with_role("identifier") == ("name", "email")
    assert table.schema["reach"].role == "plain"
    names, content = content_of(protect.SampleReleaser(), table)
    assert "reach" in names
    assert b"+49 30" in content


def test_a_declared_role_overrules():
    schema = people(quasi=["email"], sensitive="reach", keep="email").schema
    assert (schema["email"].role, schema["reach"].role) == ("quasi", "sensitive")
    assert people(identifiers="age").schema["age"].role == "identifier"


def test_keep_must_name_a_column_and_no_identifier():
    with pytest.raises(SchemaError, match="Column 'mail' must be in the table"):
        people(keep="mail")
    with pytest.raises(SchemaError, match="must have one role"):
        people(keep="name", identifiers="name")


def test_the_note_says_what_to_do():
    schema = people().schema
    assert schema["name"].note == "person's name by name: not released unless kept by name"
    assert schema["age"].note == "age by name: could be quasi"
    assert schema["age"].role == "plain"


def test_suggested_roles_are_taken_over_when_asked():
    draw = np.random.default_rng(1)
    columns = {"age": draw.integers(18, 90, 60), "religion": ["a", "b"] * 30,
               "dose": draw.normal(0, 1, 60)}
    schema = unspoken.read(columns, suggest_roles=True, show=False).schema
    assert [c.role for c in schema.columns] == ["quasi", "sensitive", "plain"]


def test_free_text_and_almost_unique_text_are_withheld():
    almost = [f"code-{max(i, 2)}x" for i in range(ROWS)]
    schema = unspoken.read({"note": made.sentences(ROWS), "code": almost,
                            "x": np.random.default_rng(2).normal(0, 1, ROWS)}, show=False).schema
    assert schema.with_role("identifier") == ("note", "code")


@pytest.mark.parametrize("target", ["name", "email", "reach", "row"])
def test_a_target_that_names_people_is_refused_unless_it_is_kept_by_name(target):
    draw = np.random.default_rng(0)
    names = [str(draw.choice(made.FIRST)) for _ in range(ROWS)]
    columns = {"name": names, "email": [f"{name.lower()}@example.org" for name in names],
               "reach": [f"+49 30 {901820 + i % 40}" for i in range(ROWS)],
               "row": draw.permutation(ROWS), "dose": draw.normal(50, 10, ROWS).round(1)}
    with pytest.raises(SchemaError, match=f'keep="{target}"'):
        unspoken.read(columns, target=target, show=False)
    table = unspoken.read(columns, target=target, keep=[target], show=False)
    assert table.target == target
    assert unspoken.read(columns, target="dose", show=False).target == "dose"


def test_target_and_columns_are_looked_at_in_one_pass(monkeypatch):
    looks = []
    monkeypatch.setattr(reading, "identify",
                        lambda table, names: looks.append(list(names)) or identify(table, names))
    rows = {"age": [30, 40, 50], "ill": ["yes", "no", "no"], "mail": ["a@b.org"] * 3}
    table = unspoken.read(rows, target="ill", quasi="age", show=False)
    assert looks == [["ill", "mail"]]
    assert table.schema["mail"].role == "identifier"
    assert table.schema["ill"].role == "target"
