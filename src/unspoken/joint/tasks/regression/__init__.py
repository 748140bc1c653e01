"""Least squares and ridge over rows or columns of several owners (vcz2006 chapter 5)."""
