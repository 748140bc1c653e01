"""Naive Bayes over columns of several sites, and private classification: only classes come out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from support.bayes_columns import NUMBERS, agree, records_of, sites_of
from support.bayes_data import CLASSES, LAYOUT, table
from support.computing import on_shares
from support.everywhere import replace_everywhere
from unspoken.errors import DataError, InputError
from unspoken.joint import reveal
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops import choice
from unspoken.joint.tasks.classify.program_bayes import PREDICTED, classify_privately
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.naive_bayes import program_columns as vertical
from unspoken.joint.tasks.naive_bayes.class_moments import means_and_variances
from unspoken.joint.tasks.naive_bayes.params import BayesParams
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.naive_bayes.program_columns import (
    classify_columns,
    mine_bayes_columns,
    plain_table,
)
from unspoken.joint.tasks.naive_bayes.score_tables import table_of
from unspoken.joint.tasks.naive_bayes.site_parts import (
    BayesPart,
    BayesShape,
    BayesSite,
    Coding,
    Part,
)
from unspoken.joint.tasks.tree.params import Attribute

pytestmark = pytest.mark.slow


def in_one_place(sites, shape, new, rules):
    """Return scores of new records by the same model in one place."""
    codings = [site.coding for site in sites.values()]
    hot, z = (np.hstack([getattr(c, what)(s.columns) for c, s in zip(codings, sites.values(),
                                                                     strict=True)])
              for what in ("hot", "z"))
    label = next(s.labels for s in sites.values() if s.labels is not None)
    classes = np.array([[c == k for k in CLASSES] for c in label], float)
    model = plain_table(hot, z, classes, shape.sizes, rules)
    return model.scores(*(np.hstack([getattr(c, what)(new[n]) for c, n in zip(
        codings, sites, strict=True)]) for what in ("hot", "z")))


SPLITS = [(("a", "h"), ("b", "w")), (("a",), ("h",), ("b", "w")), (("h",), ("w",)),
          (("a",), ("b",)), (("a",), ("b",), ("h",), ("w",))]


@settings(max_examples=10)
@given(st.sampled_from(SPLITS), st.integers(0, 2**32 - 1), st.booleans(),
       st.sampled_from([0.25, 1.0, 3.0]), st.integers(30, 80))
def test_classes_are_those_of_pooled_columns(split, seed, known, alpha, rows):
    columns, new = table(rows, seed), table(40, seed + 1)
    sites, shape = sites_of(columns, split, known)
    rules, wanted = BayesParams(alpha=alpha), records_of(new, split)
    parts, ledgers = mine_bayes_columns(sites, shape, rules)
    found, _ = classify_columns(parts, wanted)
    for name in sites:
        assert agree(found[name], in_one_place(sites, shape, wanted, rules))
        assert {row.because for row in ledgers[name].openings} == {ROWS}


def test_the_table_on_one_site_is_scikit_learns():
    columns = table(300, 5)
    sites, shape = sites_of(columns, [("h", "w")])
    label = np.array([CLASSES.index(c) for c in columns["class"]])
    numbers = np.column_stack([columns[n] for n in NUMBERS])
    expected = GaussianNB().fit(numbers, label).predict_joint_log_proba(numbers)
    scores = in_one_place(sites, shape, records_of(columns, [("h", "w")]), BayesParams())
    # Scores leave out what is the same for all classes.
    np.testing.assert_allclose(scores - scores[:, :1], expected - expected[:, :1], atol=1e-6)


@pytest.mark.parametrize("mode", ["three-party", "two-party"])
def test_modes_agree(mode):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    columns, split = table(60, 3), [("a", "h"), ("b", "w"), ()]
    split = split[:2] if mode == "two-party" else [("a", "h"), ("b",), ("w",)]
    sites, shape = sites_of(columns, split)
    new = records_of(table(20, 4), split)
    parts, _ = mine_bayes_columns(sites, shape, mode=mode)
    found, ledgers = classify_columns(parts, new, mode, receivers=["south"])
    assert agree(found["south"], in_one_place(sites, shape, new, BayesParams()))
    assert found["north"] is None
    assert {row.because for row in ledgers["north"].openings} == {PREDICTED, ROWS}


def test_a_class_without_records_never_wins_and_unknown_categories_say_nothing():
    columns = table(60, 6, CLASSES[:2])
    split = SPLITS[0]
    for known in (False, True):
        sites, shape = sites_of(columns, split, known)
        new = records_of(table(20, 7, CLASSES[:2]), split)
        new["south"]["b"] = np.array(["new"] * 20, object)
        parts, _ = mine_bayes_columns(sites, shape)
        found, _ = classify_columns(parts, new)
        assert agree(found["north"], in_one_place(sites, shape, new, BayesParams()))
        assert "c2" not in found["north"]


def test_a_class_without_records_loses_even_if_it_fits_best():
    """Two records of c0 that never had x; c1, of which nothing is known, would win."""
    coding = [Coding((Attribute(name, ("x", "y")),)) for name in ("a", "b")]
    old, new = np.array(["y", "y"], object), np.array(["x"], object)
    for known in (False, True):
        sites = {"north": BayesSite(coding[0], {"a": old}, ["c0", "c0"]),
                 "south": BayesSite(coding[1], {"b": old}, ["c0", "c0"] if known else None)}
        shape = BayesShape((Part("north", (2,)), Part("south", (2,))), CLASSES, "north",
                      class_known=known)
        parts, _ = mine_bayes_columns(sites, shape)
        found, _ = classify_columns(parts, {"north": {"a": new}, "south": {"b": new}})
        assert found["north"].tolist() == ["c0"]


def test_means_and_variances_on_shares_are_good_to_their_last_bits():
    """Numbers far from the middle: one over n must be good to more than its first 30 bits."""
    random = np.random.default_rng(1)
    count = random.integers(1, 1 << 20, 500)
    middle, spread = random.uniform(-0.95, 0.95, 500), random.uniform(0, 0.04, 500)
    sums = np.stack([count * middle, count * (middle**2 + spread)])
    mean, variance = on_shares(means_and_variances, [count, sums],
                               [(0, 1 << 20), (-(1 << 60), 1 << 60, 40)])
    assert np.abs(mean - middle).max() < 1.01 * 2.0**-30
    assert np.abs(variance - spread).max() < 3.1 * 2.0**-30


def test_kept_shares_are_not_those_of_the_run(monkeypatch):
    """A dealer who knows what was dealt must not know what is kept."""
    seen, real = {}, vertical.learn

    async def learn(party, *rest):
        seen[party.name] = await real(party, *rest)
        return seen[party.name]

    monkeypatch.setattr(vertical, "learn", learn)
    sites, shape = sites_of(table(60, 6), SPLITS[0])
    parts, _ = mine_bayes_columns(sites, shape)
    for at, name in enumerate(("start", "logs", "means", "roots")):
        raw = {site: getattr(seen[site], name).share.ravel() for site in sites}
        for site in sites:
            assert not np.isin(parts[site].share[at], raw[site]).any()
        assert np.array_equal(sum(parts[s].share[at] for s in sites), sum(raw.values()))


def test_scores_are_as_near_as_stated(monkeypatch):
    """1e-7 for each category, 4e-6 (1 + |t|) for each number that lies t deviations off."""
    seen = []

    real = choice.argmax

    async def telling(party, values):
        seen.append(await reveal(party, values, because=PREDICTED))
        return await real(party, values)

    replace_everywhere(monkeypatch, real, telling)
    columns, split = table(300, 3), SPLITS[0]
    columns["w"][:150] /= 40
    sites, shape = sites_of(columns, split)
    new = records_of(table(200, 4), split)
    parts, _ = mine_bayes_columns(sites, shape)
    classify_columns(parts, new)
    wanted = in_one_place(sites, shape, new, BayesParams())
    z = np.hstack([sites[n].coding.z(new[n]) for n in sites])
    label = np.array([CLASSES.index(c) for c in columns["class"]])
    own = np.hstack([s.coding.z(s.columns) for s in sites.values()])
    t = np.abs([(z - own[label == k].mean(axis=0)) / own[label == k].std(axis=0)
                for k in range(3)])
    bound = 3e-7 + 4e-6 * (1 + t).sum(axis=2).T
    assert (np.abs(seen[0] - wanted) <= bound).all()


def test_a_share_of_the_model_is_not_the_model():
    sites, shape = sites_of(table(60, 6), SPLITS[0])
    first, _ = mine_bayes_columns(sites, shape)
    again, _ = mine_bayes_columns(sites, shape)
    for name in sites:
        for one, other in zip(first[name].share, again[name].share, strict=True):
            assert not np.isin(one, other).any()
    # Both together are: starts of two runs agree to the rounding of logarithms.
    both = [sum(p[n].share[0] for n in sites).view(np.int64) / 2**30 for p in (first, again)]
    assert np.abs(both[0] - both[1]).max() < 1e-6


def test_a_model_is_kept_in_a_private_file(tmp_path):
    split = SPLITS[0]
    sites, shape = sites_of(table(60, 6), split)
    parts, _ = mine_bayes_columns(sites, shape)
    for name, part in parts.items():
        part.save(tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    loaded = {name: BayesPart.load(tmp_path / name) for name in parts}
    new = records_of(table(20, 7), split)
    before, after = classify_columns(parts, new)[0], classify_columns(loaded, new)[0]
    assert before["north"].tolist() == after["north"].tolist()


BAD = {
    "a class too many": (lambda s: s.update(south=BayesSite(s["south"].coding, s["south"].columns,
                                                       ["c0"] * 60)), "given by 'north' alone"),
    "other columns": (lambda s: s.update(south=s["north"].__class__(
        s["north"].coding, s["north"].columns)), "sizes"),
    "other lengths": (lambda s: s.update(south=BayesSite(s["south"].coding, {
        "b": s["south"].columns["b"][:9], "w": s["south"].columns["w"]})), "one length"),
    "other rows": (lambda s: s.update(south=BayesSite(s["south"].coding, {
        n: c[:9] for n, c in s["south"].columns.items()})), "same records"),
    "nothing": (lambda s: s.update(south=None), "must give its columns"),
    "another class": (lambda s: s.update(north=BayesSite(s["north"].coding, s["north"].columns,
                                                    ["?"] * 60)), "agreed categories"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sites_are_refused(name):
    spoil, words = BAD[name]
    sites, shape = sites_of(table(60, 6), SPLITS[0])
    spoil(sites)
    with pytest.raises((DataError, RefusedError), match=words):
        mine_bayes_columns(sites, shape)


def test_parts_that_do_not_belong_together_are_refused():
    split = SPLITS[1]
    sites, shape = sites_of(table(60, 6), split)
    new = records_of(table(20, 7), split)
    first, _ = mine_bayes_columns(sites, shape)
    other, _ = mine_bayes_columns(sites, shape)
    with pytest.raises(DataError, match="one model"):
        classify_columns(first | {"north": other["north"]}, new)
    with pytest.raises(RefusedError, match="same holders"):
        classify_columns(first, new, holders=["north", "east"])
    known, shape = sites_of(table(60, 6), split, known=True)
    known["east"].labels[3] = "c0" if known["east"].labels[3] != "c0" else "c1"
    known = known | {"east": BayesSite(known["east"].coding, known["east"].columns, [
        *known["east"].labels[::-1]])}
    with pytest.raises(DataError, match="same everywhere"):
        mine_bayes_columns(known, shape)


@pytest.mark.parametrize(("mode", "names"), [
    ("dealer", ("bank", "shop")), ("two-party", ("bank", "shop")),
    ("three-party", ("bank", "shop", "help"))])
def test_one_has_the_model_and_another_the_records(mode, names):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    model, new = pooled(LAYOUT, table(200, 8)), table(40, 9)
    found, ledgers = classify_privately(model, new, LAYOUT, mode, names=names, receivers=["shop"])
    assert found[0] is None
    assert agree(found[1], model.log_joint(new))
    for ledger in ledgers:
        assert {row.because for row in ledger.openings} == {PREDICTED, ROWS}


def test_models_and_records_that_do_not_fit_are_refused():
    model, new = pooled(LAYOUT, table(200, 8)), table(4, 9)
    other = type(LAYOUT)(LAYOUT.columns[::-1], CLASSES)
    with pytest.raises(DataError, match="agreed columns"):
        classify_privately(model, new, other)
    small = type(LAYOUT)((*LAYOUT.columns[:3], type(LAYOUT.columns[3])("w", 60, 61)), CLASSES)
    with pytest.raises(DataError, match="wider"):
        table_of(model, small)
    huge = type(LAYOUT)((*LAYOUT.columns[:3], type(LAYOUT.columns[3])("w", 0, 1e4)), CLASSES)
    with pytest.raises(DataError, match="Those of 'w' are smaller"):
        table_of(model, huge)
    with pytest.raises(DataError, match="agreed range"):
        classify_privately(model, new | {"w": np.full(4, 101.0)}, LAYOUT)
    with pytest.raises(DataError, match="1 to"):
        classify_privately(model, {n: c[:0] for n, c in new.items()}, LAYOUT)
    with pytest.raises(InputError, match="two different"):
        classify_privately(model, new, LAYOUT, names=("bank", "bank"))
