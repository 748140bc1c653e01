"""One row moves the score of a pair of columns by two at most, as every small table shows.

The reach that noise is drawn for when edges are chosen is compared with the largest change of any
score, over all tables of four rows and three columns of two values, alone and given a target.
"""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from unspoken.methods.private.declared_columns import Cells
from unspoken.methods.private.loss_split import Loss
from unspoken.methods.private.measured_tree import REACH, Measured, Measurer

ROWS = 4
RECORDS = list(product((0, 1), repeat=3))
CELLS = [Cells(name, (), ("x", "y"), False, True, True) for name in "abc"]


def measured(target):
    """What was measured before the choice; it is the same for both neighbours."""
    alone = {(k,): Measured((k,), np.array([2.0, 2.0]), 0.1) for k in range(3)}
    pairs = {} if target is None else {
        (k, target): Measured((k, target), np.ones((2, 2)), 0.1) for k in range(3) if k != target}
    return alone | pairs


def scores(rows, target):
    codes = list(np.array(rows, np.int64).T)
    features = [k for k in range(3) if k != target]
    return Measurer(codes, CELLS, target)._scores(features, measured(target), 0.1)


@pytest.mark.parametrize("target", [None, 2])
def test_the_reach_of_a_choice_is_the_largest_change_of_a_score(target, monkeypatch):
    every = {rows: scores(rows, target) for rows in combinations_with_replacement(RECORDS, ROWS)}
    most = max(abs(every[rows][key] - every[tuple(sorted((*rows[:at], new, *rows[at + 1:])))][key])
               for rows in every for at in range(ROWS) for new in RECORDS for key in every[rows])
    assert most == pytest.approx(REACH)
    drawn = []
    real = Loss.choose
    monkeypatch.setattr(Loss, "choose", lambda self, options, reach: (
        drawn.append(reach), real(self, options, reach))[1])
    codes = list(np.array(RECORDS, np.int64).T)
    Measurer(codes, CELLS, None).plan(Loss(1.0, False))
    assert drawn
    assert min(drawn) >= most - 1e-9
