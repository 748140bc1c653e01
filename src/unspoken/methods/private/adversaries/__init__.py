"""Adversaries against private releases: they know people, and look for them."""
