"""The audit of turned records: what each kind of knowledge gets, beside what it gets without."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.attack import KnownPairs, RotatedView, RowKnowledge
from unspoken.disclosure.record_scores import aligned, by_value, scores
from unspoken.errors import DataError, InputError
from unspoken.protect import PairwiseRotation, RandomProjection, Rotation, SimilarityOutsourcing
from unspoken.risk import Audit, Policy, audit, breach_probability, exposure, paper_breach


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    return unspoken.read(pa.table({
        "name": [f"n{i}" for i in range(rows)],
        "age": rng.integers(18, 90, rows), "visits": rng.gamma(2, 4, rows).astype(int),
        "dose": rng.integers(0, 40, rows) * 5.0,
        "group": rng.choice(["a", "b"], rows)}), target="group", identifiers=["name"], show=False)


@pytest.fixture(scope="module")
def done():
    table = people()
    release, key = Rotation(random_state=1).protect(table)
    return table, release, key, audit(table, release, key, trials=5, random_state=0)


@pytest.mark.slow
def test_it_says_which_knowledge_suffices(done):
    *_, found = done
    rows = {(r.adversary, r.knowledge): r for r in found.select(measure="breach")}
    assert rows["difference-directions", "ignorant"].value == 1.0
    assert rows["known-pairs", "records 3"].value == 1.0
    assert rows["known-pairs", "records 1"].value < 1.0
    assert rows["known-sample", "sample 5%"].value > rows["known-sample", "sample 5%"].baseline
    assert all(0 <= r.low <= r.value <= r.high <= 1 and r.trials == 5 for r in rows.values())
    assert "Treat this release as broken" in found.summary()
    assert "difference-directions, ignorant (100%" in found.summary()
    linked = found.select(measure="linked", knowledge="records 3")[0]
    assert linked.value == 1.0
    assert linked.baseline < 0.01


@pytest.mark.slow
def test_every_column_has_shares_and_a_baseline(done):
    *_, found = done
    for column in ("age", "visits", "dose"):
        worst = found.worst(column)
        assert worst.value == 1.0
        assert worst.baseline < 0.3
    assert {r.column for r in found.rows} == {"age", "visits", "dose", "(all)", "(people)"}
    error = found.select(measure="relative error", adversary="known-pairs",
                         knowledge="records 3")[0]
    assert error.value < 1e-9 < error.baseline


@pytest.mark.slow
def test_it_repeats_and_travels(done):
    table, release, key, found = done
    again = audit(table, release, key, trials=5, random_state=0)
    assert again.rows == found.rows
    assert Audit.from_json(found.to_json()) == found


@pytest.mark.slow
@pytest.mark.parametrize("method", [
    Rotation(translation=True, standardise=True, random_state=2), PairwiseRotation(random_state=2),
    RandomProjection(5, random_state=2), RandomProjection(2, random_state=2),
    SimilarityOutsourcing(random_state=2)])
def test_every_method_of_the_family_can_be_audited(method):
    table = people(300)
    release, key = method.protect(table)
    found = audit(table, release, key, trials=2, random_state=0)
    assert found.select(measure="domain")
    assert not found.unscored


def test_a_given_sample_is_used_and_a_policy_judged():
    table = people(300)
    release, key = Rotation(random_state=3).protect(table)
    found = audit(table, release, key, sample=people(200, 5), trials=2, random_state=0,
                  adversaries=["known-sample"],
                  policy=Policy.parse('allow_seeded = true\n'
                                      '[columns]\nmax_recovered = 0.01\nagainst = "sample"\n'))
    assert {r.knowledge for r in found.rows} == {"sample given"}
    assert not found.judgement.passed


def test_what_cannot_be_scored_is_said():
    table = people(100)
    release, _ = Rotation().protect(table)
    found = audit(table, release, trials=2)
    assert not found.rows
    assert "the key alone" in found.unscored["(all)"]
    plain, key = Rotation(shuffle_rows=False).protect(table)
    assert not audit(table, plain, trials=2, random_state=0).rows
    assert audit(table, plain, key, trials=2, random_state=0).rows
    gaps = table.arrow().set_column(1, "age", pa.array([None] * 100, pa.float64()))
    wrong = unspoken.read(gaps, target="group", identifiers=["name"], show=False)
    with pytest.raises(DataError, match="the one that was released"):
        audit(wrong, plain, key, trials=2)


@pytest.mark.slow
def test_exposure_is_the_expected_share_of_breaches():
    """The mean over many rotations of what is breached is what `exposure` says beforehand."""
    table = people(200)
    data = table.numbers()
    known, hits = np.array([3]), []
    for seed in range(60):
        release, _ = Rotation(shuffle_rows=False, random_state=seed).protect(table)
        told = RowKnowledge(3, data[known], known, epsilon=0.2)
        found = KnownPairs("shrunken").attack(release, told, np.random.default_rng(seed))
        hits.append((found.relative_errors(data) <= 0.2).mean())
    said = exposure(release, known, 0.2)
    assert said.unknown == 2
    assert abs(np.mean(hits) - said.expected) <= 4 * np.std(hits) / np.sqrt(60)
    assert np.allclose(said.uniform, said.by_paper)
    assert np.all(said.shrunken >= said.uniform)
    assert said.shrunken[said.most_exposed] == said.shrunken.max()
    moved, _ = Rotation(translation=True).protect(table)
    with pytest.raises(InputError, match="only for rotations without translation"):
        exposure(moved, known)


def test_the_public_probability():
    assert float(breach_probability(0.5, 5)) == pytest.approx(0.1562, abs=5e-5)
    assert float(paper_breach(0.5)) == pytest.approx(1 / 3)


def test_scores_count_values_records_and_lengths():
    truth = np.array([[0.0, 10.0], [0.0, 20.0], [10.0, 10.0], [4.0, 3.0]])
    guess = truth + np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 0.0], [0.0, 0.4]])
    found = scores(guess, truth, ("a", "b"), 0.02, 0.1)
    assert found["a", "records"] == 0.75
    assert found["a", "domain"] == pytest.approx((0.5 + 1 + 1) / 3)
    assert found["(all)", "breach"] == 0.75
    assert found["(all)", "relative error"] == pytest.approx((0.25 + 0.08) / 4)
    assert by_value(np.array([True, False, True]), np.array([1.0, 1.0, 2.0])) == 0.75


def test_aligned_undoes_order_sign_place_and_unit():
    truth = np.random.default_rng(0).normal(size=(50, 3)) * [1, 5, 9] + [3, 2, 1]
    assert np.allclose(aligned(truth[:, [2, 0, 1]] * [-2, 1, 3] + 7, truth), truth)


@pytest.mark.slow
def test_adversaries_see_no_table_and_no_key(done):
    _, release, *_ = done
    seen = RotatedView.of(release)
    assert {type(v).__name__ for v in vars(seen).values()} == {"dict", "ndarray"}
