"""Labels of about the same frequency: what is merged, what decodes, and what frequencies name."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspoken
from unspoken.cli.main import main
from unspoken.cli.verify_verb import compare_with_original
from unspoken.errors import InputError
from unspoken.methods.encoding.audit.category_rows import right_shares
from unspoken.methods.encoding.audit.released_labels import label_columns
from unspoken.methods.encoding.category_labels import evened
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder
from unspoken.risk import audit


@pytest.mark.slow
@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(2, 9),
       st.integers(0, 99))
def test_categories_are_dealt_out_evenly(sizes, labels, seed):
    counts = {f"v{place}": size for place, size in enumerate(sizes)}
    groups = evened([[text] for text in counts], counts, labels, np.random.default_rng(seed))
    assert sorted(text for group in groups for text in group) == sorted(counts)
    assert len(groups) == min(labels, len(sizes))
    held = [sum(counts[text] for text in group) for group in groups]
    largest = sorted(sizes, reverse=True)
    rest = largest[labels:]
    # Dealing to the emptiest leaves no label more than one category above the mean, unless a
    # single category is larger by itself (Graham 1966).
    mean = sum(sizes) / len(groups)
    assert max(held) <= max(largest[0], mean + max(rest, default=0))
    frequent = {text for text, size in counts.items() if size > (rest[0] if rest else 0)}
    assert all(len(frequent & set(group)) <= 1 for group in groups)


def test_what_went_where_is_drawn():
    counts = {f"v{place}": 10 for place in range(12)}
    drawn = {str(evened([[text] for text in counts], counts, 3, np.random.default_rng(seed)))
             for seed in range(5)}
    assert len(drawn) == 5


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    shares = np.array([0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01])
    town = rng.choice([f"town {place}" for place in range(10)], rows, p=shares)
    age = rng.integers(18, 90, rows)
    ill = (age > 55) ^ np.isin(town, ["town 1", "town 4"]) ^ (rng.random(rows) < 0.1)
    return pd.DataFrame({"age": age, "town": town, "ill": np.where(ill, "yes", "no")})


@pytest.fixture(scope="module")
def evenly():
    table = unspoken.read(people(), target="ill", keep=["age"], show=False)
    return table, *PiecewiseEncoder(even_labels=4, keep_zero=True, random_state=0).protect(table)


@pytest.mark.parametrize("learner", ["tree", "xgboost", "lightgbm", "c45"])
def test_models_over_shared_labels_decode_to_the_originals(evenly, learner):
    table, release, key = evenly
    small = {"n_estimators": 5} if learner in ("xgboost", "lightgbm") else {}
    mined = fit(release, learner, **small)
    assert mined.verdict
    assert compare_with_original(unspoken.load_model(mined.to_bytes()), mined.recipe, key, table)


def test_labels_occur_about_equally_often(evenly):
    _, release, key = evenly
    labels = PiecewiseBook.from_key(key).categories["town"]["labels"]
    assert len(labels) == 10
    counts = Counter(release.table.arrow(["town"])["town"].to_pylist())
    assert len(counts) == 4
    assert max(counts.values()) < 1.4 * min(counts.values())
    assert release.mechanism["even_labels"] == 4


def shown(table, adversary, level, **options):
    release, key = PiecewiseEncoder(random_state=1, **options).protect(table)
    rows = audit(table, release, key, trials=3, random_state=0, people=False).select(
        measure="records", adversary=adversary, column="town")
    return next(row.value for row in rows if row.knowledge == level)


@pytest.mark.slow
def test_frequencies_name_fewer_people():
    table = unspoken.read(people(4000), target="ill", keep=["age"], show=False)
    before = shown(table, "category-frequencies", "histogram")
    after = shown(table, "category-frequencies", "histogram", even_labels=3)
    assert before == 1.0
    assert after < 0.66


def test_only_the_people_of_the_category_that_is_named_are_named():
    """Right for a label of three categories: as many people as the named one has."""
    frame = pd.DataFrame({"town": ["a"] * 60 + ["b"] * 30 + ["c"] * 7 + ["d"] * 3,
                          "y": ["u", "v"] * 50})
    table = unspoken.read(frame, target="y", show=False)
    release, key = PiecewiseEncoder(rare=35, random_state=3).protect(table)
    column = label_columns(table, release, key)[0][0]
    assert len(column.labels) == 2
    assert right_shares(column, column.owner) == (1.0, pytest.approx(0.9))
    place = {town: column.categories.index(town) for town in "abcd"}
    shared = int(column.label_of[place["c"]])
    guesses = np.full(2, -1)
    guesses[shared] = place["c"]
    assert right_shares(column, guesses) == (0.0, pytest.approx(0.07))
    guesses[shared] = place["a"]
    assert right_shares(column, guesses) == (0.0, 0.0)


@pytest.mark.slow
def test_even_labels_on_the_command_line_and_out_of_range(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    assert main(["protect", str(tmp_path / "people.csv"), "--target", "ill", "--even-labels", "3",
                 "--out", str(tmp_path / "r"), "--key", str(tmp_path / "k")]) == 0
    assert unspoken.Release.load(tmp_path / "r").mechanism["even_labels"] == 3
    table = unspoken.read(people(), target="ill", keep=["age"], show=False)
    with pytest.raises(InputError, match="even_labels"):
        PiecewiseEncoder(even_labels=1).protect(table)
