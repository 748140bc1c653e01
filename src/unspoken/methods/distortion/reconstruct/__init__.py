"""Reconstruction of a distribution from distorted values (as2000 section 3)."""
