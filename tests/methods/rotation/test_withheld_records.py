"""Records near the span of known ones are left out, and nobody else (liu2006 section 3.2)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.errors import DataError, InputError
from unspoken.methods.rotation.breach_probability import breach_probability
from unspoken.methods.rotation.mine_clusters import mine_clusters
from unspoken.protect import Rotation, SimilarityOutsourcing, Store, decode
from unspoken.release.record_key import original_rows
from unspoken.risk import audit, exposure


def people(rows=150, seed=0):
    """Four columns; ten records lie all but in the plane of the first two."""
    rng = np.random.default_rng(seed)
    data = rng.normal(0, 10, (rows, 4))
    data[20:30] = rng.normal(0, 1, (10, 2)) @ data[:2] + rng.normal(0, 0.01, (10, 4))
    return pd.DataFrame(data, columns=list("abcd"))


def released(frame, **options):
    table = unspoken.read(frame, show=False)
    method = Rotation(known_rows=[0, 1], random_state=0, **options)
    return table, method, *method.protect(table)


def test_those_near_the_known_ones_are_left_out_and_the_chance_of_the_others_is_bounded():
    frame = people()
    _, method, release, key = released(frame, withhold=0.5)
    rows = original_rows(key, release.table.rows)
    gone = sorted(set(range(150)) - set(rows.tolist()))
    assert set(range(20, 30)) <= set(gone)
    assert {0, 1} <= set(rows.tolist())
    assert method.withheld_ == len(gone) == release.guarantee.facts["withheld"]
    assert any(f"{len(gone)} records near" in one for one in release.guarantee.conditions)
    known = [int(np.flatnonzero(rows == row)[0]) for row in (0, 1)]
    left = exposure(release, known).shrunken
    left[known] = 0.0
    assert left.max() <= 0.5
    # The distance from a plane, by hand: what is left of a record after the least squares of it.
    x, span = frame.to_numpy(), frame.to_numpy()[:2]
    rest = x - (x @ np.linalg.pinv(span)) @ span
    s = 0.1 * np.linalg.norm(x, axis=1) / (2 * np.linalg.norm(rest, axis=1) + 1e-300)
    chance = breach_probability(np.minimum(s, 1e6), 2, "shrunken")
    chance[:2] = 0.0
    assert gone == np.flatnonzero(chance > 0.5).tolist()


def test_everything_that_uses_the_key_knows_who_is_missing():
    frame = people()
    table, method, release, key = released(frame, withhold=0.5)
    rows = original_rows(key, release.table.rows)
    np.testing.assert_allclose(method.inverse(release), frame.to_numpy()[np.sort(rows)], atol=1e-9)
    assert release.guarantee.verify(table, release, key)
    clusters = decode(mine_clusters(release, n_clusters=2), key, table)
    assert set(np.flatnonzero(clusters.assigned < 0)) == set(range(150)) - set(rows.tolist())
    result = audit(table, release, key, trials=1, random_state=0, adversaries=["known-pairs"])
    assert result.select(measure="breach", knowledge="records 4")[0].value == 1.0


def test_a_store_does_not_find_them():
    frame = people()
    table = unspoken.read(frame, show=False)
    owner = SimilarityOutsourcing(known_rows=[0, 1], withhold=0.5, random_state=0)
    release, _ = owner.protect(table)
    answer = owner.nearest(Store(release), frame.to_numpy()[[25, 40]], 1)
    assert answer[0].rows[0] != 25
    assert answer[1].rows[0] == 40


@pytest.mark.parametrize("options", [{"proper": True, "known_rows": [0, 1, 2]},
                                     {"translation": True, "known_rows": [0, 1, 2, 3, 4]}])
def test_where_nothing_is_unknown_only_the_known_are_left(options):
    table = unspoken.read(people(30), show=False)
    release, _ = Rotation(withhold=0.9, random_state=0, **options).protect(table)
    assert release.table.rows == len(options["known_rows"])


def test_strange_wishes_are_refused():
    frame = people()
    table = unspoken.read(frame, show=False)
    for rows in (None, [150]):
        with pytest.raises(InputError, match="known_rows"):
            Rotation(withhold=0.5, known_rows=rows).protect(table)
    with pytest.raises(InputError, match="standardise"):
        Rotation(withhold=0.5, known_rows=[0], standardise=True).protect(table)
    mixed = unspoken.read(frame.assign(job=["x", "y"] * 75), show=False)
    with pytest.raises(InputError, match="add up to one"):
        Rotation(withhold=0.5, known_rows=[0], categorical="embed").protect(mixed)
    holes = frame.copy()
    holes.loc[0, "a"] = np.nan
    with pytest.raises(DataError, match="must be complete"):
        Rotation(withhold=0.5, known_rows=[0], missing="blank").protect(
            unspoken.read(holes, show=False))
