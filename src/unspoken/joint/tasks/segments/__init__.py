"""Counts and means by segment over the rows of several owners (vcz2006 chapter 8)."""
