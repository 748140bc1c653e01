"""Equal distances: who breaks ties by rounding is not covered, who has a rule finds the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.svm import SVC, SVR, OneClassSVM

import unspoken
from unspoken.errors import InputError
from unspoken.methods.rotation.even_miners import EvenKMeans, EvenNeighbours
from unspoken.methods.rotation.mine_clusters import mine_clusters
from unspoken.protect import Rotation, decode
from unspoken.release.record_key import original_rows


def table_of(data):
    return unspoken.read({f"c{i}": data[:, i] for i in range(data.shape[1])}, show=False)


def both(seed, rows=160, columns=3, top=4):
    """Return whole numbers full of ties, and the same records rotated."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, top, (rows, columns)).astype(float)
    method = Rotation(translation=True, shuffle_rows=False, random_state=seed)
    return data, method.protect(table_of(data))[0], rng.integers(0, 3, rows)


def test_by_hand_all_equally_near_records_vote():
    records, labels = np.array([[0.0], [2.0], [2.0], [5.0]]), ["a", "b", "b", "a"]
    model = EvenNeighbours(1).fit(records, labels)
    # 1.0 is as far from 0 as from both 2s: one vote for a, two for b; 3.5 is between 2, 2 and 5.
    assert model.predict([[1.0], [0.4], [3.5]]).tolist() == ["b", "a", "b"]
    assert EvenNeighbours(1).fit([[0.0], [2.0]], ["b", "a"]).predict([[1.0]]).tolist() == ["a"]


def test_without_ties_neighbours_and_clusters_are_scikit_learns():
    rng = np.random.default_rng(0)
    data, labels = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    ours = EvenNeighbours(7).fit(data[:200], labels[:200]).predict(data[200:])
    theirs = KNeighborsClassifier(7).fit(data[:200], labels[:200]).predict(data[200:])
    votes_tie = 3
    assert (ours != theirs).sum() <= votes_tie
    apart = data + rng.integers(0, 3, (300, 1)) * 30
    mine, known = EvenKMeans(3).fit(apart), KMeans(3, random_state=0, n_init=5).fit(apart)
    assert mine.inertia_ == pytest.approx(known.inertia_)
    assert len(set(zip(mine.labels_, known.labels_, strict=True))) == 3


@settings(max_examples=15, deadline=None)
@pytest.mark.slow
@given(st.integers(0, 2**31))
def test_rounding_changes_nothing_for_miners_with_a_rule(seed):
    data, release, labels = both(seed)
    turned = release.table.numbers()
    for miner in (EvenNeighbours(), EvenKMeans(4, random_state=seed % 100), EvenKMeans(
            3, init="random", n_init=1)):
        assert release.guarantee.covers(miner)
        sides = []
        for side in (data, turned):
            miner.fit(side[:120], labels[:120])
            sides.append(miner.predict(side[120:]) if hasattr(miner, "predict") else miner.labels_)
        assert np.array_equal(*sides)


def test_rounding_does_change_what_scikit_learn_finds():
    """The mutant: if it did not, the rule would protect from nothing."""
    changed = 0
    for seed in range(6):
        data, release, labels = both(seed)
        found = [KNeighborsClassifier().fit(side[:120], labels[:120]).predict(side[120:])
                 for side in (data, release.table.numbers())]
        changed += int((found[0] != found[1]).sum())
    assert changed > 5


def test_on_a_grid_miners_that_break_ties_are_not_covered():
    _, release, _ = both(1)
    covers = release.guarantee.covers
    for no in (KNeighborsClassifier(), KMeans(random_state=0), AgglomerativeClustering(),
               DBSCAN(eps=2.0), RadiusNeighborsClassifier(np.sqrt(5)), EvenKMeans(closeness=1e-15),
               EvenNeighbours(closeness=0.1), EvenKMeans(random_state=None)):
        assert not covers(no), no
    for yes in (DBSCAN(eps=2.01), RadiusNeighborsClassifier(1.3), EvenNeighbours()):
        assert covers(yes), yes
    fractions = Rotation().protect(table_of(np.random.default_rng(0).normal(size=(50, 3))))[0]
    assert fractions.guarantee.covers(KNeighborsClassifier())
    standard = Rotation(standardise=True).protect(table_of(both(1)[0]))[0]
    assert not standard.guarantee.covers(DBSCAN(eps=2.01))


def test_steps_of_a_tenth_make_other_distances():
    data = both(1)[0] / 10
    release, _ = Rotation(random_state=0).protect(table_of(data))
    assert release.guarantee.facts["decimals"] == 1
    assert not release.guarantee.covers(DBSCAN(eps=0.3))
    assert release.guarantee.covers(DBSCAN(eps=0.305))


def test_radial_kernels_with_a_fixed_gamma_are_covered_and_agree():
    data, release, labels = both(3, top=9)
    turned, target = release.table.numbers(), (labels > 0).astype(float)
    for machine in (SVC(gamma=0.1), SVR(gamma=0.1), OneClassSVM(gamma=0.2),
                    KernelRidge(kernel="rbf", gamma=0.1)):
        assert release.guarantee.covers(machine), machine
        sides = []
        for side in (data, turned):
            machine.fit(side[:120], target[:120])
            value = getattr(machine, "decision_function", machine.predict)
            sides.append(value(side[120:]))
        np.testing.assert_allclose(*sides, atol=1e-9)
    for no in (SVC(), SVC(gamma="auto"), SVC(kernel="linear", gamma=1.0), SVC(gamma=True),
               KernelRidge(kernel="rbf"), SVC(kernel="poly", gamma=0.1)):
        assert not release.guarantee.covers(no), no


def test_clusters_of_whole_numbers_are_mined_by_the_rule():
    data = both(4)[0]
    release, key = Rotation(random_state=4).protect(table_of(data))
    decoded, order = decode(mine_clusters(release, n_clusters=3), key), original_rows(key, 160)
    assert np.array_equal(decoded.assigned[order], EvenKMeans(3).fit(data[order]).labels_)
    with pytest.raises(InputError, match="tol"):
        mine_clusters(release, tol=0.1)


@pytest.mark.parametrize("wrong", [{"n_clusters": 0}, {"init": "far"}, {"max_iter": 1.5}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        EvenKMeans(**wrong).fit(np.zeros((9, 2)))
    with pytest.raises(InputError, match="n_neighbors"):
        EvenNeighbours(10).fit(np.zeros((9, 2)), np.zeros(9))
