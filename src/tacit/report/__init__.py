"""Summaries, plots and the HTML report that a privacy officer reads."""

from tacit.report.audit_page import audit_page
from tacit.report.page import Page

__all__ = ["Page", "audit_page"]
