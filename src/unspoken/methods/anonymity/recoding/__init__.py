"""Recoding by hierarchies: the cheapest levels that satisfy a demand, proven."""
