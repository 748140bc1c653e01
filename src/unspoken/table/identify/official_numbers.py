"""Numbers that an office, a bank or an insurer gave to somebody, most with a check digit.

By content nineteen of twenty values must pass the check, and ten different ones: numbers at
random pass with a chance of one in ten or less each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from unspoken.table.identify import checksums
from unspoken.table.identify.detector import Detector
from unspoken.table.identify.law import (
    ACCOUNT,
    HEALTH_PLAN,
    LICENCE,
    MEDICAL_RECORD,
    OTHER,
    PERSONAL,
    SOCIAL_SECURITY,
    VEHICLE,
    Law,
)

_BETWEEN = re.compile(r"[\s.\-/]")
_NUMBERS = ("text", "integer", "whole float")
_PLATES = tuple(re.compile(pattern) for pattern in (
    r"[A-Z]{2}\d{2} ?[A-Z]{3}",                                       # Britain
    r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2} ?\d{1,4}[EH]?",                     # Germany
    r"[A-Z]{2}-\d{3}-[A-Z]{2}",                                       # France, Italy
    r"(?=.*[A-Z])(?=.*\d)[A-Z\d]{1,3}-[A-Z\d]{2,3}-[A-Z\d]{1,2}",     # the Netherlands
    r"\d{4} ?[B-DF-HJ-NP-TV-Z]{3}",                                   # Spain
))
_PERSON = ("patient", "person", "customer", "client", "member", "subject", "user", "employee",
           "student", "citizen", "participant", "policyholder", "kunden", "patienten", "personal",
           "mitarbeiter", "klant", "klanten", "patiente", "cliente", "paciente", "donor", "voter")
_NUMBER_WORDS = ("id", "ids", "no", "nr", "number", "num", "nummer", "numero", "code", "key")


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """Return the characters of a number without what is put between them.

    A dozen detectors ask for the same few hundred texts of a column, one after the other.
    """
    return _BETWEEN.sub("", text).upper()


def _checked(what: str, headers: tuple[str, ...], check: Callable[[str], bool],
             hipaa: str = OTHER, digits: int = 0) -> Detector:
    """Return the detector of a number with a check digit; `digits`: zeros in front were lost."""
    def matches(text: str) -> bool:
        short = bare(text)
        padded = short.zfill(digits) if len(short) >= digits - 2 else short
        return check(padded if digits else short)

    return Detector(what, "identifier", Law(hipaa, PERSONAL), headers, matches, share=0.95,
                    least=10, kinds=_NUMBERS, named_share=0.5)


def _plate(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in _PLATES)


def _dashed_ssn(text: str) -> bool:
    return bool(re.fullmatch(r"\d{3}-\d{2}-\d{4}", text)) and checksums.ssn(bare(text))


OFFICIAL_NUMBERS = (
    _checked("bank account (IBAN)", ("iban",), checksums.iban, ACCOUNT),
    _checked("payment card", ("card number", "credit card", "creditcard", "card no", "pan",
                              "kreditkarte", "kreditkartennummer"), checksums.card, ACCOUNT),
    _checked("citizen service number (Netherlands)", ("bsn", "burgerservicenummer", "sofinummer"),
             checksums.bsn, SOCIAL_SECURITY),
    _checked("NHS number (United Kingdom)", ("nhs", "nhs number"), checksums.nhs, MEDICAL_RECORD),
    _checked("social security number (France)", ("insee", "nir", "securite sociale"),
             checksums.insee, SOCIAL_SECURITY),
    _checked("DNI or NIE (Spain)", ("dni", "nie", "nif"), checksums.dni, OTHER, digits=9),
    _checked("codice fiscale (Italy)", ("codice fiscale", "codicefiscale"),
             checksums.codice_fiscale),
    _checked("PESEL (Poland)", ("pesel",), checksums.pesel, digits=11),
    _checked("AHV number (Switzerland)", ("ahv", "avs", "ahv nummer"), checksums.ahv,
             SOCIAL_SECURITY),
    _checked("tax number (Germany)", ("steuer id", "steueridentifikationsnummer", "idnr",
                                      "steuernummer"), checksums.steuer_id),
    _checked("national number (Belgium)", ("rijksregisternummer", "niss", "insz"),
             checksums.rijksregister, digits=11),
    _checked("vehicle identification number", ("vin", "fin", "chassis"), checksums.vin, VEHICLE),
    Detector("social security number (United States)", "identifier",
             Law(SOCIAL_SECURITY, PERSONAL),
             ("ssn", "social security", "social security number", "socialsecurity",
              "sozialversicherungsnummer"), kinds=()),
    Detector("social security number (United States)", "identifier",
             Law(SOCIAL_SECURITY, PERSONAL), (), _dashed_ssn, share=0.95, least=10),
    Detector("vehicle plate", "identifier", Law(VEHICLE, PERSONAL),
             ("license plate", "licence plate", "number plate", "plate", "kennzeichen",
              "kenteken", "matricula", "plaque immatriculation"), _plate, share=0.95, least=20),
    Detector("medical record number", "identifier", Law(MEDICAL_RECORD, PERSONAL),
             ("mrn", "medical record", "medical record number", "chart number", "fallnummer",
              "encounter id", "hadm id", "icustay id")),
    Detector("health insurance number", "identifier", Law(HEALTH_PLAN, PERSONAL),
             ("insurance number", "insurance no", "insurance id", "health plan", "beneficiary id",
              "versichertennummer", "krankenversichertennummer", "medicare number",
              "medicaid id")),
    Detector("account number", "identifier", Law(ACCOUNT, PERSONAL),
             ("account number", "account no", "account id", "kontonummer", "rekeningnummer",
              "numero de compte", "numero cuenta")),
    Detector("licence, certificate or passport number", "identifier", Law(LICENCE, PERSONAL),
             ("license number", "licence number", "license no", "licence no", "driver license",
              "drivers license", "certificate number", "passport", "passport number",
              "passnummer", "fuhrerscheinnummer", "personalausweis", "id card")),
    Detector("number of a person", "identifier", Law(OTHER, PERSONAL),
             tuple(f"{person} {word}" for person in _PERSON for word in _NUMBER_WORDS)
             + tuple(f"{person}{word}" for person in _PERSON
                     for word in ("nummer", "id", "nr"))),
)
