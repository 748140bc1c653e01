"""Summaries, plots and the HTML report that a privacy officer reads."""

from unspoken.report.audit_page import audit_page
from unspoken.report.page import Page

__all__ = ["Page", "audit_page"]
