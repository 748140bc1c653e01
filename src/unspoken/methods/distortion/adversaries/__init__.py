"""Adversaries against distorted values and randomised answers."""
