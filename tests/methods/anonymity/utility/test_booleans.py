"""A boolean quasi-identifier is read as 0 and 1 wherever a release is: nothing else is found."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.methods.anonymity.adversaries.released_meaning import meaning
from unspoken.methods.anonymity.measures.utility_loss import numbers_of
from unspoken.methods.anonymity.utility.release_utility import release_utility
from unspoken.protect import Microaggregator, MondrianAnonymizer, OptimalRecoder


def answers(kind, rows=240):
    rng = np.random.default_rng(2)
    flags = {f"q{at}": pa.array(rng.random(rows) < 0.3 + 0.1 * at).cast(kind) for at in range(5)}
    return unspoken.read(pa.table({**flags, "ill": rng.choice(["flu", "cold", "none"], rows)}),
                         quasi=list(flags), sensitive="ill", show=False)


@pytest.mark.parametrize("method", [
    MondrianAnonymizer(8), MondrianAnonymizer(8, publish="mean"),
    OptimalRecoder(8, local=True, suppression=0.0), Microaggregator(8)])
def test_truths_and_numbers_give_the_same_findings(method):
    findings = []
    for kind in (pa.bool_(), pa.int64()):
        table = answers(kind)
        release, key = method.protect(table)
        of = release_utility(table, release)
        assert faults_of(table, release, key) == ()
        assert not [line for line in of.warnings if "suppressed" in line]
        findings.append((of.k, of.warnings, [round(part, 6) for name in sorted(of.moments)
                                             for part in of.moments[name]],
                         *(round(one, 6) for one in (of.marginals, of.pairs, of.propensity))))
    assert findings[0] == findings[1]


def test_labels_of_truths_are_read():
    shown = pa.chunked_array([["False", "True", "[False, True]", None]])
    read = meaning(shown, {"form": "interval"})
    away = read.distance(pa.chunked_array([[True, False]]), read.found.codes)
    assert away.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert np.array_equal(numbers_of(shown), [0, 1, 0.5, np.nan], equal_nan=True)
