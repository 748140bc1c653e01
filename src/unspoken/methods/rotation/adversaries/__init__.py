"""Adversaries against rotated records (liu2006 sections 3 and 4)."""
