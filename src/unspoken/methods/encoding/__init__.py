"""Piecewise (anti-)monotone encoding of a table (bu2007)."""
