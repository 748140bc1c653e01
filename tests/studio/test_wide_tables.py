"""Tables of several hundred columns: looked at once, and counted where nobody waits for it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken import read
from unspoken.studio import desk as desk_module
from unspoken.studio.desk import open_dataset
from unspoken.studio.table_risks import SMALL, table_risks, takes_long
from unspoken.table.formats.file_formats import write_rows
from unspoken.table.identify import identify
from unspoken.table.identify.column_sample import ColumnSample
from unspoken.table.identify.detector import _FIRST_LOOK, Detector
from unspoken.table.identify.law import OTHER, PERSONAL, Law


@pytest.fixture
def wide(tmp_path):
    """260 columns: the first three name people, somebody could look up the next two."""
    rng, rows = np.random.default_rng(0), 60
    columns = {"id": [f"p{i}" for i in range(rows)], "row": list(range(7, 7 + rows)),
               "e-mail": [f"a{i}@example.org" for i in range(rows)],
               "age": rng.integers(18, 80, rows), "zip": rng.integers(10_000, 99_999, rows)}
    columns |= {f"m{i}": rng.integers(0, 9, rows) for i in range(255)}
    path = tmp_path / "wide.csv"
    write_rows(pa.table(columns), path)
    return path


@pytest.mark.slow
def test_a_table_is_looked_at_once_and_what_is_noticed_stays(wide, monkeypatch):
    looks = []
    monkeypatch.setattr(desk_module, "identify", lambda t: looks.append(t) or identify(t))
    dataset = open_dataset(wide)
    rows = read(wide, suggest_roles=True, show=False)
    assert len(looks) == 1
    assert dataset.findings == identify(rows)
    assert dataset.guessed == rows.schema
    assert {"id", "row", "e-mail"} <= set(dataset.table.schema.with_role("identifier"))
    assert "zip" in dataset.table.schema.with_role("quasi")


@pytest.mark.slow
def test_risks_of_many_quasi_identifiers_are_counted_in_the_background(wide):
    names = [f"m{i}" for i in range(200)]
    many = read(wide, quasi=names, show=False)
    assert not takes_long(many)
    rows = pa.concat_tables([many.arrow(names)] * 20)
    assert rows.num_rows < SMALL
    assert takes_long(read(rows, quasi=names, show=False))


@pytest.mark.slow
def test_whoever_stands_out_by_one_column_is_named_in_a_wide_table(wide):
    rows = read(wide, show=False).arrow([f"m{i}" for i in range(201)])
    odd = rows.set_column(0, "m0", pa.array([99] + [1] * (rows.num_rows - 1)))
    risks = table_risks(read(odd, quasi=odd.column_names, show=False))
    assert (risks["exposed"][0]["row"], risks["exposed"][0]["columns"]) == (1, 1)


@pytest.mark.slow
@given(values=st.lists(st.sampled_from("ab"), min_size=1, max_size=400),
       share=st.sampled_from([0.3, 0.9, 0.95, 1.0]))
def test_a_look_that_ends_early_says_what_a_whole_one_does(values, share):
    texts = tuple(f"{value}{place}" for place, value in enumerate(values))
    sample = ColumnSample(None, "x", "text", texts, np.arange(len(texts)))
    detector = Detector("x", None, Law(OTHER, PERSONAL), matches=lambda t: t[0] == "a",
                        share=share)
    first = texts[:_FIRST_LOOK]
    matching = sum(text[0] == "a" for text in first)
    assert detector._first_look(sample) == (matching >= 0.5 * share * len(first))
