"""Correlated randomness: the kinds there are, and the sources that make them."""
