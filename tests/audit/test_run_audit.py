"""The audit: scored by the key, the same for the same seed, clear about what it cannot do."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import unspoken
from support.people import people, release_of
from unspoken.attack import Adversary, Polyline
from unspoken.disclosure.audit_result import COLUMNS
from unspoken.errors import DataError, ForeignKeyError, InputError, ReleaseError, SchemaError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.risk import Audit, Policy, audit

pytestmark = pytest.mark.slow

MODES = [{"mode": "strict"}, {"mode": "anti"}, {"mode": "max-mono"},
         {"mode": "max-mono", "monochromatic": "record"}]


class Oracle(Adversary):
    """Handed the true inverse, as no adversary is: everything must be cracked."""

    name = "oracle"

    def __init__(self, key):
        book = PiecewiseBook.from_key(key)
        self.inverse = {c.released: dict(zip(c.codes.tolist(), c.values.tolist(), strict=True))
                        for c in book.columns}

    def guess(self, view, column, knowledge, rng):
        known = self.inverse[column]
        return np.array([[known[code] for code in view[column].codes.tolist()]])


@pytest.mark.parametrize("options", MODES[:3])
@pytest.mark.parametrize("missing", [False, True])
def test_the_true_inverse_cracks_everything(options, missing):
    table = people(missing=missing)
    release, key = release_of(table, **options)
    found = audit(table, release, key, trials=2, adversaries=[Oracle(key)], random_state=0)
    rows = [row for row in found.rows if row.adversary == "oracle"]
    assert {row.measure for row in rows} == {"domain", "records", "subspace"}
    expected = 1 - np.isnan(table.numbers()[:, 0]).mean() if missing else 1.0
    for row in rows:
        whole = expected if row.measure == "subspace" and "age" in row.column else 1.0
        assert row.value == whole if whole == 1.0 else row.value == pytest.approx(whole)


@pytest.mark.parametrize("options", MODES)
def test_the_same_seed_gives_the_same_audit(options):
    table = people()
    release, key = release_of(table, **options)
    first, second = (audit(table, release, key, trials=5, random_state=7) for _ in range(2))
    assert first == second
    assert first.to_json() == second.to_json()
    assert audit(table, release, key, trials=5, random_state=8).rows != first.rows


def test_without_a_seed_numbers_lie_in_the_stated_interval():
    table = people()
    release, key = release_of(table)
    seeded = audit(table, release, key, trials=200, random_state=1, adversaries=["polyline"],
                   subspaces=1)
    free = audit(table, release, key, trials=200, adversaries=["polyline"], subspaces=1)
    for one, other in zip(seeded.rows, free.rows, strict=True):
        assert one.low <= other.value <= one.high


def test_leaving_adversaries_out_does_not_change_the_others():
    table = people()
    release, key = release_of(table)
    every = audit(table, release, key, trials=5, random_state=7, subspaces=1)
    few = audit(table, release, key, trials=5, random_state=7, subspaces=1,
                adversaries=["spline", Polyline()])
    assert set(few.rows) <= set(every.rows)


@pytest.mark.parametrize("options", MODES)
def test_every_row_is_a_share_with_interval_and_baseline(options):
    table = people(missing=True)
    release, key = release_of(table, neutral_names=True, **options)
    found = audit(table, release, key, trials=6, random_state=0)
    # Under neutral names the classes are attacked, too.
    assert {row.column for row in found.select(measure="domain")} == {"age", "salary", "weight",
                                                                      "group"}
    for row in found.rows:
        assert 0.0 <= row.low <= row.value <= row.high <= 1.0
        assert 0.0 <= row.baseline <= 1.0
        assert row.trials in (1, 6)


def test_frame_has_the_agreed_columns():
    table = people()
    release, key = release_of(table)
    frame = audit(table, release, key, trials=2, random_state=0).frame()
    assert tuple(frame.column_names) == COLUMNS == (
        "adversary", "knowledge", "column", "measure", "value", "low", "high", "baseline",
        "trials")
    assert frame.num_rows > 50
    assert list(frame.to_pandas().columns) == list(COLUMNS)


def test_json_comes_back_equal():
    table = people()
    release, key = release_of(table)
    from unspoken.risk import Policy

    policy = Policy.parse('allow_seeded = true\n[columns]\nmax_recovered = 0.1\nagainst = "expert"')
    found = audit(table, release, key, trials=3, random_state=0, policy=policy)
    assert Audit.from_json(found.to_json()) == found
    assert Audit.from_json(json.dumps(found.to_json())) == found


@pytest.mark.parametrize("broken", ["", "[]", "{}", '{"format": "other"}', "nonsense"])
def test_what_is_no_audit_is_refused(broken):
    with pytest.raises(DataError, match="audit"):
        Audit.from_json(broken)


def test_worst_and_ranking_and_summary_agree():
    table = people()
    release, key = release_of(table)
    found = audit(table, release, key, trials=5, random_state=0)
    worst, ranked = found.worst(), found.ranking()
    assert worst.value == max(row.value for row in found.select(measure="records"))
    assert [row.value for row in ranked] == sorted((row.value for row in ranked), reverse=True)
    text = found.summary()
    assert worst.column in text
    assert "must know" in text
    assert "What would lower it" in text
    assert "Limits" in text
    with pytest.raises(DataError, match="colour"):
        found.select(colour="red")


@pytest.mark.parametrize("mode", ["strict", "anti"])
@pytest.mark.parametrize("neutral", [False, True])
def test_without_a_key_ordered_codes_are_scored_by_order(mode, neutral):
    table = people()
    release, key = release_of(table, mode=mode, neutral_names=neutral)
    # Risks to people need the key: without it they are not measured.
    with_key = audit(table, release, key, trials=4, random_state=0, people=False)
    without = audit(table, release, trials=4, random_state=0)
    assert without.rows == tuple(r for r in with_key.rows if r.adversary != "row-order")
    assert set(without.unscored) == {"(records)"}


def test_without_a_key_permuted_columns_are_listed_and_not_scored():
    table = people()
    release, _ = release_of(table, mode="max-mono")
    found = audit(table, release, trials=2, random_state=0)
    assert set(found.unscored) == {"age", "salary", "weight", "(records)"}
    assert "key" in found.unscored["age"]
    assert {(row.column, row.measure) for row in found.rows} == {("group", "target")}
    assert not found.assessed
    assert found.verdict == "not assessed"
    assert "Verdict: not assessed" in found.summary()
    assert found.worst() is None
    assert "No column could be scored" in found.summary()


def test_a_foreign_key_is_refused():
    table = people()
    release, _ = release_of(table)
    _, other = release_of(table, random_state=2)
    with pytest.raises(ForeignKeyError, match="must belong to this release"):
        audit(table, release, other)


@pytest.mark.parametrize("with_key", [True, False])
def test_another_table_is_refused(with_key):
    release, key = release_of(people())
    with pytest.raises(DataError, match="must be the one that was released"):
        audit(people(seed=1), release, key if with_key else None, trials=2)
    with pytest.raises(DataError, match="600"):
        audit(people(rows=599), release, key if with_key else None, trials=2)


def test_a_release_without_data_is_refused(tmp_path):
    table = people()
    release, key = release_of(table)
    release.save(tmp_path / "release")
    (tmp_path / "release" / "data.parquet").unlink()
    with pytest.raises(ReleaseError):
        unspoken.Release.load(tmp_path / "release")
    empty = replace(release, table=release.table.with_frame(
        type(release.table.frame)(release.table.arrow().slice(0, 0))))
    with pytest.raises(DataError, match="must hold data"):
        audit(table, empty, key)


def test_a_sample_with_other_columns_is_refused():
    table = people()
    release, key = release_of(table)
    with pytest.raises(SchemaError, match="'salary'"):
        audit(table, release, key, sample={"age": [20, 30]}, trials=2)
    with pytest.raises(SchemaError, match="numeric"):
        audit(table, release, key, trials=2,
              sample={"age": ["x"], "salary": [1.0], "weight": [2.0]})
    with pytest.raises(DataError, match="must hold values"):
        audit(table, release, key, trials=2,
              sample={"age": [float("nan")], "salary": [1.0], "weight": [2.0]})


def test_a_given_sample_takes_the_place_of_drawn_ones():
    table = people()
    release, key = release_of(table)
    found = audit(table, release, key, sample=people(seed=9), trials=3, random_state=0,
                  adversaries=["quantile"], subspaces=1)
    rows = [row for row in found.rows if row.adversary == "quantile"]
    assert {row.knowledge for row in rows} == {"sample given"}
    assert {row.trials for row in rows} == {1}
    assert found.worst("weight").value > 0.5


@pytest.mark.parametrize(("name", "value"), [
    ("trials", 0), ("radius", 0.0), ("radius", 1.5), ("subspaces", 0),
])
def test_impossible_parameters_are_refused(name, value):
    table = people()
    release, key = release_of(table)
    with pytest.raises(InputError, match=name):
        audit(table, release, key, **{name: value})


def test_a_tree_adds_its_paths():
    table = people()
    release, key = release_of(table)
    labels = release.table.labels()
    model = DecisionTreeClassifier(random_state=0).fit(release.table.numbers(), labels)
    model.feature_names_in_ = np.array(["age", "salary", "weight"], dtype=object)
    tree = unspoken.Tree.from_sklearn(model)
    found = audit(table, release, key, trials=5, random_state=0, tree=tree, subspaces=1)
    paths = found.select(measure="paths", column="(tree)")
    assert {row.knowledge for row in paths} >= {"expert", "histogram"}
    exact = [row for row in paths if row.knowledge == "histogram"]
    assert exact[0].value == 1.0
    with pytest.raises(InputError, match="key"):
        audit(table, release, tree=tree)


def test_a_constant_and_an_empty_column_do_no_harm():
    rng = np.random.default_rng(0)
    table = unspoken.read({"one": np.full(50, 3.0), "none": np.full(50, np.nan),
                        "x": rng.normal(size=50), "y": rng.integers(0, 2, 50)}, target="y",
                       show=False)
    release, key = release_of(table)
    found = audit(table, release, key, trials=3, random_state=0)
    assert {row.value for row in found.select(measure="domain", column="one")
            if "bad" not in row.knowledge and row.adversary != "unchanged"} == {1.0}
    assert "no values" in found.unscored["none"]


def test_relabelled_categories_are_scored_with_the_key_and_listed_without():
    rng = np.random.default_rng(0)
    table = unspoken.read({"x": rng.normal(size=60), "town": rng.choice(["a", "b"], 60),
                        "y": rng.integers(0, 2, 60)}, target="y", show=False)
    release, key = release_of(table, categorical="relabel")
    found = audit(table, release, key, trials=2, random_state=0)
    assert not found.unscored
    assert found.worst("town").value == 1.0
    assert found.worst("x") is not None
    without = audit(table, release, trials=2, random_state=0)
    assert set(without.unscored) == {"town", "(records)"}
    assert "key" in without.unscored["town"]


def test_an_adversary_with_unknown_needs_is_refused():
    class Reader(Oracle):
        needs = frozenset({"minds"})

    table = people()
    release, key = release_of(table)
    with pytest.raises(InputError, match="minds"):
        audit(table, release, key, trials=2, adversaries=[Reader(key)])


def test_progress_counts_up_to_the_end():
    table, seen = people(), []
    release, key = release_of(table)
    audit(table, release, key, trials=2, random_state=0, adversaries=["rank"], subspaces=1,
          progress=lambda done, whole: seen.append((done, whole)))
    assert len(seen) >= 4
    assert seen == sorted(seen)
    assert {whole for _, whole in seen} == {1000}
    assert seen[0][0] > 0
    assert seen[-1] == (1000, 1000)


def test_more_trials_are_made_where_the_wanted_precision_needs_them():
    table = people()
    release, key = release_of(table)
    options = {"trials": 20, "random_state": 0, "adversaries": ["polyline"], "subspaces": 1}
    plain = audit(table, release, key, **options)
    finer = audit(table, release, key, precision=0.02, **options)
    coarse = audit(table, release, key, precision=0.9, **options)
    assert {row.trials for row in plain.rows if row.measure == "domain"} == {20}
    assert coarse.rows == plain.rows
    assert finer.trials > 20
    for row in finer.select(measure="domain"):
        # The median's standard error, from the spread of the trials themselves.
        assert 1.96 * 1.253 * (row.high - row.low) / 3.92 / row.trials**0.5 < 0.025
    with pytest.raises(InputError, match="precision"):
        audit(table, release, key, precision=0.0)


def test_paths_stand_beside_what_guessing_gives():
    table = people()
    release, key = release_of(table)
    model = DecisionTreeClassifier(random_state=0, max_depth=1)
    model.fit(release.table.numbers(), release.table.labels())
    model.feature_names_in_ = np.array(["age", "salary", "weight"], dtype=object)
    found = audit(table, release, key, trials=40, random_state=0, subspaces=1, radius=0.45,
                  tree=unspoken.Tree.from_sklearn(model), adversaries=["polyline", "frequency"])
    rows = found.select(measure="paths", column="(tree)")
    # Within 45% of the range a blind guess often hits the only threshold there is.
    assert any(row.baseline > 0 for row in rows)
    assert all(0 <= row.baseline <= 1 for row in rows)


def test_categories_kept_beside_noise_are_said_to_leave_as_they_are():
    table = unspoken.read({"age": np.arange(60) % 17 + 20.5, "town": ["a", "b", "c"] * 20},
                          show=False)
    release, _ = unspoken.protect.NoiseAdder(columns=["age"], others="keep").protect(table)
    found = unspoken.risk.audit(table, release, trials=2, random_state=0)
    assert found.unscored["town"] == "the column was released as it is"


def test_a_target_in_clear_is_said_first_by_every_method():
    from support.release_cases import CASES, protected

    for name in CASES:
        if name == "baskets":
            continue
        table, release, key = protected(name)
        found = audit(table, release, key, trials=1, random_state=0)
        assert "target 'outcome' is released as it is" in found.summary().splitlines()[1]


def test_a_quantity_that_leaves_as_it_is_counts_like_a_column():
    rng = np.random.default_rng(0)
    table = unspoken.read({"age": rng.normal(size=200), "pay": rng.normal(size=200)},
                          target="pay", show=False)
    release, key = unspoken.protect.NoiseAdder().protect(table)
    policy = Policy.parse('[columns]\nmax_recovered = 0.5\nagainst = "anybody"')
    found = audit(table, release, key, trials=1, random_state=0, policy=policy)
    assert found.worst("pay").value == 1.0
    assert any("'pay': 100.0% recovered by 'unchanged'" in line
               for line in found.judgement.reasons)


def test_a_misspelt_adversary_is_refused_on_a_faulty_release_too():
    from support.release_cases import protected
    from support.release_mutants import MUTANTS

    table, release, key = protected("noise")
    broken, own = MUTANTS["keeps_the_order"](table, release, key)
    assert audit(table, broken, own, trials=1, random_state=0).faults
    for strange in ("literall", "no-such-adversary", "rotation"):
        with pytest.raises(InputError, match=f"An adversary.*{strange}"):
            audit(table, broken, own, trials=1, adversaries=[strange])
        with pytest.raises(InputError, match=f"An adversary.*{strange}"):
            audit(table, release, key, trials=1, adversaries=iter([strange]))
