"""Safe Harbor: the eighteen, ages over 89, ZIP codes and dates, in what was released."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest

import unspoken
from support import made_up_people as made
from unspoken.protect import PiecewiseEncoder, SampleReleaser
from unspoken.risk import safe_harbor
from unspoken.table.identify.law import HIPAA

ROWS = 100
AGES = [20 + i % 70 for i in range(ROWS)]


def read(keep=(), **columns):
    measured = np.random.default_rng(0).normal(0, 1, ROWS)
    return unspoken.read({"measured": measured, **columns}, keep=keep, show=False)


def test_the_eighteen_are_eighteen():
    assert len(set(HIPAA)) == 18


def test_a_release_without_identifiers_passes():
    release, _ = SampleReleaser(share=0.9).protect(read(name=made.names(), age=AGES))
    check = safe_harbor(release)
    assert check.passed
    assert check
    assert check.allowed == ("age",)
    assert "This is no legal advice." in check.summary()


def test_what_was_kept_by_name_is_found_in_the_release():
    table = read(keep=["who", "mail"], who=made.names(), mail=made.emails())
    check = safe_harbor(SampleReleaser(share=0.9).protect(table)[0])
    assert not check
    assert set(check.present) == {"names", "e-mail addresses"}
    assert "(A) names: who (person's name by content)" in check.summary()
    assert json.loads(json.dumps(check.to_json()))["passed"] is False


@pytest.mark.parametrize(("ages", "passed"), [(AGES, True), ([*AGES[:-1], 90], False),
                                              ([float(a) for a in [*AGES[:-1], 90]], False)])
def test_ages_over_89(ages, passed):
    assert safe_harbor(read(age=ages)).passed is passed


def test_one_old_person_in_a_table_too_large_to_look_at_everybody():
    ages = np.full(50_000, 40)
    ages[31_337] = 95
    table = unspoken.read({"age": ages, "x": np.random.default_rng(0).normal(0, 1, 50_000)},
                          show=False)
    assert not safe_harbor(table)


@pytest.mark.parametrize(("codes", "passed"), [
    ([10115, 80331], False), (["101", "803"], True), (["101**", "803**"], True),
    ([10100, 80300], True), (["SW1 1AA", "SW2 2BB"], False)])
def test_zip_codes(codes, passed):
    assert safe_harbor(read(zip=codes * (ROWS // 2))).passed is passed


def test_dates_finer_than_the_year():
    day = datetime.date(2024, 3, 1)
    assert not safe_harbor(read(admitted=[day] * ROWS))
    assert safe_harbor(read(admitted=[2024] * ROWS))


def test_an_encoded_release_can_be_checked():
    table = read(age=AGES, mail=made.emails())
    check = safe_harbor(PiecewiseEncoder().protect(table)[0])
    assert "e-mail addresses" not in check.present
