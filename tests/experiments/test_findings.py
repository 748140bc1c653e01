"""A verdict says what it says: agrees, close, differs, or nothing in print."""

from __future__ import annotations

import pytest

from unspoken_experiments.findings import Finding, Missing, Section
from unspoken_experiments.findings_page import as_json, build, summary


@pytest.mark.parametrize(("printed", "ours", "low", "high", "expected"), [
    ("16", 16.4, None, None, "agrees"), ("16", 16.6, None, None, "close"),
    ("16", 18.6, None, None, "differs"), ("16", 18.6, 15.9, 21.0, "agrees"),
    ("10.39", 10.394, None, None, "agrees"), ("10.39", 10.41, None, None, "close"),
    ("<10", 9.99, None, None, "agrees"), ("<10", 10.0, None, None, "close"),
    ("<10", 13.0, None, None, "differs"), ("<10", 11.0, 9.8, 12.0, "agrees"),
    (">65", 66.0, None, None, "agrees"), (">65", 60.0, None, None, "differs"),
    ("18-20", 19.0, None, None, "agrees"), ("18-20", 21.0, None, None, "close"),
    ("~10", 10.4, None, None, "agrees"), ("1,648", 1648.0, None, None, "agrees"),
    ("", 3.0, None, None, "not printed")])
def test_verdicts(printed, ours, low, high, expected):
    assert Finding("x", printed, ours, low, high).verdict(2.0) == expected


def test_the_page_counts_verdicts_and_names_what_is_missing():
    one = Section("bu2007", "Figure 1", "bars & <lines>", (
        Finding("a", "1", 1.0), Finding("b", "1", 5.0, 4.0, 6.0, "7"), Finding("c", "", 2.0)),
        ("why",), "Percent.", 1.0, other="law")
    gone = [Missing("as2000", "Figure 5", "x.parquet is not here")]
    lines = summary([one], gone, quick=True)
    assert lines[0].startswith("1 of 2 printed numbers agree, 0 are close, 1 differ; 1 of ours")
    page = build([one], gone, quick=True).html()
    for text in ("bars &amp; &lt;lines&gt;", "4.0 to 6.0", "differs", "x.parquet is not here",
                 "Close: within 1."):
        assert text in page
    assert [entry["verdict"] for entry in as_json([one], gone)["findings"]] == [
        "agrees", "differs", "not printed"]
