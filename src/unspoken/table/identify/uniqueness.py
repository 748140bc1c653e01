"""Columns that are different for (almost) everybody: row numbers, indexes, free text, codes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from unspoken.table.identify.assigned_numbers import ALMOST, FEWEST, assigned_number
from unspoken.table.identify.column_sample import ColumnSample
from unspoken.table.identify.detector import Detector, named
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.law import OTHER, PERSONAL, Law

_LAW = Law(OTHER, PERSONAL)
INDEX_HEADERS = ("=index", "=idx", "unnamed 0", "=unnamed", "row", "rowid", "row id", "rownames",
                 "row names", "rownumber", "row number", "row no", "=no", "=nr", "=num", "=number",
                 "sno", "s no", "sr no", "serial", "serial no", "seqno", "seq", "lfd nr", "lfdnr",
                 "case", "case no", "case number", "record", "record number", "pid", "id",
                 "ids", "key", "=level 0", "index level", "volgnummer", "zeilennummer", "=")


def _finding(sample: ColumnSample, what: str, how: str, role: str, reason: str) -> Finding:
    distinct = round(sample.distinct_share * len(sample.values))
    return Finding(sample.name, what, role, how, distinct, len(sample.values), reason, _LAW.hipaa,
                   _LAW.gdpr)


def _row_number(sample: ColumnSample) -> Finding | None:
    """Whole numbers that count the rows: one more in every row."""
    if sample.kind != "integer" or len(sample.values) < FEWEST:
        return None
    start, first = int(sample.values[0]), int(sample.positions[0])
    # Most columns are told by their second value: none is turned into a number before its turn.
    if any(int(value) - start != place - first
           for value, place in zip(sample.values, sample.positions.tolist(), strict=True)):
        return None
    return _finding(sample, "row number", "by content", "identifier",
                    f"it counts the rows, from {start:,} on")


def _index(sample: ColumnSample) -> Finding | None:
    """A header that numbers rows, over values that are different in almost every row."""
    if sample.kind not in ("integer", "text", "whole float") or len(sample.values) < 20 or \
            not named(sample.header, INDEX_HEADERS) or sample.distinct_share <= ALMOST:
        return None
    return _finding(sample, "index column", "by name", "identifier",
                    f"the name '{sample.name}' says so, and {_share(sample)} of its values are "
                    "different")


def _free_text(sample: ColumnSample) -> Finding | None:
    """Sentences: long, of many words, and hardly any twice."""
    if sample.kind != "text" or len(sample.values) < 5 or sample.distinct_share < 0.5:
        return None
    lengths = np.array([len(text) for text, _ in sample.counted])
    words = np.array([len(re.findall(r"[^\W\d_]{2,}", text)) for text, _ in sample.counted])
    if lengths.mean() < 30 or words.mean() < 5:
        return None
    return _finding(sample, "free text", "by content", "free text",
                    f"about {words.mean():.0f} words a value, and {_share(sample)} of the values "
                    "are different; anything may be written there")


def _almost_unique(sample: ColumnSample) -> Finding | None:
    """Text that is different for almost everybody names them, whatever it means."""
    if sample.kind != "text" or len(sample.values) < FEWEST or sample.distinct_share <= ALMOST:
        return None
    return _finding(sample, "almost unique", "by uniqueness", "identifier",
                    f"{_share(sample)} of its values are different")


def _share(sample: ColumnSample) -> str:
    return f"{sample.distinct_share:.1%}" if sample.distinct_share < 1 else "all"


def _entry(what: str, role: str, judge: Callable[[ColumnSample], Finding | None]) -> Detector:
    return Detector(what, role, _LAW, judge=judge)


UNIQUENESS = (
    _entry("row number", "identifier", _row_number),
    _entry("index column", "identifier", _index),
    _entry("record number", "identifier", assigned_number),
    _entry("free text", "free text", _free_text),
    _entry("almost unique", "identifier", _almost_unique),
)
