"""Categories are embedded as stated: distances, miners, the way back, the audit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, KMeans
from sklearn.neighbors import KNeighborsClassifier

import unspoken
from unspoken.errors import DamagedKeyError, DataError, InputError, SchemaError
from unspoken.methods.rotation.category_embedding import Embedding, embedding_of, spread_as_in
from unspoken.methods.rotation.even_miners import EvenKMeans, EvenNeighbours
from unspoken.methods.rotation.mine_clusters import mine_clusters
from unspoken.methods.rotation.verify_distances import pair_distances
from unspoken.protect import Rotation, SimilarityOutsourcing, Store, decode
from unspoken.release.key import Key
from unspoken.release.record_key import original_rows
from unspoken.risk import audit


def mixed(rows=120, seed=0, gaps=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(20, 80, rows), "dose": rng.integers(0, 40, rows) / 10,
                          "job": rng.choice(["nurse", "clerk", "baker"], rows, p=[0.5, 0.3, 0.2]),
                          "town": rng.choice(["north", "south"], rows)})
    if gaps:
        frame.loc[:4, "job"] = None
    return frame


def table_of(frame, **roles):
    return unspoken.read(frame, show=False, **roles)


def stated_distances(frame, numbers, categories, weight):
    """The definition, record by record: squared differences, and weight^2 for what differs."""
    x, c = frame[numbers].to_numpy(float), frame[categories].to_numpy(object)
    out = np.empty((len(frame), len(frame)))
    for i in range(len(frame)):
        out[i] = np.sqrt(((x - x[i]) ** 2).sum(axis=1) + weight**2 * (c != c[i]).sum(axis=1))
    return out


@settings(max_examples=15, deadline=None)
@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0.1, 50.0), st.booleans())
def test_distances_are_the_stated_ones(seed, weight, translation):
    frame = mixed(25, seed)
    release, key = Rotation(categorical="embed", category_weight=weight, translation=translation,
                            random_state=seed).protect(table_of(frame))
    order = original_rows(key, 25)
    shown = pair_distances(release.table.numbers(release.schema.features))
    stated = stated_distances(frame.iloc[order], ["age", "dose"], ["job", "town"], weight)
    np.testing.assert_allclose(shown, stated, atol=1e-9)
    labels = frame["job"].nunique() + frame["town"].nunique()  # of 25 records not always 3 + 2
    assert release.table.numbers(release.schema.features).shape[1] == 2 + labels


def test_standardising_leaves_categories_as_far_apart_as_stated():
    frame = mixed(40)
    release, key = Rotation(categorical="embed", category_weight=3.0, standardise=True,
                            random_state=1).protect(table_of(frame))
    scaled = frame.assign(**{name: (frame[name] - frame[name].mean()) / frame[name].std(ddof=0)
                             for name in ("age", "dose")})
    stated = stated_distances(scaled.iloc[original_rows(key, 40)], ["age", "dose"],
                              ["job", "town"], 3.0)
    shown = pair_distances(release.table.numbers(release.schema.features))
    np.testing.assert_allclose(shown, stated, atol=1e-9)
    assert release.guarantee.verify(table_of(frame), release, key)["distances"].same


def test_the_key_names_categories_again_and_a_missing_one_stays_missing(tmp_path):
    frame = mixed(gaps=True)
    method = Rotation(categorical="embed", missing="blank", random_state=2)
    release, key = method.protect(table_of(frame, target="town"))
    key.save(tmp_path / "k")
    again = Rotation.from_key(Key.load(tmp_path / "k"))
    back = again.restored(release).to_pandas()
    assert back.columns.tolist() == ["age", "dose", "job"]
    assert back["job"][:5].isna().all()
    pd.testing.assert_frame_equal(back.iloc[5:], frame.drop(columns="town").iloc[5:],
                                  check_dtype=False)
    assert "town" in release.schema.names


def test_which_miners_are_covered_and_they_find_the_same():
    frame = mixed(60, seed=3)
    release, key = Rotation(categorical="embed", category_weight=1.5,
                            random_state=3).protect(table_of(frame))
    promise = release.guarantee
    assert promise.facts["category_square"] == 2.25
    assert any("adds 2.25 to their squared distance" in one for one in promise.conditions)
    # Whole numbers and categories make ties: who has to choose among them is not covered.
    assert not promise.covers(KNeighborsClassifier())
    assert not promise.covers(KMeans(random_state=0))
    assert promise.covers(EvenNeighbours())
    assert promise.covers(EvenKMeans(random_state=0))
    # 0.01 n + 2.25 j is a squared distance, 7.3051 is none.
    assert not promise.covers(DBSCAN(eps=(0.04 + 2.25) ** 0.5))
    assert not promise.covers(DBSCAN(eps=(0.04 + 4.5) ** 0.5))
    assert promise.covers(DBSCAN(eps=7.3051**0.5))
    order = original_rows(key, 60)
    plain = stated_distances(frame.iloc[order], ["age", "dose"], ["job", "town"], 1.5)
    expected = DBSCAN(eps=7.3051**0.5, metric="precomputed", min_samples=3).fit(plain).labels_
    mined = mine_clusters(release, "dbscan", eps=7.3051**0.5, min_samples=3)
    np.testing.assert_array_equal(decode(mined, key).assigned[order], expected)


def test_centres_hold_the_shares_of_categories():
    frame = mixed(60, seed=4)
    release, key = Rotation(categorical="embed", random_state=4).protect(table_of(frame))
    clusters = decode(mine_clusters(release, n_clusters=2), key)
    assert clusters.features == ("age", "dose", "job=baker", "job=clerk", "job=nurse",
                                 "town=north", "town=south")
    for number in range(2):
        inside = frame[clusters.assigned == number]
        assert clusters.centres[number][4] == pytest.approx((inside.job == "nurse").mean())


@pytest.mark.slow
def test_the_audit_says_how_many_categories_are_found():
    table = table_of(mixed(80, seed=5))
    release, key = Rotation(categorical="embed", random_state=5).protect(table)
    result = audit(table, release, key, trials=2, random_state=0,
                   adversaries=["known-pairs", "known-sample", "difference-directions"])
    assert {"age", "dose", "job", "town"} <= {row.column for row in result.rows}
    assert not any("=" in row.column for row in result.rows)
    everything = result.select(adversary="known-pairs", knowledge="records 7", column="job",
                               measure="records")[0]
    assert everything.value == 1.0
    # Without the release the best guess is the most frequent category.
    shares = mixed(80, seed=5).job.value_counts(normalize=True)
    assert everything.baseline == pytest.approx(shares.max())
    little = result.select(adversary="known-pairs", knowledge="records 1", column="job",
                           measure="records")[0]
    assert little.value < 1.0


def test_the_promise_notices_a_changed_record():
    frame = mixed(50, seed=6)
    table = table_of(frame)
    release, key = Rotation(categorical="embed", random_state=6).protect(table)
    assert release.guarantee.verify(table, release, key)["distances"].same
    other = frame.assign(job=frame.job.replace("nurse", "clerk"))
    assert not release.guarantee.verify(table_of(other), release, key)["distances"].same


def test_a_store_of_mixed_records_answers_as_the_plain_data_do():
    frame = mixed(80, seed=7)
    owner = SimilarityOutsourcing(categorical="embed", category_weight=2.0, random_state=7)
    release, key = owner.protect(table_of(frame))
    queries = mixed(5, seed=8)
    spread = spread_as_in(key, table_of(queries)).numbers(owner.motion_.features)
    both = pd.concat([frame, queries], ignore_index=True)
    plain = stated_distances(both, ["age", "dose"], ["job", "town"], 2.0)[80:, :80]
    for place, answer in enumerate(owner.nearest(Store(release), spread, 4)):
        np.testing.assert_allclose(answer.distances, np.sort(plain[place])[:4], atol=1e-9)
        np.testing.assert_allclose(plain[place][answer.rows], answer.distances, atol=1e-9)


def test_what_cannot_be_embedded_is_refused_in_words():
    frame = mixed(300)
    names = frame.assign(code=[f"c{i}" for i in range(300)])
    with pytest.raises(DataError, match="from 1 to 200 categories"):
        Rotation(categorical="embed").protect(table_of(names, keep=["code"]))
    with pytest.raises(SchemaError, match="categorical features"):
        Rotation().protect(table_of(frame))
    with pytest.raises(InputError, match="category_weight"):
        Rotation(categorical="embed", category_weight=0.0).protect(table_of(frame))
    _, key = Rotation(categorical="embed", random_state=0).protect(table_of(frame))
    with pytest.raises(DataError, match="did not have"):
        spread_as_in(key, table_of(frame.assign(job="mayor")))
    with pytest.raises(DamagedKeyError):
        embedding_of(replace(key, secrets={**key.secrets, "embedding": {"numbers": 3}}))
    assert embedding_of(key) == Embedding(
        ("age", "dose"), {"job": ("baker", "clerk", "nurse"), "town": ("north", "south")}, 1.0)


def test_a_missing_category_is_not_filled():
    with pytest.raises(DataError, match="categories have no mean"):
        Rotation(categorical="embed", missing="mean").protect(table_of(mixed(gaps=True)))
