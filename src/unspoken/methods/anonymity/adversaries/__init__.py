"""Adversaries against published tables: they know people, and look for them."""
