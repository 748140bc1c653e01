"""Check digits: examples that offices publish, one digit wrong, and another library's word."""

from __future__ import annotations

from importlib import import_module

import pytest

from support.made_up_people import digits
from unspoken.table.identify import checksums

PUBLISHED = {
    "luhn": ["79927398713"],
    "card": ["4111111111111111", "5555555555554444", "378282246310005"],
    "iban": ["GB82WEST12345698765432", "DE89370400440532013000", "NL91ABNA0417164300"],
    "bsn": ["111222333", "123456782"],
    "nhs": ["9434765919", "9434765870"],
    "ssn": ["219099999"],
    "insee": ["295109912611193", "253072B07300470"],
    "dni": ["12345678Z", "X1234567L"],
    "codice_fiscale": ["RSSMRA85T10A562S", "MRTMTT91D08F205J"],
    "pesel": ["44051401359", "02070803628"],
    "ahv": ["7569217076985"],
    "steuer_id": ["86095742719", "47036892816"],
    "rijksregister": ["85073003328", "17073003384"],
    "vin": ["1M8GDM9AXKP042788", "11111111111111111"],
}
STDNUM = {"luhn": "luhn", "iban": "iban", "bsn": "nl.bsn", "nhs": "gb.nhs", "insee": "fr.nir",
          "codice_fiscale": "it.codicefiscale", "pesel": "pl.pesel", "ahv": "ch.ssn",
          "steuer_id": "de.idnr", "rijksregister": "be.nn"}
LENGTHS = {"luhn": 12, "bsn": 9, "nhs": 10, "pesel": 11, "ahv": 13, "steuer_id": 11}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_examples_pass(name):
    check = getattr(checksums, name)
    assert [number for number in PUBLISHED[name] if not check(number)] == []


@pytest.mark.parametrize("name", sorted(set(PUBLISHED) - {"ssn"}))
def test_one_wrong_digit_is_noticed(name):
    check, number = getattr(checksums, name), PUBLISHED[name][0]
    place = max(i for i, c in enumerate(number) if c.isdigit() and c != "0")
    changed = number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1:]
    assert not check(changed)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("text", ["", "0", "abc", "１２３４５６７８２", "-1", "1" * 40])
def test_what_is_no_number_is_refused(name, text):
    assert name == "luhn" or not getattr(checksums, name)(text)


def test_excluded_parts_of_a_social_security_number():
    for text in ("000123456", "666123456", "912345678", "123004567", "123450000"):
        assert not checksums.ssn(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_python_stdnum_agrees(name):
    pytest.importorskip("stdnum")
    other, check = import_module(f"stdnum.{STDNUM[name]}"), getattr(checksums, name)
    numbers = digits(3000, LENGTHS[name])
    if name == "ahv":
        numbers = ["756" + number[3:] for number in numbers]
    ours = [number for number in numbers if check(number)]
    assert ours == [number for number in numbers if other.is_valid(number)]
    assert name in ("pesel", "steuer_id") or ours


@pytest.mark.parametrize("name", sorted(STDNUM))
def test_python_stdnum_takes_the_published_examples(name):
    pytest.importorskip("stdnum")
    other = import_module(f"stdnum.{STDNUM[name]}")
    assert all(other.is_valid(number) for number in PUBLISHED[name])
