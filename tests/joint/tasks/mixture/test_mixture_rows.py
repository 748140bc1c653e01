"""EM over rows of several owners: scikit-learn's mixture of pooled rows, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from support.everywhere import replace_everywhere
from support.mixture_data import SPACE, START, apart, cloud, columns_of, parts_of, thirds
from support.study_people import members_in, saved, study_of
from support.watching import masked_frames
from unspoken.errors import DataError, InputError
from unspoken.joint import declares, reveal, run_local
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.museum.message_leaks import Totals, moved_points
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.mixture import program_rows as em
from unspoken.joint.tasks.mixture import small_cluster_guards as guards
from unspoken.joint.tasks.mixture.params import MixtureParams, Start, random_start
from unspoken.joint.tasks.mixture.pooled import pooled
from unspoken.joint.tasks.mixture.program_rows import (
    COUNT,
    GAIN,
    SUMS,
    MixtureOverRows,
    mine_mixture_rows,
)
from unspoken.joint.tasks.mixture.small_cluster_guards import (
    SMALL,
    Measures,
    measured,
    plain_small,
)
from unspoken.joint.tasks.task_list import task_of
from unspoken.models.mixture import Mixture

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_the_joint_mixture_is_scikit_learns(covariance):
    points = cloud()
    found, ledgers = mine_mixture_rows(thirds(points), SPACE, START,
                                             MixtureParams(covariance=covariance, moved=3))
    precisions = np.linalg.inv(START.covariances)
    if covariance == "diag":
        precisions = np.diagonal(precisions, axis1=1, axis2=2)
    theirs = GaussianMixture(3, covariance_type=covariance, weights_init=START.weights,
                             means_init=START.means, precisions_init=precisions).fit(points)
    assert theirs.converged_
    assert found.facts["iterations"] == theirs.n_iter_
    assert found.facts["ended"] == "tol"
    np.testing.assert_allclose(found.means, theirs.means_, atol=1e-9)
    np.testing.assert_allclose(found.weights, theirs.weights_, atol=1e-9)
    spread = theirs.covariances_ if covariance == "full" else np.array(
        [np.diag(v) for v in theirs.covariances_])
    np.testing.assert_allclose(found.covariances, spread, atol=1e-8)
    assert found.records == 300
    assert Mixture.from_json(found.to_json()).means.tolist() == found.means.tolist()
    for ledger in ledgers:
        assert {row.because for row in ledger.openings} == {COUNT, SUMS, SMALL, GAIN}


@settings(max_examples=8)
@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.sampled_from(["full", "diag"]))
def test_iterations_are_those_of_pooled_rows(owners, seed, covariance):
    points = cloud(120, seed)
    owner = np.random.default_rng(seed + 1).integers(0, owners, 120)
    rules = MixtureParams(
        covariance=covariance, max_iter=3, stop="padded", two_agreed=owners == 2, least=3
    )
    found, _ = mine_mixture_rows(parts_of(points, owner, owners), SPACE, START, rules)
    assert apart(found, pooled(SPACE, START, columns_of(points), rules)) < 1e-8


@pytest.mark.parametrize("mode", ["three-party", "two-party"])
def test_modes_agree(mode):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    points, rules = cloud(90), MixtureParams(max_iter=2, stop="padded")
    found, ledgers = mine_mixture_rows(thirds(points), SPACE, START, rules, mode)
    assert apart(found, pooled(SPACE, START, columns_of(points), rules)) < 1e-8
    for ledger in ledgers:
        assert [row.because for row in ledger.openings] == [COUNT, *[SMALL, SUMS] * 2]


def test_an_empty_owner_is_no_matter():
    points, rules = cloud(150), MixtureParams(max_iter=2)
    parts = [*thirds(points), {"x": [], "y": []}]
    found, _ = mine_mixture_rows(parts, SPACE, START, rules)
    assert apart(found, pooled(SPACE, START, columns_of(points), rules)) < 1e-8


def test_two_owners_are_refused_unless_they_agree():
    parts = parts_of(cloud(150), np.arange(150) // 3 % 2, 2)
    with pytest.raises(RefusedError, match="three owners or more"):
        mine_mixture_rows(parts, SPACE, START)
    mine_mixture_rows(parts, SPACE, START, MixtureParams(two_agreed=True, max_iter=1))


def test_a_small_cluster_is_refused_before_anything_is_opened():
    points = np.vstack([cloud(150), [[12.0, -12], [12.5, -12.5]]])
    start = Start(np.full(2, 0.5), np.array([[0.0, 2], [12, -12]]),
                  np.repeat(2 * np.eye(2)[None], 2, axis=0))
    seen = []
    real = em.Climbing._opened

    async def opened(self, sums):
        seen.append(self.iterations)
        return await real(self, sums)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(em.Climbing, "_opened", opened)
        with pytest.raises(RefusedError, match="at least 10 members"):
            mine_mixture_rows(parts_of(points, np.arange(152) // 3 % 3, 3), SPACE, start)
    assert not seen


def test_a_cluster_that_is_small_without_one_owner_is_refused():
    """Twenty members, but eighteen of one owner: that owner would know the sum of the two."""
    far = np.array([[12.0, -12]]) + np.random.default_rng(3).normal(size=(20, 2)) / 4
    points = np.vstack([cloud(150), far])
    owner = np.concatenate([np.arange(150) // 3 % 3, np.zeros(18, int), [1, 2]])
    start = Start(np.full(2, 0.5), np.array([[0.0, 2], [12, -12]]),
                  np.repeat(2 * np.eye(2)[None], 2, axis=0))
    with pytest.raises(RefusedError, match="without any one owner's"):
        mine_mixture_rows(parts_of(points, owner, 3), SPACE, start)
    spread = np.concatenate([np.arange(150) // 3 % 3, np.arange(20) // 3 % 2])
    mine_mixture_rows(parts_of(points, spread, 3), SPACE, start,
                            MixtureParams(max_iter=1, least=9))
    alone = np.concatenate([np.arange(150) // 3 % 3, np.zeros(20, int)])
    mine_mixture_rows(parts_of(points, alone, 3), SPACE, start, MixtureParams(max_iter=1))


def hard(points, centre):
    """Memberships of two clusters, nought or one: left and right of a border."""
    right = (points[:, :1] > centre).astype(float)
    return np.hstack([1 - right, right])


def test_two_movers_would_be_recovered_and_are_caught():
    """The book's claim of infinitely many solutions, against the sums that it opens."""
    points = cloud(150)
    border = np.sort(points[:, 0])
    before, after = hard(points, (border[99] + border[100]) / 2), hard(
        points, (border[97] + border[98]) / 2)
    totals = [Totals(m[:, 1].sum(), m[:, 1] @ points, m[:, 1] @ points**2) for m in (before, after)]
    movers = points[(before != after).any(axis=1)]
    np.testing.assert_allclose(moved_points(*totals), np.sort(movers, axis=0), atol=1e-6)
    owner = np.arange(150) // 3 % 3
    parts = [measured(after[owner == i], before[owner == i]) for i in range(3)]
    assert plain_small(parts, MixtureParams(), False)
    assert not plain_small(parts, MixtureParams(), True)
    faint = [measured(after[owner == i] * 1e-6, before[owner == i] * 1e-6) for i in range(3)]
    assert plain_small(faint, MixtureParams(least=3), False)
    far = hard(points, border[70])
    assert not plain_small([measured(far[owner == i], before[owner == i]) for i in range(3)],
                           MixtureParams(), False)


@settings(max_examples=25)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 45),
       st.booleans())
def test_guards_on_shares_are_those_in_one_place(owners, seed, movers, shift, first):
    random = np.random.default_rng(seed)
    members = random.dirichlet([1.0, 1.0], 30 * owners)
    before = members.copy()
    before[:movers, 0] -= members[:movers, 0] * 2.0**-shift
    owner = random.integers(0, owners, members.shape[0])
    parts = [measured(members[owner == i], before[owner == i]) for i in range(owners)]
    rules = MixtureParams(least=int(random.integers(3, 40)), most=4096)

    @declares(SMALL)
    async def program(party, own):
        return await guards.too_small(party, own, rules, first)

    found = [output for output, _ in run_local(program, parts)]
    assert found == [plain_small(parts, rules, first)] * owners


def test_nothing_of_others_is_no_harm():
    own = Measures(np.array([20.0, 20.0]), np.zeros((2, len(guards.SCALES), 2), int))
    none = Measures(np.array([0.0, 20.0]), own.changes)
    assert not plain_small([own, none, none], MixtureParams(), False)
    assert plain_small([none, none, none], MixtureParams(), False)


def close_to_the_end(**how):
    """Two clusters so far apart that, in the end, one point between them moves alone."""
    random = np.random.default_rng(5)
    points = np.vstack([random.normal([-6, 0], 0.5, (60, 2)), random.normal([6, 0], 0.5, (60, 2)),
                        [[0.3, 0.1]]])
    start = Start(np.full(2, 0.5), np.array([[-6.0, 0], [6, 0]]),
                  np.repeat(4 * np.eye(2)[None], 2, axis=0))
    rules = MixtureParams(max_iter=8, stop="padded", **how)
    return points, start, rules, parts_of(points, np.arange(121) // 3 % 3, 3)


def test_a_mover_alone_is_refused_or_ends_the_run():
    points, start, rules, parts = close_to_the_end()
    with pytest.raises(RefusedError, match="nothing of the next was opened"):
        mine_mixture_rows(parts, SPACE, start, rules)
    points, start, rules, parts = close_to_the_end(small="stop")
    found, ledgers = mine_mixture_rows(parts, SPACE, start, rules)
    made = found.facts["iterations"]
    assert found.facts["ended"] == "small"
    assert 1 <= made < 8
    upto = MixtureParams(max_iter=made, stop="padded")
    assert apart(found, pooled(SPACE, start, columns_of(points), upto)) < 1e-8
    assert sum(row.because == SUMS for row in ledgers[0].openings) == made


def test_padding_hides_when_it_converged():
    points = cloud(300)
    rules = MixtureParams(max_iter=12, stop="padded")
    found, ledgers = mine_mixture_rows(thirds(points), SPACE, START, rules)
    assert found.facts["iterations"] == 12
    assert GAIN not in {row.because for row in ledgers[0].openings}


BAD = {
    "a column is missing": (lambda p: p.pop("y"), "'y' is there"),
    "out of range": (lambda p: p.update(x=p["x"] + 40), "agreed range"),
    "another length": (lambda p: p.update(x=p["x"][:3]), "one length"),
    "no numbers": (lambda p: p.update(x=np.full(50, np.nan)), "in every row"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused(name):
    spoil, words = BAD[name]
    parts = thirds(cloud(150))
    spoil(parts[1])
    with pytest.raises(DataError, match=words):
        mine_mixture_rows(parts, SPACE, START)


def test_starts_and_rules_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="agreed ranges"):
        mine_mixture_rows(thirds(cloud(9)), SPACE, Start(
            START.weights, START.means + 99, START.covariances))
    for bad in ({"weights": np.array([0.5, 0.5, 0.5])}, {"covariances": -START.covariances},
                {"means": START.means[:2]}):
        with pytest.raises(InputError):
            Start(**{"weights": START.weights, "means": START.means,
                     "covariances": START.covariances, **bad})
    for bad in ({"least": 2}, {"moved": 2}, {"stop": "never"}, {"most": 1 << 30}, {"tol": 0}):
        with pytest.raises(InputError):
            MixtureParams(**bad)
    with pytest.raises(RefusedError, match="at most 60 records"):
        mine_mixture_rows(thirds(cloud(150)), SPACE, START,
                                MixtureParams(most=60))
    assert np.array_equal(random_start(SPACE, 3, 7).means, random_start(SPACE, 3, 7).means)


def watched(monkeypatch, owner):
    opened, real = [], sharing.reveal

    async def reveal(party, value, **options):
        found = await real(party, value, **options)
        opened.append((party.name, party.count, options["because"],
                       np.asarray(found, float).ravel().tolist()))
        return found

    program = MixtureOverRows(SPACE, START, MixtureParams(max_iter=2, stop="padded", most=512))
    rows = [SPACE.rows(part) for part in parts_of(cloud(150), owner, 3)]
    with monkeypatch.context() as patch:
        replace_everywhere(patch, real, reveal)
        _, lengths = masked_frames(program, rows, "dealer")
    return sorted(opened), [row for row in lengths if row[2] != "agree"]


def told_apart(monkeypatch):
    """Say whether it shows which of the owners has which rows."""
    (one, a), (other, b) = (watched(monkeypatch, owner) for owner in (
        np.arange(150) // 3 % 3, np.where(np.arange(150) < 100, 0, 1 + np.arange(150) // 3 % 2)))
    near = all(x[:3] == y[:3] and np.allclose(x[3], y[3], atol=1e-8)
               for x, y in zip(one, other, strict=True))
    return a != b or not near


def test_it_does_not_show_who_has_which_rows(monkeypatch):
    assert not told_apart(monkeypatch)


def test_an_owners_own_sums_are_caught(monkeypatch):
    real = guards._leave_one_out

    async def leaking(party, values, bound, scale):
        found = await real(party, values, bound, scale)
        await reveal(party, found[1], because=SMALL)
        return found

    monkeypatch.setattr(guards, "_leave_one_out", leaking)
    assert told_apart(monkeypatch)


PARAMETERS = {"columns": ["x", "y"], "range.x": [-15, 15], "range.y": [-15, 15], "components": 3,
              "weights": [1 / 3] * 3, "means": START.means.ravel().tolist(),
              "variances": [4.0] * 6, "max_iter": 3}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    return members_in(tmp_path_factory.mktemp("people"))


def test_a_study_gives_the_mixture(members, tmp_path):
    study, task = study_of(members, "mixture", PARAMETERS)
    points = cloud(150)
    given = [task.load(path, study) for path in saved(tmp_path, parts_of(
        points, np.arange(150) // 3 % 3, 3))]
    outputs = run_local(task.program(study), given, names=["north", "south", "east"])
    assert (
        apart(outputs[2][0], pooled(SPACE, START, columns_of(points), MixtureParams(max_iter=3)))
        < 1e-8
    )
    plan = task.plan(study)
    assert "54 in all" in plan.text()
    assert SUMS in plan.learns["east"]
    seeded = {n: v for n, v in PARAMETERS.items() if n not in ("weights", "means", "variances")}
    study_of(members, "mixture", {**seeded, "seed": 3})


@pytest.mark.parametrize(("change", "words"), [
    ({"components": 0}, "components"), ({"range.x": [1]}, "range.x"), ({"means": [1.0]}, "means"),
    ({"colour": 1}, "no parameter 'colour'"), ({"least": 1}, "least"),
    ({"weights": [1.0, 1.0, 1.0]}, "positive weights"), ({"range.y": [3, 3]}, "range")])
def test_bad_parameters_are_refused(members, change, words):
    with pytest.raises(StudyError, match=words):
        study_of(members, "mixture", {**PARAMETERS, **change})


def test_plans_that_cannot_be_kept_are_refused(members):
    for mode, people in (("sums", members[:3]), ("dealer", (*members[:2], members[3]))):
        study = Study("trial", "mixture", mode, people, PARAMETERS)
        with pytest.raises(StudyError, match="three owners"):
            task_of(study).plan(study)
