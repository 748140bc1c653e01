"""Secure computation: shared values, operations on them, and correlated randomness."""
