"""The three risks beside anonymeter's on the same tables: the same order, intervals that overlap.

The numbers of anonymeter were made once by the script that lies beside them; the tables are made
by the same script here.
"""

import importlib.util
import json
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.people.facts import Attacked
from unspoken.audit.people.inferring import inferring
from unspoken.audit.people.linking import linking, person_risks
from unspoken.audit.people.read_columns import read_tables
from unspoken.audit.people.singling_predicates import singling_out
from unspoken.disclosure.people_risk import INFERRED, LINKED, SINGLED

FOLDER = Path(__file__).parent / "known_answers"
SPEC = importlib.util.spec_from_file_location("anonymeter_risks", FOLDER / "anonymeter_risks.py")
SCRIPT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)
THEIRS = json.loads((FOLDER / "anonymeter_risks.json").read_text())["risks"]

pytestmark = pytest.mark.slow


def attacked(method, without=()):
    tables = [unspoken.read(pa.table({n: v for n, v in columns.items() if n not in without}),
                            show=False)
              for columns in (SCRIPT.people(0), SCRIPT.released(method), SCRIPT.people(1))]
    secrets = () if SCRIPT.SECRET in without else (SCRIPT.SECRET,)
    return Attacked(read_tables(*tables), SCRIPT.KNOWN, secrets, 0.02, bytes(32), SCRIPT.ATTACKS,
                    0)


def measured(method):
    whole, halves = attacked(method), attacked(method, (SCRIPT.SECRET,))
    single = next(r for r in singling_out(whole) if "3 columns" in r.knowledge)
    linked = next(r for r in linking(halves, person_risks(halves))
                  if r.knowledge == "known columns and the rest")
    inferred = next(r for r in inferring(whole) if r.knowledge == "all other columns")
    return {SINGLED: single.beyond, LINKED: linked.beyond, INFERRED: inferred.beyond}


@pytest.fixture(scope="module")
def ours():
    return {method: measured(method) for method in SCRIPT.METHODS}


@pytest.mark.parametrize("risk", [SINGLED, LINKED, INFERRED])
def test_intervals_overlap(ours, risk):
    for method, found in ours.items():
        _, low, high = found[risk]
        _, other_low, other_high = THEIRS[method][risk]
        assert low <= other_high, (method, found[risk], THEIRS[method][risk])
        assert other_low <= high, (method, found[risk], THEIRS[method][risk])


@pytest.mark.parametrize("risk", [SINGLED, LINKED, INFERRED])
def test_methods_come_in_the_same_order(ours, risk):
    """Pairs that anonymeter tells apart are in the same order here."""
    for one, other in combinations(SCRIPT.METHODS, 2):
        first, second = THEIRS[one][risk], THEIRS[other][risk]
        if first[1] > second[2]:
            assert ours[one][risk][0] > ours[other][risk][0], (one, other)
        elif second[1] > first[2]:
            assert ours[other][risk][0] > ours[one][risk][0], (one, other)
