"""Adversaries against piecewise encodings (bu2007 sections 3.3 and 6)."""
