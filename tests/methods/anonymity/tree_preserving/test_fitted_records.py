"""The anonymiser as a scikit-learn transformer: of the records that were fitted, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import unspoken
from unspoken.errors import InputError
from unspoken.protect import TreePreservingAnonymizer

pytestmark = pytest.mark.slow


def numbers(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (rows, 3)).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] > 8, "yes", "no")


def test_records_are_those_of_the_release():
    X, y = numbers()
    one = TreePreservingAnonymizer(k=8, shuffle_rows=True)
    found = one.fit_transform(X, y)
    table = unspoken.read({"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "y": y}, target="y",
                       show=False)
    release, _ = TreePreservingAnonymizer(k=8, shuffle_rows=False).protect(table)
    wanted = np.column_stack([release.table.arrow()[f"x{i}"].to_numpy() for i in range(3)])
    assert np.array_equal(found, wanted)
    assert one.tree_.same_as(release.tree)
    assert np.unique(found, axis=0, return_counts=True)[1].min() == one.reached_.k >= 8
    assert np.array_equal(clone(one).fit(X, y).transform(X), found)
    assert one.shuffle_rows is True


def test_other_records_are_refused():
    X, y = numbers()
    one = TreePreservingAnonymizer(k=8).fit(X, y)
    other = X.copy()
    other[0, 0] += 1
    for strange in (other, X[:-1], X[::-1]):
        with pytest.raises(InputError, match="alone in its cell"):
            one.transform(strange)
    with pytest.raises(ValueError, match="features"):
        one.transform(X[:, :2])
    with pytest.raises(NotFittedError):
        TreePreservingAnonymizer().transform(X)


def test_what_is_returned_is_a_copy():
    X, y = numbers()
    one = TreePreservingAnonymizer(k=8).fit(X, y)
    one.transform(X)[:] = -1
    assert one.transform(X).min() >= 0


def test_a_response_is_needed():
    X, y = numbers()
    with pytest.raises(InputError, match="something to predict"):
        TreePreservingAnonymizer(k=8).fit(X)
    with pytest.raises(InputError, match="something to predict"):
        TreePreservingAnonymizer(k=8).fit(X, y[:-1])


def test_categories_names_and_frames():
    pd = pytest.importorskip("pandas")
    X, y = numbers()
    frame = pd.DataFrame({"age": X[:, 0], "town": np.array(list("abcdefghi"))[X[:, 1].astype(int)],
                          "y": X[:, 2]}, index=np.arange(200) * 3)
    one = TreePreservingAnonymizer(k=8).set_output(transform="pandas")
    found = one.fit_transform(frame, y)
    assert list(found.columns) == list(one.get_feature_names_out()) == ["age", "town", "y"]
    assert found.index.equals(frame.index)
    assert found["y"].nunique() == 1
    assert one.transform(frame).equals(found)
    plain = TreePreservingAnonymizer(k=8).fit_transform(frame.to_numpy(), y)
    assert plain.dtype == object
    assert plain[:, 1].tolist() == found["town"].tolist()


def test_identifiers_are_refused():
    X, y = numbers()
    named = np.column_stack([X.astype(object), [f"n{i}" for i in range(200)]])
    with pytest.raises(InputError, match="differs in every row"):
        TreePreservingAnonymizer(k=8).fit(named, y)


def test_inside_a_pipeline_and_with_other_parameters():
    X, y = numbers()
    line = make_pipeline(TreePreservingAnonymizer(k=8),
                         DecisionTreeClassifier(random_state=0))
    line.set_params(treepreservinganonymizer__k=20)
    assert line.fit(X, y).score(X, y) > 0.7
    assert line[0].reached_.k >= 20
