"""Every detector: columns that it must notice, and columns that it must leave alone."""

from __future__ import annotations

import uuid

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support import made_up_people as made
from unspoken.table.identify import checksums, identify
from unspoken.table.identify.column_sample import SAMPLE
from unspoken.table.identify.detectors import DETECTORS
from unspoken.table.identify.law import HIPAA, PERSONAL, SPECIAL_CATEGORIES
from unspoken.table.table import Table

TENS = list("0123456789")
HUNDREDS = [f"{i:02d}" for i in range(100)]
R = range(100)


def plain(columns):
    """Return a table with nothing withheld, so that detectors alone speak."""
    return unspoken.read(pa.table(columns), keep=list(columns), show=False)


def found(values, header="v"):
    return {f.what: f for f in identify(plain({header: values}))}


POSITIVE = {
    "person's name": made.names(),
    "e-mail address": made.emails(),
    "web address": [f"https://example.org/people/{i}" for i in R],
    "IP address": [f"192.0.2.{i}" for i in R],
    "telephone number": [f"+49 30 {901820 + i}" for i in R],
    "postal address": [f"{i + 1} Station Road" for i in R],
    "device address": [f"00:1A:2B:3C:4D:{i:02X}" for i in R],
    "random code or hash": [str(uuid.UUID(int=i * 7 ** 40 % 2 ** 128)) for i in R],
    "photograph": [f"scans/{i}.jpg" for i in R],
    "bank account (IBAN)": [
        next(f"DE{c:02d}37040044{i:010d}" for c in R
             if checksums.iban(f"DE{c:02d}37040044{i:010d}")) for i in range(5, 65)],
    "payment card": made.passing(checksums.card, ["4" + d for d in made.digits(60, 14)], TENS),
    "citizen service number (Netherlands)": made.passing(
        checksums.bsn, ["1" + d for d in made.digits(90, 7)], TENS),
    "NHS number (United Kingdom)": made.passing(
        checksums.nhs, ["9" + d for d in made.digits(60, 8)], TENS),
    "social security number (France)": made.passing(
        checksums.insee, [f"2850{i % 9 + 1}78{d}" for i, d in enumerate(made.digits(60, 6))],
        HUNDREDS),
    "DNI or NIE (Spain)": made.passing(checksums.dni, made.digits(60, 8),
                                       list("TRWAGMYFPDXBNJZSQVHLCKE")),
    "codice fiscale (Italy)": made.passing(
        checksums.codice_fiscale, [f"RSSMRA{y}T10A{d}" for y, d in
                                   zip(HUNDREDS[10:70], made.digits(60, 3), strict=True)],
        [chr(65 + i) for i in range(26)]),
    "PESEL (Poland)": made.passing(
        checksums.pesel, [f"{y}0514{d}" for y, d in
                          zip(HUNDREDS[30:90], made.digits(60, 4), strict=True)], TENS),
    "AHV number (Switzerland)": made.passing(
        checksums.ahv, ["756" + d for d in made.digits(60, 9)], TENS),
    "tax number (Germany)": made.passing(
        checksums.steuer_id, made.digits(9000, 10), TENS)[:60],
    "national number (Belgium)": made.passing(
        checksums.rijksregister, [f"{y}0730{d}" for y, d in
                                  zip(HUNDREDS[30:90], made.digits(60, 3), strict=True)], HUNDREDS),
    "vehicle identification number": [
        n for i in range(600) if checksums.vin(n := f"1M8GDM9A{i % 10}KP{42000 + i:06d}")],
    "social security number (United States)": [f"219-{10 + i % 80}-{1000 + i}" for i in R],
    "vehicle plate": [f"AB{i:02d} XY{chr(65 + i % 20)}" for i in R],
    "date of birth": [day.isoformat() for day in made.births()],
    "date": [f"2024-03-{1 + i % 28:02d} 10:00" for i in R],
    "sex": ["male", "female"] * 50,
    "postcode": [f"SW{i % 20 + 1} {i % 9}A{chr(65 + i % 3)}" for i in R],
    "pair of coordinates": [f"52.{i:04d}, 13.{i * 3:04d}" for i in R],
    "marital status": ["married", "divorced", "widowed", "single"] * 25,
    "racial or ethnic origin": ["Hispanic", "White", "Asian", "Black"] * 25,
    "religious or philosophical beliefs": ["katholisch", "evangelisch", "konfessionslos",
                                           "muslimisch"] * 25,
    "political opinions": ["CDU", "SPD", "FDP", "none"] * 25,
    "trade union membership": ["ver.di", "IG Metall"] * 50,
    "sex life or sexual orientation": ["heterosexual", "gay", "bisexual"] * 33,
    "genetic data": ["A/G", "A/A", "G/G"] * 33,
    "data concerning health": ["Lung cancer", "Diabetes type 2", "COPD", "other"] * 25,
    "diagnosis code (ICD-10)": list(made.DIAGNOSES) * 14,
    "row number": list(R),
    "record number": [int(i) for i in made.rng(5).permutation(100)],
    "free text": made.sentences(),
    "almost unique": [f"Q{i * 37 % 1009:x}z" for i in R],
}
BY_NAME = {
    "fax number": ("Fax", ["030 901820"] * 20), "age": ("Alter", [30, 41, 92] * 20),
    "latitude or longitude": ("lat", [52.51234 + i / 1000 for i in R]),
    "town or district": ("Wohnort", ["Bonn", "Kiel"] * 20),
    "nationality or country of birth": ("nationalité", ["FR", "DE"] * 20),
    "occupation": ("Beruf", ["nurse", "clerk"] * 20),
    "medical record number": ("MRN", [1, 1, 2, 2] * 20),
    "health insurance number": ("Versichertennummer", ["A1", "A1"] * 20),
    "account number": ("account_no", [1, 2] * 20),
    "licence, certificate or passport number": ("passport", ["C01", "C02"] * 20),
    "number of a person": ("customerId", [7, 7, 8] * 20),
    "biometric data": ("fingerprint", ["aa", "bb"] * 20),
    "criminal record": ("vorstrafen", [0, 1] * 20),
    "year of birth": ("yob", [1950, 1980] * 20),
    "index column": ("Unnamed: 0", [int(i) for i in made.rng(5).permutation(100)]),
    "postcode": ("plz", [10115, 80331] * 20), "telephone number": ("phone", [3039018200 + i
                                                                            for i in R]),
    "sex": ("geslacht", [1, 2] * 20), "person's name": ("Name", ["Ann", "Bo"] * 20),
    "date of birth": ("Geburtsdatum", made.births()),
    "religious or philosophical beliefs": ("religion", [1, 2] * 20),
    "data concerning health": ("maladie", [0, 1] * 20),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", POSITIVE)
def test_noticed_by_content_under_a_name_that_says_nothing(what):
    assert len(POSITIVE[what]) >= 20
    finding = found(POSITIVE[what])[what]
    assert finding.how in ("by content", "by uniqueness")
    assert finding.confidence >= 0.3
    assert finding.hipaa is None or finding.hipaa in HIPAA
    assert finding.gdpr in (None, PERSONAL, *SPECIAL_CATEGORIES)


@pytest.mark.parametrize("what", BY_NAME)
def test_noticed_by_name(what):
    header, values = BY_NAME[what]
    assert found(values, header)[what].how == "by name"


def test_every_detector_is_tried():
    assert {d.what for d in DETECTORS} - {*POSITIVE, *BY_NAME} == set()


def near_misses():
    wrong = made.rng(6)
    yield "measurements", wrong.normal(0, 1, 200)
    yield "whole numbers", wrong.integers(0, 10**9, 200)
    yield "nine digits", wrong.integers(10**8, 10**9, 200)
    yield "sixteen digits", wrong.integers(10**15, 10**16, 200)
    yield "ten digits", [f"{n}" for n in wrong.integers(10**9, 10**10, 200)] * 3
    yield "grades", ["good", "fair", "poor", "very good indeed"] * 50
    yield "products", ["Green Tea", "Black Coffee", "Orange Juice", "Still Water"] * 50
    yield "places", ["New York", "Los Angeles", "San Diego", "Las Vegas"] * 50
    yield "money", [f"${n},000" for n in range(10)] * 20
    yield "ranges", ["10-20", "20-30", "30-40"] * 60
    yield "sorted measurements", np.arange(200) * 0.5
    yield "years", [1990, 1991, 1992] * 60
    yield "versions", ["1.2.3", "1.2.4"] * 60


@pytest.mark.parametrize(("name", "values"), list(near_misses()), ids=lambda v: v
                         if isinstance(v, str) else "")
def test_what_only_resembles_it_is_left_alone(name, values):
    # Digits without a check are no national number and no card, but they were given out once each.
    given = ["record number"] if name in ("nine digits", "sixteen digits") else []
    assert [f.what for f in found(values).values() if f.withheld] == given


def test_a_unique_measurement_is_no_identifier():
    values = made.rng(7).normal(70, 10, 500)
    assert np.unique(values).size == 500
    table = unspoken.read({"weight": values, "height": values * 2}, show=False)
    assert table.schema.with_role("identifier") == ()


def test_numbers_that_lost_their_type_are_still_noticed():
    """Missing values make floats of whole numbers."""
    numbers = [float(n) for n in POSITIVE["NHS number (United Kingdom)"]] + [float("nan")] * 5
    assert "NHS number (United Kingdom)" in found(numbers)
    assert "NHS number (United Kingdom)" in found([int(n) for n in numbers[:-5]])


@pytest.mark.slow
def test_a_large_table_is_sampled_and_the_sample_repeats(tmp_path):
    import pyarrow.parquet as pq

    rows = 3 * SAMPLE + 17
    arrow = pa.table({"n": np.arange(5, rows + 5), "c": [f"user{i}@example.org"
                                                         for i in range(rows)]})
    pq.write_table(arrow, tmp_path / "t.parquet")
    lazy = unspoken.read(tmp_path / "t.parquet", lazy=True, show=False)
    assert isinstance(lazy, Table)
    first = identify(lazy)
    assert first == identify(lazy) == identify(unspoken.read(arrow, show=False))
    assert {f.column: f.what for f in first} == {"n": "row number", "c": "e-mail address"}
    assert {f.looked_at for f in first} == {SAMPLE}


def test_a_finding_shows_no_value():
    for finding in identify(plain({"v": made.emails(), "w": made.names()})):
        assert "@example" not in str(finding.to_json())
        assert "Anna" not in str(finding.to_json())
