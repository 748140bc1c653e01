"""People are known again under other names of columns and in other, rounded units."""

import numpy as np
import pyarrow as pa
import pytest

from unspoken.release.people_ranks import people_overlap, rank_sketch
from unspoken.release.people_sketch import SAME
from unspoken.release.register import Register
from unspoken.table.read import read

SECRET = b"s" * 32


def patients(seed=0, rows=300):
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(18, 90, rows), "height": np.rint(rng.normal(170, 10, rows)),
            "weight": rng.normal(75, 12, rows).round(1), "chol": rng.integers(120, 300, rows),
            "sex": rng.choice(["f", "m"], rows), "diag": rng.choice(list("abcd"), rows)}


def converted(people):
    """Return inches, pounds, mmol/l and years of birth, as they are rounded."""
    return {**people, "height": (people["height"] / 2.54).round(1),
            "weight": (people["weight"] * 2.20462).round(1),
            "chol": (people["chol"] / 38.67).round(2), "age": 2024 - people["age"]}


def renamed(people):
    return {f"v{place}": values for place, values in enumerate(reversed(list(people.values())))}


def translated(people):
    return {**people, "sex": np.where(people["sex"] == "f", "female", "male")}


def some(people, share, seed=7):
    kept = np.random.default_rng(seed).random(len(people["age"])) < share
    return {name: values[kept] for name, values in people.items()}


def table_of(people):
    return read(pa.table(people), show=False)


CHANGES = {
    "renamed": renamed, "units": converted, "units, renamed": lambda one: renamed(converted(one)),
    "units, one less": lambda one: converted({n: v[1:] for n, v in one.items()}),
    "units, renamed, a tenth less": lambda one: renamed(converted(some(one, 0.9))),
    "renamed, half": lambda one: renamed(some(one, 0.5)),
    "units, labels, renamed": lambda one: renamed(translated(converted(some(one, 0.97)))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_register_knows_people_in_other_units_and_under_other_names(tmp_path, change):
    register = Register.load(tmp_path / "r").add_other("study", table_of(patients()), "x", "y")
    again = table_of(CHANGES[change](patients()))
    assert register.known_people(again)[0] >= SAME
    assert register.before(again)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [40, 150, 300])
def test_others_of_the_same_population_are_not_taken_for_them(rows):
    mine = rank_sketch(table_of(patients(1)), SECRET)
    for seed in range(2, 5):
        others = patients(seed, rows)
        for change in (lambda one: one, renamed, converted):
            its = rank_sketch(table_of(change(others)), SECRET)
            assert people_overlap(mine, its) < 0.7 * SAME


def test_coarse_bins_that_many_share_are_not_kept():
    labels = rank_sketch(table_of({n: patients()[n] for n in ("age", "sex", "diag")}), SECRET)
    assert not [label for label in labels if label.startswith("ranks")]


def test_digests_of_another_secret_have_nothing_in_common():
    one, other = (rank_sketch(table_of(patients()), secret) for secret in (SECRET, b"t" * 32))
    assert people_overlap(one, one) == 1.0
    assert people_overlap(one, other) == 0.0
