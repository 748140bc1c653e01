"""Counts of columns by bins over all owners, and weights of evidence of a class of two."""
