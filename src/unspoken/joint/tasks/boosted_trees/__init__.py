"""Boosted trees over the rows or the columns of several owners."""
