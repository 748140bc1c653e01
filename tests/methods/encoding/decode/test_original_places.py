"""decode finds the training rows by their records: any order works, another table is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.from_key import in_released_order
from unspoken.protect import PiecewiseEncoder, decode
from unspoken.release.record_key import taken


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    width, town = rng.normal(50, 9, 500).round(1), rng.choice(list("abc"), 500)
    return pd.DataFrame({"width": width, "depth": rng.integers(0, 30, 500), "town": town,
                         "kind": np.where(width + rng.normal(0, 6, 500) > 50, "p", "q")})


@pytest.fixture(scope="module")
def walked(frame):
    table = unspoken.read(frame, target="kind", show=False)
    release, key = PiecewiseEncoder().protect(table)
    mined = unspoken.mine.tree(release, max_depth=5)
    return table, key, mined, decode(mined, key, table)


def moved(table, seed=1):
    return taken(table, np.random.default_rng(seed).permutation(table.rows))


def test_another_order_gives_the_same_model(walked):
    table, key, mined, wanted = walked
    other = moved(table)
    assert not other.arrow().equals(table.arrow())
    assert decode(mined, key, other).same_as(wanted)


def test_a_frame_in_another_order_with_its_labels_apart(walked, frame):
    _, key, mined, wanted = walked
    other = frame.sample(frac=1.0, random_state=3)
    assert decode(mined, key, other).same_as(wanted)
    assert decode(mined, key, other.drop(columns="kind"), other["kind"]).same_as(wanted)


def test_weights_follow_their_rows(frame):
    single = frame.drop(columns="town").assign(width=np.arange(500) / 10)
    table = unspoken.read(single, target="kind", show=False)
    release, key = PiecewiseEncoder().protect(table)
    weight = np.random.default_rng(2).uniform(0.1, 3.0, table.rows)
    released = in_released_order(key, table)
    place = {tuple(row): at for at, row in enumerate(zip(*table.arrow().to_pydict().values(),
                                                         strict=True))}
    order = [place[tuple(row)] for row in zip(*released.arrow().to_pydict().values(), strict=True)]
    mined = DecisionTreeClassifier(max_depth=4, random_state=0).fit(
        release.table.numbers(), release.table.labels(), sample_weight=weight[order])
    turn = np.random.default_rng(7).permutation(table.rows)
    again = decode(mined, key, taken(table, turn), sample_weight=weight[turn])
    assert unspoken.verify(decode(mined, key, table, sample_weight=weight), again)


def test_weights_of_equal_records_need_the_original_order(walked, frame):
    _, key, mined, _ = walked
    table = unspoken.read(pd.concat([frame.iloc[:40]] * 2), target="kind", show=False)
    release, key = PiecewiseEncoder().protect(table)
    mined = unspoken.mine.tree(release, max_depth=3)
    turn = np.random.default_rng(7).permutation(table.rows)
    with pytest.raises(DecodeError, match="equal records have different weights"):
        decode(mined, key, taken(table, turn), sample_weight=np.arange(80.0)[turn])
    even = decode(mined, key, taken(table, turn), sample_weight=np.ones(80))
    assert even.same_as(decode(mined, key, table, sample_weight=np.ones(80)))


@pytest.mark.parametrize("change", ["value", "label", "row less", "row twice"])
def test_another_table_is_refused(walked, frame, change):
    _, key, mined, _ = walked
    other = {"value": frame.assign(depth=frame["depth"].where(frame.index != 7, 99)),
             "label": frame.assign(kind=frame["kind"].where(frame.index != 7, "q" if
                                                            frame["kind"][7] == "p" else "p")),
             "row less": frame.iloc[1:], "row twice": pd.concat([frame, frame.iloc[:1]])}[change]
    for data in (other, unspoken.read(other, target="kind", show=False)):
        with pytest.raises(DecodeError, match="not the data that was released"):
            decode(mined, key, data)


def test_verify_sees_the_same_records_in_any_order(walked):
    table, key, _, _ = walked
    wanted = in_released_order(key, table).arrow()
    assert in_released_order(key, moved(table)).arrow().equals(wanted)
    assert isinstance(wanted, pa.Table)
