"""Logistic regression over rows or columns of several owners."""
