"""A detector is one entry in a table: what it looks for, in which headers, in which values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from unspoken.table.identify.column_sample import ColumnSample
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.law import Law

_FIRST_LOOK = 200
"""So many distinct values are tried before all are."""


@dataclass(frozen=True)
class Detector:
    """What a kind of content is called, looks like, and means for somebody's privacy.

    `headers`: phrases of header words; one that starts with "=" must be the whole header.
    `matches`: whether a value (a text) looks like it. By content a column is of the kind if at
    least `share` of its values match and `least` distinct ones do; by name if the header has a
    phrase and at least `named_share` match. `judge`: says so of a whole column, in place of
    counting matches. `kinds`: the kinds of columns looked at.
    """

    what: str
    role: str | None
    law: Law
    headers: tuple[str, ...] = ()
    matches: Callable[[str], bool] | None = None
    judge: Callable[[ColumnSample], Finding | None] | None = None
    share: float = 0.9
    least: int = 1
    named_share: float = 0.5
    kinds: tuple[str, ...] = ("text",)
    named_kinds: tuple[str, ...] = field(default=("text", "integer", "whole float"))

    def look(self, sample: ColumnSample) -> Finding | None:
        """Return what a column shows of this kind, or None."""
        if not sample.values:
            return None
        if self.judge is not None:
            return self.judge(sample)
        return self._by_name(sample) or self._by_content(sample)

    def _by_name(self, sample: ColumnSample) -> Finding | None:
        if sample.kind not in self.named_kinds or not named(sample.header, self.headers):
            return None
        if self.matches is None:
            return self._finding(sample, "by name", len(sample.values))
        count = self._count(sample)
        enough = count >= self.named_share * len(sample.values)
        return self._finding(sample, "by name", count) if enough else None

    def _by_content(self, sample: ColumnSample) -> Finding | None:
        if self.matches is None or sample.kind not in self.kinds:
            return None
        if not self._first_look(sample):
            return None
        count = self._count(sample)
        distinct = sum(self.matches(value) for value, _ in sample.counted)
        enough = count >= self.share * len(sample.values) and distinct >= self.least
        return self._finding(sample, "by content", count) if enough else None

    def _first_look(self, sample: ColumnSample) -> bool:
        """Return True if enough of the first values match; misses that decide end the look."""
        first = sample.counted[:_FIRST_LOOK]
        may_miss = len(first) - 0.5 * self.share * len(first)
        matches, missed = self.matches or bool, 0
        for value, _ in first:
            missed += not matches(value)
            if missed > may_miss:
                return False
        return True

    def _count(self, sample: ColumnSample) -> int:
        matches = self.matches or bool
        return sum(count for value, count in sample.counted if matches(value))

    def _finding(self, sample: ColumnSample, how: str, count: int) -> Finding:
        looked = len(sample.values)
        reason = f"{count:,} of {looked:,} values look like it" if how == "by content" else \
            f"the name '{sample.name}' says so" + (
                "" if self.matches is None else f", and {count:,} of {looked:,} values fit")
        return Finding(sample.name, self.what, self.role, how, count, looked, reason,
                       self.law.hipaa, self.law.gdpr)


def named(header: str, phrases: tuple[str, ...]) -> bool:
    """Return True if a header (its words between spaces) has one of the phrases."""
    return any(header == f" {phrase[1:]} " if phrase[0] == "=" else f" {phrase} " in header
               for phrase in phrases)
