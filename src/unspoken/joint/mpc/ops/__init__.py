"""Primitives: one small file each, with its section, its cost and what it discloses."""
