"""One column for each label: what trees ask about comes back as `column == category`."""

import json

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.cli.main import main
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import InputError
from unspoken.methods.encoding.results.result_forms import Form
from unspoken.methods.encoding.results.result_options import Result
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder, decode

LEARNERS = {"tree": {}, "forest": {"n_estimators": 3}, "gradient": {"n_estimators": 3},
            "adaboost": {"n_estimators": 3}, "bagging": {"n_estimators": 3, "max_features": 0.7}}


def coloured(rows=200, seed=0):
    """Return a table whose class follows single colours."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green == blue", "blue", "violet"], rows, p=[0.4, 0.3, 0.27, 0.03])
    size = rng.normal(size=rows).round(2)
    odd = (np.isin(colour, ["red", "violet"])) ^ (size > 0.5) ^ (rng.random(rows) < 0.1)
    holed = [None if hole else text for text, hole in zip(colour, rng.random(rows) < 0.05,
                                                          strict=True)]
    frame = pa.table({"my colour": holed, "size": size, "kind": np.where(odd, "x", "y")})
    return unspoken.read(frame, target="kind", show=False)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("options", [{}, {"rare": 20}, {"neutral_names": True}], ids=str)
def test_the_model_of_the_original_comes_back(learner, options):
    table = coloured()
    release, key = PiecewiseEncoder(**options).protect(table)
    mined = fit(release, learner, onehot=True, **LEARNERS[learner])
    assert mined.verdict
    model = unspoken.load_model(mined.to_bytes())
    assert compare_with_original(model, mined.recipe, key, table)
    decoded = decode(model, key, table)
    assert "my colour == red" in decoded.features
    merged = [name for name in decoded.features if "|" in name]
    assert bool(merged) == ("rare" in options)
    agreement = decoded.predict(table) == table.labels()
    assert agreement.mean() > 0.6
    renamed = table.arrow().to_pandas()[["size", "my colour"]]
    assert np.array_equal(decoded.predict(renamed), decoded.predict(table))


def test_splits_are_written_as_questions_for_a_category():
    table = coloured()
    release, key = PiecewiseEncoder().protect(table)
    decoded = decode(fit(release, "tree", onehot=True, max_depth=3).to_bytes(), key, table)
    text = decoded.to_text()
    assert "my colour == red" in text or "my colour == violet" in text
    assert "my colour != " in text
    again = unspoken.load_model(json.dumps(decoded.to_json()).encode())
    assert again.same_as(decoded)


def test_learners_with_categories_of_their_own_refuse():
    release, _ = PiecewiseEncoder().protect(coloured())
    with pytest.raises(InputError, match="categories of its own"):
        fit(release, "histogram", onehot=True)


def test_every_shown_form_counts_the_categories_as_read():
    table = coloured()
    release, key = PiecewiseEncoder().protect(table)
    result = Result.of(fit(release, "tree", onehot=True, max_depth=1).model, key, table, release)
    for form, read in ((Form("predictions"), False), (Form("rules", 1), True),
                       (Form("full"), True)):
        shown = result.shown(form, result.in_form(form), 0.02)
        assert any(one.column == "my colour" and one.exact == 1.0 for one in shown) == read


@pytest.mark.slow
def test_the_command(tmp_path):
    release, _ = PiecewiseEncoder().protect(coloured())
    release.save(tmp_path / "release")
    assert main(["mine", str(tmp_path / "release"), "--one-hot", "--out",
                 str(tmp_path / "model.json")]) == 0
    assert " == " in unspoken.load_model(tmp_path / "model.json").features[0]
