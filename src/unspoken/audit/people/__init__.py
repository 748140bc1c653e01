"""Risks to people of any table that stands for another: no manifest and no key are needed."""
