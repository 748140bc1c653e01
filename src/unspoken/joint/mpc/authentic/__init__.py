"""Shares with tags: every value carries a message authentication code that operations keep."""
