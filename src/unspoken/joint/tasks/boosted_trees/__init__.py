"""Boosted trees over the rows of several owners."""
