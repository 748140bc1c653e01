"""What the methods of the family promise: distances, ways back, thresholds, answers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import DataError, ForeignKeyError, InputError, LeakWarning, SchemaError
from unspoken.methods.rotation.allowed_angles import Trig, admissible, joint_reach
from unspoken.methods.rotation.guarantee import tolerance_for
from unspoken.methods.rotation.pairwise_rotation import moved_variance
from unspoken.methods.rotation.similarity_outsourcing import plain_distances
from unspoken.methods.rotation.verify_distances import pair_distances
from unspoken.numerics.orthogonal import orthogonality
from unspoken.protect import (
    PairwiseRotation,
    PiecewiseEncoder,
    RandomProjection,
    Rotation,
    SimilarityOutsourcing,
    Store,
)
from unspoken.release.key import Key
from unspoken.risk import audit


def table_of(data, **roles):
    names = [f"c{i}" for i in range(data.shape[1])]
    return unspoken.read(pa.table(dict(zip(names, data.T, strict=True))), show=False, **roles)


def whole(rows=200, columns=4, seed=0):
    return np.random.default_rng(seed).integers(0, 60, (rows, columns)).astype(float)


DTYPES = (np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8, np.bool_)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(DTYPES), st.booleans(), st.booleans(),
       st.integers(2, 12), st.sampled_from([1e-6, 1.0, 1e9]))
def test_distances_and_the_way_back(seed, dtype, proper, translation, columns, size):
    rng = np.random.default_rng(seed)
    big = size if np.dtype(dtype).itemsize > 2 and dtype != np.int32 else 3.0
    data = rng.normal(size=(25, columns)) * big * 20
    data = (np.abs(data) if dtype == np.uint8 else data).astype(dtype)
    method = Rotation(proper=proper, translation=translation, random_state=seed).fit(data)
    turned = method.transform(data)
    plain = data.astype(np.float64)
    assert orthogonality(method.motion_.matrix) <= 1e-12
    longest = max(np.linalg.norm(plain, axis=1).max(), np.linalg.norm(turned, axis=1).max())
    change = np.abs(pair_distances(plain) - pair_distances(turned)).max()
    assert change <= tolerance_for(columns) * longest
    back = method.inverse_transform(turned)
    assert np.abs(back - plain).max() <= tolerance_for(columns) * longest
    if np.issubdtype(dtype, np.integer) and longest < 1e12:
        assert np.array_equal(back, plain)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 9), st.floats(0.05, 1.5), st.booleans())
def test_thresholds_hold_against_the_original_columns(seed, columns, rho, standardise):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(40, columns)) @ rng.normal(size=(columns, columns))
    method = PairwiseRotation(rho * 1e-2 if not standardise else rho, standardise=standardise,
                              random_state=seed)
    try:
        turned = method.fit_transform(data)
    except InputError:
        with pytest.raises(InputError, match="Alone they reach at most"):
            method.fit(data)
        return
    used = (data - data.mean(0)) / data.std(0) if standardise else data
    moved = (used - turned).var(axis=0)
    assert np.all(moved >= method.thresholds * (1 - 1e-9))
    assert np.allclose(moved, method.reached_, rtol=1e-8)
    assert orthogonality(method.motion_.matrix) <= 1e-12


def test_a_column_that_is_turned_twice_keeps_its_largest_threshold():
    data = np.random.default_rng(3).normal(size=(100, 3))
    for seed in range(30):
        method = PairwiseRotation([(1.9, 0.2), (0.1, 0.4)], pairs=[(0, 1), (0, 2)],
                                  random_state=seed)
        turned = method.fit_transform(data)
        used = (data - data.mean(0)) / data.std(0)
        moved = (used - turned).var(axis=0)
        assert moved[0] >= 1.9 * (1 - 1e-9)
        assert moved[1] >= 0.2 * (1 - 1e-9)
        assert moved[2] >= 0.4 * (1 - 1e-9)


def test_impossible_thresholds_name_the_largest_reachable_value():
    data = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.raises(InputError, match="Alone they reach at most") as caught:
        PairwiseRotation(9.0).fit(data)
    text = str(caught.value)
    reach = float(text.split("in this proportion ")[1].split(" and")[0])
    z = (data - data.mean(0)) / data.std(0)
    angles = np.linspace(0, 2 * np.pi, 20_001)
    c, s = np.cos(angles), np.sin(angles)
    rho = np.corrcoef(z.T)[0, 1]
    first = (1 - c) ** 2 + s**2 + 2 * (1 - c) * s * rho
    second = s**2 + (1 - c) ** 2 - 2 * (1 - c) * s * rho
    assert reach == pytest.approx(np.minimum(first, second).max(), rel=1e-5)
    PairwiseRotation(reach * 0.999999).fit(data)


@pytest.mark.slow
@settings(max_examples=80)
@given(st.lists(st.floats(-3, 3), min_size=10, max_size=10), st.floats(-2, 2), st.floats(-2, 2))
def test_admissible_angles_are_exact(parts, rho1, rho2):
    curves = (Trig(*parts[:5]), Trig(*parts[5:]))
    arcs = admissible(curves, (rho1, rho2))
    grid = np.linspace(0, 2 * np.pi, 997, endpoint=False)
    inside = np.zeros(grid.size, bool)
    for start, end in arcs:
        inside |= ((grid - start) % (2 * np.pi)) <= end - start
    slack = np.minimum(curves[0].at(grid) - rho1, curves[1].at(grid) - rho2)
    clear = np.abs(slack) > 1e-7
    assert np.array_equal(inside[clear], slack[clear] > 0)


def test_joint_reach_is_the_best_over_a_fine_grid():
    rng = np.random.default_rng(1)
    grid = np.linspace(0, 2 * np.pi, 5001)
    for _ in range(50):
        one, two = Trig(*rng.normal(size=5)), Trig(*rng.normal(size=5))
        found, _ = joint_reach(one, two, (1.0, 2.0))
        best = np.minimum(one.at(grid), two.at(grid) / 2).max()
        steepest = max(abs(c.a1) + abs(c.b1) + 2 * abs(c.a2) + 2 * abs(c.b2) for c in (one, two))
        assert best - 1e-9 <= found <= best + steepest * (grid[1] - grid[0]) / 2


def test_pairs_must_hold_every_column_and_thresholds_every_pair():
    data = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(InputError, match=r"hold every column.*x3"):
        PairwiseRotation(pairs=[(0, 1), (1, 2)]).fit(data)
    with pytest.raises(InputError, match=r"'thresholds'.*2"):
        PairwiseRotation([(0.1, 0.1)], pairs=[(0, 1), (2, 3)]).fit(data)
    with pytest.raises(InputError, match="a column of 'pairs'"):
        PairwiseRotation(pairs=[(0, 1), (2, 7)]).fit(data)
    assert moved_variance(np.eye(4), PairwiseRotation().fit(data).motion_.matrix).size == 4


@pytest.mark.slow
@pytest.mark.parametrize("method", [
    Rotation(), Rotation(translation=True), Rotation(standardise=True, proper=True),
    PairwiseRotation(), RandomProjection(6), SimilarityOutsourcing(),
])
def test_the_key_alone_turns_back_and_turns_later_records(method, tmp_path):
    data = whole()
    release, key = method.protect(table_of(data))
    key.save(tmp_path / "k")
    release.save(tmp_path / "r")
    again = type(method).from_key(Key.load(tmp_path / "k"))
    loaded = unspoken.Release.load(tmp_path / "r")
    assert np.array_equal(again.inverse(loaded), data)
    later = whole(5, seed=9)
    assert np.array_equal(again.transform(later), method.transform(later))
    assert np.array_equal(again.inverse_transform(again.transform(later)), later)
    with pytest.raises(ForeignKeyError):
        again.inverse(type(method)().protect(table_of(data))[0])


def test_a_key_of_another_method_is_refused_by_name():
    _, key = PiecewiseEncoder().protect(table_of(whole()))
    with pytest.raises(ForeignKeyError, match=r"key of 'rotation'. This key is of 'piecewise'"):
        Rotation.from_key(key)


@pytest.mark.slow
def test_a_lazy_table_is_turned_like_one_in_memory(tmp_path):
    data = whole(5000, 3)
    pq.write_table(pa.table({f"c{i}": data[:, i] for i in range(3)}), tmp_path / "t.parquet")
    lazy = unspoken.read(tmp_path / "t.parquet", lazy=True, show=False)
    for make in (lambda: Rotation(random_state=1, translation=True, standardise=True),
                 lambda: RandomProjection(2, noise=0.3, random_state=1)):
        there, _ = make().protect(lazy)
        here, _ = make().protect(table_of(data))
        assert np.allclose(there.table.numbers(), here.table.numbers(), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("method", [Rotation(random_state=0),
                                    Rotation(translation=True, random_state=1),
                                    Rotation(standardise=True, random_state=2),
                                    PairwiseRotation(random_state=3)])
def test_the_guarantee_is_verified(method):
    data = np.random.default_rng(1).normal(size=(400, 5)) * [1, 2, 3, 4, 5]
    table = table_of(data)
    release, key = method.protect(table)
    found = release.guarantee.verify(table, release, key)
    assert found, found.summary()
    assert {f.what for f in found.findings} == {
        "distances", "k-means from the same start", "k-nearest-neighbour predictions",
        "hierarchical clusters", "DBSCAN labels"}
    with pytest.raises(InputError, match="rows of this release were shuffled"):
        release.guarantee.verify(table, release)


def test_verification_catches_a_table_that_is_not_the_original():
    data = np.random.default_rng(1).normal(size=(100, 3))
    release, key = Rotation().protect(table_of(data))
    other = table_of(data * [1, 1, 2])
    found = release.guarantee.verify(other, release, key)
    assert not found
    assert "DIFFERENT" in found.summary()
    assert not found["distances"].same


def test_which_miners_are_covered():
    from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
    from sklearn.tree import DecisionTreeClassifier

    release, _ = Rotation().protect(table_of(np.random.default_rng(0).normal(size=(200, 4))))
    covers = release.guarantee.covers
    for yes in (KMeans(random_state=0), KMeans(init="random", random_state=0), DBSCAN(),
                KNeighborsClassifier(), NearestNeighbors(metric="euclidean"),
                AgglomerativeClustering(linkage="average")):
        assert covers(yes), yes
    for no in (KMeans(), KMeans(init=np.zeros((8, 4)), random_state=0), DBSCAN(metric="cosine"),
               KNeighborsClassifier(p=1), DecisionTreeClassifier(),
               AgglomerativeClustering(linkage="average", metric="manhattan")):
        assert not covers(no), no
        assert covers(no).reason
    assert not covers(DBSCAN(), columns=["r1"])
    projected, _ = RandomProjection(3).protect(table_of(whole()))
    assert not projected.guarantee.covers(DBSCAN())


def covered_miners(seed):
    from sklearn import cluster, neighbors

    yield from (cluster.KMeans(4, random_state=seed, n_init=2),
                cluster.KMeans(3, init="random", random_state=seed, n_init=2),
                cluster.KMeans(4, algorithm="elkan", random_state=seed, n_init=1),
                neighbors.KNeighborsClassifier(weights="distance"),
                neighbors.KNeighborsRegressor(),
                neighbors.RadiusNeighborsClassifier(8.0, outlier_label=9),
                cluster.AgglomerativeClustering(4),
                cluster.AgglomerativeClustering(4, linkage="single"),
                cluster.AgglomerativeClustering(4, linkage="complete"), cluster.DBSCAN(2.0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_every_covered_miner_finds_the_same(seed):
    from sklearn.base import clone

    rng = np.random.default_rng(seed)
    data = rng.normal(size=(250, 4)) * [1, 2, 3, 4] + rng.integers(0, 3, (250, 1)) * 6
    labels = rng.integers(0, 3, 250)
    table = table_of(data)
    method = Rotation(translation=seed % 2 == 0, shuffle_rows=False)
    release, _ = method.protect(table)
    for miner in covered_miners(seed):
        assert release.guarantee.covers(miner), miner
        found = []
        for side in (data, release.table.numbers()):
            model = clone(miner).fit(side[:200], labels[:200])
            found.append(model.predict(side[200:]) if hasattr(model, "predict")
                         else model.labels_)
        assert np.array_equal(*found), miner


@pytest.mark.slow
def test_where_ties_decide_the_verification_says_so():
    """Three values a column: hierarchical clustering is all ties, and a rotation breaks them."""
    different = 0
    for seed in range(20):
        data = np.random.default_rng(seed).integers(0, 3, (120, 3)).astype(float)
        table = table_of(data)
        release, key = Rotation(random_state=seed).protect(table)
        found = release.guarantee.verify(table, release, key)
        assert found["distances"].same
        for finding in found.findings:
            different += not finding.same
            assert finding.same or "ties and rounding" in finding.detail
    assert different > 0


@pytest.mark.parametrize("options", [{}, {"translation": True}, {"standardise": True}])
def test_the_store_gives_exactly_the_answers_of_the_plain_data(options):
    """Whole numbers from a small range: nearly every answer is decided by ties."""
    data = np.random.default_rng(0).integers(0, 5, (300, 4)).astype(float)
    owner = SimilarityOutsourcing(**options)
    release, key = owner.protect(table_of(data))
    store = Store(release)
    queries = np.random.default_rng(1).integers(0, 5, (30, 4)) + 0.5
    scale = owner.motion_.scale
    for asker in (owner, SimilarityOutsourcing.from_key(key).opened(release)):
        near = asker.nearest(store, queries, 7)
        within = asker.within(store, queries, 1.5)
        for query, found, inside in zip(queries, near, within, strict=True):
            distances = plain_distances((data - query) / scale)
            order = np.lexsort((np.arange(300), distances))
            assert np.array_equal(found.rows, order[:7])
            assert np.array_equal(found.records, data[order[:7]])
            assert np.array_equal(inside.rows, order[distances[order] <= 1.5])


def test_the_store_needs_sense_and_the_owner_a_release():
    release, key = SimilarityOutsourcing().protect(table_of(whole()))
    store = Store(release)
    with pytest.raises(InputError, match="'count'"):
        store.nearest(np.zeros((1, 4)), 0)
    with pytest.raises(InputError, match="'radius'"):
        store.within(np.zeros((1, 4)), -1.0)
    with pytest.raises(InputError, match="no release is open"):
        SimilarityOutsourcing.from_key(key).nearest(store, np.zeros((1, 4)))


def test_degenerate_data_gets_words_or_a_stated_answer():
    constant = whole(50, 3)
    constant[:, 1] = 7
    method = Rotation(standardise=True).fit(constant)
    assert np.array_equal(method.inverse_transform(method.transform(constant)), constant)
    few = whole(2, 6)
    method = Rotation().fit(few)
    assert np.array_equal(method.inverse_transform(method.transform(few)), few)
    with pytest.raises(DataError, match="one column alone can only be mirrored"):
        Rotation().protect(table_of(whole(20, 1)))
    with pytest.raises(DataError, match="infinity"):
        Rotation().fit(np.array([[1.0, np.inf], [1.0, 2.0]]))
    texts = unspoken.read(pa.table({"a": [1, 2], "b": [3, 4], "c": ["x", "y"]}), show=False)
    with pytest.raises(SchemaError, match="categorical='drop'"):
        Rotation().protect(texts)
    release, _ = Rotation(categorical="drop").protect(texts)
    assert release.schema.names == ("r1", "r2")


@pytest.mark.parametrize("target", ["r1", "turned_1", "y"])
def test_released_names_are_never_the_target_s(target):
    data = pa.table({"a": [1, 2, 3], "b": [4, 6, 5], target: ["u", "v", "u"]})
    release, _ = Rotation().protect(unspoken.read(data, target=target, show=False))
    assert len(release.schema.names) == 3
    assert release.schema.target == target


def test_missing_values_blank_their_record_or_are_filled():
    data = whole(30, 3)
    data[4, 1] = np.nan
    table = table_of(data)
    release, key = Rotation(missing="blank").protect(table)
    blank = np.isnan(release.table.numbers())
    assert blank.all(axis=1).sum() == blank.any(axis=1).sum() == 1
    assert "1 records with missing values" in release.guarantee.summary()
    assert release.guarantee.verify(table, release, key)
    filled, key = Rotation(missing="mean").protect(table)
    assert not np.isnan(filled.table.numbers()).any()
    assert filled.guarantee.verify(table, filled, key)


@pytest.mark.slow
def test_projections_say_how_far_distances_go_and_forget_or_keep_r():
    table = table_of(whole(200, 4))
    release, key = RandomProjection(4, keep_key=False).protect(table)
    assert set(key.arrays) == {"original.records"}
    with pytest.raises(ForeignKeyError, match="forgotten"):
        RandomProjection.from_key(key)
    assert audit(table, release, key, trials=1, random_state=0).rows
    assert release.guarantee.distortion > 1
    with pytest.warns(LeakWarning, match="nearly a rotation"):
        wide, _ = RandomProjection(2000, entries="sign").protect(table)
    assert 0.1 < wide.guarantee.distortion < 0.3
    few, key = RandomProjection(2).protect(table)
    back = RandomProjection.from_key(key).inverse(few)
    assert back.shape == (200, 4)
    assert not np.allclose(back, whole(200, 4))
