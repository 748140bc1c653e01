"""What a holder sees of a regression looks like uniform words, and broken forms do not."""

from __future__ import annotations

import numpy as np
import pytest

from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.everywhere import replace_everywhere
from support.regression_data import by_rows, made, picked
from support.watching import frames_to, masked_frames
from unspoken.joint import narrow, reveal, run_outcomes
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.ops import matrix_inverse as inverse
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.tasks.regression import (
    fitting,
)
from unspoken.joint.tasks.regression import (
    program_rows as horizontal,
)
from unspoken.joint.tasks.regression import (
    second_moments as moments,
)
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows

pytestmark = pytest.mark.slow

RUNS = 3
ONE = RegressionTerms("y", ("x0",))
EASY = RegressionParams(condition=4.0)
LABELS = ("matmul.open", "multiply.open", "truncate.open")


def rows_run():
    data = made(60, 1, 1)
    return RegressionOverRows(ONE, EASY), [ONE.table(p) for p in
                                             by_rows(data, np.arange(60) % 3)]


def columns_run():
    columns = OwnedColumns({"p0": ("x0",), "p1": ("x1",), "p2": ()}, "y", "p2")
    data = made(40, 2, 1)
    return RegressionOverColumns(columns, RegressionParams(condition=2.0**8)), [
        Given(picked(data, columns.needed(owner))) for owner in columns.owners]


def views(made_, me, other, runs=RUNS):
    """Return what one holder got from the other, and what the last owner sent, by label."""
    found = {label: [] for label in (*LABELS, "share")}
    for _ in range(runs):
        got, _ = frames_to(*made_(), {me}, "dealer")
        for label in LABELS:
            if (other, me, label) in got:
                found[label].append(np.concatenate(got[other, me, label]))
        if ("p2", me, "share") in got:
            found["share"].append(np.concatenate(got["p2", me, "share"]))
    return [np.array(runs)[:, None] for runs in found.values() if runs]


@pytest.mark.parametrize("made_", [rows_run, columns_run])
@pytest.mark.parametrize(("me", "other"), [("p0", "p1"), ("p1", "p0")])
def test_holders_see_uniform_words(made_, me, other):
    seen = views(made_, me, other)
    assert len(seen) >= 2
    for view in seen:
        assert view.size >= 20
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize("name", ["left out", "32 bits"])
def test_broken_masks_are_caught(monkeypatch, name):
    monkeypatch.setattr(sources, "Stream", spoiled(BROKEN[name]))
    # Nine runs: with three the weakest of a dozen trials was only just below the bound.
    assert min(tell_apart(view, uniform_like(view))
               for view in views(rows_run, "p0", "p1", runs=9)) < SUSPICIOUS


def test_a_step_that_depends_on_data_is_caught(monkeypatch):
    """A mutant that spares itself the comparison of sizes when an owner's are small."""
    real = moments.common_exponents

    async def sparing(party, own, columns):
        found = await real(party, own, columns)
        return found if found.max() > 3 else await real(party, own, columns)

    def lengths(scale):
        data = {name: values * scale for name, values in made(60, 1, 1).items()}
        tables = [ONE.table(p) for p in by_rows(data, np.arange(60) % 2)]
        return masked_frames(RegressionOverRows(ONE, EASY), tables, "dealer")[1]

    assert lengths(1e-6) == lengths(1e6)
    monkeypatch.setattr(horizontal, "common_exponents", sparing)
    assert lengths(1e-6) != lengths(1e6)


def test_openings_are_those_that_were_declared_and_as_large_as_the_model():
    program, inputs = rows_run()
    for outcome in run_outcomes(program, inputs):
        if outcome.name == "dealer":
            assert outcome.ledger.openings == []
            continue
        opened = sum(int(np.prod(o.shape, dtype=int)) for o in outcome.ledger.openings)
        # Sizes and spreads of two columns, the count, the bit, two coefficients, two errors and
        # two sums of squares: nothing that grows with records.
        assert opened == 2 + 2 + 1 + 1 + 2 + 2 + 2
        assert {o.because for o in outcome.ledger.openings} <= {
            d.because for d in program.disclosures}


def opened_values(monkeypatch, program, inputs):
    """Return what the first party saw opened, by reason."""
    seen = {}
    real = sharing.reveal

    async def watching(party, value, *, because, to=()):
        found = await real(party, value, because=because, to=to)
        if party.name == "p0":
            seen.setdefault(because, []).append(np.ravel(found))
        return found

    replace_everywhere(monkeypatch, real, watching)
    run_outcomes(program, inputs)
    return {because: np.concatenate(values) for because, values in seen.items()}


def test_what_is_opened_is_what_its_reason_says_and_no_more(monkeypatch):
    """A variance opened in the place of its power of two has the same reason and the same shape."""
    program, inputs = rows_run()
    seen = opened_values(monkeypatch, program, inputs)
    in_one_place = np.vstack(inputs)
    sizes = np.ceil(np.log2(np.abs(in_one_place).max(axis=0)))
    spread = (in_one_place * 2.0**-sizes).var(axis=0)
    variance = (len(in_one_place) * in_one_place.shape[0] * spread) / 4.0**6
    assert seen[moments.SIZES].tolist() == sizes.tolist()
    assert seen[fitting.SPREADS].tolist() == np.floor(-np.log2(variance) / 2).tolist()
    assert seen[fitting.COUNT].tolist() == [60]
    assert seen[inverse.ILL].tolist() == [1]
    exact = pooled(ONE, dict(zip(("x0", "y"), in_one_place.T, strict=True)))
    # All else is a function of the model: coefficients, errors and sums in scaled units.
    units = 2.0 ** (seen[moments.SIZES] - seen[fitting.SPREADS])
    assert seen[fitting.COEFFICIENTS][0] == pytest.approx(
        exact.coefficients[0] * units[0] / units[1], rel=1e-9)
    assert 1 - seen[fitting.SUMS][0] / seen[fitting.SUMS][1] == pytest.approx(exact.r_squared)


def test_a_variance_opened_instead_of_compared_is_caught(monkeypatch):
    async def leaking(party, centred):
        place = np.arange(centred.shape[0])
        diagonal = await narrow(party, centred[place, place], 50, 1)
        found = await reveal(party, diagonal, because=fitting.SPREADS)
        return np.floor(-np.log2(found) / 2).astype(np.int64)

    monkeypatch.setattr(fitting, "_spreads", leaking)
    with pytest.raises(AssertionError):
        test_what_is_opened_is_what_its_reason_says_and_no_more(monkeypatch)
