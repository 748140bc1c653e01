"""The pictures of vcz2006 chapter 7 say what the book says of them."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken_experiments.vcz2006.joint import (
    agreement,
    attacked,
    draw_clusters,
    draw_outliers,
    groupings,
    three_clusters,
    two_sites,
)

pytestmark = pytest.mark.slow


def test_the_points_are_as_the_book_tells_them():
    points, truth = three_clusters()
    left, right = points[truth == 0], points[truth != 0]
    assert left[:, 0].max() < right[:, 0].min() + 0.5
    # Both groups of the first column have a mean of about 3 in the second.
    assert abs(left[:, 1].mean() - 3) < 0.3
    assert abs(right[:, 1].mean() - 3) < 0.3


def test_alone_the_clusters_are_wrong_and_together_they_are_right():
    points, truth = three_clusters()
    scores = {name: agreement(found, truth) for name, found in groupings(points).items()}
    assert scores["both owners together"] == 1.0
    assert scores["the owner of x alone"] < 0.8
    assert scores["the owner of y alone"] < 0.8
    figure, drawn = draw_clusters(points, truth)
    assert drawn == scores
    assert len(figure.axes) == 3


def test_the_false_outlier_of_one_site_is_none_for_both():
    diamonds, squares = two_sites()
    figure, flagged = draw_outliers(diamonds, squares)
    alone, together = flagged.values()
    assert np.allclose(diamonds[alone], [[0.1, 0.9], [0.81, 0.85]])
    assert np.allclose(diamonds[together], [[0.1, 0.9]])
    assert len(figure.axes) == 2


def test_the_third_party_finds_every_value():
    found = attacked()
    assert found["up to a motion"] == 1.0
    assert found["with five known records"] == 1.0
    assert found["best guess"] < 0.05
