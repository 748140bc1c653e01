"""No release looks safer because its values are written so that a program must read them.

Every spelling here can be undone without any secret, so none may get a verdict that lets the table
leave: the table below names nearly everybody in it.
"""

import base64
import hashlib

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.comparable import Numbers
from unspoken.audit.people.read_columns import AS_IS, read_tables
from unspoken.disclosure.release_verdict import may_leave, verdict_of

ROWS = 240


def patients(seed, rows=ROWS):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 25000, rows), unit="D")
    return pd.DataFrame({
        "age": rng.integers(18, 90, rows), "income": np.round(np.exp(rng.normal(10, 0.6, rows)), 2),
        "weight": np.round(rng.normal(75, 12, rows), 1),
        "zip": rng.choice([f"{z:05d}" for z in range(1067, 1097)], rows),
        "sex": rng.choice(["f", "m"], rows), "born": days.strftime("%Y-%m-%d"),
        "diag": rng.choice(["flu", "hiv", "cancer", "none", "asthma"], rows)})


def text(of):
    return lambda people: people.map(lambda value: of(str(value)))


def only(names, of):
    return lambda people: people[names].map(of)


def dates(form):
    return lambda people: people[["sex", "diag"]].assign(
        born=pd.to_datetime(people["born"]).dt.strftime(form))


def counted(unit):
    def turn(people):
        since = pd.to_datetime(people["born"]) - pd.Timestamp("1970-01-01")
        return people[["sex", "diag"]].assign(born=since // pd.Timedelta(unit))
    return turn


def swapped(people):
    names = {"age": "weight", "weight": "income", "income": "age"}
    return people[["age", "weight", "income"]].rename(columns=names)


def digest(name, end=None):
    return text(lambda value: hashlib.new(name, value.encode()).hexdigest()[:end])


NUMBERS = ["age", "income", "weight"]
LETTERS = str.maketrans("0123456789", "abcdefghij")
SPELLINGS = {
    "units": only(NUMBERS, lambda value: f"{value} units"),
    "currency": only(NUMBERS, lambda value: f"EUR {value:,.2f}"),
    "commas": only(NUMBERS, lambda value: f"{value:.2f}".replace(".", ",")),
    "exponents": only(NUMBERS, lambda value: f"{value:.9E} kg"),
    "percent": only(NUMBERS, lambda value: f"{value}%"),
    "hexadecimal numbers": only(NUMBERS, lambda value: f"0x{int(value * 100):x}"),
    "sha256": digest("sha256"), "md5, cut": digest("md5", 12),
    "sha1 in capitals": text(lambda v: hashlib.sha1(v.encode()).hexdigest().upper()),
    "sha256 in base 64": text(
        lambda v: base64.b64encode(hashlib.sha256(v.encode()).digest()).decode()),
    "base 64": text(lambda value: base64.b64encode(value.encode()).decode()),
    "hexadecimal": text(lambda value: value.encode().hex()),
    "backwards": text(lambda value: value[::-1]),
    "letters for digits": text(lambda value: value.translate(LETTERS)),
    "swapped names": swapped,
    **{form: dates(form) for form in ("%d %b %Y", "%Y%m%d", "%d.%m.%y", "%Y-%m-%dT%H:%M:%S")},
    "seconds": counted("1s"),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")

    def read(people, name):
        people.to_csv(folder / name, index=False)
        return unspoken.read(folder / name, show=False)

    return read, read(patients(0), "original.csv"), read(patients(1, 120), "others.csv")


@pytest.fixture(scope="module")
def as_it_was(tables):
    return read_tables(tables[1], tables[1], tables[2])


def shown(reading, name):
    column = reading.release.columns[name]
    return np.sort(column.middle if isinstance(column, Numbers) else
                   np.array([column.names[code] for code in column.codes]))


@pytest.mark.slow
@pytest.mark.parametrize("form", SPELLINGS)
def test_values_are_read_as_they_were(tables, as_it_was, form):
    read, original, others = tables
    release = SPELLINGS[form](patients(0)).sample(frac=1, random_state=3)
    reading = read_tables(original, read(release, "release.csv"), others)
    # "32333435362e3738" is an endless number to whoever reads the file: it is not assessed.
    assert len(reading.names) == release.shape[1] - (form == "hexadecimal")
    for name in reading.names:
        if reading.how[name].startswith(AS_IS):
            assert (shown(reading, name) == shown(as_it_was, name)).all(), name
        else:
            assert (form, reading.how[name]) == ("hexadecimal numbers", "by rank"), name


@pytest.mark.slow
@pytest.mark.parametrize("form", SPELLINGS)
def test_what_anybody_can_read_is_not_safe(tables, form):
    read, original, others = tables
    release = SPELLINGS[form](patients(0)).sample(frac=1, random_state=3)
    audit = audit_table(read(release, "release.csv"), original, others, people=40, random_state=0,
                        secrets=[release.columns[-1]])
    verdict = verdict_of(audit)
    assert not may_leave(audit, verdict), (verdict.level, audit.people.read)
