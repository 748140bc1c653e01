"""C4.5 as a miner: the tree of the original comes back, also from the key alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import unspoken
from unspoken.cli.main import main
from unspoken.errors import DecodeError, InputError, NotCoveredError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.methods.encoding.decode.mined_again import decoded_and_mined_again
from unspoken.methods.encoding.learners.c45_classifier import C45Classifier
from unspoken.mine import fit
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.protect import PiecewiseEncoder, decode

OUTLOOK = list("ssorrrossrsoor")
GOLF = {
    "outlook": [{"s": "sunny", "o": "overcast", "r": "rainy"}[c] for c in OUTLOOK],
    "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
    "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
    "windy": ["yes" if c == "T" else "no" for c in "FTFFFTTFFFTTFT"],
    "play": ["no" if c == "0" else "yes" for c in "00111010111110"],
}


def golf():
    return unspoken.read(GOLF, target="play", show=False,
                         kinds={"outlook": "categorical", "windy": "categorical"})


def random_table(rng, rows=120):
    colour = rng.choice(["red", "blue", "green", "grey"], rows, p=[0.5, 0.3, 0.15, 0.05])
    size = np.round(rng.normal(50, 20, rows), int(rng.integers(0, 3)))
    weight = rng.integers(0, 30, rows).astype(float)
    odds = (size > 45).astype(int) + (colour == "red") + (weight > 12) + rng.integers(0, 2, rows)
    colours = [None if rng.random() < 0.03 else str(one) for one in colour]
    return unspoken.read({"size": size, "weight": weight, "colour": colours,
                          "y": np.array(["a", "b", "c"])[np.clip(odds - 1, 0, 2)]},
                         target="y", show=False, kinds={"colour": "categorical"})


def test_golf_comes_back_with_the_questions_of_every_textbook():
    release, key = PiecewiseEncoder(random_state=5).protect(golf())
    tree = decode(fit(release, "c45").model, key)
    assert isinstance(tree, CategoricalTree)
    assert tree.predict(golf()).tolist() == GOLF["play"]
    text = tree.summary()
    # Textbooks have 75, the largest value below the middle of 70 and 85; 70 parts the same days.
    assert [word in text for word in ("{overcast} -> yes", "humidity <= 70", "windy in {no}",
                                      "temperature")] == [True, True, True, False]


def test_with_quinlans_cuts_iris_is_the_tree_that_j48_prints():
    data = load_iris()
    model = C45Classifier(threshold="middle").fit(data.data, data.target)
    tree = model.pattern(data.feature_names, {})
    assert tree.nodes == 9
    cuts = tree.threshold[tree.feature >= 0]
    assert sorted(np.round(cuts, 6)) == [0.6, 1.5, 1.7, 4.9]
    assert (model.predict(data.data) == data.target).sum() == 147


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_decoded_tree_is_that_of_the_original(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    how = {"min_records": int(rng.integers(1, 6)), "prune": bool(rng.random() < 0.8),
           "raise_branches": bool(rng.random() < 0.7),
           "confidence": float(rng.choice([0.1, 0.25, 0.5]))}
    release, key = PiecewiseEncoder(rare=int(rng.integers(1, 12)), random_state=seed).protect(table)
    mined = fit(release, "c45", **how)
    assert mined.verdict
    decoded, original = decoded_and_mined_again(mined.model, mined.recipe, key, table)
    assert original.model.same_as(decoded)
    assert decode(mined.model, key).same_as(decoded)
    order = PiecewiseBook.from_key(key).order(table.rows)
    assert np.array_equal(decoded.predict(table)[order], mined.model.predict(release.table))


@pytest.mark.slow
def test_cuts_by_distances_are_not_covered_and_do_differ():
    release, key = PiecewiseEncoder(random_state=2).protect(golf())
    assert not release.guarantee.covers(C45Classifier(threshold="middle"))
    assert release.guarantee.covers(C45Classifier())
    with pytest.raises(NotCoveredError, match="places cuts by distances"):
        fit(release, "c45", threshold="middle")
    differing = 0
    for seed in range(4):
        table = random_table(np.random.default_rng(seed))
        release, key = PiecewiseEncoder(random_state=seed).protect(table)
        with pytest.warns(UserWarning, match="without a promise"):
            mined = fit(release, "c45", anyway=True, threshold="middle")
        decoded, original = decoded_and_mined_again(mined.model, mined.recipe, key, table)
        differing += not original.model.same_as(decoded)
    assert differing


def test_permuted_pieces_and_reversed_codes_are_not_covered():
    for mode in ("max-mono", "anti"):
        release, _ = PiecewiseEncoder(mode=mode, random_state=1).protect(golf())
        assert not release.guarantee.covers(C45Classifier())


def test_a_tree_of_other_rows_or_of_no_code_is_refused():
    release, key = PiecewiseEncoder(random_state=3).protect(golf())
    document = fit(release, "c45").model.to_json()
    moved = dict(document, threshold=[one + 0.5 if one else one for one in document["threshold"]])
    with pytest.raises(DecodeError, match="not at one of its codes"):
        decode(moved, key)
    other = dict(document, n_samples=[document["n_samples"][0] + 1, *document["n_samples"][1:]])
    with pytest.raises(DecodeError, match="other records"):
        decode(other, key, golf())
    turned = dict(document, value=document["value"][::-1])
    with pytest.raises(DecodeError, match="other records"):
        decode(turned, key, golf())


def test_numbers_and_missing_numbers_are_refused_in_a_sentence():
    table = unspoken.read({"a": [1.0, None, 3.0, 4.0], "y": ["u", "v", "u", "v"]}, target="y",
                          show=False)
    with pytest.raises(InputError, match="complete numbers"):
        fit(table, "c45")
    with pytest.raises(InputError, match="predicts classes"):
        fit(table, "c45", task="regression")
    for wrong in ({"min_records": 0}, {"confidence": 0.7}, {"threshold": "left"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            fit(golf(), "c45", **wrong)


def test_a_branch_that_no_record_took_predicts_as_its_parent():
    table = unspoken.read({"c": ["x"] * 6 + ["y"] * 6 + ["z"] * 6, "n": [1.0] * 12 + [2.0] * 6,
                           "y": list("aaaaab" + "bbbbbb" + "cccccc")}, target="y", show=False,
                          kinds={"c": "categorical"})
    tree = fit(table, "c45", prune=False).model
    assert tree.predict(table).tolist()[-6:] == ["c"] * 6
    assert np.allclose(tree.value.sum(axis=1), 1.0)


@pytest.mark.slow
def test_the_walk_from_the_command_line_without_the_table(tmp_path, capsys):
    data = tmp_path / "golf.csv"
    lines = [",".join(GOLF), *(",".join(map(str, row)) for row in zip(*GOLF.values(), strict=True))]
    data.write_text("\n".join(lines))
    out, key, model = tmp_path / "release", tmp_path / "the.key", tmp_path / "model.json"
    kinds = ["--kind", "outlook=categorical", "--kind", "windy=categorical"]
    assert main(["protect", str(data), "--target", "play", "--out", str(out), "--key", str(key),
                 *kinds]) == 0
    assert main(["mine", str(out), "--learner", "c45", "--param", "min_records=2",
                 "--out", str(model)]) == 0
    decoded = tmp_path / "decoded.json"
    assert main(["decode", str(model), "--key", str(key), "--out", str(decoded)]) == 0
    assert json.loads(decoded.read_text())["features"] == list(GOLF)[:4]
    assert main(["verify", str(model), "--release", str(out), "--key", str(key),
                 "--data", str(data), *kinds]) == 0
    assert "identical" in capsys.readouterr().out
    assert main(["predict", str(decoded), str(data), "--out", str(tmp_path / "p.csv")]) == 0


@pytest.mark.parametrize("first", [0.0, -0.0])
def test_a_cut_at_zero_has_no_sign(first):
    """Both zeros are one value, and the one that comes first in a column is there by chance."""
    zeros = [first, -0.0, 0.0, -0.0, 0.0]
    table = unspoken.read({"x": [*zeros, 1.0, 2.0, 3.0, 4.0, 5.0], "y": ["a"] * 5 + ["b"] * 5},
                          target="y", keep=["x"], show=False)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=0).protect(table)
    mined = fit(release, "c45")
    decoded, original = decoded_and_mined_again(mined.model, mined.recipe, key, table)
    assert original.model.same_as(decoded)
    assert not np.signbit(decoded.threshold).any()
