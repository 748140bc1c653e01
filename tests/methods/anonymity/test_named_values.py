"""No published file names a value of a person that the data do not show and that is rare."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.anonymity.audit import audit_tables
from unspoken.methods.anonymity.named_values import as_name, common, shown_in
from unspoken.protect import (
    Anatomizer,
    CellSuppressor,
    Condenser,
    DataSwapper,
    Generalizer,
    IsolationGuard,
    Microaggregator,
    MondrianAnonymizer,
    OptimalRecoder,
    SampleReleaser,
    TopBottomCoder,
    TreePreservingAnonymizer,
    build_hierarchy,
)
from unspoken.release.release import Release

K = 6
QUASI = ("income", "born", "town", "street")


def people(size=90):
    rng = np.random.default_rng(4)
    towns = [f"Town-{at:03}" for at in rng.integers(0, 30, size)]
    rows = pa.table({
        "income": np.round(rng.lognormal(10, 1, size), 2),
        "born": pa.array(rng.integers(0, 20_000, size).astype(np.int32)).cast(pa.date32()),
        "town": towns,
        "street": [f"{at % 3}-{at:04} Street" for at in range(size)],
        "ill": [f"Illness-{'abcdefghijkl'[at]}" for at in rng.integers(0, 12, size)],
        "y": rng.choice(["u", "v"], size)})
    return unspoken.read(rows, target="y", quasi=list(QUASI), sensitive="ill", show=False,
                         keep=["street", "town", "born", "ill"])


def trees(table):
    ways = {"income": "quantiles", "born": "dates", "town": "frequency", "street": "prefixes"}
    return {name: build_hierarchy(table.arrow([name])[name], way) for name, way in ways.items()}


def ill_tree():
    return {"ill": build_hierarchy([f"Illness-{one}" for one in "abcdefghijkl"], "prefixes")}


def methods(table):
    built = trees(table)
    yield MondrianAnonymizer(K)
    yield MondrianAnonymizer(K, hierarchies=built, suppression=0.2)
    yield MondrianAnonymizer(K, t=0.6, hierarchies=ill_tree(), suppression=0.3)
    for local in (False, True):
        yield OptimalRecoder(K, local=local, suppression=0.1)
        yield OptimalRecoder(K, local=local, suppression=0.3, hierarchies=built)
    tops = {name: tree.levels - (name == "income") for name, tree in built.items()}
    yield Generalizer(built, tops, k=K)
    yield Generalizer(built, 2)
    yield CellSuppressor(K, suppression=0.5)
    yield TopBottomCoder(share=0.05, columns=["income"], others="keep")
    yield DataSwapper(share=0.3)
    yield SampleReleaser(share=0.4)
    yield Microaggregator(K)
    yield Condenser(K, columns=["income"], others="keep")
    yield IsolationGuard(columns=["income"], others="drop")
    yield Anatomizer(2)
    for rule in ("safe", "min-block", "leaf-merge"):
        yield TreePreservingAnonymizer(K, rule=rule, tree={"max_leaves": 3})
    yield TreePreservingAnonymizer(K, sensitive="suppress", tree={"max_leaves": 2})


TABLE = people()


def leaves(part):
    if isinstance(part, dict):
        part = [*part, *part.values()]
    if isinstance(part, list):
        return {one for each in part for one in leaves(each)}
    return set() if part is None else {as_name(part)}


def named_in(folder):
    """Return every leaf of the published files, and every word of those that are no JSON."""
    out = set()
    for file in folder.iterdir():
        if file.suffix == ".json":
            out |= leaves(json.loads(file.read_text()))
        elif file.suffix != ".parquet":
            out |= {as_name(word) for word in re.split(r'[\s"\',;]+', file.read_text())}
    return out


@pytest.mark.slow
@pytest.mark.parametrize("method", [*methods(TABLE)], ids=lambda one: type(one).__name__)
def test_no_published_file_names_a_rare_value(method, tmp_path):
    release, key = method.protect(TABLE)
    release.save(tmp_path / "release")
    named, shown = named_in(tmp_path / "release"), release.table.arrow()
    k = release.guarantee.facts.get("k")
    for name in (*QUASI, "ill"):
        own = TABLE.arrow([name])[name]
        may = common(own, k)
        if name in shown.column_names:
            may |= shown_in(shown[name])
        assert not named & common(own, 1) - may, name
    loaded = Release.load(tmp_path / "release")
    if hasattr(loaded.guarantee, "verify"):
        assert loaded.guarantee.verify(TABLE, loaded, key)


def test_the_key_knows_what_the_manifest_does_not_name():
    table = people()
    release, key = OptimalRecoder(K, suppression=0.3, hierarchies=trees(table)).protect(table)
    groups = release.mechanism["columns"]["street"]["groups"]
    assert {*groups} == {*release.table.arrow()["street"].to_pylist()}
    assert not any(groups.values())
    assert sum(map(len, key.secrets["members"]["street"].values())) == table.rows
    assert audit_tables(table, release, key, trials=1).rows


@pytest.mark.parametrize("method", [
    OptimalRecoder(K, suppression=0.3, hierarchies=trees(TABLE)),
    TreePreservingAnonymizer(K, tree={"max_leaves": 3})], ids=["optimal", "tree"])
def test_a_manifest_that_names_a_rare_value_is_not_as_promised(method):
    release, key = method.protect(TABLE)
    rare = TABLE.arrow(["street"])["street"][0].as_py()
    mechanism = dict(release.mechanism)
    if "columns" in mechanism:
        about = {**mechanism["columns"]["street"], "groups": {"*": [rare]}}
        mechanism["columns"] = {**mechanism["columns"], "street": about}
    else:
        (label, members), *others = mechanism["groups"]["street"]
        listed = [[label, [*members, rare]], *others]
        mechanism["groups"] = {**mechanism["groups"], "street": listed}
    verdict = release.guarantee.verify(TABLE, replace(release, mechanism=mechanism), key)
    assert not verdict
    assert "names 1 values" in str(verdict)


def test_labels_of_bands_and_dates_need_no_members():
    release, key = OptimalRecoder(K, local=True, suppression=0.1).protect(TABLE)
    about = release.mechanism["columns"]
    assert about["income"] == {"form": "interval"}
    assert about["born"] == {"form": "dates", "unit": "days"}
    from unspoken.methods.anonymity.table_promise import broken_table
    from unspoken.release.record_key import original_rows

    rows = original_rows(key, release.table.rows)
    assert not [*broken_table(TABLE, release, key, rows)]
