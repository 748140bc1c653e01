"""Protocols of the book that are weak, and the attacks on them. Import them by name."""
