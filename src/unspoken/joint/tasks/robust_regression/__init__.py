"""Regression that outliers do not move, over rows of several owners (vcz2006 section 5.1.2)."""
