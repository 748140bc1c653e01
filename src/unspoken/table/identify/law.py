"""The eighteen identifiers of HIPAA's Safe Harbor and the special categories of the GDPR.

45 CFR 164.514(b)(2)(i) lists, (A) to (R), what must be gone before health data count as
de-identified. Article 9 GDPR names the kinds of personal data that need a reason of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

NO_ADVICE = "This is no legal advice."

HIPAA = (
    "names",
    "geographic subdivisions smaller than a state",
    "dates other than the year, and ages over 89",
    "telephone numbers",
    "fax numbers",
    "e-mail addresses",
    "social security numbers",
    "medical record numbers",
    "health plan beneficiary numbers",
    "account numbers",
    "certificate and licence numbers",
    "vehicle identifiers and plates",
    "device identifiers and serial numbers",
    "web addresses",
    "IP addresses",
    "biometric identifiers",
    "full-face photographs",
    "any other unique identifying number, characteristic or code",
)
(NAMES, PLACES, DATES, TELEPHONE, FAX, EMAIL, SOCIAL_SECURITY, MEDICAL_RECORD, HEALTH_PLAN,
 ACCOUNT, LICENCE, VEHICLE, DEVICE, WEB, IP, BIOMETRIC, PHOTOGRAPH, OTHER) = HIPAA

PERSONAL = "personal data"
SPECIAL_CATEGORIES = (
    "racial or ethnic origin",
    "political opinions",
    "religious or philosophical beliefs",
    "trade union membership",
    "genetic data",
    "biometric data",
    "data concerning health",
    "sex life or sexual orientation",
)
ETHNIC, POLITICAL, RELIGIOUS, UNION, GENETIC, BIOMETRIC_DATA, HEALTH, SEXUAL = SPECIAL_CATEGORIES


@dataclass(frozen=True)
class Law:
    """What the two laws call something; None where they do not name it."""

    hipaa: str | None = None
    gdpr: str | None = None
