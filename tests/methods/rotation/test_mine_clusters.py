"""Clusters of a rotated release are those of the original, and come back to the right records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans

import unspoken
from unspoken.errors import (
    DataError,
    DecodeError,
    ForeignKeyError,
    InputError,
    NotCoveredError,
)
from unspoken.methods.rotation.mine_clusters import decode_clusters, mine_clusters
from unspoken.models.clusters import Clusters
from unspoken.protect import NoiseAdder, RandomProjection, Rotation, decode
from unspoken.release.record_key import original_rows


def blobs(rows=300, holes=False):
    """Three groups that nobody could confuse, and a few records far from all of them."""
    rng = np.random.default_rng(0)
    middles = rng.permutation(np.repeat([[0, 0, 0], [30, 5, 1], [4, 40, 9]], rows // 3, axis=0))
    data = middles + rng.normal(0, 1, (rows, 3))
    data[:4] += [500, -400, 300] * np.arange(1, 5)[:, None]
    frame = pd.DataFrame(data, columns=["a", "b", "c"])
    if holes:
        frame.loc[10:19, "b"] = np.nan
    return frame


def released(frame, **options):
    table = unspoken.read(frame, show=False)
    return Rotation(random_state=0, **options).protect(table)


def test_dbscan_finds_the_groups_of_the_original_and_leaves_the_same_records_out():
    frame = blobs()
    release, key = released(frame)
    mined = mine_clusters(release, "dbscan", eps=4.0)
    decoded = decode(mined, key)
    expected = DBSCAN(eps=4.0).fit(frame.to_numpy()).labels_
    assert set(decoded.assigned[:4]) == {-1}
    # Groups are numbered by the order in which records come.
    pairs = set(zip(decoded.assigned.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(set(expected)) == 4
    assert decoded.features == ("a", "b", "c")
    for number in range(3):
        np.testing.assert_allclose(decoded.centres[number],
                                   frame.to_numpy()[decoded.assigned == number].mean(axis=0))


def test_kmeans_is_that_of_the_original_in_the_released_order():
    frame = blobs().iloc[4:]
    release, key = released(frame)
    decoded = decode(mine_clusters(release, n_clusters=3, n_init=5), key)
    order = original_rows(key, len(frame))
    expected = KMeans(3, n_init=5, random_state=0).fit(frame.to_numpy()[order])
    np.testing.assert_array_equal(decoded.assigned[order], expected.labels_)
    np.testing.assert_allclose(np.sort(decoded.centres, axis=0),
                               np.sort(expected.cluster_centers_, axis=0), atol=1e-9)


def test_blank_records_are_in_no_cluster_and_predicted_into_none():
    frame = blobs(holes=True)
    release, key = released(frame, missing="blank")
    decoded = decode(mine_clusters(release, n_clusters=4), key)
    assert set(decoded.assigned[10:20]) == {-1}
    assert decoded.sizes().sum() == len(frame) - 10
    predicted = decoded.predict(frame)
    np.testing.assert_array_equal(predicted, decoded.assigned)


def test_records_that_were_compared_in_other_units_are_predicted_in_them():
    frame = blobs().iloc[4:].assign(b=lambda f: f.b * 1000)
    release, key = released(frame, standardise=True)
    decoded = decode(mine_clusters(release, n_clusters=3), key)
    np.testing.assert_array_equal(decoded.predict(frame), decoded.assigned)
    assert Clusters.from_json(decoded.to_json()).same_as(decoded)


def test_dbscan_says_nothing_about_other_records():
    release, key = released(blobs())
    decoded = decode(mine_clusters(release, "dbscan", eps=4.0), key)
    with pytest.raises(InputError, match="do not say into which"):
        decoded.predict(blobs())


def test_another_key_and_another_table_are_refused():
    frame = blobs()
    release, key = released(frame)
    mined = mine_clusters(release, n_clusters=3)
    _, other = Rotation(random_state=1).protect(unspoken.read(frame, show=False))
    with pytest.raises(ForeignKeyError, match="of another one"):
        decode(mined, other)
    with pytest.raises(InputError):
        decode(mined, key, unspoken.read(frame.iloc[:50], show=False))
    same = decode(mined, key, unspoken.read(frame, show=False))
    assert same.same_as(decode(mined, key))


def test_a_release_that_keeps_no_distances_is_refused():
    table = unspoken.read(blobs(), show=False)
    release, _ = NoiseAdder(random_state=0).protect(table)
    with pytest.raises(NotCoveredError, match="promises nothing for kmeans"):
        mine_clusters(release, n_clusters=3)
    assert mine_clusters(release, anyway=True, n_clusters=3).centres.shape == (3, 3)


def test_what_cannot_be_mined_or_decoded_is_refused():
    release, key = released(blobs())
    with pytest.raises(InputError, match="n_cluster"):
        mine_clusters(release, n_cluster=3)
    with pytest.raises(InputError, match="kmeans, dbscan"):
        mine_clusters(release, "optics")
    with pytest.raises(InputError, match="cannot be run with these parameters"):
        mine_clusters(release, n_clusters=9999)
    with pytest.raises(DataError, match="no cluster"):
        mine_clusters(release, "dbscan", eps=1e-9)
    with pytest.raises(DecodeError, match="must have 3 columns"):
        decode_clusters(Clusters(("x",), np.zeros((1, 1))), key)
    with pytest.raises(DecodeError, match="Only clusters"):
        decode_clusters("tree", key)
    table = unspoken.read(blobs(), show=False)
    _, other = RandomProjection(2, random_state=0).protect(table)
    with pytest.raises(DecodeError, match="random-projection"):
        decode(mine_clusters(release, n_clusters=3), other)
