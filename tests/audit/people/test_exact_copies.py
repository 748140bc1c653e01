"""A few people who were released word by word are named, however many records stand beside."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from support.population import coarsened, noised, population, shuffled
from unspoken.audit.people.exact_copies import exact_copies
from unspoken.audit.people.read_columns import read_tables
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.people_risk import PeopleAudit
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.table.read import read

ORIGINAL, OTHERS, FRESH = (population(800, seed=seed) for seed in range(3))


def copied(release, original=ORIGINAL, control=None):
    tables = [None if one is None else read(one, show=False)
              for one in (original, release, control)]
    return exact_copies(read_tables(*tables))


@pytest.mark.slow
@pytest.mark.parametrize("control", [None, OTHERS], ids=["alone", "with control"])
@pytest.mark.parametrize("people", [12, 40])
def test_a_few_people_word_by_word_make_the_verdict_high(people, control):
    release = shuffled(pa.concat_tables([ORIGINAL.slice(100, people), FRESH.slice(people)]))
    risks = copied(release, control=control)
    assert risks[0].people == people
    found = PeopleAudit(tuple(risks), None, {}, {})
    verdict = verdict_of(Audit((), 0.02, 1, {}, {}, {}, people=found))
    assert verdict.level == "high"
    assert "exact copies" in verdict.naming.words


@pytest.mark.slow
def test_one_changed_value_hides_nobody():
    older = ORIGINAL.set_column(0, "age", pc.add(ORIGINAL["age"], 1))
    release = shuffled(pa.concat_tables([older.slice(100, 40), FRESH.slice(40)]))
    assert copied(release)[0].people == 40
    assert copied(release)[0].knowledge == "5 columns"


@pytest.mark.slow
def test_a_few_columns_are_enough():
    names = ["age", "zip", "income"]
    release = shuffled(pa.concat_tables([ORIGINAL.slice(100, 40), FRESH.slice(40)]).select(names))
    assert copied(release)[0].people >= 40
    assert copied(FRESH.select(names)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 8))
def test_fresh_people_are_no_copies(seed):
    assert copied(population(800, seed=seed)) == []
    names = ["age", "sex", "school", "ill"]
    assert copied(population(800, seed=seed).select(names), ORIGINAL.select(names)) == []


@pytest.mark.slow
@pytest.mark.parametrize("release", [noised(ORIGINAL, 0.1), coarsened(ORIGINAL)],
                         ids=["noise", "groups"])
def test_changed_records_are_no_copies(release):
    assert copied(release) == []
