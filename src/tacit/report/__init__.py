"""Summaries, plots and the HTML report that a privacy officer reads."""

from tacit.report.page import Page

__all__ = ["Page"]
