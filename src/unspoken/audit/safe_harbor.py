"""Safe Harbor (45 CFR 164.514(b)(2)) of a release: which of the eighteen are still in it.

The detectors that look at a table when it is read look at the released one. Beyond them the rule
has three limits: ages over 89, more than the first three digits of a ZIP code, and dates finer
than the year. Limits: an encoded column shows codes, which are neither names nor dates, so the
check says nothing about what can be recovered from a code ('unspoken audit' does); the rule's
second half, that nobody knows of a way to identify a person, no program can check; nor does it
know which three-digit areas have too few people. This is no legal advice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unspoken.release.release import Release
from unspoken.table.identify import Finding, identify
from unspoken.table.identify.column_sample import ColumnSample, samples
from unspoken.table.identify.law import DATES, HIPAA, NO_ADVICE, PLACES
from unspoken.table.table import Table

OLDEST = 89
ZIP_DIGITS = 3


@dataclass(frozen=True)
class SafeHarbor:
    """What HIPAA's Safe Harbor forbids and a release shows.

    Attributes
    ----------
    present : mapping of str to tuple of Finding
        For each of the eighteen identifiers the columns that show it.
    allowed : tuple of str
        Columns of ages, ZIP codes or dates that are coarse enough.
    """

    present: Mapping[str, tuple[Finding, ...]]
    allowed: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Return True if none of the eighteen was found."""
        return not self.present

    def __bool__(self) -> bool:
        return self.passed

    def summary(self) -> str:
        """Return the check in a few lines."""
        head = "None of the eighteen identifiers of Safe Harbor was found." if self.passed else \
            f"Safe Harbor: {len(self.present)} of the eighteen identifiers are in the release."
        lines = [f"  ({chr(65 + HIPAA.index(what))}) {what}: " + "; ".join(
            f"{f.column} ({f.what} {f.how})" for f in findings)
            for what, findings in self.present.items()]
        return "\n".join([head, *lines, f"Codes are not decoded for this check. {NO_ADVICE}"])

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {"passed": self.passed, "allowed": list(self.allowed), "note": NO_ADVICE,
                "present": {what: [f.to_json() for f in findings]
                            for what, findings in self.present.items()}}


def safe_harbor(release: Release | Table) -> SafeHarbor:
    """Return which of HIPAA's eighteen identifiers the columns of a release show.

    Parameters
    ----------
    release : Release or Table
        What is looked at: names and values of its columns.

    Returns
    -------
    SafeHarbor

    Notes
    -----
    Not legal advice. A name is a sign, not a proof, and 45 CFR 164.514(b)(2)(ii), actual knowledge,
    is not checked.
    """
    table = release.table if isinstance(release, Release) else release
    present: dict[str, list[Finding]] = {what: [] for what in HIPAA}
    allowed = []
    for finding in identify(table):
        if finding.hipaa is None:
            continue
        if _coarse_enough(table, finding):
            allowed.append(finding.column)
        else:
            present[finding.hipaa].append(finding)
    kept = {what: tuple(findings) for what, findings in present.items() if findings}
    return SafeHarbor(kept, tuple(allowed))


def _coarse_enough(table: Table, finding: Finding) -> bool:
    """Return True if a column keeps the limits that the rule sets for its kind."""
    if finding.hipaa not in (DATES, PLACES):
        return False
    looked: ColumnSample = samples(table, [finding.column])[0]
    if finding.what == "age":
        return _largest(table, looked) <= OLDEST
    if finding.what == "postcode":
        return all(_first_digits_only(text) for text, _ in looked.counted)
    return False


def _largest(table: Table, looked: ColumnSample) -> float:
    """Return the largest age of all rows; the sample could miss the oldest person."""
    if looked.kind == "text":
        return max(float(age) for text in table.engine.distinct(table.frame, looked.name)
                   for age in re.findall(r"\d+\.?\d*", str(text)) or ["0"])
    return float(table.counts([looked.name])[looked.name].values[-1])


def _first_digits_only(text: str) -> bool:
    digits = re.sub(r"[*xX?.\s-]+$", "", text)
    stands_for_the_rest = re.sub(r"0+$", "", digits) if len(digits) == 5 else digits
    return len(stands_for_the_rest) <= ZIP_DIGITS


__all__ = ["SafeHarbor", "safe_harbor"]
