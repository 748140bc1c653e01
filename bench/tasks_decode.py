"""Decoding full-depth models against fitting them."""

from __future__ import annotations

import numpy as np

from data import covertype
from harness import Row, best, task


@task
def decode_tree() -> list[Row]:
    from sklearn.tree import DecisionTreeClassifier

    import unspoken
    from unspoken.protect import PiecewiseEncoder, decode

    _, data, labels = covertype()
    original = data.astype(np.float64)
    encoder = PiecewiseEncoder(conditioning="none", random_state=0)
    codes = encoder.fit_transform(original)

    def fit(x: np.ndarray) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(random_state=0).fit(x, labels)

    mined = fit(codes)
    decoded = decode(mined, encoder.key_, original)
    same = unspoken.verify(fit(original), decoded)
    assert same, same.difference
    pattern = unspoken.Tree.from_sklearn(mined)
    fitting = best(lambda: fit(codes), 2)
    walking = best(lambda: mined.apply(codes), 3)
    size = f"{len(labels):,} x 10, {mined.tree_.node_count:,} nodes"
    note = "answer identical bit for bit"
    return [
        Row("decode a scikit-learn tree", size,
            best(lambda: decode(mined, encoder.key_, original), 3), "fitting that tree", fitting,
            "tree.apply", walking, 1, "peer", note),
        Row("decode a unspoken JSON tree", size,
            best(lambda: decode(pattern, encoder.key_, original), 3), "fitting that tree", fitting,
            "tree.apply", walking, 1, "peer", note),
    ]
