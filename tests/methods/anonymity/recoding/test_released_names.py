"""No manifest names a value that only people have who were left out."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.recoding.released_names import renamed
from unspoken.protect import Generalizer, MondrianAnonymizer, OptimalRecoder, build_hierarchy
from unspoken.table.category_codes import coded

TOWNS = ["Bonn", "Celle", "Trier", "Ulm"]


def people():
    towns = [TOWNS[at % 4] for at in range(59)]
    days = [f"2024-{1 + at % 4:02}-01" for at in range(59)]
    rows = pa.table({"town": [*towns, "Atlantis"], "age": [30 + at % 3 for at in range(60)],
                     "born": pa.array([*days, "1877-01-01"]).cast(pa.date32()),
                     "s": ["x", "y"] * 30})
    return unspoken.read(rows, quasi=["town", "age", "born"], sensitive="s", show=False)


@pytest.mark.slow
@pytest.mark.parametrize("method", [
    MondrianAnonymizer(2, suppression=0.05),
    *(OptimalRecoder(4, suppression=0.05, local=local, loss=loss) for local in (False, True)
      for loss in ("loss", "discernibility", "entropy")),
    Generalizer(widths={"age": 10, "born": 400}, k=3, suppression=0.05)])
def test_values_of_people_who_were_left_out_are_not_named(method, tmp_path):
    release, _ = method.protect(people())
    assert release.table.rows == 59
    release.save(tmp_path / "release")
    manifest = (tmp_path / "release" / "manifest.json").read_text()
    assert "Atlantis" not in manifest
    # A hash can hold the digits of a year, but neither a dash nor quotes around four of them.
    assert not any(text in manifest for text in ("1877-", '"1877"', "1870s"))
    assert "Atlantis" not in json.dumps(release.table.arrow().to_pylist(), default=str)


def test_merged_categories_are_named_by_members_that_are_released():
    names = [*"abcdefgh"]
    towns = [name for name in names for _ in range(12)] + ["Atlantis"]
    secret = [at % 3 for at in range(97)]
    table = unspoken.read(pa.table({"town": towns, "home": ["y", "n"] * 48 + ["z"],
                                    "s": secret}), quasi=["town", "home"], sensitive="s",
                          show=False)
    tree = build_hierarchy(towns, "frequency")
    assert any("Atlantis" in row[1] for row in tree.rows[1:])
    method = OptimalRecoder(10, suppression=0.05)
    release, _ = method.protect(table)
    assert release.table.rows == 96
    assert method.optimum_.node[0] in (1, 2)
    shown = {*release.table.arrow()["town"].to_pylist()}
    groups = release.mechanism["columns"]["town"]["groups"]
    assert not any("Atlantis" in label for label in shown)
    assert "Atlantis" not in str(groups)
    assert shown == {*groups}


def saved(tree, path):
    tree.to_csv(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("method", [
    lambda tree: Generalizer({"town": tree}, 1, k=6, suppression=0.05),
    lambda tree: OptimalRecoder(10, suppression=0.05, hierarchies={"town": tree}),
    lambda tree: OptimalRecoder(10, suppression=0.05, local=True, hierarchies={"town": tree}),
    lambda tree: MondrianAnonymizer(10, suppression=0.05, hierarchies={"town": tree})])
def test_a_saved_hierarchy_of_the_same_table_names_nobody_who_was_left_out(method, tmp_path):
    towns = [name for name in "abcdefgh" for _ in range(12)] + ["Atlantis"]
    table = unspoken.read(pa.table({"town": towns, "home": ["y", "n"] * 48 + ["z"]}),
                          quasi=["town", "home"], show=False)
    path = saved(build_hierarchy(towns, "frequency"), tmp_path / "town.csv")
    assert path.stat().st_mode & 0o777 == 0o600
    release, _ = method(path).protect(table)
    assert release.table.rows == 96
    release.save(tmp_path / "release")
    assert "Atlantis" not in (tmp_path / "release" / "manifest.json").read_text()
    assert "Atlantis" not in str(release.table.arrow().to_pydict())


def test_labels_that_somebody_chose_stay():
    tree = Hierarchy.of([["a", "left", "*"], ["b", "left", "*"], ["c", "c | d", "*"],
                         ["d", "c | d", "*"]])
    values = coded(pa.array(["a", "b", "c", "d"]))
    assert [row[1] for row in renamed(tree, values, np.array([0, 1, 3])).rows] == [
        "left", "left", "d", "d"]
