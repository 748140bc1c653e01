"""Releases with a stated epsilon: synthetic tables, marginals and models."""
