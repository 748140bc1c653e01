"""A control group of people who are in the original would hide every risk: it is noticed."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

from support.population import coarsened, encoded, noised, population, shuffled
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.control_group import outsiders
from unspoken.audit.published.audit_model import audit_model
from unspoken.audit.run_audit import audit
from unspoken.errors import DataError
from unspoken.protect import NoiseAdder
from unspoken.table.read import read

ORIGINAL, OTHERS = population(300, seed=0), population(200, seed=1)


def kept(control, original=ORIGINAL):
    table, notes = outsiders(read(original, show=False), read(control, show=False))
    assert bool(notes) == (table.rows < control.num_rows)
    return table.arrow()


def edited(table, *names, seed=4):
    """Return people with other values in some columns."""
    rng = np.random.default_rng(seed)
    for name in names:
        place = table.column_names.index(name)
        table = table.set_column(place, name, table[name].take(rng.permutation(table.num_rows)))
    return table


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_other_people_of_the_population_are_all_kept(seed):
    others = population(200, seed=100 + seed)
    assert kept(others, population(300, seed=seed)).equals(read(others, show=False).arrow())


def test_a_table_of_few_categories_has_twins_outside():
    names = ["sex", "school", "ill"]
    assert kept(OTHERS.select(names), ORIGINAL.select(names)).num_rows == 200


@pytest.mark.parametrize("control", [
    ORIGINAL, shuffled(ORIGINAL).slice(0, 100), edited(ORIGINAL, "income"),
    edited(shuffled(ORIGINAL).slice(0, 120), "ill", "school"), noised(ORIGINAL, 0.02),
], ids=["itself", "part", "one column edited", "two columns edited", "noise"])
def test_the_original_is_refused_as_a_control_group(control):
    with pytest.raises(DataError, match="the others are in the original"):
        kept(control)


def test_people_of_the_original_among_others_are_left_out():
    assert kept(pa.concat_tables([OTHERS, ORIGINAL.slice(7, 9)])).num_rows == 200
    mixed = kept(pa.concat_tables([OTHERS, edited(ORIGINAL, "income").slice(0, 100)]))
    known = set(OTHERS["income"].to_pylist())
    assert np.mean([income in known for income in mixed["income"].to_pylist()]) > 0.85


def test_texts_are_compared_without_case_and_spaces():
    loud = [f" {text.upper()} " for text in ORIGINAL["school"].to_pylist()]
    control = ORIGINAL.set_column(4, "school", pa.array(loud))
    with pytest.raises(DataError, match="Got 0 of 300"):
        kept(control)


def test_numbers_that_count_rows_are_no_agreement():
    original, others = (table.append_column("row", pa.array(np.arange(table.num_rows)))
                        for table in (ORIGINAL, OTHERS))
    assert kept(others, original).num_rows == 200


FRESH = population(600, seed=2)


def beside(release, control=OTHERS, original=ORIGINAL):
    return outsiders(*(read(one, show=False) for one in (original, control, release)))


@pytest.mark.parametrize("release", [
    pa.concat_tables([ORIGINAL, OTHERS]), pa.concat_tables([ORIGINAL, OTHERS, OTHERS]),
    pa.concat_tables([ORIGINAL, FRESH, OTHERS]), noised(pa.concat_tables([ORIGINAL, OTHERS]), 0.01),
], ids=["copied", "copied twice", "copied among others", "noise"])
def test_a_control_group_in_the_release_is_refused(release):
    with pytest.raises(DataError, match="the others are in the release"):
        beside(shuffled(release))


@pytest.mark.slow
@pytest.mark.parametrize("release", [
    shuffled(ORIGINAL), noised(ORIGINAL, 0.02), noised(ORIGINAL, 1.0), noised(ORIGINAL, 3.0),
    coarsened(ORIGINAL), encoded(ORIGINAL), FRESH, FRESH.select(["age", "sex"]),
    population(3000, seed=7),
], ids=["original", "noise", "much noise", "most noise", "groups", "codes", "fresh", "few columns",
        "many"])
def test_outsiders_stay_outsiders_beside_any_release(release):
    assert beside(release)[0].rows >= 198


def test_a_table_of_few_categories_is_no_release_of_outsiders():
    names = ["sex", "school", "ill"]
    assert beside(FRESH.select(names), OTHERS.select(names),
                  ORIGINAL.select(names))[0].rows == 200


def test_one_person_many_times_is_no_control_group():
    with pytest.raises(DataError, match="repeat each other"):
        kept(OTHERS.take([3] * 200))


def test_every_audit_refuses_it():
    with pytest.raises(DataError, match="the others are in the original"):
        audit_table(shuffled(ORIGINAL), ORIGINAL, ORIGINAL)
    with pytest.raises(DataError, match="the others are in the release"):
        audit_table(shuffled(pa.concat_tables([ORIGINAL, OTHERS])), ORIGINAL, OTHERS)
    release, key = NoiseAdder(others="keep").protect(read(ORIGINAL, show=False))
    with pytest.raises(DataError, match="the others are in the original"):
        audit(read(ORIGINAL, show=False), release, key, control=ORIGINAL)
    tree = DecisionTreeClassifier(max_depth=2).fit(ORIGINAL.select(["age", "income"]).to_pandas(),
                                                   ORIGINAL["ill"].to_pylist())
    with pytest.raises(DataError, match="the others are in the original"):
        audit_model(tree, read(ORIGINAL, target="ill", show=False), ORIGINAL)
