"""Tables of other tools and published models, attacked together with what went out before."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken.audit import model_beside_release
from unspoken.audit.file_overlap import with_earlier_files
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.published.audit_model import audit_model
from unspoken.models.tree import Tree
from unspoken.protect import NoiseAdder, Rotation
from unspoken.release.automatic_entries import file_words
from unspoken.release.method import method_of
from unspoken.risk import Policy, Register, audit

pytestmark = pytest.mark.slow


def people(rows=1000, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 95, rows)
    plot = rng.permutation(rows)
    return {"age": age, "plot": plot, "debt": np.round(np.exp(rng.normal(8, 0.5, rows)), 1),
            "vote": rng.choice([*"uvwxyz"], rows),
            "ill": np.where((age > 50) & (plot > rows // 2), "yes", "no")}


def as_table(data, **roles):
    return unspoken.read(pa.table(data), show=False, keep=["plot"] if "plot" in data else None,
                         **roles)


TABLE = as_table(people(), target="ill", quasi=["debt"])


def released(*names):
    """Return a table that another tool made: some columns, another order."""
    order = np.random.default_rng(5).permutation(TABLE.rows)
    return as_table({name: np.asarray(people()[name])[order] for name in names})


def entered(tmp_path, method, table=TABLE):
    release, key = method.protect(table)
    release = release.save(tmp_path / "first")
    names = method_of(release.mechanism).released_names(key, release)
    return Register.load(tmp_path / "r").add_release(table, release, "x", str(tmp_path / "first"),
                                                     names)


def noisy():
    return NoiseAdder(columns=["age", "debt"], privacy=0.2, others="keep", random_state=5)


def model(tmp_path):
    """Return the register in which a tree is entered that tells who is ill."""
    columns = people()
    inputs = np.column_stack([columns["age"], columns["plot"]]).astype(float)
    tree = Tree.from_sklearn(DecisionTreeClassifier(max_depth=4).fit(inputs, columns["ill"]))
    path = tmp_path / "a tree.json"
    named = Tree.from_json({**tree.to_json(), "features": ["age", "plot"], "target": "ill"})
    named.save(path)
    words = file_words("Tree", path, path.read_bytes())
    return Register.load(tmp_path / "r").add_other("model", TABLE, words, "ward"), path


def beside(register, shown, digest="0" * 64):
    audited = audit_table(shown, TABLE, random_state=0)
    audited.release["data_sha256"] = digest
    return with_earlier_files(audited, register, TABLE, shown, 0)


def gain(audited, column):
    rows = [one for one in audited.select(measure="together") if one.column == column]
    return max((one.value - one.baseline for one in rows), default=None)


def test_a_table_of_another_tool_is_attacked_together_with_an_earlier_release(tmp_path):
    """Facts lead into the earlier release, the plot it shows leads into the file, to the vote."""
    first = as_table({n: people()[n] for n in ("age", "plot", "debt")})
    register = entered(tmp_path, NoiseAdder(columns=["age"], privacy=0.2, others="keep",
                                            random_state=5), first)
    found = beside(register, released("plot", "vote"))
    assert gain(found, "vote") > 0.5
    assert found.failed
    assert "(register)" not in found.unscored
    assert any("'vote'" in line and "from each alone" in line for line in found.added)
    strict = Policy.parse("[register]\nmax_added = 0.0\n")
    assert any("together with release" in line for line in strict.judge(found).reasons)


def test_two_tables_of_other_tools_are_attacked_together(tmp_path):
    """Neither of them was ever a release of ours: the first is known by its file."""
    path = tmp_path / "first.csv"
    pyarrow.csv.write_csv(released("debt", "plot").arrow(), path)
    words = file_words("table", path, path.read_bytes())
    register = Register.load(tmp_path / "r").add_other("table", TABLE, words, "ward")
    second = released("plot", "vote")
    found = beside(register, second)
    assert gain(found, "vote") > 0.5
    assert found.failed
    path.write_text("debt,plot\n1,2\n")
    assert "(register)" in beside(register, second).unscored


def test_what_cannot_be_laid_beside_it_is_not_assessed(tmp_path):
    found = beside(entered(tmp_path, Rotation(categorical="drop")), released("age", "plot", "ill"))
    assert any("mixes columns" in why for why in found.unscored.values())
    assert found.verdict == "not assessed"


def test_a_table_without_the_secret_and_a_model_of_it_tell_it(tmp_path):
    """A few facts lead to a record, the record to what the model takes, the model to the secret."""
    register, path = model(tmp_path)
    shown = released("age", "plot", "debt")
    found = beside(register, shown)
    assert gain(found, "ill") > 0.1
    assert found.failed
    path.write_text("{}")
    assert "(register)" in beside(register, shown).unscored


def test_a_model_that_knows_nothing_adds_nothing(tmp_path, monkeypatch):
    register, _ = model(tmp_path)
    monkeypatch.setattr(model_beside_release, "said",
                        lambda column, records: column.take(np.zeros(len(records), np.int64)))
    assert gain(beside(register, released("age", "plot", "debt")), "ill") < 0.05


def test_a_release_of_ours_is_attacked_together_with_a_model(tmp_path):
    register, _ = model(tmp_path)
    release, key = NoiseAdder(columns=["age", "debt"], others="keep").protect(TABLE)
    found = audit(TABLE, release, key, trials=1, random_state=0, register=register)
    assert "(register)" not in found.unscored
    assert gain(found, "ill") is not None


def test_a_model_is_attacked_together_with_an_earlier_table(tmp_path):
    register = entered(tmp_path, noisy())
    (tmp_path / "other").mkdir()
    _, path = model(tmp_path / "other")
    found = audit_model(path, TABLE, random_state=0)
    found.release["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    found = with_earlier_files(found, register, TABLE, Tree.load(path), 0)
    assert gain(found, "ill") is not None
    assert "(register)" not in found.unscored
